//! Two servers, or two builds of skewlab, measured in one go: block after block in turn, so that a machine that slows down
//! slows both. The only result in which a time gates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::comparison::{CountChange, Kind};
use super::interval;

/// Schema name and version.
pub const INTERLEAVED_SCHEMA: &str = "skewlab.interleaved/1";

/// What was measured in turns, and what may be said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interleaved {
    /// [`INTERLEAVED_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that judged.
    pub skewlab: String,
    /// Which bench.
    pub kind: Kind,
    /// What HEAD is held against: `server 1.43.1`, `another build, skewlab 0.1.0`.
    pub base: String,
    /// What is held against it.
    pub head: String,
    /// The smallest change of a time that is one, as a share: 0.05 is 5 %.
    pub smallest_effect: f64,
    /// How often one of all points may be called changed although none is.
    pub family_error: f64,
    /// Seed of the order and of resampling.
    pub seed: u64,
    /// Whether everything was measured that was asked for.
    pub complete: bool,
    /// Why the figures may not be quoted, if so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rig: Vec<String>,
    /// Points of which a subscriber did not get every chunk once, or that only one side has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<String>,
    /// The times, by point.
    pub points: Vec<TimedPoint>,
    /// Exact counts that differ; they gate whatever the clocks say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CountChange>,
    /// The exit code that follows.
    pub exit: u8,
}

/// What may be said of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// It is longer by more than the smallest effect, in two series.
    Regressed,
    /// It is shorter by more than the smallest effect.
    Improved,
    /// Neither: no change beyond the smallest effect was shown.
    NoClaim,
    /// The blocks vary too much to tell the smallest effect, or a copy differs from itself.
    TooNoisy,
}

impl Claim {
    /// The words of a report.
    pub fn words(self) -> &'static str {
        match self {
            Claim::Regressed => "regressed",
            Claim::Improved => "improved",
            Claim::NoClaim => "no claim",
            Claim::TooNoisy => "noise too large",
        }
    }
}

/// One point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimedPoint {
    /// Its name.
    pub id: String,
    /// What may be said.
    pub claim: Claim,
    /// The blocks, and what follows from them.
    pub first: Series,
    /// A second series, measured because the first one said *regressed* of some point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Series>,
}

/// The blocks of one point in one go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// CPU a chunk in each block of BASE, ns, in the order of the rounds.
    pub base_ns: Vec<f64>,
    /// The same of HEAD.
    pub head_ns: Vec<f64>,
    /// The same of a second copy of BASE: the A/A control.
    pub control_ns: Vec<f64>,
    /// Median of HEAD over median of BASE.
    pub ratio: f64,
    /// 95 % bootstrap interval of it.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub ci: [f64; 2],
    /// The same interval of the second copy of BASE over BASE.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub control_ci: [f64; 2],
    /// How likely so much is where the change is no larger than the smallest effect.
    pub p: f64,
    /// The same after Holm's correction for the number of points.
    pub p_holm: f64,
}
