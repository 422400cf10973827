//! The worker of one client: its driver is started once, and attends one cell after the other.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Sender;

use super::cell::{self, Attended, captured};
use super::package::{ClientPackage, PythonPackage, ServerPackage, Task};
use super::rig::Rig;
use super::seat::observed;
use super::stand::{self, Stand};
use super::{Hall, LiveCell, micros};
use crate::live::capture::Capture;
use crate::live::driver::{Driver, DriverSpec};
use crate::record::Observation;
use crate::run::{CellFault, CellRun, script};
use crate::scenario::Cell;

/// What a client needs between its cells.
enum Warm {
    /// Nothing runs yet.
    Cold,
    /// A library under its driver.
    Library(Box<Driver>),
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
                warm = Warm::Cold;
                (Err(fault), None)
            }
        };
        let run = CellRun { index, result, micros: micros(began) };
        // The receiver lives as long as any worker does.
        let _ = finished.send(LiveCell { run, capture }).await;
    }
    if let Warm::Library(driver) = warm {
        driver.stop().await;
    }
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
            if !cell.mutation.is_none() {
                let why = "a released server sends its own frames; name an emulated one for a mutation";
                return Err(CellFault::Setup(why.to_owned()));
            }
            hall.server(&cell.server, package).await?
        }
        ServerPackage::Emulated => {
            let seed = hall.seed.derive(&cell.id);
            own = stand::emulated(&hall.rig, cell, &task.server_profile, script(cell), seed).await?;
            &own
        }
    };
    let attended = attended(hall, client, task, stand, warm).await?;
    let capture = captured(&hall.rig, stand, cell, attended).await?;
    note_memory(hall, client, cell, stand, warm);
    Ok((observed(&capture, &task.choice), capture))
}

async fn attended(
    hall: &Hall,
    client: &str,
    task: &Task,
    stand: &Stand,
    warm: &mut Warm,
) -> Result<Attended, CellFault> {
    let (rig, cell) = (&hall.rig, &task.cell);
    let text = rig.rehearse(&cell::tag(cell), &cell.workload, Duration::ZERO)?;
    if task.client == ClientPackage::Emulated {
        return cell::emulated(rig, stand, cell, &text, &task.choice).await;
    }
    let Some(spec) = driver_spec(rig, client, &task.client) else {
        return Err(CellFault::Setup("no browser takes part in this run".to_owned()));
    };
    if matches!(warm, Warm::Cold) {
        let started = Driver::start(spec, &rig.warden, rig.clock).await;
        *warm = Warm::Library(Box::new(started.map_err(|e| CellFault::Setup(e.to_string()))?));
    }
    match warm {
        Warm::Library(driver) => cell::library(rig, stand, cell, &text, driver).await,
        Warm::Cold => Err(CellFault::Setup("the driver vanished".to_owned())),
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
    let most = |of: &mut std::collections::BTreeMap<String, u64>, name: &str, pid: Option<u32>| {
        if let Some(bytes) = pid.and_then(crate::probe::process::resident) {
            let held = of.entry(name.to_owned()).or_default();
            *held = bytes.max(*held);
        }
    };
    most(&mut memory.servers, &cell.server, stand.pid());
    if let Warm::Library(driver) = warm {
        most(&mut memory.clients, client, driver.pid());
    }
}
