//! What released servers cost and what their clocks show, on the wall clock: measured here, judged nowhere near here.
//!
//! The servers are up together and only one of them works at a time. Servers and numbers of subscribers take turns in
//! a drawn order, so that a busy minute of the machine is not one release's.
//!
//! The sockets do not offer `permessage-deflate`. With clients that do (browsers, Python's `websockets`) the server deflates
//! each frame for each of them: 5.2 ms a token instead of 3.4 ms at 45 subscribers (measured on 1.58.2).

mod block;
mod error;
mod idle;
mod stage;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::seq::SliceRandom as _;

pub use error::LiveBenchError;
pub use idle::{IdleWatch, SeenIdle, watch};
pub use stage::Subject;

use crate::probe::cpu::{self, MachineTime};
use crate::probe::noise::Noise;
use crate::probe::{limits, process};
use crate::record::live_bench::{LiveBlock, LiveRig, LiveSettings};
use crate::seed::Seed;
use stage::{Stage, Up};

/// The most sockets that a conversation takes: its bus has room for 50 subscribers, and one is the server's own
/// (measured on 1.58.2, read in 1.43.1).
pub const MOST_SUBSCRIBERS: u32 = 49;

/// Tokens of the turn that is taken off the long one.
pub const BASE_TOKENS: u32 = 2;

/// Looks at the machine between two blocks, a millisecond each.
const LOOKS: u32 = 5;

/// From here on a fixed piece of work takes so different a time that no figure compares; as in the fan-out bench.
const NOISY: f64 = 0.5;

/// Share of the machine that its host may take away.
const STOLEN: f64 = 0.3;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What was asked for.
    pub settings: LiveSettings,
    /// The servers, at least one.
    pub subjects: Vec<Subject>,
    /// Where they write; the caller's to remove.
    pub folder: PathBuf,
}

/// What was measured.
#[derive(Debug)]
pub struct Blocks {
    /// Every block, in the order in which they ran.
    pub blocks: Vec<LiveBlock>,
    /// The most memory of each server between two blocks, in the order of the plan.
    pub resident: Vec<Option<u64>>,
    /// The rig.
    pub rig: LiveRig,
    /// Whether everything was measured.
    pub complete: bool,
}

/// Measures. Ends early when `stop` turns true; what was measured until then is kept. `progress` is told how many
/// blocks are over, and of how many.
pub fn measure(
    plan: &Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(usize, usize),
) -> Result<Blocks, LiveBenchError> {
    // The sockets are read on a thread of their own; the model is this one.
    limits::raise_descriptors(1024).map_err(|e| LiveBenchError::Start(e.to_string()))?;
    runtime()?.block_on(all(plan, stop, progress))
}

fn runtime() -> Result<tokio::runtime::Runtime, LiveBenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| LiveBenchError::Start(e.to_string()))
}

async fn all(
    plan: &Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(usize, usize),
) -> Result<Blocks, LiveBenchError> {
    let stage = Stage::open(&plan.folder).await?;
    let mut up: Vec<Up> = Vec::new();
    for subject in &plan.subjects {
        up.push(stage.start(subject).await?);
    }
    let order = order(plan);
    let mut noise = Noise::with_room(order.len() * LOOKS as usize);
    let mut load = Load { machine: MachineTime::now(), ..Load::default() };
    let (mut blocks, mut resident) = (Vec::new(), vec![None; up.len()]);
    for (number, &(server, subscribers)) in order.iter().enumerate() {
        progress(number, order.len());
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let measured = block::run(&stage, &up[server], subscribers, plan, number).await?;
        load.lag.extend(&measured.lag);
        load.reader += measured.reader;
        load.took += measured.took;
        blocks.push(measured.block);
        resident[server] = up[server].server.pid().and_then(process::resident).max(resident[server]);
        (0..LOOKS).for_each(|_| noise.sample());
    }
    for up in up {
        up.server.stop().await;
    }
    if blocks.is_empty() {
        return Err(LiveBenchError::Interrupted);
    }
    let complete = blocks.len() == order.len();
    let rig = load.report(&blocks, complete, noise.score(), &plan.settings);
    Ok(Blocks { blocks, resident, rig, complete })
}

/// Which server at how many subscribers, block by block: every pair once a round, each round in an order of its own.
fn order(plan: &Plan) -> Vec<(usize, u32)> {
    let mut rng = Seed(plan.settings.seed).derive("order").rng();
    let servers = 0..plan.subjects.len();
    let pairs: Vec<(usize, u32)> =
        servers.flat_map(|s| plan.settings.subscribers.iter().map(move |n| (s, *n))).collect();
    let mut order = Vec::new();
    for _ in 0..plan.settings.repeats {
        let mut round = pairs.clone();
        round.shuffle(&mut rng);
        order.extend(round);
    }
    order
}

