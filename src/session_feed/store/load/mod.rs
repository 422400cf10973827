//! Reads a log back, and says what was wrong with it.
//!
//! Three answers. A log that is whole is loaded. A log that a crash has cut is loaded up to the last batch that is whole, what
//! the crash left open is closed, and both are said. Everything else is refused, with the position and what was expected:
//! damage that is not at the very end, or in a batch in which a turn ended; a hole or a repetition in the seqs; the end of a
//! turn or a step that is not open; a message that cites what is not there; another format. Loading never writes.
//!
//! Cut and damaged are two things. A file that ends within its last batch was cut: the batch was never synced, nobody was told
//! that it is durable, and it is left out whatever it was to hold, the end of a turn included. Bytes that are all there and do
//! not fit their checksum were synced once and changed since: in a batch in which a turn ended they are refused, for leaving
//! it out would take back what somebody was told.

#[cfg(feature = "sqlite")]
mod database;
mod fault;
mod gather;
mod lines;
mod mend;
mod repaired;
mod summary;

use std::path::Path;
use std::rc::Rc;

pub use fault::{Kept, LoadError, Position, Problem};
pub use mend::{Dropped, Mend, Torn};
pub use repaired::{RepairError, repaired};
pub use summary::{CHECK_SCHEMA, Differs, Repair, Summary};

use super::super::event::Event;
use super::frame::Header;
use super::kind::StoreKind;
use super::written::Written;
use gather::{Fault, Gather};

/// A log that was read.
#[derive(Debug)]
pub struct Loaded {
    /// Which store it was in.
    pub kind: StoreKind,
    /// Its header.
    pub header: Header,
    /// Its events, and behind them those of the repair.
    pub events: Vec<Rc<Event>>,
    /// What is stored of it and was kept, by the same counts as those of the writer; `bytes` is where the kept part ends.
    pub stored: Written,
    /// What was repaired, in this order: what was dropped, then each event that was added. Empty for a log that is whole.
    pub mends: Vec<Mend>,
}

impl Loaded {
    fn new(
        kind: StoreKind,
        header: Header,
        gather: Gather,
        dropped: Option<Dropped>,
    ) -> Result<Loaded, Fault> {
        gather.cited()?;
        let Gather { mut events, read, .. } = gather;
        let mut mends: Vec<Mend> = dropped.map(Mend::Dropped).into_iter().collect();
        for (event, mend) in mend::closing(&events) {
            events.push(Rc::new(event));
            mends.push(mend);
        }
        Ok(Loaded { kind, header, events, stored: read, mends })
    }

    /// The events that are stored.
    pub fn stored_events(&self) -> &[Rc<Event>] {
        self.parts().0
    }

    /// The events that the repair added.
    pub fn added(&self) -> &[Rc<Event>] {
        self.parts().1
    }

    fn parts(&self) -> (&[Rc<Event>], &[Rc<Event>]) {
        let stored = usize::try_from(self.stored.events).unwrap_or(usize::MAX);
        self.events.split_at(stored.min(self.events.len()))
    }
}

/// Loads the log at `path`, of either store.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let bytes = std::fs::read(path).map_err(|error| LoadError::Read { path: path.to_owned(), error })?;
    let read = if is_database(&bytes) { from_database(path, &bytes) } else { from_lines(&bytes) };
    read.map_err(|fault| refused(path, fault))
}

/// Loads a log of JSON lines that is in memory.
pub fn load_lines(bytes: &[u8]) -> Result<Loaded, LoadError> {
    from_lines(bytes).map_err(|fault| refused(Path::new("memory"), fault))
}

fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
}

fn from_lines(bytes: &[u8]) -> Result<Loaded, Fault> {
    let (header, gather, dropped) = lines::read(bytes)?;
    Loaded::new(StoreKind::JsonLines, header, gather, dropped)
}

#[cfg(feature = "sqlite")]
fn from_database(path: &Path, bytes: &[u8]) -> Result<Loaded, Fault> {
    let (header, gather) = database::read(path, bytes)?;
    Loaded::new(StoreKind::Sqlite, header, gather, None)
}

#[cfg(not(feature = "sqlite"))]
fn from_database(_: &Path, _: &[u8]) -> Result<Loaded, Fault> {
    Err((Position::File, Problem::NeedsSqlite))
}

fn refused(path: &Path, (at, problem): Fault) -> LoadError {
    LoadError::Refused { path: path.to_owned(), at, problem }
}
