//! The asynchronous mode: a feed reaches a listener through a queue of its own, which is drained at its own pace.
//!
//! Kept apart from the synchronous bus, for some claims hold only there: feeds that are never apart on one thread drift as
//! soon as each has a queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::bus::{Frame, Listener, Payload, SessionId, Thrown};
use super::chunk::Chunk;
use super::event::{Event, Place};
use super::harness::{Harness, Ordinal, Timed};

/// A payload that waits.
enum Waiting {
    Logged { session: SessionId, event: Rc<Event> },
    Chunk { session: SessionId, place: Place, chunk: Chunk },
    Frame { session: SessionId, frame: Frame },
}

/// A queue before a listener. It takes one event every `pace_ms`; when it is full the oldest goes.
pub struct Mailbox {
    inner: Rc<dyn Listener>,
    capacity: Option<usize>,
    pace_ms: u64,
    queue: RefCell<VecDeque<(Option<Ordinal>, Waiting)>>,
    next: Cell<Option<u64>>,
    dropped: RefCell<Vec<Option<Ordinal>>>,
}

impl Mailbox {
    /// A queue of `capacity` events (none: no bound) before `inner`.
    pub fn new(inner: Rc<dyn Listener>, capacity: Option<usize>, pace_ms: u64) -> Rc<Mailbox> {
        let (queue, dropped) = (RefCell::default(), RefCell::default());
        Rc::new(Mailbox { inner, capacity, pace_ms, queue, next: Cell::new(None), dropped })
    }

    /// The chunks that went because the queue was full; events without one are among them as none.
    pub fn dropped(&self) -> Vec<Option<Ordinal>> {
        self.dropped.borrow().clone()
    }
}

impl Listener for Mailbox {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        let waiting = match what {
            Payload::Logged { session, event } => Waiting::Logged { session, event: event.clone() },
            Payload::Chunk { session, place, chunk } => {
                Waiting::Chunk { session, place, chunk: chunk.clone() }
            }
            Payload::Frame { session, frame } => Waiting::Frame { session, frame: frame.clone() },
        };
        let mut queue = self.queue.borrow_mut();
        if self.capacity.is_some_and(|most| queue.len() >= most)
            && let Some((oldest, _)) = queue.pop_front()
        {
            self.dropped.borrow_mut().push(oldest);
        }
        queue.push_back((harness.marked(), waiting));
        if self.next.get().is_none() {
            self.next.set(Some(harness.now() + self.pace_ms));
        }
        Ok(())
    }
}

impl Timed for Mailbox {
    fn tick(&self, harness: &Harness, now: u64) {
        let first = self.queue.borrow_mut().pop_front();
        let more = !self.queue.borrow().is_empty();
        self.next.set(more.then_some(now + self.pace_ms));
        let Some((ordinal, waiting)) = first else { return };
        let before = harness.marked();
        harness.mark(ordinal);
        let what = match &waiting {
            Waiting::Logged { session, event } => Payload::Logged { session: *session, event },
            Waiting::Chunk { session, place, chunk } => {
                Payload::Chunk { session: *session, place: *place, chunk }
            }
            Waiting::Frame { session, frame } => Payload::Frame { session: *session, frame },
        };
        // Nobody is there to throw to: the emit returned long ago.
        if let Err(thrown) = self.inner.hear(harness, what) {
            harness.line(&format!("a queued listener threw: {thrown}"));
        }
        harness.mark(before);
    }

    fn due(&self) -> Option<u64> {
        self.next.get()
    }
}
