//! How a consumer comes to a session: what it subscribes to, when it comes and goes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::ear::{AWAY, Ear, Messages};
use super::renderer::{Dim, Draws, Resets};
use super::{Consumer, Feed};
use crate::session_feed::agent::Streamed;
use crate::session_feed::bus::{Listener, SESSION_EVENT, SessionId};
use crate::session_feed::chunk::Chunk;
use crate::session_feed::fault::Fault;
use crate::session_feed::harness::{Harness, Ordinal};
use crate::session_feed::profile::{LiveStream, Traits};
use crate::session_feed::queue::Mailbox;

/// What stands between a feed and its listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queues {
    /// Nothing: the bus calls them.
    None,
    /// A queue each, without a bound.
    Unbounded,
    /// A queue each, for so many events.
    Bounded(usize),
}

/// A consumer in its place.
pub struct Attendance<'h> {
    harness: &'h Harness,
    session: SessionId,
    feed: Feed,
    /// What it keeps.
    pub ear: Rc<Ear>,
    queues: Queues,
    /// The queues, log feed first, where feeds have them.
    pub mailboxes: Vec<(Feed, Rc<Mailbox>)>,
    joins: Option<Ordinal>,
    leaves: Option<Ordinal>,
    returns: Option<Ordinal>,
    /// Whether it is there now.
    there: Cell<bool>,
    listener: RefCell<Option<Rc<dyn Listener>>>,
    messages: Option<Rc<dyn Listener>>,
}

/// Brings a consumer to a session of `total` chunks. None for who reads the stored log.
pub fn attend<'h>(
    harness: &'h Harness,
    session: SessionId,
    consumer: Consumer,
    traits: &Traits,
    fault: Fault,
    total: u64,
) -> Option<Attendance<'h>> {
    let feed = consumer.feed(traits)?;
    let queues = match fault {
        Fault::Queued(None) => Queues::Unbounded,
        Fault::Queued(Some(most)) => Queues::Bounded(usize::try_from(most).unwrap_or(usize::MAX)),
        _ => Queues::None,
    };
    let ear = Ear::new(consumer, session);
    let mut attendance = Attendance {
        harness,
        session,
        feed,
        ear,
        queues,
        mailboxes: Vec::new(),
        joins: (consumer == Consumer::LateJoiner).then_some(total / 2),
        leaves: (consumer == Consumer::Reconnecting).then_some(total / 3),
        returns: (consumer == Consumer::Reconnecting).then_some(2 * total / 3),
        there: Cell::new(consumer != Consumer::LateJoiner),
        listener: RefCell::default(),
        messages: None,
    };
    // Committed messages are on the log alone, and whoever follows another feed can read them there all the same.
    if feed != Feed::Log && consumer.streams() {
        attendance.messages = Some(Rc::new(Messages(attendance.ear.clone())));
    }
    let two_listeners = consumer == Consumer::Renderer && traits.live.stream == LiveStream::Chunks;
    let (log_too, main): (Option<Rc<dyn Listener>>, Rc<dyn Listener>) =
        if two_listeners && Feed::Log.streams(traits) {
            let dim = Rc::new(Dim::default());
            (
                Some(Rc::new(Resets { dim: dim.clone(), session })),
                Rc::new(Draws { dim, ear: attendance.ear.clone() }),
            )
        } else {
            (None, attendance.ear.clone())
        };
    if let Some(resets) = log_too {
        let resets = attendance.behind_a_queue(Feed::Log, resets);
        harness.on(SESSION_EVENT, resets);
    }
    let main = attendance.behind_a_queue(feed, main);
    *attendance.listener.borrow_mut() = Some(main.clone());
    if attendance.joins.is_none() {
        harness.on(feed.event(), main);
        attendance.hears_messages();
    }
    Some(attendance)
}

impl Attendance<'_> {
    fn behind_a_queue(&mut self, feed: Feed, listener: Rc<dyn Listener>) -> Rc<dyn Listener> {
        let capacity = match self.queues {
            Queues::None => return listener,
            Queues::Unbounded => None,
            Queues::Bounded(most) => Some(most),
        };
        let mailbox = Mailbox::new(listener, capacity, feed.pace_ms());
        self.harness.add_timed(mailbox.clone());
        self.mailboxes.push((feed, mailbox.clone()));
        mailbox
    }

    fn hears_messages(&self) {
        if let Some(messages) = &self.messages {
            self.harness.on(SESSION_EVENT, messages.clone());
        }
    }

    /// The session is over, with its process still there: who had not come yet, or had left, comes now.
    pub fn session_ended(&self) {
        if self.there.get() {
            return;
        }
        if self.joins.is_some() { self.join() } else { self.come_back() }
    }

    fn join(&self) {
        self.there.set(true);
        self.catches_up();
        if let Some(listener) = self.listener.borrow().clone() {
            self.harness.on(self.feed.event(), listener);
        }
        self.hears_messages();
    }

    fn leave(&self) {
        self.there.set(false);
        self.ear.set_away(true);
    }

    fn come_back(&self) {
        self.there.set(true);
        self.ear.set_away(false);
        self.catches_up();
    }

    /// Comes, or comes back, before chunk `at`: with what the variant offers to somebody who missed the beginning.
    fn catches_up(&self) {
        match self.feed {
            Feed::Log => {
                let cursor = self.ear.seen().cursor;
                let missed = self.harness.since(self.session, cursor);
                let noted = self.harness.noted();
                let of: BTreeMap<_, _> = noted
                    .appended
                    .iter()
                    .filter(|(_, s, _)| *s == self.session)
                    .map(|(o, _, seq)| (*seq, *o))
                    .collect();
                self.ear.catch_up(self.harness, &missed, &|seq| of.get(&seq).copied());
            }
            Feed::Frames => self.ear.take_prefix(self.harness, &self.harness.prefix(self.session)),
            // A live event is gone once it was emitted.
            Feed::Chunks => {}
        }
    }

    /// Why a chunk that went out did not come to it, if it was not there.
    pub fn not_there(&self, ordinal: Ordinal) -> Option<&'static str> {
        let before_joining = self.joins.is_some_and(|joins| ordinal < joins);
        let between = |from: Ordinal, to: Ordinal| (from..to).contains(&ordinal);
        if before_joining {
            Some("not_joined")
        } else if self.leaves.zip(self.returns).is_some_and(|(from, to)| between(from, to)) {
            Some(AWAY)
        } else {
            None
        }
    }

    /// The feed that it listens to.
    pub fn feed(&self) -> Feed {
        self.feed
    }
}

impl Streamed for Attendance<'_> {
    fn streamed(&self, ordinal: Ordinal, _: &Chunk) {
        if self.joins == Some(ordinal) {
            self.join();
        }
        if self.leaves == Some(ordinal) {
            self.leave();
        }
        if self.returns == Some(ordinal) {
            self.come_back();
        }
    }
}
