//! Why a socket is closed.

use std::fmt;

/// What a server did that ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Fault {
    /// It broke RFC 6455.
    #[error("protocol error: {0}")]
    Protocol(&'static str),
    /// A message is longer than 16 MiB.
    #[error("a message is longer than 16 MiB")]
    Oversized,
    /// A text message is not UTF-8.
    #[error("a text message is not UTF-8")]
    NotUtf8,
}

impl Fault {
    /// The close code that a client answers with (RFC 6455, section 7.4.1).
    pub(super) fn code(self) -> u16 {
        match self {
            Fault::Protocol(_) => 1002,
            Fault::NotUtf8 => 1007,
            Fault::Oversized => 1009,
        }
    }
}

/// Why a socket that had been open is closed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closed {
    /// The server sent a close frame, with a code or without.
    ByServer(Option<u16>),
    /// The server ended the stream without a close frame.
    EndOfStream,
    /// The connection broke; the operating system's word for it.
    Broken(String),
    /// The server sent what it must not.
    Fault(Fault),
    /// On purpose: the socket was told to die.
    Died,
}

impl Closed {
    /// Whether it was this side's own doing.
    pub fn on_purpose(&self) -> bool {
        matches!(self, Closed::Died)
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Closed::ByServer(Some(code)) => write!(f, "closed by the server with code {code}"),
            Closed::ByServer(None) => f.write_str("closed by the server without a code"),
            Closed::EndOfStream => f.write_str("ended by the server without a close frame"),
            Closed::Broken(what) => write!(f, "broken: {what}"),
            Closed::Fault(fault) => fault.fmt(f),
            Closed::Died => f.write_str("closed on purpose"),
        }
    }
}
