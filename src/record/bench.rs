//! The result of a bench: what `bench.json` holds.
//!
//! Counts are exact. Times are of the server's thread alone, and are judged only as ratios of runs that were
//! interleaved. A figure that was not measured is absent, never zero. An interval with an end of `null` has no bound
//! there: too few blocks to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interval;

/// Schema name and version of `bench.json`.
pub const BENCH_SCHEMA: &str = "skewlab.bench/1";

/// A whole bench.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    /// [`BENCH_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// What was asked for.
    pub settings: Settings,
    /// Whether everything that was asked for was measured; false after Ctrl-C or when the rig gave up.
    pub complete: bool,
    /// One per bus, encoding and number of subscribers.
    pub points: Vec<Point>,
    /// One per bus and encoding.
    pub models: Vec<Model>,
    /// CPU of one subject over another's, from interleaved runs.
    pub ratios: Vec<Ratio>,
    /// What the subscribers saw, one per point with subscribers.
    pub delivery: Vec<Delivery>,
    /// The rig's own load, and whether it may be believed.
    pub rig: RigReport,
}

/// What a bench was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The server whose other traits all subjects share.
    pub server: String,
    /// Numbers of subscribers, ascending.
    pub subscribers: Vec<u32>,
    /// Chunks of the model in one block; a block is what is timed.
    pub tokens: u32,
    /// Bytes of text in a chunk.
    pub payload_bytes: u32,
    /// Tokens of the model in a chunk.
    pub batch: u32,
    /// Chunks a second; absent when they come as fast as the server takes them.
    pub rate: Option<f64>,
    /// Blocks of each subject at each number of subscribers.
    pub repeats: u32,
    /// Further subscribers of each subject that never read. What is written to them is billed to the server and
    /// counted like the rest.
    pub stalled: u32,
    /// Seed of ids, order of the subjects, and resampling.
    pub seed: u64,
}

/// One bus and encoding at one number of subscribers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// `shared`, `opt-in`, `widened`, `split`.
    pub bus: String,
    /// `per-subscriber`, `once`.
    pub encoding: String,
    /// Sockets that were subscribed.
    pub subscribers: u32,
    /// Blocks that were measured.
    pub repeats: u32,
    /// Medians over the blocks, per chunk.
    pub per_token: PerToken,
    /// CPU of the server's thread per chunk in each block, ns, in the order they ran.
    pub cpu_ns_blocks: Vec<f64>,
}

/// What one chunk of the model cost the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerToken {
    /// CPU of the server's thread, ns.
    pub cpu_ns: f64,
    /// Heap allocations of the server's thread.
    pub allocations: f64,
    /// Calls of a subscriber.
    pub invocations: f64,
    /// Times the delta was turned into JSON.
    pub serialisations: f64,
    /// Bytes of that JSON.
    pub bytes_encoded: f64,
    /// Frames written.
    pub frames: f64,
    /// Bytes of them, WebSocket headers included.
    pub wire_bytes: f64,
    /// The same per byte of the model's text that was due to the subscribers; absent without subscribers, and with
    /// stalled ones.
    pub wire_bytes_per_text_byte: Option<f64>,
    /// Webhook posts.
    pub webhook_posts: f64,
    /// Events in them.
    pub webhook_events: f64,
    /// Events that telemetry counted.
    pub telemetry: f64,
    /// Writes to each idle clock.
    pub idle_writes: PerClock,
    /// Lines in the server's log.
    pub log_lines: f64,
}

/// A figure for each idle clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerClock {
    /// The process clock behind `idle_time`.
    pub process: f64,
    /// `updated_at`, in memory.
    pub updated_at: f64,
    /// The eviction clock.
    pub eviction: f64,
}

/// `cost per token = a + b · subscribers`, for one bus and encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The bus.
    pub bus: String,
    /// The encoding.
    pub encoding: String,
    /// CPU of a token that nobody is subscribed to, ns.
    pub a_ns: f64,
    /// CPU that each subscriber adds, ns.
    pub b_ns: f64,
    /// 95 % bootstrap interval of `a_ns`.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub a_ci: [f64; 2],
    /// 95 % bootstrap interval of `b_ns`.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub b_ci: [f64; 2],
    /// At each number of subscribers: measured median minus fitted value, as a share of the fitted value.
    pub residuals: Vec<Residual>,
    /// The same fit of the bytes on the wire.
    pub bytes: Line,
    /// The same fit of the allocations.
    pub allocations: Line,
}

/// How far one point lies off the line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Residual {
    /// Number of subscribers.
    pub subscribers: u32,
    /// Measured over fitted, minus one.
    pub relative: f64,
}

/// A fitted line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// At no subscribers.
    pub a: f64,
    /// Per subscriber.
    pub b: f64,
    /// 95 % bootstrap interval of `b`.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub b_ci: [f64; 2],
}

/// CPU per token of one subject over another's at one number of subscribers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// `BUS/ENCODING` of the numerator.
    pub of: String,
    /// `BUS/ENCODING` of the denominator.
    pub vs: String,
    /// Number of subscribers.
    pub subscribers: u32,
    /// Median over median.
    pub ratio: f64,
    /// 95 % bootstrap interval.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub ci: [f64; 2],
    /// The same interval of the denominator against a second copy of itself.
    #[serde(deserialize_with = "interval::deserialize")]
    #[schemars(with = "interval::Ends")]
    pub control_ci: [f64; 2],
    /// Whether anything may be said: the ratio's interval leaves out 1, and the ratio is farther from 1 than the
    /// control's interval reaches.
    pub claim: bool,
}

