//! One session played to one consumer: what was noted at every hop, and what the consumer got.
//!
//! Deterministic, on one thread, without a clock of its own. The store is a memory that counts its syncs, or a file. A crash
//! is a run that stops; what the memory had synced by then, or what a process that was really killed left, is loaded again.

mod edit;
mod figures;
mod listeners;
mod sent;
mod settle;
#[cfg(test)]
mod tests;
mod trace;

use std::cell::RefCell;
use std::iter;
use std::path::Path;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::agent::{Agent, Done, Streamed, together};
use super::bus::{ASSISTANT_STREAM, SESSION_EVENT, STREAM_CHUNK, SessionId};
use super::chunk::Chunk;
use super::consumer::{Attendance, Consumer, attend};
use super::fault::Fault;
use super::harness::{Harness, Ordinal};
use super::keeper::Keeper;
use super::profile::Variant;
use super::script::Script;
use super::store::{
    Coordinator, FlushPolicy, JsonlStore, LoadError, Loaded, LogFile, Memory, Store, StoreError, load,
    load_lines,
};
use listeners::{Plain, Thrower, Watcher, watchers};
pub use sent::{Sent, Stopped};
pub use settle::{Accounts, Played};

/// When every session begins, milliseconds since the epoch. Fixed, so that a log has the same bytes in every run.
pub const BEGINS: u64 = 1_750_000_000_000;

/// Plain listeners beside the consumer and the store, which do nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listeners {
    /// On the log feed.
    pub log: u32,
    /// On the live feed that the variant has.
    pub live: u32,
}

/// What is played.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// By whose rules.
    pub variant: &'a Variant,
    /// To whom.
    pub consumer: Consumer,
    /// What happens.
    pub script: &'a Script,
    /// What goes wrong.
    pub fault: Fault,
    /// When events become durable.
    pub policy: FlushPolicy,
    /// Whether rows are packed.
    pub packed: bool,
    /// Who else listens.
    pub listeners: Listeners,
    /// Sessions of the process, at least one. The consumer's is the first; nothing goes wrong in the others, which stream the
    /// same, chunk by chunk in turn with it.
    pub sessions: u32,
}

/// Plays it, on a store in memory.
pub fn play(plan: &Plan<'_>) -> Played {
    let store = JsonlStore::new(Memory::default(), SESSION, plan.packed);
    let run = Run::of(plan, store);
    let stored = run.keeper.with(|c| {
        let bytes = c.store().medium().durable();
        // What was never written is no broken log.
        (!bytes.is_empty()).then(|| load_lines(bytes))
    });
    run.settle(stored)
}

/// The name of the session in its store.
pub const SESSION: &str = "session-1";

/// Plays it and looks at what somebody else wrote: the log that a killed process left on disk, none if it left no file.
pub fn play_against(plan: &Plan<'_>, stored: Option<Result<Loaded, LoadError>>) -> Played {
    Run::of(plan, JsonlStore::new(Memory::default(), SESSION, plan.packed)).settle(stored)
}

/// What the store of a run in memory holds when the run is over, or when its process is killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The durable bytes.
    pub bytes: Vec<u8>,
    /// Events in the log.
    pub appended: u64,
    /// Events of them that are durable.
    pub durable: u64,
    /// Whether its process was killed.
    pub killed: bool,
}

/// Plays it on a store in memory, and looks at the store alone.
pub fn kept(plan: &Plan<'_>) -> Kept {
    let run = Run::of(plan, JsonlStore::new(Memory::default(), SESSION, plan.packed));
    let (bytes, durable) = run.keeper.with(|c| (c.store().medium().durable().to_vec(), c.durable()));
    Kept { bytes, appended: run.harness.length(run.session), durable, killed: run.done.killed }
}

/// The bytes that the store holds when the run is over, or when its process is killed.
pub fn stored_bytes(plan: &Plan<'_>) -> Vec<u8> {
    kept(plan).bytes
}

/// Plays it with its store in the new file `file`, with real syncs, and reads the file back.
pub fn play_on_disk(plan: &Plan<'_>, file: &Path) -> Result<Played, StoreError> {
    let run = Run::of(plan, JsonlStore::<LogFile>::create(file, SESSION, plan.packed)?);
    let stored = file.exists().then(|| load(file));
    Ok(run.settle(stored))
}

