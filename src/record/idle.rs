//! The result of `skewlab idle`: what a long stream does to the clocks that decide whether a server is idle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Schema name and version of the JSON.
pub const IDLE_SCHEMA: &str = "skewlab.idle/1";

/// One stream on each of several servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleReport {
    /// [`IDLE_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// What was asked for.
    pub settings: IdleSettings,
    /// One per server, in the order asked for.
    pub servers: Vec<ServerIdle>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleSettings {
    /// Tokens a second.
    pub rate: f64,
    /// How long text streams, seconds.
    pub duration_s: f64,
    /// Tokens in that time.
    pub tokens: u32,
    /// Idle time of the process after which the runtime reaps it, seconds.
    pub reap_after_s: f64,
    /// Tokens of a turn before it in the same conversation; 0 for none.
    pub warm_up: u32,
    /// The clients that watch, one each.
    pub clients: Vec<String>,
    /// Seed of the ids.
    pub seed: u64,
}

/// A figure for each of the three clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByClock<T> {
    /// The process clock behind `/server_info` `idle_time`, which an external runtime reads to reap.
    pub process: T,
    /// `updated_at` of the conversation, in memory.
    pub updated_at: T,
    /// The monotonic clock that decides whether the conversation is evicted; absent before 1.37.1.
    pub eviction: Option<T>,
}

/// What the stream did on one server. Times are seconds from the person's message on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerIdle {
    /// The server as it was named.
    pub server: String,
    /// The profile that describes it.
    pub profile: String,
    /// Whether that profile only answers a question, and is neither a release nor a proposal as a whole.
    pub what_if: bool,
    /// Tokens that the model emitted.
    pub tokens: u32,
    /// How long it took, from the message to the end of the turn.
    pub streamed_s: f64,
    /// Writes that tokens caused: a delta seen by a subscriber, or the producer's sign of life.
    pub writes: ByClock<u64>,
    /// The same, each token.
    pub writes_per_token: ByClock<f64>,
    /// Writes of the turn's other events: the message, the reply, state updates.
    pub other_writes: ByClock<u64>,
    /// The longest time that the process clock showed. Nothing is reaped in earnest: the stream goes on, so
    /// that this says how far the clock would have gone.
    pub peak_idle_s: f64,
    /// The same for each clock.
    pub peaks_s: ByClock<f64>,
    /// When a token first wrote the process clock.
    pub first_refresh_s: Option<f64>,
    /// When the process clock first showed the time after which the runtime reaps it, if it did.
    pub reaped_at_s: Option<f64>,
    /// When the sweep evicted the conversation, if it did.
    pub evicted_at_s: Option<f64>,
    /// What the clients got.
    pub clients: Vec<ClientShare>,
}

/// What one client got of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientShare {
    /// The client as it was named.
    pub client: String,
    /// Pieces of text that its application got while the text streamed, the warm-up's included.
    pub delivered: u64,
}
