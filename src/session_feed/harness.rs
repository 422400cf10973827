//! The harness: session logs, the bus between them and their listeners, the agents, and the time.
//!
//! One thread, one call after the other. Nothing is borrowed while a listener runs, so a listener may append, emit and
//! subscribe, as far as the variant's rules let it.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::bus::{Bus, Listener, Payload, SESSION_EVENT, SessionId, Thrown};
use super::chunk::Chunk;
use super::event::{Body, Event, Place, Seq};
use super::lossless::lossy;
use super::profile::{BusTraits, ReentrantAppend};

/// A chunk's number over all attempts of a session, from 0: the rig's own mark. No consumer may act on it.
pub type Ordinal = u64;

/// The chunks of an attempt so far, each with its number and its place.
pub type Prefix = Vec<(Ordinal, Place, Chunk)>;

/// Why an append did not return a seq.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The data would not come back as it was; nothing was appended.
    #[error("`{kind}` at `{place}`: {what} is no lossless JSON")]
    Lossy {
        /// The event's type.
        kind: String,
        /// Where in its data.
        place: String,
        /// What stands there.
        what: &'static str,
    },
    /// It came from within the dispatch of another append, and the variant refuses that; nothing was appended.
    #[error("an append from within a listener of `session/event`")]
    Reentrant,
    /// It was appended, and then a listener threw that nothing contains.
    #[error("a listener of `session/event` threw: {0}")]
    Thrown(Thrown),
}

/// What goes with time: queues, and stores that wait.
pub trait Timed {
    /// Time has come to `now`, milliseconds since the epoch.
    fn tick(&self, harness: &Harness, now: u64);
    /// When it next wants to be called, if it does.
    fn due(&self) -> Option<u64>;
}

/// Logs, bus, agents and time.
pub struct Harness {
    rules: BusTraits,
    bus: Bus,
    logs: RefCell<Vec<Vec<Rc<Event>>>>,
    disposed: RefCell<BTreeSet<SessionId>>,
    appending: Cell<bool>,
    now: Cell<u64>,
    timed: RefCell<Vec<Rc<dyn Timed>>>,
    mark: Cell<Option<Ordinal>>,
    noted: RefCell<Option<Noted>>,
    lines: RefCell<BTreeMap<String, u64>>,
    in_flight: RefCell<BTreeMap<SessionId, Prefix>>,
}

/// What the harness notes for the ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    /// Chunks that went out, by the name under which they did.
    pub emitted: BTreeMap<&'static str, Vec<Ordinal>>,
    /// Chunks that stand in the log, with the seq of the event that holds them.
    pub appended: Vec<(Ordinal, SessionId, Seq)>,
    /// Bytes of JSON that forwarding every payload with a chunk to one client would take.
    pub forwarded: u64,
}

impl Harness {
    /// A harness with these rules, at `now`, that keeps notes or does not (a bench).
    pub fn new(rules: BusTraits, now: u64, keeps_notes: bool) -> Harness {
        Harness {
            rules,
            bus: Bus::default(),
            logs: RefCell::default(),
            disposed: RefCell::default(),
            appending: Cell::new(false),
            now: Cell::new(now),
            timed: RefCell::default(),
            mark: Cell::new(None),
            noted: RefCell::new(keeps_notes.then(Noted::default)),
            lines: RefCell::default(),
            in_flight: RefCell::default(),
        }
    }

    /// Opens a session. A log that it starts from emits nothing on either feed.
    pub fn open(&self, seed: Vec<Rc<Event>>) -> SessionId {
        let mut logs = self.logs.borrow_mut();
        logs.push(seed);
        SessionId::try_from(logs.len() - 1).unwrap_or(SessionId::MAX)
    }

    /// The bus.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Milliseconds since the epoch.
    pub fn now(&self) -> u64 {
        self.now.get()
    }

    /// Lets time pass, with everybody who waits for it in the order of their times.
    pub fn advance(&self, to: u64) {
        loop {
            let timed = self.timed.borrow().clone();
            let next = timed.iter().filter_map(|t| Some((t.due()?, t))).filter(|(due, _)| *due <= to);
            // The first of equals: those who came first.
            let Some((due, who)) = next.min_by_key(|(due, _)| *due) else { break };
            self.now.set(due.max(self.now.get()));
            who.tick(self, self.now.get());
        }
        self.now.set(to.max(self.now.get()));
    }

    /// Lets time pass until nobody waits any more.
    pub fn settle(&self) {
        while let Some(due) = self.timed.borrow().iter().filter_map(|t| t.due()).min() {
            self.advance(due);
        }
    }

    /// Adds somebody who goes with time.
    pub fn add_timed(&self, timed: Rc<dyn Timed>) {
        self.timed.borrow_mut().push(timed);
    }

    /// A copy of a log as it stands.
    pub fn log(&self, session: SessionId) -> Vec<Rc<Event>> {
        self.logs.borrow().get(session as usize).cloned().unwrap_or_default()
    }

    /// The length of a log: the seq of the next event.
    pub fn length(&self, session: SessionId) -> Seq {
        self.logs.borrow().get(session as usize).map_or(0, |log| log.len() as Seq)
    }

    /// Events of a log from `from` on.
    pub fn since(&self, session: SessionId, from: Seq) -> Vec<Rc<Event>> {
        let logs = self.logs.borrow();
        let log = logs.get(session as usize).map_or(&[][..], Vec::as_slice);
        log.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default().to_vec()
    }

