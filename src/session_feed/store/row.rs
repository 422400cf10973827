//! One physical row: an event, or a packed run of them.

use std::rc::Rc;

use super::super::event::Event;
use super::pack::{Packed, pack, run};

/// How a packed row begins; an event begins with its type.
const PACKED: &[u8] = b"{\"packed\":";

/// How the row of a `turn/end` begins. A row in which it stands anywhere may be one.
pub(super) const TURN_END: &[u8] = b"{\"type\":\"turn/end\"";

/// A row's events, not yet spelled out.
#[derive(Debug)]
pub(super) enum Row {
    /// As it was appended.
    One(Box<Event>),
    /// Packed.
    Run(Packed<String>),
}

/// Writes the next row of `events`, without its line end, and says how many of them are in it.
pub(super) fn write(events: &[Rc<Event>], packed: bool, to: &mut Vec<u8>) -> serde_json::Result<usize> {
    let length = if packed { run(events) } else { 1 }.min(events.len());
    match (length, pack(&events[..length])) {
        (2.., Some(row)) => serde_json::to_writer(to, &row)?,
        _ => events.first().map_or(Ok(()), |event| serde_json::to_writer(to, &**event))?,
    }
    Ok(length)
}

/// Reads a row, or says what is wrong with it.
pub(super) fn read(row: &[u8]) -> Result<Row, String> {
    let read = if row.starts_with(PACKED) {
        serde_json::from_slice(row).map(Row::Run)
    } else {
        serde_json::from_slice(row).map(|event| Row::One(Box::new(event)))
    };
    read.map_err(|error| error.to_string())
}
