//! The result of `skewlab bench feed`: what a chunk costs a session feed, by variant and listeners.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::Ratio;

/// Schema name and version.
pub const FEED_BENCH_SCHEMA: &str = "skewlab.feed-bench/1";

/// What chunks cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedBench {
    /// [`FEED_BENCH_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// What was asked for.
    pub settings: FeedSettings,
    /// Whether everything that was asked for was measured.
    pub complete: bool,
    /// One per variant and number of listeners, in the order asked for.
    pub points: Vec<FeedPoint>,
    /// CPU of every other variant over the first one's, by listeners.
    pub ratios: Vec<Ratio>,
    /// `(p90 - p10) / p50` of a fixed piece of work between blocks: what the machine itself was worth.
    pub noise: Option<f64>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedSettings {
    /// Variants; the first is what the others are compared with.
    pub variants: Vec<String>,
    /// Numbers of plain listeners on the feed that consumers follow.
    pub listeners: Vec<u32>,
    /// Chunks of a block; a block is a session of its own.
    pub chunks: u32,
    /// Characters of text in a delta.
    pub payload: u32,
    /// Chunks a second on the session's own clock, which the flush window goes by.
    pub rate: f64,
    /// When events become durable.
    pub policy: String,
    /// Whether rows are packed.
    pub packed: bool,
    /// `disk` or `memory`.
    pub store: String,
    /// Blocks of each variant at each number of listeners.
    pub repeats: u32,
    /// Seed of the order and of resampling.
    pub seed: u64,
}

/// One variant with so many listeners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedPoint {
    /// The variant.
    pub variant: String,
    /// Plain listeners.
    pub listeners: u32,
    /// Exact counts, a chunk.
    pub per_chunk: PerChunk,
    /// Bytes in the store over UTF-8 bytes of text that were streamed.
    pub disk_bytes_per_text_byte: f64,
    /// Heap bytes that the session still holds when it is over, a chunk. The script that it played is not in it.
    pub held_bytes_per_chunk: f64,
    /// CPU of the thread, nanoseconds a chunk: the median over the blocks.
    pub cpu_ns: f64,
    /// Each block.
    pub cpu_ns_blocks: Vec<f64>,
    /// Wall time of the fastest block, seconds, syncs included.
    pub fastest_s: f64,
}

/// Exact counts of a block, divided by its chunks. The same in every block, or the bench says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerChunk {
    /// Public emits.
    pub dispatches: f64,
    /// Calls of listeners, the store's own among them.
    pub callbacks: f64,
    /// Bytes appended to the store.
    pub bytes: f64,
    /// Syncs of the store.
    pub fsyncs: f64,
    /// Allocations.
    pub allocations: f64,
}
