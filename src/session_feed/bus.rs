//! The event bus: synchronous, by name, in the order of subscription.
//!
//! Every public emit fires an internal dispatch first, so one emit is two dispatches of the bus. A subscription to a name
//! that nobody emits succeeds and never hears anything; nothing but a type checker would object.
//! Source: Cordis, as the harness uses it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::chunk::Chunk;
use super::event::{Body, Event, Place, Seq};
use super::harness::Harness;

/// The name under which the log announces every append.
pub const SESSION_EVENT: &str = "session/event";
/// The name of the live event that mirrored each chunk, removed on 2026-07-02 (b84d4828a8).
pub const STREAM_CHUNK: &str = "agent/stream-chunk";
/// The name of the transient stream of frames (format v2, 2026-09-01).
pub const ASSISTANT_STREAM: &str = "agent/assistant-stream";

/// A session, by its place among those of the harness.
pub type SessionId = u32;

/// What an emit hands to listeners.
#[derive(Debug, Clone, Copy)]
pub enum Payload<'a> {
    /// `session/event`
    Logged {
        /// Whose log.
        session: SessionId,
        /// What was appended.
        event: &'a Rc<Event>,
    },
    /// `agent/stream-chunk`
    Chunk {
        /// Whose agent.
        session: SessionId,
        /// Turn and step.
        place: Place,
        /// The chunk, the same value that was appended.
        chunk: &'a Chunk,
    },
    /// `agent/assistant-stream`
    Frame {
        /// Whose agent.
        session: SessionId,
        /// The frame.
        frame: &'a Frame,
    },
}

/// One frame of a transient stream. `attempt` is its identity; `revision` counts frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The attempt, counted from 0 over the whole session.
    pub attempt: u32,
    /// Its turn and step.
    pub place: Place,
    /// 0 for the start frame, one more for each frame after it.
    pub revision: u64,
    /// What it says.
    pub says: Says,
}

/// What a frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// The attempt begins.
    Start,
    /// One chunk.
    Chunk(Chunk),
    /// It was settled in the log, and this comes after the append.
    Committed {
        /// The settlement's type.
        kind: &'static str,
        /// Its seq.
        seq: Seq,
    },
    /// It left nothing in the log.
    Abandoned,
}

impl Payload<'_> {
    /// The chunk in it, from whichever feed.
    pub fn chunk(&self) -> Option<&Chunk> {
        match self {
            Payload::Logged { event, .. } => match &event.body {
                Body::Chunk(_, chunk) => Some(chunk),
                _ => None,
            },
            Payload::Chunk { chunk, .. } => Some(chunk),
            Payload::Frame { frame, .. } => match &frame.says {
                Says::Chunk(chunk) => Some(chunk),
                _ => None,
            },
        }
    }

    /// Whose it is.
    pub fn session(&self) -> SessionId {
        match self {
            Payload::Logged { session, .. }
            | Payload::Chunk { session, .. }
            | Payload::Frame { session, .. } => *session,
        }
    }
}

/// What a listener threw.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Thrown(pub String);

/// Somebody who listens.
pub trait Listener {
    /// Hears one event. It may append, emit and subscribe through the harness.
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown>;
}

/// What the bus counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Public emits.
    pub dispatches: u64,
    /// Internal dispatches.
    pub internal: u64,
    /// Public emits with a chunk.
    pub chunk_dispatches: u64,
    /// Public emits of frames without one.
    pub frame_dispatches: u64,
    /// Calls of listeners.
    pub callbacks: u64,
    /// Calls of listeners with a chunk.
    pub chunk_callbacks: u64,
    /// Throws that were contained.
    pub contained: u64,
}

/// Who listens to one name, as one value, so that a dispatch keeps what it began with.
type Audience = Rc<[Rc<dyn Listener>]>;

/// Listeners by name.
#[derive(Default)]
pub struct Bus {
    listeners: RefCell<BTreeMap<&'static str, Audience>>,
    counts: Cell<Counts>,
}

impl Bus {
    /// Subscribes; any name will do.
    pub fn on(&self, name: &'static str, listener: Rc<dyn Listener>) {
        let mut all = self.listeners.borrow_mut();
        let before = all.get(name).map(|l| l.to_vec()).unwrap_or_default();
        all.insert(name, before.into_iter().chain([listener]).collect());
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// Calls everybody who listens to `name` now. Without containment the first throw ends it and is handed on; with it,
    /// `caught` is told of each, and everybody else is called all the same.
    pub(super) fn emit(
        &self,
        harness: &Harness,
        name: &'static str,
        what: Payload<'_>,
        contained: bool,
        caught: &dyn Fn(&Thrown),
    ) -> Result<(), Thrown> {
        let mut counts = self.counts.get();
        let chunk = u64::from(what.chunk().is_some());
        counts.dispatches += 1;
        counts.internal += 1;
        counts.chunk_dispatches += chunk;
        counts.frame_dispatches += u64::from(matches!(what, Payload::Frame { .. }) && chunk == 0);
        self.counts.set(counts);
        // A snapshot: who subscribes or leaves during the dispatch changes the next one.
        let listeners = self.listeners.borrow().get(name).cloned();
        for listener in listeners.iter().flat_map(|all| all.iter()) {
            let mut counts = self.counts.get();
            counts.callbacks += 1;
            counts.chunk_callbacks += chunk;
            self.counts.set(counts);
            match listener.hear(harness, what) {
                Ok(()) => {}
                Err(thrown) if contained => {
                    let mut counts = self.counts.get();
                    counts.contained += 1;
                    self.counts.set(counts);
                    caught(&thrown);
                }
                Err(thrown) => return Err(thrown),
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bus").field("counts", &self.counts.get()).finish_non_exhaustive()
    }
}
