//! A bench put together: measure, then fit and compare.

use std::sync::atomic::AtomicBool;

use crate::agent_server::profile::server::Encoding;
use crate::judge;
use crate::judge::bench::Subject;
use crate::record::bench::{BENCH_SCHEMA, Bench, PerToken, Point, Ratio, RigReport};
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
    let seed = Seed(options.settings.seed);
    let goes = options.goes();
    let count = u32::try_from(goes.len()).unwrap_or(u32::MAX);
    let mut bench = Bench {
        schema: BENCH_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        settings: options.settings.clone(),
        complete: true,
        points: Vec::new(),
        models: Vec::new(),
        ratios: Vec::new(),
        delivery: Vec::new(),
        rig: RigReport::default(),
    };
    for (n, go) in (0_u32..).zip(&goes) {
        let within = |p: Progress| progress(Progress { done: n * p.of + p.done, of: count * p.of, ..p });
        let measured = fanout::run(go, stop, &within)?;
        add(&mut bench, &options.subjects, measured, seed);
        if !bench.complete {
            break;
        }
    }
    bench.models = judge::bench::models(&bench.points, seed);
    Ok(bench)
}

/// Adds what one go measured. The first subject is in every go; its points are those of the first one.
fn add(bench: &mut Bench, subjects: &[fanout::Subject], measured: Measured, seed: Seed) {
    let Some(first) = subjects.first() else { return };
    let first = Subject { bus: &first.bus, encoding: &first.encoding };
    // The controls are copies of the first subject, and no other comparison may lean on them.
    bench.ratios.extend(judge::bench::ratios(&measured.points, first, &measured.controls, seed));
    let raw = against_reference(&measured, seed);
    let known = |r: &Ratio| {
        bench.ratios.iter().any(|k| (&k.of, &k.vs, k.subscribers) == (&r.of, &r.vs, r.subscribers))
    };
    let raw: Vec<Ratio> = raw.into_iter().filter(|r| !known(r)).collect();
    bench.ratios.extend(raw);
    let again = !bench.points.is_empty();
    let is_first = |bus: &str, encoding: &str| bus == first.bus && encoding == first.encoding;
    bench.points.extend(measured.points.into_iter().filter(|p| !(again && is_first(&p.bus, &p.encoding))));
    bench
        .delivery
        .extend(measured.delivery.into_iter().filter(|d| !(again && is_first(&d.bus, &d.encoding))));
    bench.complete &= measured.complete;
    bench.rig = if again { bench.rig.clone().with(measured.rig) } else { measured.rig };
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
