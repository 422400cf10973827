//! A plan that goes to another process, which plays it until it is killed.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Listeners, Plan, Run, SESSION};
use crate::session_feed::consumer::Consumer;
use crate::session_feed::fault::Fault;
use crate::session_feed::profile::Variant;
use crate::session_feed::script::Script;
use crate::session_feed::store::{Coordinator, FlushPolicy, JsonlStore, LogFile, StoreError};

/// A [`Plan`] with everything in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    variant: Variant,
    consumer: Consumer,
    script: Script,
    fault: Fault,
    policy: FlushPolicy,
    packed: bool,
    listeners: Listeners,
    sessions: u32,
}

/// A session whose fault has killed it, with its process still there: what was pending stays pending while this is kept.
pub struct Stopped<'a> {
    run: Run<'a, JsonlStore<LogFile>>,
}

impl Sent {
    /// What plays this plan elsewhere.
    pub fn of(plan: &Plan<'_>) -> Sent {
        Sent {
            variant: plan.variant.clone(),
            consumer: plan.consumer,
            script: plan.script.clone(),
            fault: plan.fault,
            policy: plan.policy,
            packed: plan.packed,
            listeners: plan.listeners,
            sessions: plan.sessions,
        }
    }

    /// Plays it with its store in the new file `file`, up to where its fault kills it. None if it came to its end instead.
    pub fn play_until_killed(&self, file: &Path) -> Result<Option<Stopped<'_>>, StoreError> {
        let plan = Plan {
            variant: &self.variant,
            consumer: self.consumer,
            script: &self.script,
            fault: self.fault,
            policy: self.policy,
            packed: self.packed,
            listeners: self.listeners,
            sessions: self.sessions,
        };
        let run = Run::of(&plan, JsonlStore::<LogFile>::create(file, SESSION, plan.packed)?);
        match run.keeper.take_failure() {
            Some(error) => Err(error),
            None => Ok(run.done.killed.then_some(Stopped { run })),
        }
    }
}

impl Stopped<'_> {
    /// Events in its log, which is in memory.
    pub fn appended(&self) -> u64 {
        self.run.harness.length(self.run.session)
    }

    /// Events of them that are in its file.
    pub fn durable(&self) -> u64 {
        self.run.keeper.with(Coordinator::durable)
    }
}
