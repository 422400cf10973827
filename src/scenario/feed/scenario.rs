//! A scenario of the session feed, as it was read.

use std::sync::Arc;

use super::figures::Figured;
use super::parse;
use super::workload::FeedWorkload;
use crate::record::{Expected, Known};
use crate::scenario::diagnostic::ScenarioError;
use crate::scenario::rule::Axes;
use crate::session_feed::store::FlushPolicy;
use crate::session_feed::{Fault, Variants};

/// One question about the session feed, and the cells that answer it.
#[derive(Debug, Clone)]
pub struct FeedScenario {
    /// The file's name without `.toml`.
    pub name: String,
    /// The question.
    pub question: String,
    /// Where it was read from.
    pub path: String,
    /// Variants: names and globs.
    pub variants: Vec<String>,
    /// Consumers: names and globs.
    pub consumers: Vec<String>,
    /// The workloads in use, in the order of the `workloads` key.
    pub workloads: Vec<Arc<FeedWorkload>>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// Flush policies, where the scenario names some; they are part of its cells' ids then.
    pub policies: Vec<FlushPolicy>,
    /// Whether runs of deltas are stored as one row.
    pub packed: bool,
    /// Traits that are laid over those of every variant.
    pub traits: Arc<toml::Table>,
    /// Plain listeners on the log feed.
    pub log_listeners: u32,
    /// Plain listeners on the live feed.
    pub live_listeners: u32,
    /// A cell has to match one of these, if there are any.
    pub include: Vec<Axes>,
    /// A cell must match none of these.
    pub exclude: Vec<Axes>,
    /// What is expected; the first match counts, and `delivered` where none does.
    pub(super) expect: Vec<(Axes, (Expected, Vec<Figured>))>,
    /// What is known to fail; the first match counts.
    pub known: Vec<(Axes, Known)>,
}

impl FeedScenario {
    /// Reads the text of a file; `path` names it in diagnostics and gives the scenario its name.
    pub fn parse(path: &str, text: &str, variants: &Variants) -> Result<FeedScenario, ScenarioError> {
        parse::parse(path, text, variants).map_err(|faults| ScenarioError::Invalid {
            path: path.to_owned(),
            text: text.to_owned(),
            faults,
        })
    }

    /// Every expectation.
    pub fn expectations(&self) -> impl Iterator<Item = &Expected> {
        self.expect.iter().map(|(_, (expected, _))| expected)
    }
}
