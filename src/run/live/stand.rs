//! A server of a live run, real or emulated, behind its tap.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tokio::task::JoinHandle;

use super::package::PythonPackage;
use super::rig::Rig;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::server::net::Listening;
use crate::agent_server::server::{Clock, Script, Server, ServerConfig};
use crate::live::rest::Rest;
use crate::live::server::{LiveServer, ServerSpec};
use crate::live::sink::Sink;
use crate::live::tap::Tap;
use crate::run::CellFault;
use crate::scenario::Cell;
use crate::seed::Seed;

/// A server that answers, and what looks at it.
#[derive(Debug)]
pub(super) struct Stand {
    pub(super) tap: Tap,
    /// Its REST side for the rig: past the tap, which is there for the parties.
    pub(super) rest: Rest,
    /// Where conversations may work.
    pub(super) workspace: PathBuf,
    pub(super) ran: String,
    pub(super) party: Party,
}

#[derive(Debug)]
pub(super) enum Party {
    /// A released server; warm for all cells.
    Live { server: Box<LiveServer>, sink: Sink },
    /// Our emulation, one a cell. `held_back` is how long its webhook may be silent with events in hand.
    Emulated { server: Server, serving: JoinHandle<()>, held_back: Duration },
    /// It was stopped.
    Gone,
}

impl Drop for Stand {
    fn drop(&mut self) {
        if let Party::Emulated { serving, .. } = &self.party {
            serving.abort();
        }
    }
}

/// Starts a released server with a webhook sink and a tap.
///
/// `latency` is the sink's: servers that differ in it are different servers.
pub(super) async fn live(
    rig: &Rig,
    name: &str,
    package: &PythonPackage,
    latency: Duration,
) -> Result<Stand, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let sink = Sink::start(latency).await.map_err(|e| text(&e))?;
    let stages = package.stages.clone().map(|stages| (rig.drivers.stages.clone(), stages));
    let spec = ServerSpec {
        release: name.to_owned(),
        python: package.python.clone(),
        overlay: package.overlay.clone(),
        stages,
        folder: rig.folder.join(folder(name, latency)),
        key: rig.key.clone(),
        webhooks: vec![sink.base_url()],
        port: 0,
    };
    let server = LiveServer::start(spec, &rig.warden).await.map_err(|e| text(&e))?;
    let tap = Tap::start(server.rest.addr, rig.clock).await.map_err(|e| text(&e))?;
    Ok(Stand {
        tap,
        rest: server.rest.clone(),
        workspace: server.workspace.clone(),
        ran: package.ran.clone(),
        party: Party::Live { server: Box::new(server), sink },
    })
}

/// A folder of its own for every server; what was typed may be a path.
fn folder(name: &str, latency: Duration) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "+-._".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    match latency {
        Duration::ZERO => format!("server-{name}"),
        latency => format!("server-{name}-sink-{}ms", latency.as_millis()),
    }
}

/// Starts our emulation with the cell's workload and mutation, behind a tap of its own.
pub(super) async fn emulated(
    rig: &Rig,
    cell: &Cell,
    profile: &Profile<ServerTraits>,
    script: Script,
    seed: Seed,
) -> Result<Stand, CellFault> {
    let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
    let config = ServerConfig {
        keys: vec![rig.key.clone()],
        script,
        mutation: cell.mutation.clone(),
        seed,
        sinks: vec![cell.sink.clone()],
        keeps_notes: true,
        telemetry: true,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let webhook = &profile.traits.webhook;
    let held_back = webhook.flush_delay_s.duration().max(webhook.retry_delay_s.duration());
    let server = Server::new(profile, config, Clock::wall());
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listening = Listening::bind(&server, any).await.map_err(|e| setup(&e))?;
    let addr = listening.addr().map_err(|e| setup(&e))?;
    let serving = tokio::spawn(listening.run());
    let tap = Tap::start(addr, rig.clock).await.map_err(|e| setup(&e))?;
    Ok(Stand {
        tap,
        rest: Rest { addr, key: rig.key.clone() },
        workspace: rig.folder.clone(),
        ran: format!("skewlab {}, emulating {}", env!("CARGO_PKG_VERSION"), cell.server),
        party: Party::Emulated { server, serving, held_back },
    })
}

impl Stand {
    /// The released server's own process.
    pub(super) fn pid(&self) -> Option<u32> {
        match &self.party {
            Party::Live { server, .. } => server.pid(),
            Party::Emulated { .. } | Party::Gone => None,
        }
    }

    /// The end of the server's own words, as the end of a sentence, if it is gone.
    pub(super) fn last_words(&self) -> String {
        match &self.party {
            Party::Live { server, .. } => match server.last_words() {
                Some(said) => format!("; the server is gone, its last lines:\n  {}", said.join("\n  ")),
                None => String::new(),
            },
            Party::Emulated { .. } | Party::Gone => String::new(),
        }
    }

    /// Ends it.
    pub(super) async fn stop(mut self) {
        if let Party::Live { server, .. } = std::mem::replace(&mut self.party, Party::Gone) {
            server.stop().await;
        }
    }
}
