//! The result of `skewlab live bench fanout` and `skewlab live idle`: what released servers cost, and what their idle
//! clocks showed, while they streamed.
//!
//! CPU is of the server's own process. A figure that was not measured is absent, never zero. An interval with an end of
//! `null` has no bound there.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interval;

/// Schema name and version of a live bench.
pub const LIVE_BENCH_SCHEMA: &str = "skewlab.live-bench/1";

/// Schema name and version of a comparison of idle clocks.
pub const LIVE_IDLE_SCHEMA: &str = "skewlab.live-idle/1";

/// CPU per token against subscribers, of released servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveBench {
    /// [`LIVE_BENCH_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// What was asked for.
    pub settings: LiveSettings,
    /// Whether everything that was asked for was measured.
    pub complete: bool,
    /// One per server, in the order asked for.
    pub servers: Vec<LiveSubject>,
    /// Every block, in the order in which they ran.
    pub blocks: Vec<LiveBlock>,
    /// One per server and number of subscribers with a valid block.
    pub points: Vec<LivePoint>,
    /// One per server with valid blocks at two numbers of subscribers.
    pub lines: Vec<LiveLine>,
    /// CPU of one server over another's; only where both ran on the same versions of what they stand on.
    pub ratios: Vec<LiveRatio>,
    /// Pairs that are not compared, and why.
    pub not_compared: Vec<NotCompared>,
    /// The rig's own load, and whether it may be believed.
    pub rig: LiveRig,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveSettings {
    /// Numbers of subscribers, ascending.
    pub subscribers: Vec<u32>,
    /// Tokens of the turn that is measured.
    pub tokens: u32,
    /// Tokens of the turn that is taken off it: what a turn costs beside its tokens.
    pub base_tokens: u32,
    /// Tokens a second.
    pub rate: f64,
    /// Blocks of each server at each number of subscribers.
    pub repeats: u32,
    /// Seed of the order and of resampling.
    pub seed: u64,
}

/// One released server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveSubject {
    /// Its name as it was asked for.
    pub server: String,
    /// What ran: `openhands-agent-server 1.58.2`.
    pub ran: String,
    /// Versions of the packages that carry a delta: `fastapi`, `pydantic`, and so on.
    pub pins: BTreeMap<String, String>,
    /// The most memory that it held between two blocks, bytes.
    pub resident_bytes: Option<u64>,
}

/// One server at one number of subscribers, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveBlock {
    /// The server.
    pub server: String,
    /// Sockets that were subscribed.
    pub subscribers: u32,
    /// CPU per token, ms: the long turn without the short one, the idle share taken off both.
    pub cpu_ms_per_token: f64,
    /// CPU of the long turn, seconds.
    pub cpu_s: f64,
    /// CPU of the short turn, seconds.
    pub base_cpu_s: f64,
    /// Share of a core that the server used while nothing happened.
    pub idle_share: f64,
    /// Deltas that the subscribers got in the long turn, all together.
    pub deltas: u64,
    /// Why the block does not count.
    pub fault: Option<String>,
}

/// One server at one number of subscribers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LivePoint {
    /// The server.
    pub server: String,
    /// Sockets that were subscribed.
    pub subscribers: u32,
    /// Median over the valid blocks, ms.
    pub cpu_ms_per_token: f64,
    /// The least and the most of them.
    pub range_ms: [f64; 2],
    /// Valid blocks.
    pub blocks: u32,
}

/// `CPU per token = a + b · subscribers` of one server, through the medians of its valid blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveLine {
    /// The server.
    pub server: String,
    /// With no subscriber, ms.
    pub a_ms: f64,
    /// What each subscriber adds, ms.
    pub b_ms: f64,
    /// 95 % interval of `b_ms`: from resampling the blocks, or with fewer than five at a number of subscribers what lies
    /// off the line.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub b_ci: [f64; 2],
}

/// CPU per token of one server over another's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveRatio {
    /// The numerator.
    pub of: String,
    /// The denominator.
    pub vs: String,
    /// Sockets that were subscribed.
    pub subscribers: u32,
    /// Median over median.
    pub ratio: f64,
    /// 95 % interval.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub ci: [f64; 2],
}

/// Two servers between which no ratio is formed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotCompared {
    /// The one.
    pub of: String,
    /// The other.
    pub vs: String,
    /// What differs beside the release: package, version of the one, version of the other (`-` where absent).
    pub differ: Vec<[String; 3]>,
}

/// The load of the rig itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveRig {
    /// Whether the figures may be quoted.
    pub valid: bool,
    /// If not, why, and what to change.
    pub reason: Option<String>,
    /// Cores of the machine.
    pub cores: u32,
    /// How different a time the same work took, see [`crate::record::bench::RigReport`].
    pub noise: Option<f64>,
    /// Share of its time that the machine's host gave to others.
    pub steal: Option<f64>,
    /// How late the model was for one token in a hundred, ms.
    pub model_lag_p99_ms: Option<f64>,
    /// CPU of the thread that reads the sockets, as a share of a core while turns ran.
    pub reader_cpu: f64,
    /// Blocks that do not count.
    pub invalid_blocks: u32,
}

/// What the idle clocks of released servers showed, beside what our emulation says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveIdleReport {
    /// [`LIVE_IDLE_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// Tokens a second.
    pub rate: f64,
    /// How long text streamed, seconds.
    pub duration_s: f64,
    /// Seconds between two looks.
    pub poll_s: f64,
    /// One per server, in the order asked for.
    pub servers: Vec<LiveIdle>,
}

/// One server's clocks while text streamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveIdle {
    /// The server.
    pub server: String,
    /// What ran.
    pub ran: String,
    /// The profile that it is held against.
    pub profile: String,
    /// Looks while text streamed.
    pub polls: u32,
    /// The longest time between two looks, seconds.
    pub longest_gap_s: f64,
    /// The largest `idle_time` of `/server_info`, whole seconds.
    pub peak_idle_s: u64,
    /// The peak that the emulation says.
    pub emulated_peak_idle_s: f64,
    /// Different values of `updated_at`.
    pub distinct_updated_at: u32,
    /// Writes of `updated_at` for each token that the emulation says.
    pub emulated_updated_at_per_token: f64,
    /// Where the two differ by more than looking once a second allows.
    pub contradictions: Vec<String>,
}
