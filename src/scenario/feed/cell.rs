//! One cell of a session-feed scenario, and its identity.

use std::sync::Arc;

use super::figures::{Known as Letters, settled};
use super::workload::FeedWorkload;
use crate::record::{Expected, FigureLimit, Figures, Known};
use crate::scenario::cell::Spec;
use crate::session_feed::store::FlushPolicy;
use crate::session_feed::{Consumer, Fault};

/// One variant, one consumer, one session, one fault and one flush policy.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedCell {
    /// Path-shaped: scenario / variant / consumer / workload / fault, with the flush policy after a comma where the scenario
    /// names some: `crash/mirror-removed/resume/chat/kill@40,window-200ms`.
    pub id: String,
    /// Scenario name.
    pub scenario: String,
    /// The variant.
    pub variant: String,
    /// The consumer.
    pub consumer: Consumer,
    /// The session.
    pub workload: Arc<FeedWorkload>,
    /// What goes wrong.
    pub fault: Fault,
    /// The flush policy, if the scenario names some.
    pub policy: Option<FlushPolicy>,
    /// Whether runs of deltas are stored as one row.
    pub packed: bool,
    /// Traits that are laid over the variant's.
    pub traits: Arc<toml::Table>,
    /// Plain listeners on the log feed.
    pub log_listeners: u32,
    /// Plain listeners on the live feed.
    pub live_listeners: u32,
    /// How it is expected to end. A limit that takes what the run counts has no value yet.
    pub expected: Expected,
    /// The failure that is known, if any.
    pub known: Option<Known>,
    /// The first 16 hexadecimal digits of a SHA-256 over everything that decides what the cell does, and nothing else.
    pub hash: String,
}

impl FeedCell {
    /// The cell with its id and hash set from everything else.
    pub(super) fn identified(mut self) -> FeedCell {
        let parts =
            [&self.scenario, &self.variant, self.consumer.as_str(), &self.workload.name, &self.mutation()];
        self.id = parts.map(|part: &str| part.to_owned()).join("/");
        self.hash = self.digest();
        self
    }

    /// Fault and flush policy, as ids and `run.json` write them.
    pub fn mutation(&self) -> String {
        match &self.policy {
            Some(policy) => format!("{},{policy}", self.fault),
            None => self.fault.to_string(),
        }
    }

    /// What the scenario says of its figures, now that the run counted them.
    pub fn limits(&self, counted: &Figures) -> Vec<FigureLimit> {
        settled(&self.expected.figures, self.letters(), counted)
    }

    pub(super) fn letters(&self) -> Letters<'_> {
        let FeedCell { fault, log_listeners, live_listeners, .. } = *self;
        Letters { workload: &self.workload, fault, log_listeners, live_listeners }
    }

    fn digest(&self) -> String {
        let mut spec = Spec::default();
        spec.put("skewlab.feed-cell/2").put(&self.scenario).put(&self.variant).put(self.consumer.as_str());
        spec.put(self.mutation()).put([u8::from(self.packed)]).put(self.traits.to_string());
        spec.put(self.log_listeners.to_be_bytes()).put(self.live_listeners.to_be_bytes());
        let script = &self.workload.script;
        spec.put(&self.workload.name).put(script.rate.to_bits().to_be_bytes());
        spec.put(self.workload.sessions.to_be_bytes()).put((script.turns.len() as u64).to_be_bytes());
        for turn in &script.turns {
            spec.put(&turn.user).put((turn.steps.len() as u64).to_be_bytes());
            for step in &turn.steps {
                spec.put((step.chunks.len() as u64).to_be_bytes());
                for chunk in &step.chunks {
                    // Plain data always serialises.
                    spec.put(serde_json::to_vec(chunk).unwrap_or_default());
                }
                spec.opt(step.tool.as_ref().map(|tool| tool.name.as_str()));
                spec.opt(step.tool.as_ref().map(|tool| tool.arguments.as_str()));
                spec.put(step.others.join(","));
            }
        }
        spec.hex()
    }
}
