//! A bench put together: measure, then fit and compare.

use std::sync::atomic::AtomicBool;

use crate::judge;
use crate::judge::bench::Subject;
use crate::record::bench::{BENCH_SCHEMA, Bench};
use crate::seed::Seed;
use crate::run::fanout::{self, FanOutError, Options, Progress};

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
    if let Some(first) = measured.points.first() {
        ratios.extend(judge::bench::ratios(&measured.points, Subject::of(first), &measured.controls, seed));
    }
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
