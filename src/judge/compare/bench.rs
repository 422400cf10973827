//! Two benches, point by point: counts exactly, times only to be looked at.

use std::collections::BTreeMap;

use super::cells::totals;
use super::{Incomparable, exit_of};
use crate::record::bench::{Bench, Delivery, PerClock, PerToken};
use crate::record::comparison::{
    COMPARISON_SCHEMA, CellChange, Change, Comparison, Count, CountChange, Counted, Kind, Side, TimeShown,
};
use crate::record::feed_bench::{FeedBench, PerChunk};

/// Why no time is judged here.
const NOT_INTERLEAVED: &str = "times are not judged: the two did not take turns; `skewlab bench … --against BIN` or \
                                   `--against-server NAME` measures both in one go";

/// One point as far as it is compared.
struct Point {
    counts: Vec<(&'static str, Counted, Option<f64>)>,
    cpu_ns: f64,
}

/// One bench as far as it is compared.
struct Points {
    skewlab: String,
    by_id: BTreeMap<String, Point>,
    rig: Vec<String>,
}

/// Compares two results of `bench fanout`.
pub fn compare_benches(base: &Bench, head: &Bench, allow_gone: bool) -> Result<Comparison, Incomparable> {
    let (a, b) = (&base.settings, &head.settings);
    let pace =
        |rate: Option<f64>| rate.map_or_else(|| "flat out".to_owned(), |rate| format!("{rate} a second"));
    same([
        ("the server", a.server.clone(), b.server.clone()),
        ("the length of a block", a.tokens.to_string(), b.tokens.to_string()),
        ("the payload", a.payload_bytes.to_string(), b.payload_bytes.to_string()),
        ("the batch", a.batch.to_string(), b.batch.to_string()),
        ("the rate", pace(a.rate), pace(b.rate)),
        ("the number of stalled subscribers", a.stalled.to_string(), b.stalled.to_string()),
    ])?;
    Ok(compared(Kind::Bench, &of_bench(base, "BASE")?, &of_bench(head, "HEAD")?, allow_gone))
}

/// Compares two results of `bench feed`.
pub fn compare_feed_benches(
    base: &FeedBench,
    head: &FeedBench,
    allow_gone: bool,
) -> Result<Comparison, Incomparable> {
    let (a, b) = (&base.settings, &head.settings);
    same([
        ("the number of chunks", a.chunks.to_string(), b.chunks.to_string()),
        ("the payload", a.payload.to_string(), b.payload.to_string()),
        ("the rate", a.rate.to_string(), b.rate.to_string()),
        ("the flush policy", a.policy.clone(), b.policy.clone()),
        ("packing of rows", a.packed.to_string(), b.packed.to_string()),
        ("the store", a.store.clone(), b.store.clone()),
    ])?;
    Ok(compared(Kind::FeedBench, &of_feed(base, "BASE")?, &of_feed(head, "HEAD")?, allow_gone))
}

fn same<const N: usize>(settings: [(&'static str, String, String); N]) -> Result<(), Incomparable> {
    match settings.into_iter().find(|(_, base, head)| base != head) {
        None => Ok(()),
        Some((what, base, head)) => {
            Err(Incomparable::Setting { what, base, head, help: "measure both with the same options" })
        }
    }
}

fn of_bench(bench: &Bench, side: &'static str) -> Result<Points, Incomparable> {
    let mut rig = Vec::new();
    if !bench.rig.valid {
        let why = bench.rig.reason.clone().unwrap_or_else(|| "it does not say why".to_owned());
        rig.push(format!("{side}: the rig was not valid: {why}"));
    }
    rig.extend(stopped(side, bench.complete));
    let mut points = BTreeMap::new();
    for point in &bench.points {
        let id = format!("{}/{}/{}", point.bus, point.encoding, point.subscribers);
        let seen = bench.delivery.iter().find(|d| {
            (&d.bus, &d.encoding, d.subscribers) == (&point.bus, &point.encoding, point.subscribers)
        });
        let counts = per_token(&point.per_token).into_iter().chain(seen.map(delivery).into_iter().flatten());
        let point = Point { counts: counts.collect(), cpu_ns: point.per_token.cpu_ns };
        put(&mut points, side, id, point)?;
    }
    filled(side, points, rig, &bench.skewlab)
}

fn of_feed(bench: &FeedBench, side: &'static str) -> Result<Points, Incomparable> {
    let mut points = BTreeMap::new();
    for point in &bench.points {
        let PerChunk { dispatches, callbacks, bytes, fsyncs, allocations: _ } = point.per_chunk;
        let counts = [
            ("dispatches", dispatches),
            ("callbacks", callbacks),
            ("bytes in the store", bytes),
            ("syncs", fsyncs),
            ("bytes in the store a byte of text", point.disk_bytes_per_text_byte),
        ];
        let counts = counts.map(|(name, count)| (name, Counted::Cost, Some(count))).to_vec();
        let id = format!("{}/{}", point.variant, point.listeners);
        put(&mut points, side, id, Point { counts, cpu_ns: point.cpu_ns })?;
    }
    filled(side, points, stopped(side, bench.complete).into_iter().collect(), &bench.skewlab)
}

fn stopped(side: &str, complete: bool) -> Option<String> {
    (!complete).then(|| format!("{side}: it was stopped early"))
}

fn put(
    points: &mut BTreeMap<String, Point>,
    side: &'static str,
    id: String,
    point: Point,
) -> Result<(), Incomparable> {
    if points.contains_key(&id) {
        return Err(Incomparable::Twice { side, id });
    }
    points.insert(id, point);
    Ok(())
}

fn filled(
    side: &'static str,
    points: BTreeMap<String, Point>,
    rig: Vec<String>,
    skewlab: &str,
) -> Result<Points, Incomparable> {
    if points.is_empty() {
        return Err(Incomparable::Empty { side, what: "point" });
    }
    Ok(Points { skewlab: skewlab.to_owned(), by_id: points, rig })
}

/// What of a chunk's cost depends on how long a block took: what is batched, throttled or flushed by the clock. It is
/// listed and gates nothing.
const BY_THE_CLOCK: [&str; 5] =
    ["webhook posts", "webhook events", "process clock writes", "updated_at writes", "eviction clock writes"];

/// What a chunk costs, without its allocations: those of a socket depend on how its peer reads.
fn per_token(of: &PerToken) -> Vec<(&'static str, Counted, Option<f64>)> {
    let PerClock { process, updated_at, eviction } = of.idle_writes;
    let costs = [
        ("subscriber invocations", of.invocations),
        ("serialisations", of.serialisations),
        ("bytes encoded", of.bytes_encoded),
        ("frames", of.frames),
        ("wire bytes", of.wire_bytes),
        ("webhook posts", of.webhook_posts),
        ("webhook events", of.webhook_events),
        ("telemetry events", of.telemetry),
        ("process clock writes", process),
        ("updated_at writes", updated_at),
        ("eviction clock writes", eviction),
        ("log lines", of.log_lines),
    ];
    costs.map(|(name, count)| (name, Counted::Cost, Some(count))).to_vec()
}

/// What the subscribers did not get as they should: nothing of it depends on how many blocks there were where all is well.
fn delivery(of: &Delivery) -> Vec<(&'static str, Counted, Option<f64>)> {
    #[expect(clippy::cast_precision_loss, reason = "counts of one bench are far below 2^52")]
    let count = |n: u64| Some(n as f64);
    vec![
        ("frames missing", Counted::Text, count(of.due.saturating_sub(of.received).max(of.missing))),
        ("frames twice", Counted::Text, count(of.duplicated)),
        ("frames out of order", Counted::Text, count(of.reordered)),
    ]
}

/// What a chunk costs at one point, of two servers that were measured in one go.
pub fn point_counts(id: &str, base: &PerToken, head: &PerToken) -> Vec<CountChange> {
    let point = |of: &PerToken| Point { counts: per_token(of), cpu_ns: of.cpu_ns };
    differing(id, &point(base), &point(head))
}

fn compared(kind: Kind, base: &Points, head: &Points, allow_gone: bool) -> Comparison {
    let (mut changes, mut counts, mut times, mut both) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let change = |id: &String, change, gates| CellChange {
        id: id.clone(),
        change,
        gates,
        base: None,
        head: None,
        known: None,
        budgets: None,
    };
    for (id, point) in &base.by_id {
        let Some(now) = head.by_id.get(id) else {
            changes.push(change(id, Change::Gone, !allow_gone));
            continue;
        };
        both += 1;
        counts.extend(differing(id, point, now));
        times.push(TimeShown { id: id.clone(), base_ns: point.cpu_ns, head_ns: now.cpu_ns });
    }
    let added = head.by_id.keys().filter(|id| !base.by_id.contains_key(*id));
    changes.extend(added.map(|id| change(id, Change::Added, false)));
    let side = |of: &Points| Side { skewlab: of.skewlab.clone(), cells: of.by_id.len() as u64 };
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        kind,
        base: side(base),
        head: side(head),
        compared: both,
        totals: totals(&changes),
        changes,
        counts,
        times,
        skipped: Vec::new(),
        stale: Vec::new(),
        rig: [base.rig.clone(), head.rig.clone()].concat(),
        notes: vec![NOT_INTERLEAVED.to_owned()],
        exit: 0,
    };
    comparison.exit = exit_of(&comparison).code();
    comparison
}

/// Counts of a chunk that differ. They are quotients of whole numbers, and the same up to their rounding or not at all.
fn differing(id: &str, base: &Point, head: &Point) -> Vec<CountChange> {
    let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        (a, b) => a.is_none() == b.is_none(),
    };
    let now =
        |name: &str| head.counts.iter().find(|(there, ..)| *there == name).and_then(|(.., count)| *count);
    let found = base.counts.iter().map(|(name, counted, before)| (*name, *counted, *before, now(name)));
    let found = found.filter(|(.., before, after)| !same(*before, *after));
    found
        .map(|(name, counted, before, after)| CountChange {
            id: id.to_owned(),
            count: name.to_owned(),
            counted,
            base: before.map(Count::of),
            head: after.map(Count::of),
            gates: !BY_THE_CLOCK.contains(&name)
                && before.zip(after).is_some_and(|(a, b)| counted == Counted::Text || b > a),
        })
        .collect()
}
