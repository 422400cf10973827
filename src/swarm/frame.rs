//! WebSocket frame headers (RFC 6455, section 5.2), read and written by hand: the reading is two bytes and a
//! length, it happens once a delivery, and what a server must not send is refused here.

use super::closed::Fault;

/// The largest message that is taken, bytes; the Python client's and uvicorn's own limits are below it.
pub(super) const LARGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// The largest payload of a control frame, bytes.
const LARGEST_CONTROL: usize = 125;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Kind {
    fn is_control(self) -> bool {
        matches!(self, Kind::Close | Kind::Ping | Kind::Pong)
    }

    fn opcode(self) -> u8 {
        match self {
            Kind::Continuation => 0x0,
            Kind::Text => 0x1,
            Kind::Binary => 0x2,
            Kind::Close => 0x8,
            Kind::Ping => 0x9,
            Kind::Pong => 0xa,
        }
    }
}

/// The head of one frame from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) last: bool,
    pub(super) kind: Kind,
    /// Bytes of the header itself.
    pub(super) size: usize,
    /// Bytes of the payload.
    pub(super) payload: usize,
}

/// Reads the header at the start of `bytes`; `None` while it is not complete.
#[inline]
pub(super) fn header(bytes: &[u8]) -> Result<Option<Header>, Fault> {
    let &[first, second, ..] = bytes else { return Ok(None) };
    if first & 0x70 != 0 {
        return Err(Fault::Protocol("a reserved bit is set, and no extension was agreed on"));
    }
    if second & 0x80 != 0 {
        return Err(Fault::Protocol("the server masked a frame"));
    }
    let kind = match first & 0x0f {
        0x0 => Kind::Continuation,
        0x1 => Kind::Text,
        0x2 => Kind::Binary,
        0x8 => Kind::Close,
        0x9 => Kind::Ping,
        0xa => Kind::Pong,
        _ => return Err(Fault::Protocol("unknown opcode")),
    };
    let last = first & 0x80 != 0;
    let short = usize::from(second & 0x7f);
    if kind.is_control() && (!last || short > LARGEST_CONTROL) {
        return Err(Fault::Protocol("a control frame is fragmented or longer than 125 bytes"));
    }
    let (size, payload) = match short {
        126 => match bytes.get(2..4).and_then(|b| b.try_into().ok()) {
            Some(length) => (4, usize::from(u16::from_be_bytes(length))),
            None => return Ok(None),
        },
        127 => match bytes.get(2..10).and_then(|b| b.try_into().ok()) {
            Some(length) => (10, usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX)),
            None => return Ok(None),
        },
        short => (2, short),
    };
    if payload > LARGEST_MESSAGE {
        return Err(Fault::Oversized);
    }
    Ok(Some(Header { last, kind, size, payload }))
}

/// Writes one whole frame of a client, masked with `mask`.
pub(super) fn write(out: &mut Vec<u8>, kind: Kind, payload: &[u8], mask: [u8; 4]) {
    out.push(0x80 | kind.opcode());
    match u16::try_from(payload.len()) {
        Ok(short) if payload.len() <= LARGEST_CONTROL => out.push(0x80 | short.to_be_bytes()[1]),
        Ok(short) => {
            out.push(0x80 | 0x7e);
            out.extend_from_slice(&short.to_be_bytes());
        }
        Err(_) => {
            out.push(0x80 | 0x7f);
            out.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

    use super::*;

    #[test]
    fn the_header_says_what_the_library_says() {
        for payload in [0_usize, 1, 125, 126, 65_535, 65_536, LARGEST_MESSAGE] {
            let mut bytes = Vec::new();
            let written = FrameHeader { opcode: OpCode::Data(Data::Text), ..FrameHeader::default() };
            written.format(payload as u64, &mut bytes).unwrap();
            let read = header(&bytes).unwrap().unwrap();
            assert_eq!(read, Header { last: true, kind: Kind::Text, size: bytes.len(), payload });
            for short in 0..bytes.len() {
                assert_eq!(header(&bytes[..short]).unwrap(), None, "{payload}: {short} bytes of it");
            }
        }
    }

    #[test]
    fn what_a_server_must_not_send_is_refused() {
        for (bytes, why) in [
            (&[0x81, 0x85][..], "masked"),
            (&[0xc1, 0x05], "reserved bit"),
            (&[0x83, 0x05], "opcode"),
            (&[0x09, 0x05], "control"),
            (&[0x89, 126], "control"),
        ] {
            let refused = header(bytes).unwrap_err();
            assert!(matches!(refused, Fault::Protocol(text) if text.contains(why)), "{bytes:x?}: {refused}");
        }
        let mut long = vec![0x81, 127];
        long.extend_from_slice(&(LARGEST_MESSAGE as u64 + 1).to_be_bytes());
        assert_eq!(header(&long), Err(Fault::Oversized));
    }

    #[test]
    fn a_written_frame_is_masked_and_reads_back() {
        for length in [0_usize, 5, 125, 126, 70_000] {
            let payload: Vec<u8> = (0..length).map(|n| n.to_le_bytes()[0]).collect();
            let mut out = Vec::new();
            write(&mut out, Kind::Text, &payload, [1, 2, 3, 4]);
            let mut cursor = std::io::Cursor::new(&out);
            let (head, size) = FrameHeader::parse(&mut cursor).unwrap().unwrap();
            assert_eq!((head.is_final, head.mask, size), (true, Some([1, 2, 3, 4]), length as u64));
            let start = usize::try_from(cursor.position()).unwrap();
            let unmasked: Vec<u8> =
                out[start..].iter().enumerate().map(|(i, b)| b ^ [1, 2, 3, 4][i % 4]).collect();
            assert_eq!(unmasked, payload);
        }
    }
}
