//! From the bytes of one connection to messages.
//!
//! Frames are read where they lie in the thread's one read buffer. A socket keeps bytes only of a frame that has
//! not come whole yet, and of a fragmented message, and gives the memory back afterwards.

use super::closed::Fault;
use super::frame::{self, Header, Kind, LARGEST_MESSAGE};

/// Bytes that a socket may keep allocated between two frames.
const KEPT: usize = 512;

/// One thing that a server said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// A whole text message.
    Text(&'a str),
    /// A whole binary message.
    Binary,
    /// To be answered with a pong of the same payload.
    Ping(&'a [u8]),
    /// An answer to nothing: this client sends no pings.
    Pong,
    /// To be answered with a close frame; nothing after it counts.
    Close(Option<u16>),
}

/// What a connection holds of what has not come whole.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// The beginning of a frame.
    partial: Vec<u8>,
    /// The beginning of a fragmented message, and whether it is text.
    message: Vec<u8>,
    fragmented: Option<Kind>,
    ended: bool,
}

impl Assembly {
    /// Takes what was read and hands on every item that it completes.
    pub(super) fn feed(&mut self, mut bytes: &[u8], on: &mut impl FnMut(Item<'_>)) -> Result<(), Fault> {
        while !bytes.is_empty() && !self.ended {
            if !self.partial.is_empty() {
                bytes = self.complete(bytes, on)?;
                continue;
            }
            match frame::header(bytes)? {
                Some(head) if bytes.len() - head.size >= head.payload => {
                    let (whole, rest) = bytes.split_at(head.size + head.payload);
                    self.frame(head, &whole[head.size..], on)?;
                    bytes = rest;
                }
                _ => {
                    self.partial.extend_from_slice(bytes);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Adds to the frame that has begun no more than it needs; returns what is left.
    fn complete<'a>(&mut self, bytes: &'a [u8], on: &mut impl FnMut(Item<'_>)) -> Result<&'a [u8], Fault> {
        let head = frame::header(&self.partial)?;
        // Byte by byte until the header is whole: it is at most ten.
        let wanted = head.map_or(1, |h| h.size + h.payload - self.partial.len());
        let (more, rest) = bytes.split_at(wanted.min(bytes.len()));
        self.partial.extend_from_slice(more);
        if let Some(head) = frame::header(&self.partial)?
            && self.partial.len() == head.size + head.payload
        {
            let mut whole = std::mem::take(&mut self.partial);
            self.frame(head, &whole[head.size..], on)?;
            whole.clear();
            if whole.capacity() <= KEPT {
                self.partial = whole;
            }
        }
        Ok(rest)
    }

    fn frame(&mut self, head: Header, payload: &[u8], on: &mut impl FnMut(Item<'_>)) -> Result<(), Fault> {
        match (head.kind, self.fragmented) {
            (Kind::Ping, _) => on(Item::Ping(payload)),
            (Kind::Pong, _) => on(Item::Pong),
            (Kind::Close, _) => {
                self.ended = true;
                on(Item::Close(close_code(payload)?));
            }
            (Kind::Continuation, None) => {
                return Err(Fault::Protocol("a continuation of nothing"));
            }
            (Kind::Text | Kind::Binary, Some(_)) => {
                return Err(Fault::Protocol("a message began inside another"));
            }
            (kind, None) if head.last => message(kind, payload, on)?,
            (kind, None) => {
                self.fragmented = Some(kind);
                self.message.extend_from_slice(payload);
            }
            (Kind::Continuation, Some(kind)) => {
                if self.message.len() + payload.len() > LARGEST_MESSAGE {
                    return Err(Fault::Oversized);
                }
                self.message.extend_from_slice(payload);
                if head.last {
                    let whole = std::mem::take(&mut self.message);
                    self.fragmented = None;
                    message(kind, &whole, on)?;
                }
            }
        }
        Ok(())
    }

    /// Whether bytes of something unfinished are held.
    pub(super) fn is_partial(&self) -> bool {
        !self.partial.is_empty() || self.fragmented.is_some()
    }

    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        self.partial.capacity() + self.message.capacity()
    }
}

fn message(kind: Kind, payload: &[u8], on: &mut impl FnMut(Item<'_>)) -> Result<(), Fault> {
    if kind == Kind::Text {
        on(Item::Text(std::str::from_utf8(payload).map_err(|_| Fault::NotUtf8)?));
    } else {
        on(Item::Binary);
    }
    Ok(())
}

fn close_code(payload: &[u8]) -> Result<Option<u16>, Fault> {
    match payload {
        [] => Ok(None),
        [high, low, ..] => Ok(Some(u16::from_be_bytes([*high, *low]))),
        [_] => Err(Fault::Protocol("a close frame with half a code")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A server's frame.
    fn frame(last: bool, kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![kind | if last { 0x80 } else { 0 }];
        match payload.len() {
            n if n < 126 => out.push(u8::try_from(n).unwrap()),
            n if n < 65_536 => {
                out.push(126);
                out.extend_from_slice(&u16::try_from(n).unwrap().to_be_bytes());
            }
            n => {
                out.push(127);
                out.extend_from_slice(&(n as u64).to_be_bytes());
            }
        }
        out.extend_from_slice(payload);
        out
    }

    /// What comes of bytes that are read in pieces of these sizes, in turn.
    fn said(bytes: &[u8], pieces: &[usize]) -> (Vec<String>, Result<(), Fault>, Assembly) {
        let mut assembly = Assembly::default();
        let mut items = Vec::new();
        let mut rest = bytes;
        let mut sizes = pieces.iter().cycle();
        while !rest.is_empty() {
            let (piece, left) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
            let read = assembly.feed(piece, &mut |item| items.push(format!("{item:?}")));
            if read.is_err() {
                return (items, read, assembly);
            }
            rest = left;
        }
        (items, Ok(()), assembly)
    }

    fn conversation() -> Vec<u8> {
        let long = "x".repeat(300);
        [
            frame(true, 1, "héllo".as_bytes()),
            frame(true, 1, long.as_bytes()),
            // A fragmented message with a ping inside, split inside the two bytes of `é`.
            frame(false, 1, &"né".as_bytes()[..2]),
            frame(true, 9, b"are you there"),
            frame(false, 0, &"né".as_bytes()[2..]),
            frame(true, 0, b"!"),
            frame(true, 2, b"\x00\xff"),
            frame(true, 10, b""),
            frame(true, 1, "y".repeat(70_000).as_bytes()),
            frame(true, 8, &1001_u16.to_be_bytes()),
            frame(true, 1, b"after the end"),
        ]
        .concat()
    }

    #[test]
    fn any_split_of_the_bytes_gives_the_same_items() {
        let bytes = conversation();
        let (whole, ok, _) = said(&bytes, &[usize::MAX]);
        assert_eq!(ok, Ok(()));
        assert_eq!(whole.len(), 8);
        assert_eq!(whole[0], "Text(\"héllo\")");
        assert!(whole[2].starts_with("Ping"));
        assert_eq!(whole[3], "Text(\"né!\")");
        assert_eq!(whole[7], "Close(Some(1001))", "and nothing after it");
        for piece in [1, 2, 3, 7, 126, 4096] {
            assert_eq!(said(&bytes, &[piece]).0, whole, "{piece} bytes a read");
        }
    }

    proptest! {
        #[test]
        fn so_does_any_random_split(pieces in prop::collection::vec(1_usize..2000, 1..40)) {
            let bytes = conversation();
            prop_assert_eq!(said(&bytes, &pieces).0, said(&bytes, &[usize::MAX]).0);
        }
    }

    #[test]
    fn a_socket_at_rest_holds_next_to_nothing() {
        let frames = [frame(true, 1, "y".repeat(70_000).as_bytes()), frame(true, 1, b"short")].concat();
        let (_, _, assembly) = said(&frames, &[4096]);
        assert!(!assembly.is_partial());
        assert!(assembly.heap_bytes() <= 2 * KEPT, "{} bytes", assembly.heap_bytes());
        let (_, _, assembly) = said(&frames[..frames.len() - 1], &[4096]);
        assert!(assembly.is_partial());
    }

    #[test]
    fn what_breaks_the_protocol_is_named() {
        let text = |bytes: &[u8]| said(bytes, &[usize::MAX]).1.unwrap_err().to_string();
        assert!(text(&frame(true, 0, b"x")).contains("continuation"));
        assert!(text(&[frame(false, 1, b"a"), frame(true, 1, b"b")].concat()).contains("inside another"));
        assert!(text(&frame(true, 8, b"x")).contains("half a code"));
        assert_eq!(said(&frame(true, 1, b"\xff\xfe"), &[1]).1, Err(Fault::NotUtf8));
        // Half a character at the very end of a message is no text either.
        assert_eq!(said(&frame(true, 1, &"é".as_bytes()[..1]), &[1]).1, Err(Fault::NotUtf8));
        let huge: Vec<u8> = std::iter::once(frame(false, 1, &vec![b'x'; LARGEST_MESSAGE]))
            .chain([frame(true, 0, b"x")])
            .flatten()
            .collect();
        assert_eq!(said(&huge, &[1 << 20]).1, Err(Fault::Oversized));
        let masked = [0x81, 0x81, 1, 2, 3, 4, b'x'];
        assert_eq!(said(&masked, &[1]).1, Err(Fault::Protocol("the server masked a frame")));
    }
}
