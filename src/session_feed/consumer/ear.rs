//! What a listener of chunks does with each event, and what it keeps of it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Consumer;
use crate::record::observation::Piece;
use crate::record::{Class, Reason};
use crate::session_feed::bus::{Listener, Payload, Says, SessionId, Thrown};
use crate::session_feed::chunk::{BlockKind, Chunk};
use crate::session_feed::event::{Body, Event, Other, Place, Seq};
use crate::session_feed::harness::{Harness, Ordinal};

/// What one consumer got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Chunks that it took, by the rig's mark, in the order in which it took them.
    pub handled: Vec<Ordinal>,
    /// The text of those that have some.
    pub pieces: Vec<Piece>,
    /// Why it did not take chunks that came to it.
    pub stopped: BTreeMap<Ordinal, Reason>,
    /// Events that it looked at and did not want.
    pub filtered: u64,
    /// Agents that it found.
    pub hits: u64,
    /// Agents that it did not find.
    pub misses: u64,
    /// Updates that it sent on.
    pub updates: u64,
    /// When it had the first text for a person, milliseconds since the epoch: a delta, or a bridge's committed message.
    pub first_text: Option<u64>,
    /// What it shows of committed messages.
    pub view: String,
    /// Steps of which it saw a committed message with text.
    pub messages_at: BTreeSet<Place>,
    /// Steps of which it saw a delta.
    pub deltas_at: BTreeSet<Place>,
    /// The seq after the last event that it saw: where it would go on.
    pub cursor: Seq,
    /// Texts that it drew in the wrong style.
    pub style_errors: u64,
    /// Holes in the seqs that it got.
    pub gaps: u64,
}

/// Why a chunk was missed that came while nobody listened.
pub(in crate::session_feed) const AWAY: &str = "away";

/// The length of a renderer's frame, milliseconds.
const FRAME_MS: u64 = 16;

/// A listener that follows one session for one consumer.
pub struct Ear {
    consumer: Consumer,
    session: SessionId,
    /// Away: nothing is heard, as by a listener that is not there.
    away: Cell<bool>,
    seen: RefCell<Seen>,
    frame: Cell<Option<u64>>,
    shipped: RefCell<BTreeSet<Place>>,
    frames: RefCell<BTreeSet<Ordinal>>,
}

impl Ear {
    /// An ear of `consumer` for the events of `session`; who looks agents up hears of all sessions.
    pub fn new(consumer: Consumer, session: SessionId) -> Rc<Ear> {
        let (away, seen, frame) = (Cell::new(false), RefCell::default(), Cell::new(None));
        let (shipped, frames) = (RefCell::default(), RefCell::default());
        Rc::new(Ear { consumer, session, away, seen, frame, shipped, frames })
    }

    /// Whose text it takes.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// What it got so far.
    pub fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Goes away or comes back.
    pub fn set_away(&self, away: bool) {
        self.away.set(away);
    }

    /// Takes what it missed out of the log, from its cursor on.
    pub fn catch_up(
        &self,
        harness: &Harness,
        missed: &[Rc<Event>],
        ordinal_of: &dyn Fn(Seq) -> Option<Ordinal>,
    ) {
        for event in missed {
            self.at(event.seq);
            match &event.body {
                Body::Chunk(place, chunk) => self.take(harness, *place, chunk, ordinal_of(event.seq)),
                Body::Message(_) => self.committed(harness, event),
                _ => {}
            }
        }
    }

    /// Takes what it has not had yet of a stream's prefix.
    pub fn take_prefix(&self, harness: &Harness, prefix: &[(Ordinal, Place, Chunk)]) {
        for (ordinal, place, chunk) in prefix {
            if !self.had_frame(*ordinal) {
                self.take(harness, *place, chunk, Some(*ordinal));
            }
        }
    }

    /// Moves the cursor behind an event; never back.
    fn at(&self, seq: Seq) {
        let mut seen = self.seen.borrow_mut();
        seen.gaps += u64::from(seq > seen.cursor);
        seen.cursor = seen.cursor.max(seq + 1);
    }

    /// Whether this frame came before, in the prefix of its stream or by itself; from now on it did. The number stands for
    /// attempt and revision, by which a client tells.
    fn had_frame(&self, ordinal: Ordinal) -> bool {
        !self.frames.borrow_mut().insert(ordinal)
    }

    /// Notes that a chunk came while it was away. With a queue that need not be when the chunk was streamed.
    fn missed(&self, harness: &Harness, what: &Payload<'_>) {
        if what.session() == self.session
            && what.chunk().is_some()
            && let Some(ordinal) = harness.marked()
        {
            self.seen.borrow_mut().stopped.insert(ordinal, Reason::new(AWAY));
        }
    }

    /// Notes a text that was drawn in the wrong style.
    pub(super) fn wrong_style(&self) {
        self.seen.borrow_mut().style_errors += 1;
    }

