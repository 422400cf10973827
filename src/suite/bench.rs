//! A bench put together: measure, then fit and compare.

use std::sync::atomic::AtomicBool;

use crate::agent_server::profile::server::Encoding;
use crate::judge;
use crate::judge::bench::Subject;
use crate::record::bench::{BENCH_SCHEMA, Bench, PerToken, Point, Ratio};
use crate::run::fanout::{self, FanOutError, Measured, Options, Progress};
use crate::seed::Seed;

/// Runs the fan-out bench and fits its models.
///
/// Errors when it could not be run at all. A rig that was not up to it is no error: the result then says that it is not
/// valid, and why.
pub fn fan_out(
    options: &Options,
    stop: &AtomicBool,
    progress: &dyn Fn(Progress),
) -> Result<Bench, FanOutError> {
    let measured = fanout::run(options, stop, progress)?;
    let seed = Seed(options.settings.seed);
    let mut ratios = Vec::new();
    if let Some(first) = options.subjects.first() {
        // The controls are copies of this one and of no other.
        let first = Subject { bus: &first.bus, encoding: &first.encoding };
        ratios.extend(judge::bench::ratios(&measured.points, first, &measured.controls, seed));
    }
    ratios.extend(against_reference(&measured, seed));
    Ok(Bench {
        schema: BENCH_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        settings: options.settings.clone(),
        complete: measured.complete,
        models: judge::bench::models(&measured.points, seed),
        ratios,
        points: measured.points,
        delivery: measured.delivery,
        rig: measured.rig,
    })
}

/// What `bench.json` calls the thread that does nothing but write.
const REFERENCE: Subject<'static> = Subject { bus: "raw-tcp", encoding: "write" };

/// CPU of every server that encodes once over that of the reference writer, which has nothing to encode.
fn against_reference(measured: &Measured, seed: Seed) -> Vec<Ratio> {
    let reference = measured.reference.iter().filter(|(subscribers, _)| *subscribers > 0);
    let reference = reference.map(|(subscribers, blocks)| Point {
        bus: REFERENCE.bus.to_owned(),
        encoding: REFERENCE.encoding.to_owned(),
        subscribers: *subscribers,
        repeats: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        per_token: PerToken::default(),
        cpu_ns_blocks: blocks.clone(),
    });
    let once = measured.points.iter().filter(|p| p.encoding == Encoding::Once.as_str()).cloned();
    let points: Vec<Point> = reference.chain(once).collect();
    judge::bench::ratios(&points, REFERENCE, &measured.reference_controls, seed)
}
