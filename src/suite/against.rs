//! Two servers, or two builds, measured in turn and judged: the only place where a time gates.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rand::seq::SliceRandom as _;

use crate::judge::ExitCode;
use crate::judge::against::{Blocks, FAMILY_ERROR, decide};
use crate::judge::compare::{Incomparable, compare_benches, compare_feed_benches, point_counts};
use crate::record::Document;
use crate::record::bench::{Delivery, Point};
use crate::record::comparison::{Change, Comparison, CountChange, Counted, Kind};
use crate::record::interleaved::{Claim, INTERLEAVED_SCHEMA, Interleaved};
use crate::run::against::BuildError;
use crate::run::fanout::{self, FanOutError, Measured, Options, Progress};
use crate::seed::Seed;

/// Two that could not be measured in turn.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// A build did not measure.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The bench could not be run.
    #[error(transparent)]
    FanOut(#[from] FanOutError),
    /// Two builds were asked the same and did not measure the same.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// A build measured something else.
    #[error("a build answered with `{0}`, which is not the bench that was asked for")]
    Kind(&'static str),
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// What HEAD is held against.
    Base,
    /// The same once more: the A/A control.
    Control,
    /// What is held against it.
    Head,
}

/// What is measured, in words and numbers.
#[derive(Debug, Clone)]
pub struct Question {
    /// What HEAD is held against.
    pub base: String,
    /// What is held against it.
    pub head: String,
    /// The smallest change that is one, as a share.
    pub smallest_effect: f64,
    /// Seed of the order and of resampling.
    pub seed: u64,
}

/// Everything that one go in turns gave.
#[derive(Debug, Default)]
struct Go {
    blocks: Vec<Blocks>,
    rig: Vec<String>,
    broken: Vec<String>,
    complete: bool,
}

/// Measures two builds in turn: `rounds` blocks of each, in an order drawn for every round, one process a block. `block`
/// measures one; nothing of it says that it was stopped.
pub fn builds(
    question: &Question,
    rounds: u32,
    block: &mut dyn FnMut(Turn) -> Result<Option<Document>, AgainstError>,
) -> Result<Interleaved, AgainstError> {
    let mut first: BTreeMap<&str, Document> = BTreeMap::new();
    let go = series(question, rounds, "first", block, &mut |turn, document| {
        let side = if turn == Turn::Head { "head" } else { "base" };
        first.entry(side).or_insert(document);
    })?;
    let comparison = match (first.get("base"), first.get("head")) {
        (Some(Document::Bench(base)), Some(Document::Bench(head))) => {
            Some(compare_benches(base, head, false)?)
        }
        (Some(Document::FeedBench(base)), Some(Document::FeedBench(head))) => {
            Some(compare_feed_benches(base, head, false)?)
        }
        (Some(one), Some(_)) => return Err(AgainstError::Kind(one.schema())),
        _ => None,
    };
    let kind = comparison.as_ref().map_or(Kind::Bench, |found| found.kind);
    let (mut rig, mut complete) = (Vec::new(), true);
    let again = || {
        let second = series(question, rounds, "second", block, &mut |_, _| {})?;
        rig = second.rig;
        complete = second.complete;
        Ok::<_, AgainstError>(complete.then_some(second.blocks))
    };
    let points = decide(&go.blocks, again, question.smallest_effect, Seed(question.seed))?;
    let go = Go { rig: joined(go.rig, rig), complete: go.complete && complete, ..go };
    let counts = comparison.as_ref().map(|found| found.counts.clone()).unwrap_or_default();
    let broken = joined(go.broken.clone(), comparison.as_ref().map(one_sided).unwrap_or_default());
    Ok(written(question, kind, Go { broken, ..go }, points, counts))
}

/// Points that only one of the two builds has.
fn one_sided(found: &Comparison) -> Vec<String> {
    let gone = found.changes.iter().filter(|change| change.change == Change::Gone);
    gone.map(|change| format!("HEAD has no point {}", change.id)).collect()
}

fn joined(mut all: Vec<String>, more: Vec<String>) -> Vec<String> {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

fn series(
    question: &Question,
    rounds: u32,
    which: &str,
    block: &mut dyn FnMut(Turn) -> Result<Option<Document>, AgainstError>,
    seen: &mut dyn FnMut(Turn, Document),
) -> Result<Go, AgainstError> {
    let mut rng = Seed(question.seed).derive("turns").derive(which).rng();
    let mut turns = [Turn::Base, Turn::Control, Turn::Head];
    let mut go = Go { complete: true, ..Go::default() };
    for _ in 0..rounds {
        turns.shuffle(&mut rng);
        for turn in turns {
            let Some(document) = block(turn)? else {
                go.complete = false;
                return Ok(go);
            };
            let (cpu, rig, broken) = read(&document)?;
            go.rig = joined(go.rig, rig);
            go.broken = joined(go.broken, broken);
            for (id, cpu_ns) in cpu {
                let at = go.blocks.iter().position(|blocks| blocks.id == id).unwrap_or_else(|| {
                    go.blocks.push(Blocks { id, base: Vec::new(), head: Vec::new(), control: Vec::new() });
                    go.blocks.len() - 1
                });
                let blocks = &mut go.blocks[at];
                match turn {
                    Turn::Base => blocks.base.push(cpu_ns),
                    Turn::Control => blocks.control.push(cpu_ns),
                    Turn::Head => blocks.head.push(cpu_ns),
                }
            }
            seen(turn, document);
        }
    }
    Ok(go)
}

type Read = (Vec<(String, f64)>, Vec<String>, Vec<String>);

/// CPU a chunk of every point of a block, what the rig says of itself, and what subscribers missed.
fn read(document: &Document) -> Result<Read, AgainstError> {
    let stopped = |complete: bool| (!complete).then(|| "a block was stopped early".to_owned());
    match document {
        Document::Bench(bench) => {
            let id = |p: &Point| format!("{}/{}/{}", p.bus, p.encoding, p.subscribers);
            let cpu = bench.points.iter().map(|p| (id(p), p.per_token.cpu_ns)).collect();
            let reason = bench.rig.reason.clone().unwrap_or_else(|| "it does not say why".to_owned());
            let invalid = (!bench.rig.valid).then_some(reason);
            Ok((cpu, invalid.into_iter().chain(stopped(bench.complete)).collect(), missed(&bench.delivery)))
        }
        Document::FeedBench(bench) => {
            let cpu =
                bench.points.iter().map(|p| (format!("{}/{}", p.variant, p.listeners), p.cpu_ns)).collect();
            Ok((cpu, stopped(bench.complete).into_iter().collect(), Vec::new()))
        }
        other => Err(AgainstError::Kind(other.schema())),
    }
}

fn missed(seen: &[Delivery]) -> Vec<String> {
    let broken = seen.iter().filter(|delivery| !delivery.whole());
    broken
        .map(|d| {
            format!("{}/{}/{}: not every chunk came once and in order", d.bus, d.encoding, d.subscribers)
        })
        .collect()
}

/// Measures two servers in turn, in one process: the first subject is BASE, which is there twice, the second HEAD.
pub fn servers(
    question: &Question,
    options: &Options,
    stop: &AtomicBool,
    progress: &dyn Fn(Progress),
) -> Result<Interleaved, AgainstError> {
    let first = fanout::run(options, stop, progress)?;
    let mut go = of_servers(&first, options);
    let counts = counts_of_servers(&first, options);
    let (mut rig, mut complete) = (Vec::new(), true);
    let again = || {
        let mut options = options.clone();
        options.settings.seed = options.settings.seed.wrapping_add(1);
        let second = of_servers(&fanout::run(&options, stop, progress)?, &options);
        rig = second.rig;
        complete = second.complete;
        Ok::<_, AgainstError>(complete.then_some(second.blocks))
    };
    let points = decide(&go.blocks, again, question.smallest_effect, Seed(question.seed))?;
    go.rig = joined(go.rig, rig);
    go.complete &= complete;
    Ok(written(question, Kind::Bench, go, points, counts))
}

/// The points of both servers at each number of subscribers.
fn pairs<'a>(
    measured: &'a Measured,
    options: &'a Options,
) -> impl Iterator<Item = (String, &'a Point, &'a Point)> {
    let of = |n: usize| {
        let bus = options.subjects.get(n).map(|subject| subject.bus.as_str()).unwrap_or_default();
        measured.points.iter().filter(move |point| point.bus == bus)
    };
    of(0).filter_map(move |base| {
        let head = of(1).find(|head| head.subscribers == base.subscribers)?;
        Some((format!("subscribers/{}", base.subscribers), base, head))
    })
}

fn of_servers(measured: &Measured, options: &Options) -> Go {
    let control = |subscribers: u32| {
        let found = measured.controls.iter().find(|(n, _)| *n == subscribers);
        found.map(|(_, blocks)| blocks.clone()).unwrap_or_default()
    };
    let blocks = pairs(measured, options).map(|(id, base, head)| Blocks {
        id,
        base: base.cpu_ns_blocks.clone(),
        head: head.cpu_ns_blocks.clone(),
        control: control(base.subscribers),
    });
    let reason = measured.rig.reason.clone().unwrap_or_else(|| "it does not say why".to_owned());
    Go {
        blocks: blocks.collect(),
        rig: (!measured.rig.valid).then_some(reason).into_iter().collect(),
        broken: missed(&measured.delivery),
        complete: measured.complete,
    }
}

fn counts_of_servers(measured: &Measured, options: &Options) -> Vec<CountChange> {
    let pairs = pairs(measured, options);
    pairs.flat_map(|(id, base, head)| point_counts(&id, &base.per_token, &head.per_token)).collect()
}

fn written(
    question: &Question,
    kind: Kind,
    go: Go,
    points: Vec<crate::record::interleaved::TimedPoint>,
    counts: Vec<CountChange>,
) -> Interleaved {
    let mut result = Interleaved {
        schema: INTERLEAVED_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        kind,
        base: question.base.clone(),
        head: question.head.clone(),
        smallest_effect: question.smallest_effect,
        family_error: FAMILY_ERROR,
        seed: question.seed,
        complete: go.complete,
        rig: go.rig,
        broken: go.broken,
        points,
        counts,
        exit: 0,
    };
    result.exit = exit_of(&result).code();
    result
}

/// The exit code: the first of 13, 10 and 12 that applies.
pub fn exit_of(of: &Interleaved) -> ExitCode {
    let gates = |counted| of.counts.iter().any(|count| count.gates && count.counted == counted);
    if !of.complete || !of.rig.is_empty() || of.points.is_empty() {
        ExitCode::RigInvalid
    } else if !of.broken.is_empty() || gates(Counted::Text) {
        ExitCode::Unexpected
    } else if gates(Counted::Cost) || of.points.iter().any(|point| point.claim == Claim::Regressed) {
        ExitCode::OverBudget
    } else {
        ExitCode::AllAsExpected
    }
}
