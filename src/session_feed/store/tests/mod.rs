//! Tests of the store as a whole; see the files for what they ask.

mod both;
mod broken;
mod coordinator;
#[cfg(feature = "sqlite")]
mod database;
mod flips;
mod packing;

use std::rc::Rc;

use super::super::event::Event;
use super::crash::Seeded;
use super::{JsonlStore, Loaded, Memory, Store as _, load_lines};

/// The first `n` events of a seed's session.
pub(super) fn session(seed: u64, n: usize) -> Vec<Rc<Event>> {
    Seeded::new(seed).take(n).map(Rc::new).collect()
}

/// The bytes of a log with these batches.
pub(super) fn written(batches: &[&[Rc<Event>]], packed: bool) -> JsonlStore<Memory> {
    let mut store = JsonlStore::new(Memory::default(), "s", packed);
    for batch in batches {
        store.append(batch).unwrap();
    }
    store
}

pub(super) fn loaded(store: &JsonlStore<Memory>) -> Loaded {
    load_lines(store.medium().durable()).unwrap()
}
