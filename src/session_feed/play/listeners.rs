//! Listeners of the rig's own: those that do nothing, the one that throws, and those that only watch.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::session_feed::bus::{Listener, Payload, Thrown};
use crate::session_feed::consumer::Feed;
use crate::session_feed::fault::Fault;
use crate::session_feed::harness::{Harness, Ordinal};
use crate::session_feed::profile::Traits;
use crate::session_feed::queue::Mailbox;

/// Does nothing.
pub(super) struct Plain;

impl Listener for Plain {
    fn hear(&self, _: &Harness, _: Payload<'_>) -> Result<(), Thrown> {
        Ok(())
    }
}

/// Throws at one chunk, counted from 1.
pub(super) struct Thrower {
    at: u64,
    threw: Cell<bool>,
}

impl Thrower {
    /// Subscribes one to every name of `names`, behind everybody who listens by then.
    pub(super) fn on(harness: &Harness, names: &[&'static str], at: u64) -> Rc<Thrower> {
        let thrower = Rc::new(Thrower { at, threw: Cell::new(false) });
        for name in names {
            harness.on(name, thrower.clone());
        }
        thrower
    }

    /// Whether the chunk ever came to it.
    pub(super) fn threw(&self) -> bool {
        self.threw.get()
    }
}

impl Listener for Thrower {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        let here = what.chunk().is_some() && harness.marked().map(|ordinal| ordinal + 1) == Some(self.at);
        self.threw.set(self.threw.get() || here);
        if here { Err(Thrown("a listener's own fault".to_owned())) } else { Ok(()) }
    }
}

/// Notes the chunks that come through one feed's queue.
#[derive(Default)]
struct Notes(RefCell<Vec<Ordinal>>);

impl Listener for Notes {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        if what.chunk().is_some() {
            self.0.borrow_mut().extend(harness.marked());
        }
        Ok(())
    }
}

/// What came through one feed.
pub(super) struct Watcher {
    pub(super) feed: Feed,
    notes: Rc<Notes>,
    mailbox: Rc<Mailbox>,
}

impl Watcher {
    /// The chunks, in the order in which they came.
    pub(super) fn got(&self) -> Vec<Ordinal> {
        self.notes.0.borrow().clone()
    }

    /// The chunks that its queue dropped.
    pub(super) fn dropped(&self) -> impl Iterator<Item = Ordinal> + use<> {
        self.mailbox.dropped().into_iter().flatten()
    }
}

/// Where feeds are queues, somebody watches each of them; a synchronous bus is watched by the harness itself.
pub(super) fn watchers(harness: &Harness, traits: &Traits, fault: Fault) -> Vec<Watcher> {
    let Fault::Queued(most) = fault else { return Vec::new() };
    let capacity = most.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
    let feeds = [Feed::Log, Feed::Chunks, Feed::Frames].into_iter().filter(|feed| feed.streams(traits));
    feeds
        .map(|feed| {
            let notes = Rc::new(Notes::default());
            let mailbox = Mailbox::new(notes.clone(), capacity, feed.pace_ms());
            harness.add_timed(mailbox.clone());
            harness.on(feed.event(), mailbox.clone());
            Watcher { feed, notes, mailbox }
        })
        .collect()
}