impl Delivery {
    /// Whether every subscriber got every chunk once, in order, and could read its number.
    pub fn whole(&self) -> bool {
        let wrong = self.missing + self.duplicated + self.reordered;
        // A delay is taken of every chunk whose number could be read: one with another text has none.
        wrong == 0 && self.received == self.due && self.delay.count == self.received
    }
}

/// What the subscribers of one point saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// The bus.
    pub bus: String,
    /// The encoding.
    pub encoding: String,
    /// Number of subscribers.
    pub subscribers: u32,
    /// Delta frames that all subscribers together should have got.
    pub due: u64,
    /// That they got.
    pub received: u64,
    /// `received / due`.
    pub reach: f64,
    /// Frames that a subscriber missed by the numbers in the text, without being told the total.
    pub missing: u64,
    /// Frames that came twice.
    pub duplicated: u64,
    /// Frames that came after a later one.
    pub reordered: u64,
    /// Tokens of the model per delta frame.
    pub batch_ratio: f64,
    /// From the intended emission of the first chunk of a block to its arrival at a subscriber.
    pub first_delta: Quantiles,
    /// Between two successive delta frames at one subscriber.
    pub frame_gap: Quantiles,
    /// The same, divided among the tokens that the later frame carries, one entry a token.
    pub token_gap: Quantiles,
    /// From the *intended* emission of a chunk to its arrival at a subscriber. A generator or a server that
    /// stalls cannot hide it by emitting later (coordinated omission).
    pub delay: Quantiles,
}

/// A distribution of times, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// Values recorded.
    pub count: u64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

/// The rig's own load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RigReport {
    /// Whether the figures may be quoted.
    pub valid: bool,
    /// Why not, and what to change.
    pub reason: Option<String>,
    /// Cores that this process may use.
    pub cores: u32,
    /// Share of a core that the generator's thread used while it emitted.
    pub generator_cpu: f64,
    /// By how much the generator was behind its own plan; absent when it had none (flat out).
    pub generator_lag: Option<Quantiles>,
    /// Share of a core that the subscribers' thread used while blocks ran.
    pub reader_cpu: f64,
    /// By how much a task on the server's event loop that wakes by a plan woke too late.
    pub server_loop_lag: Quantiles,
    /// Share of the blocks' time that the server's thread was ready to run and did not (`schedstat`); absent where
    /// the kernel does not say.
    pub server_run_delay: Option<f64>,
    /// Share of the machine's time that its host took away.
    pub steal: Option<f64>,
    /// How much a fixed piece of work varied on this machine during the run: (p90 − p10) ÷ p50; absent after too few
    /// looks.
    pub noise: Option<f64>,
    /// Heap bytes per connection on the server's thread; absent without connections.
    pub server_bytes_per_connection: Option<f64>,
    /// Heap bytes per connection on the subscribers' thread.
    pub client_bytes_per_connection: Option<f64>,
    /// Heap bytes of that thread that do not depend on their number: its buffer and its distributions.
    pub client_shared_bytes: Option<u64>,
    /// Descriptors that this process may open.
    pub descriptors: u64,
}

impl RigReport {
    /// Of two goes of one bench, the worse figure of each: what one go suffered is not made up for by the other.
    #[must_use]
    pub fn with(self, other: RigReport) -> RigReport {
        let larger = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        let later =
            |a: Quantiles, b: Quantiles| if (b.p99_ns, b.max_ns) > (a.p99_ns, a.max_ns) { b } else { a };
        RigReport {
            valid: self.valid && other.valid,
            reason: self.reason.or(other.reason),
            cores: self.cores.min(other.cores),
            generator_cpu: self.generator_cpu.max(other.generator_cpu),
            generator_lag: match (self.generator_lag, other.generator_lag) {
                (Some(a), Some(b)) => Some(later(a, b)),
                (a, b) => a.or(b),
            },
            reader_cpu: self.reader_cpu.max(other.reader_cpu),
            server_loop_lag: later(self.server_loop_lag, other.server_loop_lag),
            server_run_delay: larger(self.server_run_delay, other.server_run_delay),
            steal: larger(self.steal, other.steal),
            noise: larger(self.noise, other.noise),
            server_bytes_per_connection: larger(
                self.server_bytes_per_connection,
                other.server_bytes_per_connection,
            ),
            client_bytes_per_connection: larger(
                self.client_bytes_per_connection,
                other.client_bytes_per_connection,
            ),
            client_shared_bytes: self.client_shared_bytes.max(other.client_shared_bytes),
            descriptors: self.descriptors.max(other.descriptors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_go_that_is_not_valid_is_not_made_up_for() {
        let fine = RigReport { valid: true, noise: Some(0.1), cores: 2, ..RigReport::default() };
        let bad = RigReport {
            reason: Some("late".into()),
            steal: Some(0.5),
            server_loop_lag: Quantiles { p99_ns: 5, ..Quantiles::default() },
            ..fine.clone()
        };
        let bad = RigReport { valid: false, ..bad };
        for both in [fine.clone().with(bad.clone()), bad.clone().with(fine.clone())] {
            assert_eq!((both.valid, both.reason.as_deref(), both.steal), (false, Some("late"), Some(0.5)));
            assert_eq!((both.server_loop_lag.p99_ns, both.noise), (5, Some(0.1)));
        }
        assert_eq!(fine.clone().with(fine.clone()), fine);
    }
}
