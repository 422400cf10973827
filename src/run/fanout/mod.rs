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
mod points;
mod raw_writer;
mod readers;
mod rig;
mod subject;

use std::sync::atomic::{AtomicBool, Ordering};

use rand::seq::SliceRandom as _;

pub use error::FanOutError;
pub use generator::GeneratorMutant;
pub use subject::Subject;

use host::Host;
use lane::{BlockCost, Cut, Lane, Party};
use points::Level;
use raw_writer::RawWriter;
use readers::Readers;
use rig::Rig;

use crate::probe::{Cores, cpu, limits};
use crate::record::bench::{Delivery, Point, RigReport, Settings};
use crate::seed::Seed;
use crate::swarm::Conduct;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// The servers. The first is the one that the others are compared with, and that is there twice.
    pub subjects: Vec<Subject>,
    /// Numbers of subscribers, length of a block, rate, rounds.
    pub settings: Settings,
    /// Whether to measure the reference writer too.
    pub reference: bool,
    /// Further subscribers of each server that do not read as they should. They are not measured.
    pub unhealthy: Vec<Conduct>,
    /// A deliberate fault of the generator.
    pub mutant: Option<GeneratorMutant>,
}

impl Options {
    /// Whether the first subject is there twice: with nothing to compare there is nothing to control.
    fn controlled(&self) -> bool {
        self.subjects.len() > 1 || self.reference
    }

    /// Parties that are up at once: the subjects, the second copy, and the reference with its own.
    fn lanes(&self) -> usize {
        self.subjects.len() + usize::from(self.controlled()) + if self.reference { 2 } else { 0 }
    }

    /// Descriptors that one lane takes: both ends of every connection.
    fn descriptors_of_a_lane(&self) -> usize {
        let most = self.settings.subscribers.iter().copied().max().unwrap_or(0) as usize;
        (most + self.unhealthy.len()) * 2
    }

    /// Descriptors that the process needs to have all of them up at once.
    fn descriptors(&self) -> u64 {
        (self.lanes() * self.descriptors_of_a_lane()) as u64 + OTHER_DESCRIPTORS
    }

    /// The same question in as many goes as the machine's descriptors ask for. Each has the first subject and its
    /// second copy in it, so that every comparison stays one of servers that took turns.
    pub fn goes(&self) -> Vec<Options> {
        let (_, hard) = limits::descriptors();
        let hard = if limits::raise_descriptors(self.descriptors()).is_ok() { u64::MAX } else { hard };
        self.goes_within(usize::try_from(hard.saturating_sub(OTHER_DESCRIPTORS)).unwrap_or(usize::MAX))
    }

    fn goes_within(&self, descriptors: usize) -> Vec<Options> {
        let room = descriptors / self.descriptors_of_a_lane().max(1);
        let Some((first, others)) = self.subjects.split_first() else { return vec![self.clone()] };
        let taken = 2 + if self.reference { 2 } else { 0 };
        if room >= self.lanes() || room <= taken || others.is_empty() {
            return vec![self.clone()];
        }
        let go = |others: &[Subject]| {
            let subjects = std::iter::once(first).chain(others).cloned().collect();
            Options { subjects, ..self.clone() }
        };
        others.chunks(room - taken).map(go).collect()
    }
}

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

/// Descriptors that the process needs beside its sockets.
const OTHER_DESCRIPTORS: u64 = 256;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::profile::Catalogue;
    use crate::agent_server::profile::server::{BusKind, Encoding};

    fn options(buses: &[BusKind], reference: bool) -> Options {
        let base = Catalogue::embedded().unwrap().server("1.58.2").unwrap();
        let settings = Settings {
            server: "1.58.2".into(),
            subscribers: vec![1, 100],
            tokens: 1,
            payload_bytes: 1,
            batch: 1,
            rate: None,
            repeats: 1,
            stalled: 0,
            seed: 1,
        };
        let subjects = buses.iter().map(|bus| Subject::of(&base, *bus, Encoding::Once)).collect();
        Options { subjects, settings, reference, unhealthy: Vec::new(), mutant: None }
    }

    #[test]
    fn every_go_has_the_first_subject_and_every_other_is_in_one() {
        let all = options(&[BusKind::Shared, BusKind::OptIn, BusKind::Widened, BusKind::Split], true);
        assert_eq!(all.descriptors(), 7 * 200 + OTHER_DESCRIPTORS);
        let names = |descriptors: usize| -> Vec<Vec<String>> {
            all.goes_within(descriptors)
                .iter()
                .map(|o| o.subjects.iter().map(|s| s.bus.clone()).collect())
                .collect()
        };
        assert_eq!(names(1400), [["shared", "opt-in", "widened", "split"]]);
        assert_eq!(names(1399), [vec!["shared", "opt-in", "widened"], vec!["shared", "split"]]);
        assert_eq!(names(1000).len(), 3);
        // Too little for a single comparison: one go, which then says what it lacks.
        assert_eq!(names(999).len(), 1);
    }

    #[test]
    fn one_server_alone_needs_no_copy() {
        assert_eq!(options(&[BusKind::Split], false).lanes(), 1);
        assert_eq!(options(&[BusKind::Split], true).lanes(), 4);
        assert_eq!(options(&[BusKind::Split], false).goes_within(1).len(), 1);
    }
}
