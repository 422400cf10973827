//! The worker of one client: its driver is started once, and attends one cell after the other.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Sender;

use super::canvas::Desk;
use super::cell::{self, Attended, captured};
use super::package::{ClientPackage, PythonPackage, ServerPackage, Task};
use super::rig::{BROWSER_TAIL, Rig};
use super::seat::observed;
use super::stand::{self, Stand};
use super::{Hall, LiveCell, micros};
use crate::agent_server::server::{Finish, Script};
use crate::live::capture::Capture;
use crate::live::driver::{Driver, DriverSpec};
use crate::probe::process::resident;
use crate::record::{Consumer, Observation};
use crate::run::{CellFault, CellRun, script};
use crate::scenario::Cell;

/// What a client needs between its cells.
enum Warm {
    /// Nothing runs yet.
    Cold,
    /// A library under its driver.
    Library(Box<Driver>),
    /// A front end in its browser.
    Canvas(Box<Desk>),
}

impl Warm {
    async fn stop(self) {
        match self {
            Warm::Cold => {}
            Warm::Library(driver) => driver.stop().await,
            Warm::Canvas(desk) => desk.close().await,
        }
    }
}

/// Runs the cells of one client, in order.
pub(super) async fn work(
    hall: Arc<Hall>,
    client: String,
    tasks: Vec<(usize, Task)>,
    halted: Arc<AtomicBool>,
    finished: Sender<LiveCell>,
) {
    let mut warm = Warm::Cold;
    let is_canvas = tasks.iter().any(|(_, task)| matches!(task.client, ClientPackage::Canvas { .. }));
    let _browser = if is_canvas { hall.browsers.acquire().await.ok() } else { None };
    for (index, task) in tasks {
        let Ok(_seat) = hall.seats.acquire().await else { return };
        if halted.load(Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let done = one(&hall, &client, &task, &mut warm).await;
        let (result, capture) = match done {
            Ok((observation, capture)) => (Ok(vec![observation]), Some(capture)),
            Err(fault) => {
                // Whatever state it is in, the next cell shall not inherit it.
                std::mem::replace(&mut warm, Warm::Cold).stop().await;
                (Err(fault), None)
            }
        };
        let run = CellRun { index, result, micros: micros(began) };
        // The receiver lives as long as any worker does.
        let _ = finished.send(LiveCell { run, capture }).await;
    }
    warm.stop().await;
}

async fn one(
    hall: &Hall,
    client: &str,
    task: &Task,
    warm: &mut Warm,
) -> Result<(Observation, Capture), CellFault> {
    let cell = &task.cell;
    let own;
    let stand: &Stand = match &task.server {
        ServerPackage::Python(package) => {
            if let Some(why) = impossible(cell) {
                return Err(CellFault::Setup(why));
            }
            hall.server(&cell.server, package, cell.sink.latency).await?
        }
        ServerPackage::Emulated => {
            let seed = hall.seed.derive(&cell.id);
            let script = Script { tail: tail(task), ..script(cell)? };
            own = stand::emulated(&hall.rig, cell, &task.server_profile, script, seed).await?;
            &own
        }
    };
    let captured = async {
        let attended = attended(hall, client, task, stand, warm).await?;
        captured(&hall.rig, stand, cell, attended).await
    };
    let capture = captured.await.map_err(|fault| match fault {
        CellFault::Setup(why) => CellFault::Setup(format!("{why}{}", stand.last_words())),
        other => other,
    })?;
    note_memory(hall, client, cell, stand, warm);
    Ok((observed(&capture, cell, &task.choice), capture))
}

/// What a cell asks for that nobody can do with a released server, or see of it.
fn impossible(cell: &Cell) -> Option<String> {
    let unseen = [Consumer::Telemetry, Consumer::Idle];
    let blind = unseen.into_iter().find(|consumer| cell.must_not_receive.contains(consumer));
    let why = if !cell.mutation.is_none() {
        "a released server sends its own frames; name an emulated one for a mutation"
    } else if cell.sink.refuse_first > 0 || cell.sink.fails_between.is_some() {
        "the sink of a released server refuses nothing; name an emulated one for that"
    } else if !cell.traits.is_empty() {
        "traits cannot be laid over a released server; name an emulated one for them"
    } else if cell.workload.finish != Finish::Message {
        "the model of a live run ends a turn with a message; name an emulated server for the finish tool"
    } else if cell.subscribers > 1 {
        "one client attends a live cell; `skewlab attach` brings many to a server"
    } else {
        return blind.map(|consumer| {
            format!(
                "nobody sees what reaches `{}` in a released server; name an emulated one",
                consumer.as_str()
            )
        });
    };
    Some(why.to_owned())
}

async fn attended(
    hall: &Hall,
    client: &str,
    task: &Task,
    stand: &Stand,
    warm: &mut Warm,
) -> Result<Attended, CellFault> {
    let (rig, cell) = (&hall.rig, &task.cell);
    let text = rig.rehearse(&cell::tag(cell), &cell.workload, tail(task))?;
    match &task.client {
        ClientPackage::Emulated => return cell::emulated(rig, stand, cell, &text, &task.choice).await,
        ClientPackage::Canvas { build, ran } => {
            if matches!(warm, Warm::Cold) {
                *warm = Warm::Canvas(Box::new(Desk::open(rig, client, build, stand).await?));
            }
            return match warm {
                Warm::Canvas(desk) => desk.attend(rig, stand, cell, &text, ran).await,
                _ => Err(CellFault::Setup("the browser vanished".to_owned())),
            };
        }
        ClientPackage::Python(_) | ClientPackage::Node { .. } => {}
    }
    let Some(spec) = driver_spec(rig, client, &task.client) else {
        return Err(CellFault::Setup(format!("{client} has no driver")));
    };
    if matches!(warm, Warm::Cold) {
        let started = Driver::start(spec, &rig.warden, rig.clock).await;
        *warm = Warm::Library(Box::new(started.map_err(|e| CellFault::Setup(e.to_string()))?));
    }
    match warm {
        Warm::Library(driver) => cell::library(rig, stand, cell, &text, driver).await,
        _ => Err(CellFault::Setup("the driver vanished".to_owned())),
    }
}

/// Silence before the reply: a page is read, and two things that are drawn at once cannot be told apart.
fn tail(task: &Task) -> Duration {
    match task.client {
        ClientPackage::Canvas { .. } => BROWSER_TAIL,
        _ => Duration::ZERO,
    }
}

/// How the driver of a package is started; `None` for one that has none.
pub(in crate::run) fn driver_spec(rig: &Rig, client: &str, package: &ClientPackage) -> Option<DriverSpec> {
    match package {
        ClientPackage::Python(package) => Some(python(rig, client, package)),
        ClientPackage::Node { node, folder, shim, .. } => Some(node_driver(rig, client, node, folder, *shim)),
        ClientPackage::Emulated | ClientPackage::Canvas { .. } => None,
    }
}

/// The driver of a Python client.
fn python(rig: &Rig, client: &str, package: &PythonPackage) -> DriverSpec {
    let folder = rig.folder.join(format!("client-{client}"));
    let mut args: Vec<OsString> = Vec::new();
    if let Some(stages) = &package.stages {
        args.extend([rig.drivers.stages.clone().into(), stages.into()]);
    }
    args.push(rig.drivers.python_client.clone().into());
    let mut env = surroundings(&folder);
    if let Some(overlay) = &package.overlay {
        env.push(("PYTHONPATH".into(), overlay.into()));
    }
    DriverSpec { what: client.to_owned(), program: package.python.clone(), args, env, folder }
}

/// The driver of the TypeScript client.
fn node_driver(rig: &Rig, client: &str, node: &Path, package: &Path, shim: bool) -> DriverSpec {
    let folder = rig.folder.join(format!("client-{client}"));
    let shim = if shim { "require" } else { "none" };
    let args = vec![rig.drivers.typescript_client.clone().into(), package.into(), shim.into()];
    DriverSpec { what: client.to_owned(), program: node.to_owned(), args, env: surroundings(&folder), folder }
}

/// The whole environment of a driver: nothing of the caller's.
fn surroundings(folder: &Path) -> Vec<(OsString, OsString)> {
    vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), folder.into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("PYTHONUNBUFFERED".into(), "1".into()),
        ("LITELLM_LOCAL_MODEL_COST_MAP".into(), "True".into()),
        ("OPENHANDS_SUPPRESS_BANNER".into(), "1".into()),
        // The default log draws every traceback and holds the client up (measured: 11.3 s for a turn of 2.1 s).
        ("LOG_JSON".into(), "true".into()),
    ]
}

/// Looks at how much memory the parties hold.
fn note_memory(hall: &Hall, client: &str, cell: &Cell, stand: &Stand, warm: &Warm) {
    let mut memory = hall.memory();
    let most = |of: &mut BTreeMap<String, u64>, name: &str, bytes: Option<u64>| {
        if let Some(bytes) = bytes {
            let held = of.entry(name.to_owned()).or_default();
            *held = bytes.max(*held);
        }
    };
    most(&mut memory.servers, &cell.server, stand.pid().and_then(resident));
    match warm {
        Warm::Library(driver) => most(&mut memory.clients, client, driver.pid().and_then(resident)),
        Warm::Canvas(desk) => most(&mut memory.clients, client, desk.memory()),
        Warm::Cold => {}
    }
}
