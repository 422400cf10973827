//! A batch as it is written: the line that begins it, and its rows. The same for every store.

use std::rc::Rc;

use super::super::event::{Body, Event, Seq};
use super::frame::Frame;
use super::row;
use super::written::{Written, chunks};

/// The text of a batch. Kept from one to the next for its memory.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The rows, each with its line end.
    pub(super) rows: Vec<u8>,
    /// The line that begins it, with its end.
    pub(super) line: String,
}

impl Batch {
    /// Makes it the text of batch `number` and says what was counted; `bytes` is for the store to say. The events
    /// must be contiguous.
    pub(super) fn encode(
        &mut self,
        events: &[Rc<Event>],
        number: u64,
        packed: bool,
    ) -> serde_json::Result<Written> {
        self.rows.clear();
        let mut wrote = Written { batches: 1, fsyncs: 1, events: events.len() as u64, ..Written::default() };
        let mut rest = events;
        while !rest.is_empty() {
            let length = row::write(rest, packed, &mut self.rows)?;
            self.rows.push(b'\n');
            wrote.rows += 1;
            wrote.packed_rows += u64::from(length > 1);
            rest = &rest[length..];
        }
        wrote.chunks = events.iter().map(|event| chunks(event)).sum();
        let frame = Frame {
            number,
            first: events.first().map_or(0, |event| event.seq),
            events: wrote.events,
            ends: events.iter().filter(|event| matches!(event.body, Body::TurnEnd(..))).count() as u64,
            bytes: self.rows.len() as u64,
            crc: crc32fast::hash(&self.rows),
        };
        self.line = frame.line();
        Ok(wrote)
    }
}

/// The first seq of `batch` that does not go on from `next`, as what was expected and what was found.
pub(super) fn gap(next: Seq, batch: &[Rc<Event>]) -> Option<(Seq, Seq)> {
    (next..).zip(batch).find_map(|(expected, event)| (event.seq != expected).then_some((expected, event.seq)))
}
