//! The lines of a log file that are not rows: the header, and the line that begins a frame.
//!
//! Both end in a checksum of themselves, and there is one way to write them, so that a line that is not exactly what it
//! would be written as is a damaged one.

use serde::{Deserialize, Serialize};

use super::super::event::Seq;

/// What the header calls the format.
pub const FORMAT: &str = "skewlab-session-log";
/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// The first line of a log file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The session.
    pub session: String,
}

impl Header {
    /// The header of a session's log, as it is written today.
    pub fn new(session: &str) -> Header {
        Header { format: FORMAT.to_owned(), version: VERSION, session: session.to_owned() }
    }

    /// The line, with its end.
    pub(super) fn line(&self) -> String {
        checked(serde_json::to_string(self).unwrap_or_default())
    }
}

/// How the line of a frame begins.
pub(super) const FRAME: &[u8] = b"{\"frame\":";

/// The line before the rows of a durable batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Frame {
    /// Its number, from 0. The first key, by which the line is known.
    #[serde(rename = "frame")]
    pub(super) number: u64,
    /// The first seq.
    pub(super) first: Seq,
    /// Its events.
    pub(super) events: u64,
    /// How many of them end a turn: a damaged frame in which a turn ended is never dropped, one that was cut is.
    pub(super) ends: u64,
    /// Its rows' bytes, line ends included.
    pub(super) bytes: u64,
    /// CRC-32 of these.
    pub(super) crc: u32,
}

impl Frame {
    /// The line, with its end.
    pub(super) fn line(&self) -> String {
        checked(serde_json::to_string(self).unwrap_or_default())
    }

    /// The frame of a line without its end; none if the line is damaged.
    pub(super) fn read(line: &[u8]) -> Option<Frame> {
        let frame: Frame = serde_json::from_slice(line).ok()?;
        (frame.line().strip_suffix('\n')?.as_bytes() == line).then_some(frame)
    }
}

/// An object's JSON text with the checksum of itself as its last field, as a line.
fn checked(mut object: String) -> String {
    let sum = crc32fast::hash(object.as_bytes());
    object.pop();
    object + &format!(",\"sum\":\"{sum:08x}\"}}\n")
}
