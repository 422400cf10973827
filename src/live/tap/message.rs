//! WebSocket messages out of the bytes of one direction: headers, masks, fragments and compression.

use flate2::{Decompress, FlushDecompress, Status};

/// A frame that says more than this is no frame of ours.
const MAX_PAYLOAD: u64 = 256 * 1024 * 1024;

/// What a direction said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A text or binary message, whole.
    Message(Vec<u8>),
    /// A close frame.
    Close(u16, String),
}

/// Reads one direction.
#[derive(Debug)]
pub(super) struct Reader {
    waiting: Vec<u8>,
    /// The message under way, and whether it is compressed.
    partial: Option<(Vec<u8>, bool)>,
    inflater: Option<Inflater>,
}

#[derive(Debug)]
struct Inflater {
    stream: Decompress,
    forgets: bool,
}

impl Reader {
    /// For a direction whose handshake agreed on these extensions. `taker` is the parameter that resets this direction's
    /// window: `server_no_context_takeover` or its counterpart.
    pub(super) fn new(extensions: Option<&str>, taker: &str) -> Reader {
        let agreed = extensions.filter(|all| all.contains("permessage-deflate"));
        let inflater = agreed.map(|all| Inflater {
            stream: Decompress::new(false),
            forgets: all.split([';', ',']).any(|part| part.trim() == taker),
        });
        Reader { waiting: Vec::new(), partial: None, inflater }
    }

    /// Takes bytes and hands out what is complete. Errs on bytes that are no WebSocket frame.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Vec<Said>, String> {
        self.waiting.extend_from_slice(bytes);
        let mut said = Vec::new();
        while let Some((frame, length)) = next(&self.waiting)? {
            self.waiting.drain(..length);
            said.extend(self.take(frame)?);
        }
        Ok(said)
    }

    fn take(&mut self, frame: Frame) -> Result<Option<Said>, String> {
        match frame.opcode {
            0x8 => {
                let (code, reason) = match frame.payload.split_at_checked(2) {
                    Some((code, reason)) => {
                        (u16::from_be_bytes([code[0], code[1]]), String::from_utf8_lossy(reason).into_owned())
                    }
                    None => (1005, String::new()),
                };
                return Ok(Some(Said::Close(code, reason)));
            }
            // Ping and pong say nothing.
            0x9 | 0xa => return Ok(None),
            0x0 => match &mut self.partial {
                Some((payload, _)) => payload.extend_from_slice(&frame.payload),
                None => return Err("a continuation of no message".to_owned()),
            },
            0x1 | 0x2 => self.partial = Some((frame.payload, frame.compressed)),
            other => return Err(format!("opcode {other}")),
        }
        if !frame.last {
            return Ok(None);
        }
        let Some((payload, compressed)) = self.partial.take() else { return Ok(None) };
        let payload = if compressed { self.inflate(&payload)? } else { payload };
        Ok(Some(Said::Message(payload)))
    }

    fn inflate(&mut self, payload: &[u8]) -> Result<Vec<u8>, String> {
        let inflater = self.inflater.as_mut().ok_or("a compressed message that was not agreed on")?;
        // The sender leaves out the four bytes that end a flushed block.
        let input = [payload, &[0, 0, 0xff, 0xff]].concat();
        let (mut out, mut read) = (Vec::with_capacity(payload.len() * 4 + 64), 0);
        while read < input.len() {
            let before = inflater.stream.total_in();
            let status = inflater.stream.decompress_vec(&input[read..], &mut out, FlushDecompress::Sync);
            let status = status.map_err(|error| format!("compressed data: {error}"))?;
            read += usize::try_from(inflater.stream.total_in() - before).unwrap_or(usize::MAX);
            if status == Status::StreamEnd {
                break;
            }
            if out.len() == out.capacity() {
                out.reserve(out.len().max(1024));
            } else if inflater.stream.total_in() == before {
                break;
            }
        }
        // What did not fit is still inside: ask until nothing comes.
        loop {
            out.reserve(1024);
            let had = out.len();
            let more = inflater.stream.decompress_vec(&[], &mut out, FlushDecompress::Sync);
            if out.len() == had || !matches!(more, Ok(Status::Ok)) {
                break;
            }
        }
        if inflater.forgets {
            inflater.stream.reset(false);
        }
        Ok(out)
    }
}

struct Frame {
    last: bool,
    compressed: bool,
    opcode: u8,
    payload: Vec<u8>,
}

/// The first frame in the bytes and how many of them it takes; `None` while some are missing.
fn next(bytes: &[u8]) -> Result<Option<(Frame, usize)>, String> {
    let Some((&[first, second], rest)) = bytes.split_first_chunk::<2>() else { return Ok(None) };
    let (length, rest) = match second & 0x7f {
        126 => match rest.split_first_chunk::<2>() {
            Some((n, rest)) => (u64::from(u16::from_be_bytes(*n)), rest),
            None => return Ok(None),
        },
        127 => match rest.split_first_chunk::<8>() {
            Some((n, rest)) => (u64::from_be_bytes(*n), rest),
            None => return Ok(None),
        },
        n => (u64::from(n), rest),
    };
    if length > MAX_PAYLOAD {
        return Err(format!("a frame of {length} bytes"));
    }
    let (mask, rest) = match second & 0x80 {
        0 => (None, rest),
        _ => match rest.split_first_chunk::<4>() {
            Some((mask, rest)) => (Some(*mask), rest),
            None => return Ok(None),
        },
    };
    let length = usize::try_from(length).map_err(|error| error.to_string())?;
    let Some(payload) = rest.get(..length) else { return Ok(None) };
    let mut payload = payload.to_vec();
    for (at, byte) in payload.iter_mut().enumerate() {
        *byte ^= mask.map_or(0, |mask| mask[at % 4]);
    }
    let used = bytes.len() - rest.len() + length;
    let frame =
        Frame { last: first & 0x80 != 0, compressed: first & 0x40 != 0, opcode: first & 0x0f, payload };
    Ok(Some((frame, used)))
}
