//! `skewlab serve`: one emulated server, for any client that speaks WebSocket.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::args::Serve;
use super::error::CliError;
use super::plan::catalogue;
use crate::agent_server::profile::{Catalogue, nearest};
use crate::agent_server::server::net::Listening;
use crate::agent_server::server::{Clock, Script, Server, ServerConfig};
use crate::judge::ExitCode;
use crate::probe::limits;
use crate::scenario::{Scenario, Workload};
use crate::seed::Seed;

pub(super) fn run(args: &Serve) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let mut profile = catalogue.server(&args.server)?;
    if let Some(most) = args.max_subscribers {
        profile.traits.bus.max_subscribers = most;
    }
    let config = ServerConfig {
        keys: args.keys.clone(),
        script: script(&*workload(&args.script, &catalogue)?)?,
        mutation: args.mutation.parse()?,
        seed: Seed(args.seed),
        sinks: Vec::new(),
        keeps_notes: false,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| CliError::Start(e.to_string()))?;
    // As many connections as this process may have; a machine that allows no more says so when one is refused.
    let (_, hard) = limits::descriptors();
    let _ = limits::raise_descriptors(hard);
    runtime.block_on(async {
        let server = Server::new(&profile, config, Clock::wall());
        let conversation = server.create_conversation().await;
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
        let listening = Listening::bind(&server, addr).await?;
        let addr = listening.addr().map_err(|error| CliError::Start(error.to_string()))?;
        {
            let mut out = std::io::stdout().lock();
            writeln!(out, "http://{addr}")?;
            writeln!(out, "conversation {conversation}")?;
            writeln!(out, "ws://{addr}/sockets/events/{conversation}")?;
            out.flush()?;
        }
        tokio::select! {
            () = listening.run() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        Ok(ExitCode::AllAsExpected)
    })
}

/// The workload that `NAME` or `NAME:WORKLOAD` names; the first of a scenario without the latter.
pub(super) fn workload(script: &str, catalogue: &Catalogue) -> Result<Arc<Workload>, CliError> {
    let (name, wanted) = match script.rsplit_once(':') {
        Some((name, workload)) => (name, Some(workload)),
        None => (script, None),
    };
    let scenario = Scenario::load(name, catalogue)?;
    let find = |w: &&Arc<Workload>| wanted.is_none_or(|name| w.name == name);
    scenario.workloads.iter().find(find).cloned().ok_or_else(|| {
        let wanted = wanted.unwrap_or_default();
        let hint = nearest(wanted, scenario.workloads.iter().map(|w| w.name.as_str()));
        CliError::Usage(format!("scenario `{}` has no workload `{wanted}`{hint}", scenario.name))
    })
}

/// What the server streams in every turn.
fn script(load: &Workload) -> Result<Script, CliError> {
    if load.needs_a_package() {
        let name = &load.name;
        let why = "an emulated server plays no tool call in an answer and no failing provider";
        return Err(CliError::Usage(format!("workload `{name}`: {why}; `skewlab model` does")));
    }
    Ok(load.script())
}
