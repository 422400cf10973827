//! Takes every appended event and decides when the pending ones are written.

use std::rc::Rc;

use super::super::event::{Event, Seq};
use super::policy::FlushPolicy;
use super::{Store, StoreError, Written};

/// One session's way to its store. Time is handed in and nothing here waits.
///
/// A batch that could not be written stays pending, in order, and nothing is written by itself any more until a
/// [`barrier`](Coordinator::barrier) got everything through. Source: the deepseek-harness, note of 2026-08-08.
#[derive(Debug)]
pub struct Coordinator<S> {
    store: S,
    policy: FlushPolicy,
    pending: Vec<Rc<Event>>,
    /// When the first pending event came.
    since: u64,
    paused: bool,
}

impl<S: Store> Coordinator<S> {
    /// A coordinator before a store.
    pub fn new(store: S, policy: FlushPolicy) -> Coordinator<S> {
        Coordinator { store, policy, pending: Vec::new(), since: 0, paused: false }
    }

    /// Takes an event that was appended at `now`, in milliseconds. A window that had run out by then is written first,
    /// as its timer would have done, without the event.
    ///
    /// The event is taken in any case; an error is about a batch that was due.
    pub fn offer(&mut self, event: Rc<Event>, now: u64) -> Result<(), StoreError> {
        let ticked = self.tick(now);
        let at_once = self.policy.at_once(&event);
        if self.pending.is_empty() {
            self.since = now;
        }
        self.pending.push(event);
        ticked?;
        if at_once && !self.paused { self.flush() } else { Ok(()) }
    }

    /// Writes what is pending if its window has run out at `now`.
    pub fn tick(&mut self, now: u64) -> Result<(), StoreError> {
        if self.due().is_some_and(|due| due <= now) { self.flush() } else { Ok(()) }
    }

    /// When the next [`tick`](Coordinator::tick) has something to do; none while nothing is due by time.
    pub fn due(&self) -> Option<u64> {
        if self.pending.is_empty() || self.paused { None } else { self.policy.due(self.since) }
    }

    /// Writes everything that is pending, and returns once it is durable. After a failure this is also what tries again.
    pub fn barrier(&mut self) -> Result<(), StoreError> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let flushed = self.store.append(&self.pending);
        self.paused = flushed.is_err();
        if flushed.is_ok() {
            self.pending.clear();
        }
        flushed
    }

    /// Events that are not durable yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Events that are durable: the seq that the next batch begins with.
    pub fn durable(&self) -> Seq {
        self.store.next()
    }

    /// Whether a batch failed and nothing is written until the next barrier.
    pub fn paused(&self) -> bool {
        self.paused
    }

    /// What the store has written.
    pub fn written(&self) -> Written {
        self.store.written()
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The store, once what is still pending may be lost.
    pub fn into_store(self) -> S {
        self.store
    }
}
