//! Fan-out on the wall clock: what a token costs a server, by bus, encoding and number of subscribers.
//!
//! Every server is alone on a thread, and its CPU, allocations and counts are taken there. The model is a thread of its
//! own, and so are all subscribers together. All servers under comparison are up at once, each with its own
//! subscribers, and take turns in an order that is drawn anew for every round, so that a machine that slows down slows
//! all of them. A second copy of the first server takes its turns like the others: what differs between those two is
//! noise (the A/A control).
//!
//! Servers and reference writers take turns on one core, and everybody else is kept off it: see [`Cores`].
//!
//! # Common pitfalls
//! - On loopback the kernel's receive work is done inside the writer's `write`: part of a reader's cost is billed to the
//!   server. It is the same for every server of a run, and for the reference writer.
//! - Flat out, all chunks of a block are due at its start. Delays then say how long a block takes, not how late a token
//!   is.

mod error;
mod generator;
mod host;
mod lane;
mod options;
mod points;
mod raw_writer;
mod readers;
mod rig;
mod subject;

use std::sync::atomic::{AtomicBool, Ordering};

use rand::seq::SliceRandom as _;

pub use error::FanOutError;
pub use generator::GeneratorMutant;
pub use options::Options;
pub use subject::Subject;

use host::Host;
use lane::{BlockCost, Cut, Lane, Party};
use points::Level;
use raw_writer::RawWriter;
use readers::Readers;
use rig::Rig;

use crate::probe::{Cores, cpu, limits};
use crate::record::bench::{Delivery, Point, RigReport};
use crate::seed::Seed;

/// What was measured, before anybody fits a line through it.
#[derive(Debug)]
pub struct Measured {
    /// By subject and number of subscribers.
    pub points: Vec<Point>,
    /// CPU per chunk of the second copy of the first subject, block by block, ns, by number of subscribers.
    pub controls: Vec<(u32, Vec<f64>)>,
    /// The same of the reference writer, if there was one.
    pub reference: Vec<(u32, Vec<f64>)>,
    /// The same of its second copy.
    pub reference_controls: Vec<(u32, Vec<f64>)>,
    /// What the subscribers saw.
    pub delivery: Vec<Delivery>,
    /// The rig's own load.
    pub rig: RigReport,
    /// Whether everything was measured that was asked for.
    pub complete: bool,
}

/// How far a bench has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The number of subscribers that is measured now.
    pub subscribers: u32,
    /// Rounds that are over, of all numbers of subscribers together.
    pub done: u32,
    /// Rounds in all.
    pub of: u32,
}

/// Chunks of the block that is not measured: it brings buffers, caches and allocators to where they stay.
const WARM_UP: u32 = 20;

/// Measures. Ends early when `stop` turns true, or when the rig cannot do what it is asked for; what was measured until
/// then is kept.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    progress: &dyn Fn(Progress),
) -> Result<Measured, FanOutError> {
    let settings = &options.settings;
    let descriptors =
        limits::raise_descriptors(options.descriptors()).map_err(|e| FanOutError::Limit(e.to_string()))?;
    // Counted before this thread gives one away.
    let available = cpu::cores();
    let cores = Cores::split();
    let kept_off = cores.as_ref().and_then(Cores::take_rest);
    let mut bench = Bench::start(
        options,
        cores.as_ref().filter(|_| kept_off.is_some()),
        Rig::new(descriptors, available),
    )?;
    let rounds = settings.repeats * u32::try_from(settings.subscribers.len()).unwrap_or(u32::MAX);
    let mut measured = Vec::new();
    let mut cut = None;
    for (n, &subscribers) in (0_u32..).zip(&settings.subscribers) {
        let report = |round: u32| {
            progress(Progress { subscribers, done: n * settings.repeats + round, of: rounds });
        };
        let (level, ended) = bench.level(options, subscribers, stop, &report)?;
        measured.push(level);
        cut = ended;
        if cut.is_some() {
            break;
        }
    }
    bench.finish(options, &measured, cut.as_ref())
}

struct Bench {
    lanes: Vec<Lane>,
    readers: Readers,
    rig: Rig,
}