    /// Takes one chunk.
    pub(super) fn take(&self, harness: &Harness, place: Place, chunk: &Chunk, ordinal: Option<Ordinal>) {
        if self.consumer == Consumer::Telemetry && !self.shipped.borrow_mut().insert(place) {
            self.seen.borrow_mut().filtered += 1;
            return;
        }
        let mut seen = self.seen.borrow_mut();
        seen.handled.extend(ordinal);
        let Some((kind, _, text)) = chunk.delta() else { return };
        seen.deltas_at.insert(place);
        if kind == BlockKind::Text && !text.is_empty() {
            seen.first_text.get_or_insert(harness.now());
        }
        match self.consumer {
            Consumer::AcpPerDelta if kind != BlockKind::ToolCall && !text.is_empty() => seen.updates += 1,
            Consumer::Renderer => {
                let frame = harness.now() / FRAME_MS;
                seen.updates += u64::from(self.frame.replace(Some(frame)) != Some(frame));
            }
            _ => {}
        }
        seen.pieces.extend(piece(chunk));
    }

    /// A committed message, whole.
    fn committed(&self, harness: &Harness, event: &Event) {
        let Body::Message(message) = &event.body else { return };
        let texts = message.blocks.iter().filter(|b| b.kind == BlockKind::Text && !b.text.is_empty());
        let mut seen = self.seen.borrow_mut();
        for block in texts {
            seen.messages_at.insert(Place { turn: message.turn, step: message.step });
            seen.view.push_str(&block.text);
            if self.consumer == Consumer::Acp {
                seen.updates += 1;
                seen.first_text.get_or_insert(harness.now());
            }
        }
    }

    /// Whether the agent that the event is of can be found; who does not ask takes its own session's events.
    fn finds_agent(&self, harness: &Harness, session: SessionId) -> bool {
        if !matches!(self.consumer, Consumer::MigratedPlugin | Consumer::AppendingPlugin) {
            return session == self.session;
        }
        let there = harness.agent_is_there(session);
        let mut seen = self.seen.borrow_mut();
        *(if there { &mut seen.hits } else { &mut seen.misses }) += 1;
        if !there && let Some(ordinal) = harness.marked() {
            seen.stopped.insert(ordinal, Reason::new("agent_gone"));
        }
        there
    }

    /// The appending plugin's own event, before it does anything with the chunk.
    fn append_note(&self, harness: &Harness, session: SessionId) -> Result<(), Thrown> {
        if self.consumer != Consumer::AppendingPlugin {
            return Ok(());
        }
        let note = Other { kind: "plugin/note".into(), data: serde_json::json!({ "saw": "chunk" }) };
        harness.append(session, Body::Other(Box::new(note)), None).map(drop).map_err(|e| {
            if let Some(ordinal) = harness.marked() {
                self.seen.borrow_mut().stopped.insert(ordinal, Reason::new("append_refused"));
            }
            Thrown(e.to_string())
        })
    }
}

impl Listener for Ear {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        if self.away.get() {
            self.missed(harness, &what);
            return Ok(());
        }
        let session = what.session();
        let (place, chunk) = match what {
            Payload::Logged { event, .. } => {
                if session == self.session {
                    // What waited in a queue while it caught up from the log.
                    if event.seq < self.seen.borrow().cursor {
                        return Ok(());
                    }
                    self.at(event.seq);
                }
                match &event.body {
                    Body::Chunk(place, chunk) if self.consumer != Consumer::Acp => (*place, chunk),
                    Body::Message(_) if session == self.session => {
                        self.committed(harness, event);
                        self.seen.borrow_mut().filtered += u64::from(self.consumer != Consumer::Acp);
                        return Ok(());
                    }
                    _ => {
                        self.seen.borrow_mut().filtered += 1;
                        return Ok(());
                    }
                }
            }
            Payload::Chunk { place, chunk, .. } => (place, chunk),
            Payload::Frame { frame, .. } => match &frame.says {
                Says::Chunk(_) if harness.marked().is_some_and(|ordinal| self.had_frame(ordinal)) => {
                    return Ok(());
                }
                Says::Chunk(chunk) => (frame.place, chunk),
                _ => return Ok(()),
            },
        };
        if !self.finds_agent(harness, session) {
            return Ok(());
        }
        self.append_note(harness, session)?;
        // Whose agent it is was looked up: another one's text is not taken for its own.
        if session != self.session {
            return Ok(());
        }
        self.take(harness, place, chunk, harness.marked());
        Ok(())
    }
}

/// Notes the committed messages of the session for an ear that is on another feed.
pub(super) struct Messages(pub(super) Rc<Ear>);

impl Listener for Messages {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        if let Payload::Logged { session, event } = what
            && session == self.0.session
            && !self.0.away.get()
        {
            self.0.committed(harness, event);
        }
        Ok(())
    }
}

/// The text of a chunk that a person would read.
pub(in crate::session_feed) fn piece(chunk: &Chunk) -> Option<Piece> {
    let (kind, _, text) = chunk.delta()?;
    let class = match kind {
        _ if text.is_empty() => Class::Empty,
        BlockKind::Text => Class::Text,
        BlockKind::Reasoning => Class::Reasoning,
        BlockKind::ToolCall => return None,
    };
    Some(Piece { class, text: text.to_owned() })
}