    /// Whether the agent of a session is there: looked up by the session's id, which is the agent's.
    pub fn agent_is_there(&self, session: SessionId) -> bool {
        (session as usize) < self.logs.borrow().len() && !self.disposed.borrow().contains(&session)
    }

    /// Disposes of a session's agent. Events of it may still come.
    pub fn dispose(&self, session: SessionId) {
        self.disposed.borrow_mut().insert(session);
    }

    /// Marks the chunk in flight; what goes out until the next mark is about it.
    pub fn mark(&self, ordinal: Option<Ordinal>) {
        self.mark.set(ordinal);
    }

    /// The chunk in flight, for notes.
    pub fn marked(&self) -> Option<Ordinal> {
        self.mark.get()
    }

    /// The chunks of the attempt that a session is streaming: the compact prefix that a late subscriber of a transient stream
    /// gets.
    pub fn prefix(&self, session: SessionId) -> Prefix {
        self.in_flight.borrow().get(&session).cloned().unwrap_or_default()
    }

    /// Begins a new prefix, or ends one with its attempt: what was settled is read in the log.
    pub(super) fn begin_prefix(&self, session: SessionId) {
        self.in_flight.borrow_mut().entry(session).or_default().clear();
    }

    /// Adds a chunk to the prefix.
    pub(super) fn extend_prefix(&self, session: SessionId, ordinal: Ordinal, place: Place, chunk: &Chunk) {
        self.in_flight.borrow_mut().entry(session).or_default().push((ordinal, place, chunk.clone()));
    }

    /// Adds a line to the process's log, by key.
    pub fn line(&self, key: &str) {
        *self.lines.borrow_mut().entry(key.to_owned()).or_default() += 1;
    }

    /// The process's log, lines by key.
    pub fn lines(&self) -> BTreeMap<String, u64> {
        self.lines.borrow().clone()
    }

    /// What was noted so far.
    pub fn noted(&self) -> Noted {
        self.noted.borrow().clone().unwrap_or_default()
    }

    /// Appends to a session's log and announces it. The event is in the log before anybody hears of it.
    pub fn append(
        &self,
        session: SessionId,
        body: Body,
        cites: Option<Box<[Seq]>>,
    ) -> Result<Seq, AppendError> {
        if let Body::Other(other) = &body
            && let Some((place, what)) = lossy(&other.data)
        {
            let (kind, place) = (other.kind.to_string(), if place.is_empty() { ".".into() } else { place });
            return Err(AppendError::Lossy { kind, place, what });
        }
        let outer = self.appending.get();
        if outer && self.rules.reentrant_append == ReentrantAppend::Refused {
            return Err(AppendError::Reentrant);
        }
        let event = {
            let mut logs = self.logs.borrow_mut();
            if logs.len() <= session as usize {
                logs.resize_with(session as usize + 1, Vec::new);
            }
            let log = &mut logs[session as usize];
            let event = Rc::new(Event { seq: log.len() as Seq, time: self.now.get(), body, cites });
            log.push(event.clone());
            event
        };
        // A nested append is about something else than the chunk that its listener was told of.
        let mark = if outer { self.mark.replace(None) } else { self.mark.get() };
        if let (Some(noted), Some(ordinal), Body::Chunk(..)) =
            (&mut *self.noted.borrow_mut(), self.mark.get(), &event.body)
        {
            noted.appended.push((ordinal, session, event.seq));
        }
        self.appending.set(true);
        let heard = self.announce(SESSION_EVENT, Payload::Logged { session, event: &event });
        self.appending.set(outer);
        self.mark.set(mark);
        heard.map(|()| event.seq).map_err(AppendError::Thrown)
    }

    /// Emits on the live feed.
    pub fn emit(&self, name: &'static str, what: Payload<'_>) -> Result<(), Thrown> {
        self.announce(name, what)
    }

    /// Subscribes.
    pub fn on(&self, name: &'static str, listener: Rc<dyn Listener>) {
        self.bus.on(name, listener);
    }

    fn announce(&self, name: &'static str, what: Payload<'_>) -> Result<(), Thrown> {
        if let (Some(noted), Some(chunk)) = (&mut *self.noted.borrow_mut(), what.chunk()) {
            noted.emitted.entry(name).or_default().extend(self.mark.get());
            noted.forwarded += forwarded(name, &what, chunk);
        }
        self.bus.emit(self, name, what, self.rules.contained, &|thrown| {
            self.line(&format!("listener of {name} threw: {thrown}"));
        })
    }
}

/// Bytes of one payload as a line of JSON. What is on the live feed is wrapped like an event of the log: a client that gets
/// it has to tell whose chunk it is.
fn forwarded(name: &str, what: &Payload<'_>, chunk: &Chunk) -> u64 {
    let data = |place: Place| serde_json::json!({ "turn": place.turn, "step": place.step, "chunk": chunk });
    let session = what.session();
    let text = match what {
        Payload::Logged { event, .. } => serde_json::to_vec(&***event),
        Payload::Chunk { place, .. } => {
            serde_json::to_vec(&serde_json::json!({ "type": name, "session": session, "data": data(*place) }))
        }
        Payload::Frame { frame, .. } => serde_json::to_vec(&serde_json::json!({
            "type": name, "session": session, "attempt": frame.attempt, "revision": frame.revision,
            "data": data(frame.place),
        })),
    };
    text.map_or(0, |text| text.len() as u64 + 1)
}

impl std::fmt::Debug for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Harness").field("bus", &self.bus).finish_non_exhaustive()
    }
}
