//! Live cells: real packages, emulated ones, or one of each, on the wall clock and over loopback.
//!
//! Released servers are started once and kept; each client has a driver that is kept as well, and every cell is a fresh
//! conversation. What was seen becomes a [`Capture`]; the evidence is a pure function of it.

mod canvas;
mod cell;
pub(super) mod crew;
mod package;
pub(super) mod rig;
mod seat;
mod stand;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore, mpsc};

pub use package::{ClientPackage, PythonPackage, ServerPackage, Task};
pub use rig::reply;
pub use seat::observed;

use super::{CellFault, CellRun};
use crate::live::capture::Capture;
use crate::seed::Seed;
use rig::Rig;
use stand::Stand;

/// How to run live cells.
#[derive(Debug, Clone)]
pub struct LiveOptions {
    /// Cells at once, at least one. Each is a client process, a server's share, and skewlab itself.
    pub jobs: usize,
    /// Seed of the emulated parties' ids.
    pub seed: Seed,
    /// Where servers and drivers write; made if it is not there.
    pub folder: PathBuf,
    /// The browser for cells that need one.
    pub chromium: Option<PathBuf>,
}

/// A finished live cell.
#[derive(Debug, Clone)]
pub struct LiveCell {
    /// The evidence, or why there is none, as of any other cell.
    pub run: CellRun,
    /// What was seen; absent when the cell did not get that far.
    pub capture: Option<Capture>,
}

/// Memory of a live run, bytes, by what it was for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// The most that one server held, by its name.
    pub servers: BTreeMap<String, u64>,
    /// The most that one client's process held.
    pub clients: BTreeMap<String, u64>,
}

/// Runs every cell and returns the results in plan order, one a cell.
///
/// `done` is called once a finished cell. When `stop` turns true no further cell is started, and what runs is ended.
/// Errors when nothing can be started at all.
pub fn execute_live(
    tasks: &[Task],
    options: &LiveOptions,
    stop: &AtomicBool,
    done: &dyn Fn(&LiveCell),
) -> Result<(Vec<LiveCell>, Memory), CellFault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| CellFault::Setup(e.to_string()))?;
    runtime.block_on(all(tasks, options, stop, done))
}

/// What every worker sees.
#[derive(Debug)]
struct Hall {
    rig: Rig,
    /// Released servers by name and latency of their webhook sink, each started by the first cell that needs it.
    servers: BTreeMap<(String, Duration), OnceCell<Result<Stand, String>>>,
    seats: Semaphore,
    /// Half a gigabyte each: one browser at a time.
    browsers: Semaphore,
    seed: Seed,
    memory: std::sync::Mutex<Memory>,
}

impl Hall {
    /// The released server of that name, started if it is not up.
    async fn server(
        &self,
        name: &str,
        package: &PythonPackage,
        latency: Duration,
    ) -> Result<&Stand, CellFault> {
        let missing = || CellFault::Setup(format!("server `{name}` is not in the plan"));
        let place = self.servers.get(&(name.to_owned(), latency)).ok_or_else(missing)?;
        let stand = place.get_or_init(|| stand::live(&self.rig, name, package, latency)).await;
        stand.as_ref().map_err(|why| CellFault::Setup(why.clone()))
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

async fn all(
    tasks: &[Task],
    options: &LiveOptions,
    stop: &AtomicBool,
    done: &dyn Fn(&LiveCell),
) -> Result<(Vec<LiveCell>, Memory), CellFault> {
    let rig = Rig::start(options.folder.clone(), options.chromium.clone()).await?;
    let live = tasks.iter().filter(|task| matches!(task.server, ServerPackage::Python(_)));
    let key = |task: &Task| (task.cell.server.clone(), task.cell.sink.latency);
    let servers = live.map(|task| (key(task), OnceCell::new())).collect();
    let hall = Arc::new(Hall {
        rig,
        servers,
        seats: Semaphore::new(options.jobs.max(1)),
        browsers: Semaphore::new(1),
        seed: options.seed,
        memory: std::sync::Mutex::default(),
    });
    let (sender, mut finished) = mpsc::channel(tasks.len().max(1));
    let halted = Arc::new(AtomicBool::new(false));
    let mut crews = tokio::task::JoinSet::new();
    for (client, mine) in by_client(tasks) {
        let mine = mine.into_iter().map(|index| (index, tasks[index].clone())).collect();
        crews.spawn(crew::work(hall.clone(), client, mine, halted.clone(), sender.clone()));
    }
    drop(sender);
    let mut results: Vec<Option<LiveCell>> = tasks.iter().map(|_| None).collect();
    let mut look = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            biased;
            cell = finished.recv() => match cell {
                Some(cell) => {
                    done(&cell);
                    let index = cell.run.index;
                    results[index] = Some(cell);
                }
                None => break,
            },
            _ = look.tick() => if stop.load(Ordering::Relaxed) && !halted.swap(true, Ordering::Relaxed) {
                // What waits for a foreign process would go on waiting; its children go with it.
                crews.abort_all();
            },
        }
    }
    while crews.join_next().await.is_some() {}
    let missing = |index| LiveCell {
        run: CellRun { index, result: Err(CellFault::Interrupted), micros: 0 },
        capture: None,
    };
    let results = results.into_iter().enumerate().map(|(i, r)| r.unwrap_or_else(|| missing(i))).collect();
    let memory = hall.memory().clone();
    if let Some(hall) = Arc::into_inner(hall) {
        for stand in hall.servers.into_values().filter_map(OnceCell::into_inner).flatten() {
            stand.stop().await;
        }
    }
    Ok((results, memory))
}

/// The cells of each client, callback lists together, in the order of the plan.
fn by_client(tasks: &[Task]) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        let name = task.client_name();
        match groups.iter_mut().find(|(client, _)| client == name) {
            Some((_, mine)) => mine.push(index),
            None => groups.push((name.to_owned(), vec![index])),
        }
    }
    groups
}

/// Since a moment, microseconds.
fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
