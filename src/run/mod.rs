//! Executing a plan: every cell on a thread and a clock of its own, results in plan order.
//!
//! The runner knows nothing of verdicts. It hands out [`Observation`]s, or says why a cell has none.

pub mod against;
pub mod attach;
pub mod calibrate;
pub mod calibrate_server;
mod cell;
mod director;
mod evidence;
pub mod fanout;
mod fault;
mod feed;
pub mod feed_bench;
mod handled;
mod held;
mod idle;
pub mod live;
pub mod live_bench;
mod observe;
mod panics;
mod parties;
mod reaper;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use cell::script;
pub use cell::{ClockKind, run_cell};
pub use fault::CellFault;
pub use feed::run_feed;
pub use idle::{IdlePlan, watch_idle};
pub use parties::Parties;

use crate::record::Observation;
use crate::scenario::Planned;
use crate::seed::Seed;

/// How to run a plan.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Which clock.
    pub clock: ClockKind,
    /// The run's seed; every cell derives its own.
    pub seed: Seed,
    /// Worker threads, at least one.
    pub jobs: usize,
}

/// One finished cell.
#[derive(Debug, Clone)]
pub struct CellRun {
    /// Its place in the plan.
    pub index: usize,
    /// The evidence of each client that attended, never empty, or why there is none.
    pub result: Result<Vec<Observation>, CellFault>,
    /// Wall time, microseconds.
    pub micros: u64,
}

/// Runs every cell that has no result among the `finished` ones, and returns all results in plan order, one a cell: a cell that
/// did not run says so.
///
/// `done` is called once a finished cell, in the order of finishing, from any worker. When `stop` turns
/// true no further cell is started.
pub fn execute(
    cells: &[Planned],
    parties: &Parties,
    options: Options,
    finished: Vec<CellRun>,
    stop: &AtomicBool,
    done: &(dyn Fn(&CellRun) + Sync),
) -> Vec<CellRun> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<CellRun>> = cells.iter().map(|_| None).collect();
    let mut rest = vec![true; cells.len()];
    for run in finished {
        let index = run.index;
        if let Some(slot) = results.get_mut(index) {
            (*slot, rest[index]) = (Some(run), false);
        }
    }
    let (results, rest) = (Mutex::new(results), &rest);
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = cells.get(index) else { return };
            if !rest[index] {
                continue;
            }
            let run = if stop.load(Ordering::Relaxed) {
                CellRun { index, result: Err(CellFault::Interrupted), micros: 0 }
            } else {
                one(index, cell, parties, options)
            };
            done(&run);
            let mut results = results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(slot) = results.get_mut(index) {
                *slot = Some(run);
            }
        }
    };
    let jobs = options.jobs.clamp(1, cells.len().max(1));
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let missing = |index| CellRun { index, result: Err(CellFault::Interrupted), micros: 0 };
    results.into_iter().enumerate().map(|(i, r)| r.unwrap_or_else(|| missing(i))).collect()
}

/// Runs one cell of a plan on this thread; a panic in it is its result.
pub fn one(index: usize, cell: &Planned, parties: &Parties, options: Options) -> CellRun {
    let started = Instant::now();
    let result = panics::caught(|| match cell {
        Planned::AgentServer(cell) => run_cell(cell, parties, options.clock, options.seed),
        Planned::SessionFeed(cell) => run_feed(cell, parties, options.clock),
    });
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    CellRun { index, result, micros }
}
