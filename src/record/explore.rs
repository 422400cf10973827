//! The result of `skewlab explore`: what nobody had declared, in groups, and what was tried.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::{Hop, Reason};
use super::observation::Signal;
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
