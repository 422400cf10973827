//! A bench of the session feed put together: measure, then compare.

use std::sync::atomic::AtomicBool;

use crate::judge;
use crate::judge::bench::Subject;
use crate::record::bench::{PerToken, Point};
use crate::record::feed_bench::{FEED_BENCH_SCHEMA, FeedBench, FeedPoint, FeedSettings, PerChunk};
use crate::run::feed_bench::{Block, FeedBenchError, Lane, Measured, measure};
use crate::seed::Seed;
use crate::session_feed::Variant;
use crate::session_feed::store::FlushPolicy;

/// Measures the variants and compares each with the first.
pub fn feed(
    settings: &FeedSettings,
    variants: &[Variant],
    policy: FlushPolicy,
    stop: &AtomicBool,
    progress: &dyn Fn(usize, usize),
) -> Result<FeedBench, FeedBenchError> {
    let measured = measure(settings, variants, policy, stop, progress)?;
    let lanes = || measured.lanes.iter().filter(|lane| !lane.blocks.is_empty());
    let name = |at: usize| variants[at].name.clone();
    let points: Vec<FeedPoint> =
        lanes().filter_map(|lane| Some(point(name(lane.variant?), lane, &measured))).collect();
    let of = |variant: &str, listeners: u32, blocks: Vec<f64>| Point {
        bus: variant.to_owned(),
        encoding: settings.policy.clone(),
        subscribers: listeners,
        repeats: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        per_token: PerToken::default(),
        cpu_ns_blocks: blocks,
    };
    let comparable: Vec<Point> =
        points.iter().map(|p| of(&p.variant, p.listeners, p.cpu_ns_blocks.clone())).collect();
    let copies = lanes().filter(|lane| lane.variant.is_none());
    let controls: Vec<(u32, Vec<f64>)> =
        copies.map(|lane| (lane.listeners, cpu_ns(lane, measured.chunks))).collect();
    let first = variants.first().map(|v| v.name.clone()).unwrap_or_default();
    let reference = Subject { bus: &first, encoding: &settings.policy };
    let ratios = judge::bench::ratios(&comparable, reference, &controls, Seed(settings.seed));
    Ok(FeedBench {
        schema: FEED_BENCH_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        settings: settings.clone(),
        complete: measured.complete,
        points,
        ratios,
        noise: measured.noise,
    })
}

fn cpu_ns(lane: &Lane, chunks: u64) -> Vec<f64> {
    lane.blocks.iter().map(|block| share(whole(block.cpu.as_nanos()), chunks)).collect()
}

fn point(variant: String, lane: &Lane, measured: &Measured) -> FeedPoint {
    let chunks = measured.chunks;
    // The counts are the same in every block; allocations are those of the block with the fewest.
    let first = lane.blocks.iter().min_by_key(|block| block.allocations).copied().unwrap_or_default();
    let Block { dispatches, callbacks, bytes, fsyncs, allocations, held, .. } = first;
    let cpu_ns_blocks = cpu_ns(lane, chunks);
    let mut sorted = cpu_ns_blocks.clone();
    sorted.sort_by(f64::total_cmp);
    let fastest = lane.blocks.iter().map(|block| block.wall).min().unwrap_or_default();
    FeedPoint {
        variant,
        listeners: lane.listeners,
        per_chunk: PerChunk {
            dispatches: share(dispatches, chunks),
            callbacks: share(callbacks, chunks),
            bytes: share(bytes, chunks),
            fsyncs: share(fsyncs, chunks),
            allocations: share(allocations, chunks),
        },
        disk_bytes_per_text_byte: share(bytes, measured.text_bytes),
        held_bytes_per_chunk: share(u64::try_from(held).unwrap_or(0), chunks),
        cpu_ns: sorted.get(sorted.len() / 2).copied().unwrap_or_default(),
        cpu_ns_blocks,
        fastest_s: fastest.as_secs_f64(),
    }
}

fn whole(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts and nanoseconds of one block are far below 2^52")]
fn share(whole: u64, parts: u64) -> f64 {
    if parts == 0 { 0.0 } else { whole as f64 / parts as f64 }
}
