//! Reads a log of JSON lines: which frames are whole, what may be dropped at the end, and what makes it no log.

use serde_json::Value;

use super::super::frame::{FORMAT, FRAME, Frame, Header, VERSION};
use super::super::row::TURN_END;
use super::fault::{Kept, Position, Problem, plain};
use super::gather::{Declared, Fault, Gather};
use super::{Dropped, Torn};

/// Where the reader is.
#[derive(Debug, Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> Reader<'a> {
    fn position(&self) -> Position {
        Position::Line { line: self.line, byte: self.at as u64 }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next line without its end; none if the bytes end before the line does.
    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let end = rest.iter().position(|b| *b == b'\n')?;
        self.at += end + 1;
        self.line += 1;
        Some(&rest[..end])
    }
}

/// The header, the events of every frame that is whole, and what was dropped behind them.
pub(super) fn read(bytes: &[u8]) -> Result<(Header, Gather, Option<Dropped>), Fault> {
    let mut reader = Reader { bytes, at: 0, line: 1 };
    let begin = reader.position();
    let header =
        reader.line().ok_or(Problem::NotALog).and_then(header).map_err(|problem| (begin, problem))?;
    let mut gather = Gather::default();
    let mut dropped = None;
    for number in 0.. {
        let start = reader;
        if start.rest().is_empty() {
            break;
        }
        match frame(&mut reader, number).map_err(|problem| (start.position(), problem))? {
            Ok((declared, rows)) => gather.batch(&declared, &rows)?,
            Err(why) => {
                dropped = Some(Dropped { at: start.position(), bytes: start.rest().len() as u64, why });
                reader = start;
                break;
            }
        }
    }
    gather.read.bytes = reader.at as u64;
    Ok((header, gather, dropped))
}

/// The header of a line without its end.
pub(super) fn header(line: &[u8]) -> Result<Header, Problem> {
    let value: Value = serde_json::from_slice(line).map_err(|_| Problem::NotALog)?;
    let Value::String(format) = &value["format"] else { return Err(Problem::NotALog) };
    if format != FORMAT {
        return Err(Problem::Format(plain(format)));
    }
    if let Some(version) = value["version"].as_u64().filter(|v| *v != u64::from(VERSION)) {
        return Err(Problem::Version(version));
    }
    if line.ends_with(b"\r") {
        return Err(Problem::Crlf);
    }
    // One way to write it: a line that is not that has a wrong checksum, or was written by nobody here.
    let read: Option<Header> = serde_json::from_value(value).ok();
    let read = read.filter(|header| header.line().strip_suffix('\n').map(str::as_bytes) == Some(line));
    read.ok_or(Problem::Header)
}

type Whole<'a> = (Declared, Vec<(Position, &'a [u8])>);

/// The next frame, or why it and all that follows may be dropped, or why the log is refused.
fn frame<'a>(reader: &mut Reader<'a>, number: u64) -> Result<Result<Whole<'a>, Torn>, Problem> {
    let start = *reader;
    let at = start.position();
    let Some(line) = reader.line() else {
        // A line without an end is the last thing that was written, or a damaged one that took its end with it.
        return match damage(start.rest()) {
            Some(why) => Err(Problem::FrameLine { frame: number, why }),
            None => Ok(Err(Torn::Short)),
        };
    };
    let Some(frame) = Frame::read(line) else {
        return match damage(start.rest()) {
            Some(why) => Err(Problem::FrameLine { frame: number, why }),
            None => Ok(Err(Torn::Line)),
        };
    };
    if frame.number != number {
        return Err(Problem::Frame { expected: number, found: frame.number });
    }
    let length = usize::try_from(frame.bytes).unwrap_or(usize::MAX);
    let Some(text) = reader.rest().get(..length) else {
        // Its line is whole, so that the end of the file is the end of what was written: nobody was told that this batch
        // is durable, whatever is in it.
        return if frames_in(start.rest()) {
            Err(Problem::Count {
                frame: number,
                what: "bytes of rows",
                expected: frame.bytes,
                found: reader.rest().len() as u64,
            })
        } else {
            Ok(Err(Torn::Short))
        };
    };
    let crc = crc32fast::hash(text);
    if crc != frame.crc {
        let more = reader.rest().len() > length;
        let why = if more {
            Kept::FramesFollow
        } else if frame.ends > 0 {
            Kept::TurnEnds
        } else {
            return Ok(Err(Torn::Rows));
        };
        return Err(Problem::Checksum { frame: number, expected: frame.crc, found: crc, why });
    }
    let end = reader.at + length;
    let mut rows = Vec::new();
    while reader.at < end {
        let position = reader.position();
        // The checksum fits: a batch without a line end at its end was written so.
        let row = reader.line().filter(|_| reader.at <= end);
        rows.push((
            position,
            row.ok_or_else(|| Problem::Row("its line does not end in the frame".to_owned()))?,
        ));
    }
    let Frame { first, events, ends, .. } = frame;
    Ok(Ok((Declared { at, number, first, events, ends }, rows)))
}

/// Why the damaged bytes from a frame line on may not be dropped.
fn damage(bytes: &[u8]) -> Option<Kept> {
    if frames_in(bytes) {
        Some(Kept::FramesFollow)
    } else if contains(bytes, TURN_END) {
        Some(Kept::TurnEnds)
    } else {
        None
    }
}

/// Whether a line after the first one begins a frame.
fn frames_in(bytes: &[u8]) -> bool {
    bytes.windows(FRAME.len() + 1).any(|window| window[0] == b'\n' && &window[1..] == FRAME)
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}
