//! The result of `skewlab explore`: what nobody had declared, in groups, and what was tried.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::{Hop, Reason};
use super::observation::Signal;
use super::seal::{Contradiction, print};
use super::verdict::Verdict;

/// Schema name and version of the JSON.
pub const EXPLORE_SCHEMA: &str = "skewlab.explore/1";

/// A search over drawn cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExploreReport {
    /// [`EXPLORE_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// Seed of the draws. The same seed and number of cells give the same report.
    pub seed: u64,
    /// What was drawn.
    pub drawn: Drawn,
    /// Cells that ran.
    pub cells: u64,
    /// Those of them that ended well.
    pub healthy: u64,
    /// Those of them in which something that was to go wrong never came, so that nothing was tried.
    pub unreached: u64,
    /// What was found: what nobody declared first, then by severity.
    pub groups: Vec<Group>,
    /// What was tried.
    pub coverage: Coverage,
    /// SHA-256 over everything but itself, which every reader holds the file to. Empty in older files, which are held to what
    /// they say in several places only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

impl ExploreReport {
    /// Takes the fingerprint of the report as it is. The same seed and number of cells share it.
    pub fn seal(&mut self) {
        self.digest = self.fingerprint();
    }

    fn fingerprint(&mut self) -> String {
        let digest = std::mem::take(&mut self.digest);
        let print = print(self);
        self.digest = digest;
        print
    }

    /// The first contradiction, if there is one. The report is handed out as it came in.
    pub(super) fn contradiction(&mut self) -> Option<Contradiction> {
        let at = |place: String, why: String| Some(Contradiction { place, why });
        let mut ends = BTreeSet::new();
        let mut ill = 0_u64;
        for (at_group, group) in self.groups.iter().enumerate() {
            let place = || format!("groups[{at_group}] (`{}` of `{}`)", group.verdict.as_str(), group.client);
            if group.cells == 0 {
                return at(place(), "it is a group of no cell".to_owned());
            }
            if group.verdict.is_healthy() {
                return at(place(), "it ended well, and groups are of cells that did not".to_owned());
            }
            if !ends.insert((group.verdict, group.lost_at, group.reason.clone(), group.client.as_str())) {
                return at(place(), "the same group stands before it".to_owned());
            }
            ill = ill.saturating_add(group.cells);
        }
        let (well, unreached) = (self.healthy, self.unreached);
        let sum = well.saturating_add(unreached).saturating_add(ill);
        // Some of the groups of an older file may have been left away.
        let adds_up = if self.digest.is_empty() { sum <= self.cells } else { sum == self.cells };
        if !adds_up {
            let parts = format!("{well} that ended well, {unreached} unreached and {ill} in groups");
            return at("cells".to_owned(), format!("it is {}, and there are {parts}", self.cells));
        }
        for (at_pair, pairs) in self.coverage.pairs.iter().enumerate() {
            let (Share { tried, of }, untried) = (pairs.share, pairs.untried.len() as u64);
            if tried.saturating_add(untried) > of {
                let why = format!("{tried} are tried and {untried} are not, of {of}");
                return at(format!("coverage.pairs[{at_pair}] (`{}`)", pairs.axes), why);
            }
        }
        if !self.digest.is_empty() {
            let is = self.fingerprint();
            if is != self.digest {
                return Some(Contradiction::of_digest(&self.digest, &is));
            }
        }
        None
    }
}

/// What the cells of a search are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Everything.
    Everything,
    /// Released pairs that the shipped scenarios call good, with nothing done to them: any finding is a false alarm, or a
    /// fact that was wrong.
    HealthyPairs,
}

/// Cells that ended alike: same verdict, hop, reason and client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The verdict of the worst finding.
    pub verdict: Verdict,
    /// The hop that lost most of the text.
    pub lost_at: Option<Hop>,
    /// Why.
    pub reason: Option<Reason>,
    /// The client's profile, with a callback list where one was asked for.
    pub client: String,
    /// The loudest thing that an application could notice in any of them.
    pub signal: Signal,
    /// How many cells.
    pub cells: u64,
    /// Whether a scenario that comes with skewlab expects such an end of this client.
    pub declared: bool,
    /// What the first of them was, as far as it was bent, shrunk where that was done.
    pub example: Example,
    /// What the judge says of it.
    pub note: String,
}

/// The cell that stands for a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Its number in the search, from 0.
    pub number: u64,
    /// Its server's profile.
    pub server: String,
    /// Its frame mutation and its faults.
    pub bent: String,
    /// The traits that were laid over its server.
    pub traits: Vec<String>,
    /// Size as drawn.
    pub drawn: Size,
    /// Size after shrinking; absent where it was not shrunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    /// The file of its capsule; absent where none was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capsule: Option<String>,
}

/// How much there is of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Tokens of the model.
    pub tokens: u64,
    /// Faults.
    pub faults: u64,
    /// Copies of the client.
    pub clients: u64,
    /// Steps of the frame mutation.
    pub steps: u64,
    /// Changes laid over the server's traits.
    pub traits: u64,
}

/// What shrinking made of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shrunk {
    /// Its size now.
    pub to: Size,
    /// Cells that were run for it.
    pub runs: u64,
}

/// What was tried with what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Two axes each.
    pub pairs: Vec<Pairs>,
    /// Changed trait, client and fault together.
    pub triples: Share,
}

/// How many of all that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Tried in at least one cell.
    pub tried: u64,
    /// There are.
    pub of: u64,
}

/// The pairs of two axes. On each, `none` is a value like any other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// `changed trait × client`.
    pub axes: String,
    /// How many.
    pub share: Share,
    /// Those that no cell tried, in order.
    pub untried: Vec<[String; 2]>,
}