/// The rig's own load, collected while blocks run.
#[derive(Debug, Default)]
struct Load {
    machine: Option<MachineTime>,
    lag: Vec<Duration>,
    reader: Duration,
    took: Duration,
}

impl Load {
    fn report(
        mut self,
        blocks: &[LiveBlock],
        complete: bool,
        noise: Option<f64>,
        settings: &LiveSettings,
    ) -> LiveRig {
        self.lag.sort_unstable();
        let p99 = self.lag.get(self.lag.len().saturating_sub(1) * 99 / 100).copied();
        let steal =
            self.machine.as_ref().zip(MachineTime::now()).and_then(|(then, now)| now.stolen_since(then));
        let invalid = blocks.iter().filter(|b| b.fault.is_some()).count();
        let took = self.took.as_secs_f64();
        let mut rig = LiveRig {
            valid: true,
            reason: None,
            cores: cpu::cores(),
            noise,
            steal,
            model_lag_p99_ms: p99.map(|lag| lag.as_secs_f64() * 1e3),
            reader_cpu: if took > 0.0 { self.reader.as_secs_f64() / took } else { 0.0 },
            invalid_blocks: u32::try_from(invalid).unwrap_or(u32::MAX),
        };
        rig.reason = fault(&rig, complete, settings);
        rig.valid = rig.reason.is_none();
        rig
    }
}

/// Why these figures may not be quoted, and what to change.
fn fault(rig: &LiveRig, complete: bool, settings: &LiveSettings) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let late = rig.model_lag_p99_ms.filter(|lag| *lag > 1e3 / settings.rate);
    if !complete {
        return Some("stopped before the end: run it again".to_owned());
    }
    if rig.invalid_blocks > 0 {
        return Some(format!("{} blocks do not count; see why in the table", rig.invalid_blocks));
    }
    if rig.cores < 2 {
        return Some("server and subscribers share one core: use a machine with two or more".to_owned());
    }
    if let Some(lag) = late {
        return Some(format!(
            "the model was {lag:.0} ms late for one token in a hundred: lower --rate, or free a core"
        ));
    }
    if let Some(noise) = rig.noise.filter(|noise| *noise > NOISY) {
        return Some(format!(
            "the same work took {} more or less time: stop what else runs here",
            percent(noise)
        ));
    }
    rig.steal.filter(|steal| *steal > STOLEN).map(|steal| {
        format!("the machine's host took {} of its time: try again later, or elsewhere", percent(steal))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::live::PythonPackage;

    fn plan(servers: usize, subscribers: &[u32], repeats: u32) -> Plan {
        let package =
            PythonPackage { python: PathBuf::new(), overlay: None, stages: None, ran: String::new() };
        let subject = |n: usize| Subject { name: n.to_string(), package: package.clone() };
        let settings = LiveSettings {
            subscribers: subscribers.to_vec(),
            tokens: 300,
            base_tokens: BASE_TOKENS,
            rate: 20.0,
            repeats,
            seed: 1,
        };
        Plan { settings, subjects: (0..servers).map(subject).collect(), folder: PathBuf::new() }
    }

    #[test]
    fn every_round_has_every_pair_once_and_an_order_of_its_own() {
        let order = order(&plan(2, &[0, 1, 10, 45], 3));
        assert_eq!(order.len(), 24);
        let rounds: Vec<Vec<_>> = order.chunks(8).map(<[_]>::to_vec).collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            let all: Vec<_> = [0, 1].iter().flat_map(|s| [0, 1, 10, 45].map(|n| (*s, n))).collect();
            assert_eq!(sorted, all);
        }
        assert!(rounds[0] != rounds[1] || rounds[1] != rounds[2]);
    }

    #[test]
    fn each_fault_of_the_rig_says_what_to_change() {
        let settings = plan(1, &[1], 1).settings;
        let fine = LiveRig {
            cores: 2,
            noise: Some(NOISY),
            steal: Some(STOLEN),
            model_lag_p99_ms: Some(50.0),
            ..LiveRig::default()
        };
        assert_eq!(fault(&fine, true, &settings), None);
        assert!(fault(&fine, false, &settings).unwrap().contains("run it again"));
        for (rig, said) in [
            (LiveRig { invalid_blocks: 2, ..fine.clone() }, "2 blocks"),
            (LiveRig { cores: 1, ..fine.clone() }, "two or more"),
            (LiveRig { model_lag_p99_ms: Some(51.0), ..fine.clone() }, "lower --rate"),
            (LiveRig { noise: Some(0.6), ..fine.clone() }, "60 %"),
            (LiveRig { steal: Some(0.4), ..fine.clone() }, "40 %"),
        ] {
            let why = fault(&rig, true, &settings);
            assert!(why.as_ref().is_some_and(|w| w.contains(said)), "{said}: {why:?}");
        }
    }
}