/// A run that is over, before anybody looks at it.
struct Run<'a, S> {
    plan: Plan<'a>,
    harness: Rc<Harness>,
    session: SessionId,
    done: Done,
    keeper: Rc<Keeper<S>>,
    produced: Vec<Chunk>,
    /// What the consumer got, for one that listens, and how it attended.
    attended: Option<Attended>,
    watchers: Vec<Watcher>,
}

/// What is left of an attendance once the session is over.
struct Attended {
    feed: super::consumer::Feed,
    seen: super::consumer::Seen,
    not_there: Vec<(Ordinal, &'static str)>,
    overflowed: Vec<Ordinal>,
}

/// Keeps what the model streams, and tells the consumer's attendance of it.
struct Watch<'a, 'h> {
    produced: RefCell<Vec<Chunk>>,
    attendance: Option<&'a Attendance<'h>>,
}

impl Streamed for Watch<'_, '_> {
    fn streamed(&self, ordinal: Ordinal, chunk: &Chunk) {
        self.produced.borrow_mut().push(chunk.clone());
        if let Some(attendance) = self.attendance {
            attendance.streamed(ordinal, chunk);
        }
    }
}

impl<'a, S: Store + 'static> Run<'a, S> {
    fn of(plan: &Plan<'a>, store: S) -> Run<'a, S> {
        let traits = plan.variant.traits();
        let harness = Rc::new(Harness::new(traits.bus.clone(), BEGINS, true));
        let session = harness.open(Vec::new());
        let keeper = Keeper::new(session, Coordinator::new(store, plan.policy));
        harness.on(SESSION_EVENT, keeper.clone());
        harness.add_timed(keeper.clone());
        let live = [STREAM_CHUNK, ASSISTANT_STREAM];
        for _ in 0..plan.listeners.log {
            harness.on(SESSION_EVENT, Rc::new(Plain));
        }
        for name in (0..plan.listeners.live).flat_map(|_| live) {
            harness.on(name, Rc::new(Plain));
        }
        let total = plan.script.chunks().count() as u64;
        let attendance = attend(&harness, session, plan.consumer, traits, plan.fault, total);
        let watchers = watchers(&harness, traits, plan.fault);
        // Behind everybody else, so that its throw keeps nobody from hearing what it threw at.
        let thrower = match plan.fault {
            Fault::LogListenerThrows(k) => Some(Thrower::on(&harness, &[SESSION_EVENT], k)),
            Fault::LiveListenerThrows(k) => Some(Thrower::on(&harness, &live, k)),
            _ => None,
        };
        let watch = Watch { produced: RefCell::default(), attendance: attendance.as_ref() };
        let agent = Agent::new(&harness, session, traits, plan.fault, plan.script.rate, Some(&watch));
        let others: Vec<Agent<'_>> = (1..plan.sessions)
            .map(|_| harness.open(Vec::new()))
            .map(|other| Agent::new(&harness, other, traits, Fault::None, plan.script.rate, None).beside())
            .collect();
        let agents: Vec<_> = iter::once(&agent).chain(&others).map(|agent| (agent, plan.script)).collect();
        together(&agents);
        let mut done = agent.done();
        done.fired |= thrower.is_some_and(|thrower| thrower.threw());
        if !done.killed {
            harness.settle();
            if let Some(attendance) = &attendance {
                attendance.session_ended();
            }
            // A session that is disposed of writes what is pending.
            keeper.close();
        }
        let produced = watch.produced.into_inner();
        let attended = attendance.as_ref().map(|a| attended(a, produced.len() as u64));
        drop(attendance);
        Run { plan: *plan, harness, session, done, keeper, produced, attended, watchers }
    }
}

fn attended(attendance: &Attendance<'_>, produced: u64) -> Attended {
    let overflowed = attendance.mailboxes.iter().filter(|(feed, _)| *feed == attendance.feed());
    Attended {
        feed: attendance.feed(),
        seen: attendance.ear.seen(),
        not_there: (0..produced).filter_map(|o| Some((o, attendance.not_there(o)?))).collect(),
        overflowed: overflowed.flat_map(|(_, mailbox)| mailbox.dropped()).flatten().collect(),
    }
}
