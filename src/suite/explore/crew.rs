//! Threads that run cells of a search. Unlike those of a plan they may be given up: a cell that keeps its thread for too
//! long is a finding, and the search goes on without that thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::{self, CellFault, CellRun, ClockKind, Options, Parties};
use crate::scenario::Planned;
use crate::seed::Seed;

/// How often somebody looks whether a cell hangs.
const LOOK: Duration = Duration::from_millis(100);

/// Who runs cells, and how long one may take.
#[derive(Debug, Clone)]
pub(in crate::suite) struct Crew {
    pub(in crate::suite) seed: Seed,
    pub(in crate::suite) jobs: usize,
    /// Real time of one cell.
    pub(in crate::suite) patience: Duration,
    /// When it turns true no further cell is started.
    pub(in crate::suite) stop: Arc<AtomicBool>,
}

/// Cells that run together.
struct Shift {
    cells: Vec<Planned>,
    parties: Parties,
    options: Options,
    stop: Arc<AtomicBool>,
    next: AtomicUsize,
    /// Since when which cell runs.
    busy: Mutex<BTreeMap<usize, Instant>>,
}

impl Crew {
    /// Runs the cells; one result each, in their order.
    pub(in crate::suite) fn run(&self, cells: Vec<Planned>, parties: Parties) -> Vec<CellRun> {
        let options = Options { clock: ClockKind::Virtual, seed: self.seed, jobs: self.jobs };
        let count = cells.len();
        let shift = Arc::new(Shift {
            cells,
            parties,
            options,
            stop: self.stop.clone(),
            next: AtomicUsize::new(0),
            busy: Mutex::default(),
        });
        let (done, results) = mpsc::channel();
        for _ in 0..self.jobs.clamp(1, count.max(1)) {
            start(&shift, &done);
        }
        let mut runs: Vec<Option<CellRun>> = (0..count).map(|_| None).collect();
        let mut missing = count;
        while missing > 0 {
            match results.recv_timeout(LOOK) {
                Ok(run) => missing -= usize::from(keep(&mut runs, run)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    for index in shift.stuck(self.patience) {
                        let why =
                            format!("the cell took more than {} s of real time", self.patience.as_secs());
                        let result = Err(CellFault::Hung(why));
                        missing -= usize::from(keep(&mut runs, CellRun { index, result, micros: 0 }));
                        start(&shift, &done);
                    }
                }
            }
        }
        let lost = |index| CellRun { index, result: Err(CellFault::Interrupted), micros: 0 };
        runs.into_iter().enumerate().map(|(index, run)| run.unwrap_or_else(|| lost(index))).collect()
    }
}

/// Keeps the first result of a cell; what comes after it was given up counts no more.
fn keep(runs: &mut [Option<CellRun>], run: CellRun) -> bool {
    match runs.get_mut(run.index) {
        Some(slot @ None) => {
            *slot = Some(run);
            true
        }
        _ => false,
    }
}

/// One more thread; where there is none to be had, this one does the work.
fn start(shift: &Arc<Shift>, done: &Sender<CellRun>) {
    let (own, to) = (shift.clone(), done.clone());
    let thread = thread::Builder::new().name("explore".to_owned());
    if thread.spawn(move || own.work(&to)).is_err() {
        shift.work(done);
    }
}

impl Shift {
    fn work(&self, done: &Sender<CellRun>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = self.cells.get(index) else { return };
            let run = if self.stop.load(Ordering::Relaxed) {
                CellRun { index, result: Err(CellFault::Interrupted), micros: 0 }
            } else {
                self.busy().insert(index, Instant::now());
                let run = run::one(index, cell, &self.parties, self.options);
                self.busy().remove(&index);
                run
            };
            if done.send(run).is_err() {
                return;
            }
        }
    }

    /// The cells that have been running for longer than that, each told once.
    fn stuck(&self, patience: Duration) -> Vec<usize> {
        let mut busy = self.busy();
        let stuck: Vec<usize> =
            busy.iter().filter(|(_, since)| since.elapsed() > patience).map(|(index, _)| *index).collect();
        busy.retain(|index, _| !stuck.contains(index));
        stuck
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, Instant>> {
        self.busy.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::profile::Catalogue;
    use crate::suite::explore::dice::Dice;
    use crate::suite::explore::draw::healthy;

    #[test]
    fn a_cell_that_takes_too_long_is_given_up_and_the_others_run() {
        let pair = ("1.58.2".to_owned(), "python-1.58.2".to_owned());
        let mut quick = healthy(pair, &mut Dice::new(Seed(1)));
        quick.tokens.truncate(3);
        let mut slow = quick.clone();
        // Many seconds of work in any build.
        slow.tokens = std::iter::repeat_n(slow.tokens[0].clone(), 200_000).collect();
        let cells: Vec<Planned> = [&slow, &quick, &quick].map(|s| s.planned().unwrap()).to_vec();
        let parties =
            Parties::of(cells.iter().filter_map(Planned::agent_server), &Catalogue::embedded().unwrap())
                .unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let crew = Crew { seed: Seed(1), jobs: 1, patience: Duration::from_millis(300), stop };
        let began = Instant::now();
        let runs = crew.run(cells, parties);
        assert!(
            matches!(&runs[0].result, Err(CellFault::Hung(why)) if why.contains("real time")),
            "{:?}",
            runs[0].result
        );
        assert!(runs[1..].iter().all(|run| run.result.is_ok()), "{:?}", runs[1].result);
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}
