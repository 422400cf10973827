//! Where a session log becomes durable: batches of events, synced before anybody is told so.
//!
//! The log itself is in memory and gets every event at once. A [`Coordinator`] takes each appended event and decides, by
//! its [`FlushPolicy`], when the pending ones are written as one batch to a [`Store`]. What is pending when the process
//! dies is lost; what a store has acknowledged is not. Two stores: JSON lines in frames with checksums
//! ([`JsonlStore`]), and SQLite (feature `sqlite`). [`load::load`] reads either back, refuses what is not a session log
//! any more, and repairs what a crash leaves. Source: the deepseek-harness, notes of 2026-07-21 (checkpoints), 07-26
//! (packed rows), 08-08 (write batching) and 08-18 (SQLite).

mod batch;
mod coordinator;
pub mod crash;
mod error;
mod frame;
mod jsonl;
mod kind;
pub mod load;
mod medium;
mod pack;
mod policy;
pub mod provenance;
mod row;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(test)]
mod tests;
mod written;

use std::rc::Rc;

pub use coordinator::Coordinator;
pub use error::StoreError;
pub use frame::{FORMAT, Header, VERSION};
pub use jsonl::JsonlStore;
pub use kind::StoreKind;
pub use load::{LoadError, Loaded, load, load_lines};
pub use medium::{LogFile, Medium, Memory};
pub use pack::{PACKED_BYTES, PACKED_EVENTS, PACKED_FROM};
pub use policy::{FlushPolicy, PolicyError};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use written::Written;

use super::event::{Event, Seq};

/// Something that keeps batches.
pub trait Store {
    /// Writes the batch and returns once it is durable. An empty batch is written as nothing.
    ///
    /// The batch must go on where the last one ended; a hole or a repetition is refused. After an error nothing of the
    /// batch is in the store.
    fn append(&mut self, batch: &[Rc<Event>]) -> Result<(), StoreError>;

    /// What has been written so far, exactly.
    fn written(&self) -> Written;

    /// The seq that the next batch must begin with.
    fn next(&self) -> Seq;
}

impl<S: Store + ?Sized> Store for Box<S> {
    fn append(&mut self, batch: &[Rc<Event>]) -> Result<(), StoreError> {
        (**self).append(batch)
    }
    fn written(&self) -> Written {
        (**self).written()
    }
    fn next(&self) -> Seq {
        (**self).next()
    }
}
