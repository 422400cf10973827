//! Exact counts of what a store was given and what it made of it.

use serde::{Deserialize, Serialize};

use super::super::event::{Body, Event};

/// What a store has written. Counts, so that they may be compared exactly between runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Bytes: of the whole file for JSON lines, of the rows' text for SQLite, whose pages are its own affair.
    pub bytes: u64,
    /// Durable batches.
    pub batches: u64,
    /// Times that data was synced, one a batch; the folder's sync when the file first appears is not counted.
    pub fsyncs: u64,
    /// Physical rows.
    pub rows: u64,
    /// Those that hold three events or more.
    pub packed_rows: u64,
    /// Events.
    pub events: u64,
    /// Chunks: `assistant/chunk` events, and chunks embedded in messages and attempts.
    pub chunks: u64,
}

/// The chunks that an event makes durable.
pub(super) fn chunks(event: &Event) -> u64 {
    match &event.body {
        Body::Chunk(..) => 1,
        Body::Message(message) => message.stream.as_ref().map_or(0, |s| s.len() as u64),
        Body::Attempt(attempt) => attempt.stream.len() as u64,
        _ => 0,
    }
}

impl std::ops::AddAssign for Written {
    fn add_assign(&mut self, other: Written) {
        self.bytes += other.bytes;
        self.batches += other.batches;
        self.fsyncs += other.fsyncs;
        self.rows += other.rows;
        self.packed_rows += other.packed_rows;
        self.events += other.events;
        self.chunks += other.chunks;
    }
}
