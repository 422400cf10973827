//! Why a log is refused, and where.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::super::super::event::Seq;
use super::super::frame::{FORMAT, VERSION};
use super::super::provenance::Why;

/// A place in a stored log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// In a file of JSON lines.
    Line {
        /// The line, from 1.
        line: u64,
        /// Bytes before the line.
        byte: u64,
    },
    /// In a database.
    Row {
        /// The batch, from 0.
        batch: u64,
        /// The row within it, from 0.
        row: u64,
    },
    /// The file as a whole.
    File,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Line { line, byte } => write!(f, "line {line} (byte {byte})"),
            Position::Row { batch, row } => write!(f, "batch {batch}, row {row}"),
            Position::File => f.write_str("the file"),
        }
    }
}

/// A log that was not loaded. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },
    /// It can be read, and is no log or none that can be trusted.
    #[error("{}: {at}: {problem}", path.display())]
    Refused {
        /// The file, or `memory`.
        path: PathBuf,
        /// Where.
        at: Position,
        /// What is wrong there.
        problem: Problem,
    },
}

/// What is wrong at a place of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The first line is no header at all.
    #[error("not a session log: expected a header line with \"format\":\"{FORMAT}\"")]
    NotALog,
    /// It is a database, and this program was built without the feature that reads one.
    #[error("this is an SQLite file, and skewlab was built without the feature `sqlite` that reads one")]
    NeedsSqlite,
    /// The header names another format.
    #[error("expected the format `{FORMAT}`, found `{0}`")]
    Format(String),
    /// The header names a version that is not read here.
    #[error("expected version {VERSION} of the format, found {0}")]
    Version(u64),
    /// The lines end in a carriage return as well: somebody's editor or transfer took the log for text.
    #[error(
        "the line ends in CRLF (a carriage return before the newline): expected LF alone; a log that was converted as text \
         does not match its own checksums, and is to be copied again as it was written"
    )]
    Crlf,
    /// The header is damaged.
    #[error("the header does not match its own checksum")]
    Header,
    /// A frame that is not the next one.
    #[error("expected frame {expected}, found frame {found}")]
    Frame {
        /// The number that comes next.
        expected: u64,
        /// The one that stands there.
        found: u64,
    },
    /// The line that begins a frame is damaged, and it is not at the end of the log.
    #[error("expected the line of frame {frame} with a checksum that fits{why}")]
    FrameLine {
        /// The frame that comes next.
        frame: u64,
        /// Why it is not dropped as the torn end of the log.
        why: Kept,
    },
    /// The rows of a frame are damaged, and they are not at the end of the log.
    #[error("the rows of frame {frame}: expected the checksum {expected:08x}, found {found:08x}{why}")]
    Checksum {
        /// The frame.
        frame: u64,
        /// CRC-32 that the frame's line names.
        expected: u32,
        /// CRC-32 of the rows.
        found: u32,
        /// Why they are not dropped as the torn end of the log.
        why: Kept,
    },
    /// The frame holds something else than its line says, and its checksum fits: it was written so.
    #[error("frame {frame}: expected {expected} {what}, found {found}")]
    Count {
        /// The frame.
        frame: u64,
        /// Of what.
        what: &'static str,
        /// What the line says.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// A row that is no event, and no packed run of them.
    #[error("expected an event: {0}")]
    Row(String),
    /// Events are missing.
    #[error("a hole in the log: expected seq {expected}, found {found}")]
    Hole {
        /// The seq that comes next.
        expected: Seq,
        /// The one that stands there.
        found: Seq,
    },
    /// An event that is there already.
    #[error("a repeated seq: expected {expected}, found {found} once more")]
    Duplicate {
        /// The seq that comes next.
        expected: Seq,
        /// The one that stands there.
        found: Seq,
    },
    /// The end of a turn or a step that is not the one that is open.
    #[error("the end of {what}, and {open} open")]
    NotOpen {
        /// What it ends.
        what: String,
        /// What is open, with its verb.
        open: String,
    },
    /// A message that cites what it cannot be made of.
    #[error(
        "the message with seq {message} cites seq {cited}, {why}: expected an earlier chunk of its own step"
    )]
    Dangling {
        /// The message.
        message: Seq,
        /// What it cites.
        cited: Seq,
        /// What is wrong with it.
        why: Why,
    },
    /// The database is shorter than it says.
    #[error("the SQLite file is truncated: expected {expected} bytes, found {found}")]
    Truncated {
        /// Bytes by its own header.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// The database cannot be read, or is not one of ours.
    #[error("SQLite: {0}")]
    Database(String),
}

/// Why damage is no torn end of a log that may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// More frames come after it.
    FramesFollow,
    /// A turn ends in it.
    TurnEnds,
    /// The store has no torn end: its batches are there or not.
    Atomic,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kept::FramesFollow => "; more frames follow, so this is no torn end",
            Kept::TurnEnds => "; a turn ends in it, so it is not dropped",
            Kept::Atomic => "",
        })
    }
}

/// Text of a log in a message: a terminal gets no control character from a file.
pub(super) fn plain(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    text.chars().flat_map(escaped).collect()
}