impl Bench {
    /// Starts every party: the subjects, the second copy of the first, and two copies of the reference.
    fn start(options: &Options, cores: Option<&Cores>, rig: Rig) -> Result<Bench, FanOutError> {
        let seed = Seed(options.settings.seed);
        let mut parties = Vec::new();
        let copy = options.subjects.first().filter(|_| options.controlled());
        for (n, subject) in options.subjects.iter().chain(copy).enumerate() {
            let seed = seed.derive(&format!("server {n}"));
            let host = Host::start(&subject.name, &subject.profile, seed, cores.cloned())?;
            parties.push(Party::Server(host));
        }
        if options.reference {
            parties.push(Party::Raw(RawWriter::start(cores.cloned())?));
            parties.push(Party::Raw(RawWriter::start(cores.cloned())?));
        }
        let mut readers = Readers::start(parties.len())?;
        let lanes: Vec<Lane> =
            parties.into_iter().enumerate().map(|(group, party)| Lane::new(group, party)).collect();
        for lane in &lanes {
            readers.connect_unhealthy(lane, &options.unhealthy)?;
        }
        Ok(Bench { lanes, readers, rig })
    }

    /// Measures all lanes at one number of subscribers.
    fn level(
        &mut self,
        options: &Options,
        subscribers: u32,
        stop: &AtomicBool,
        report: &dyn Fn(u32),
    ) -> Result<(Level, Option<Cut>), FanOutError> {
        let settings = &options.settings;
        let mut level = Level::new(subscribers, self.lanes.len());
        for lane in &self.lanes {
            let memory = self.readers.connect(lane, subscribers)?;
            self.rig.connected(memory);
        }
        let mut rng = Seed(settings.seed).derive(&format!("order {subscribers}")).rng();
        let mut order: Vec<usize> = (0..self.lanes.len()).collect();
        for round in 0..=settings.repeats {
            report(round.saturating_sub(1));
            order.shuffle(&mut rng);
            for &n in &order {
                if stop.load(Ordering::Relaxed) {
                    return Ok((level, Some(Cut::Interrupted)));
                }
                let warm_up = round == 0;
                let chunks = if warm_up { WARM_UP.min(settings.tokens) } else { settings.tokens };
                let lane = &mut self.lanes[n];
                let due = u64::from(chunks) * u64::from(subscribers);
                let cost = match lane.block(chunks, due, options, &mut self.readers, stop)? {
                    Ok(cost) => cost,
                    Err(cut) => return Ok((level, Some(cut))),
                };
                self.readers.drain(lane.group, due, stop);
                if !warm_up {
                    self.rig.block(&cost);
                    level.add(n, cost);
                }
            }
            if round == 0 {
                self.readers.forget()?;
            }
            self.rig.sample();
        }
        report(settings.repeats);
        level.saw(self.readers.seen()?);
        Ok((level, None))
    }

    fn finish(
        mut self,
        options: &Options,
        levels: &[Level],
        cut: Option<&Cut>,
    ) -> Result<Measured, FanOutError> {
        let subjects = &options.subjects;
        let control = subjects.len();
        let reference = control + usize::from(options.controlled());
        let cpu_ns = |lane| levels.iter().filter_map(|l| l.cpu_ns(lane, &options.settings)).collect();
        let (mut points, mut delivery) = (Vec::new(), Vec::new());
        // By server, each with its numbers of subscribers in order.
        for (n, subject) in subjects.iter().enumerate() {
            points.extend(levels.iter().filter_map(|l| l.point(n, subject, &options.settings)));
            delivery.extend(levels.iter().filter_map(|l| l.delivery(n, subject, &options.settings)));
        }
        let (controls, reference, reference_controls) =
            (cpu_ns(control), cpu_ns(reference), cpu_ns(reference + 1));
        let readers = self.readers.stop()?;
        for lane in self.lanes {
            if let Party::Server(host) = lane.party {
                self.rig.loop_lag(host.stop());
            }
        }
        let rig = self.rig.report(&options.settings, &readers, cut);
        Ok(Measured {
            points,
            controls,
            reference,
            reference_controls,
            delivery,
            rig,
            complete: cut.is_none(),
        })
    }
}

/// CPU of one block per chunk, ns.
fn per_chunk(cost: &BlockCost, chunks: u32) -> f64 {
    cost.cpu.as_secs_f64() * 1e9 / f64::from(chunks)
}
