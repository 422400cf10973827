//! Calibration of a server: its emulation and the released package are asked the same over loopback, on raw sockets, and
//! where they differ is written down.
//!
//! | file | idea |
//! |---|---|
//! | `cases` | what is asked: turns, replays, handshakes, frames of a client, side effects, the cap |
//! | `party` | one of the two sides |
//! | `socket` | a raw socket to it |
//! | `ask` | all cases on one side |
//! | `canon` | from frames to what two servers can be held to |
//!
//! The emulation answers on the wall clock for the comparison, and on the virtual one for the hash that a plain test
//! computes again. Both have to be the same.
//!
//! **Adding a case** moves `cases_hash` of every certificate: they are issued anew. **A difference** is mended in the
//! traits. Only what is the machine's or the interpreter's may get a `because`.

mod ask;
mod canon;
mod cases;
mod error;
mod party;
mod socket;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use error::CalibrateServerError;

use crate::agent_server::profile::{Catalogue, Profile, ServerTraits};
use crate::agent_server::server::net::Listening;
use crate::agent_server::server::{Clock, Dialer, Script, Server, ServerConfig, SinkModel};
use crate::live::drivers;
use crate::live::model::{Model, Part, Reply};
use crate::live::process::warden_program;
use crate::live::server::{LiveServer, ServerSpec};
use crate::live::sink::Sink;
use crate::record::{CERTIFICATE_SCHEMA, Certificate, Disagreement};
use crate::run::calibrate::Identity;
use crate::run::live::PythonPackage;
use crate::scenario::{Scenario, Workload};
use crate::seed::Seed;
use crate::wire::Mutation;
use ask::{Answered, ask};
use party::{Hook, KEY, Party};

/// What marks the turn for the fake model.
const TAG: &str = "calibrate";

/// Asks the emulation and the released server the same, and issues the certificate.
///
/// Takes about a minute. The server writes into `folder`, which is made, emptied where it has to be, and the caller's to
/// remove. Errors when either side could not be asked; a difference is none.
pub fn calibrate_server(
    profile: &Profile<ServerTraits>,
    package: &PythonPackage,
    identity: &Identity,
    folder: &Path,
) -> Result<Certificate, CalibrateServerError> {
    let start = |e: &dyn std::fmt::Display| CalibrateServerError::Start(e.to_string());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| start(&e))?;
    let (real, emulated) = runtime.block_on(both(profile, package, identity, folder))?;
    let virtually = virtual_answers(profile)?;
    same_on_both_clocks(profile, &emulated, &virtually)?;
    let cases = cases::cases();
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    for case in &cases {
        *asked.entry(case.what.word().to_owned()).or_default() += 1;
    }
    Ok(Certificate {
        schema: CERTIFICATE_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        profile: profile.release_name.clone(),
        package: identity.package.clone(),
        version: identity.version.clone(),
        package_hash: identity.hash.clone(),
        laid_over: identity.laid_over.clone(),
        cases_hash: server_cases_hash()?,
        answers_hash: cases::hash(&virtually).map_err(|e| start(&e))?,
        asked,
        disagreements: disagreements(&emulated, &real),
    })
}

/// SHA-256 over all cases, in hexadecimal.
pub fn server_cases_hash() -> Result<String, CalibrateServerError> {
    cases::hash(&cases::cases()).map_err(|e| CalibrateServerError::Start(e.to_string()))
}

/// SHA-256 over the emulation's answers to them: in memory, on the virtual clock, in a few hundred milliseconds.
pub fn server_answers_hash(profile: &Profile<ServerTraits>) -> Result<String, CalibrateServerError> {
    cases::hash(&virtual_answers(profile)?).map_err(|e| CalibrateServerError::Start(e.to_string()))
}

/// The turn that is compared: reasoning, empty pieces, and characters of more than one byte.
fn workload() -> Result<Arc<Workload>, CalibrateServerError> {
    let catalogue = Catalogue::embedded().map_err(|e| CalibrateServerError::Start(e.to_string()))?;
    let scenario = Scenario::load("release-skew", &catalogue)?;
    let chat = scenario.workloads.into_iter().find(|load| load.name == "chat");
    chat.ok_or(CalibrateServerError::NoWorkload)
}

/// What the person says.
fn says(load: &Workload) -> String {
    format!("{} {}", load.user, Model::marker(TAG))
}

/// The emulation, with nobody connected yet. What may be in a release and need not (telemetry, a title) is off on both
/// sides.
fn emulation(profile: &Profile<ServerTraits>, load: &Workload, clock: Clock) -> Server {
    let gap = Duration::from_secs_f64(1.0 / load.rate.max(1e-6));
    let script = Script {
        user: says(load),
        chunks: load.tokens.clone(),
        gap,
        finish: load.finish,
        feed: None,
        tail: Duration::ZERO,
        stalls: Vec::new(),
    };
    let config = ServerConfig {
        keys: vec![KEY.to_owned()],
        script,
        mutation: Mutation::default(),
        seed: Seed(1).derive("calibrate"),
        sinks: vec![SinkModel::default()],
        keeps_notes: true,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    Server::new(profile, config, clock)
}

fn emulated(server: &Server, dialer: Dialer, load: &Workload) -> Party {
    Party {
        side: "the emulation".to_owned(),
        dialer,
        hook: Hook::Server(server.clone()),
        model: "http://127.0.0.1:1/v1".to_owned(),
        workspace: "/workspace".to_owned(),
        says: says(load),
    }
}

fn virtual_answers(profile: &Profile<ServerTraits>) -> Result<Vec<Answered>, CalibrateServerError> {
    let load = workload()?;
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|e| CalibrateServerError::Start(e.to_string()))?;
    runtime.block_on(async {
        let server = emulation(profile, &load, Clock::fixed());
        ask(&emulated(&server, Dialer::memory(&server), &load), &cases::cases()).await
    })
}

/// The real answers and the emulation's, both over loopback and at the same time.
async fn both(
    profile: &Profile<ServerTraits>,
    package: &PythonPackage,
    identity: &Identity,
    folder: &Path,
) -> Result<(Vec<Answered>, Vec<Answered>), CalibrateServerError> {
    let start = |e: &dyn std::fmt::Display| CalibrateServerError::Start(e.to_string());
    let load = workload()?;
    std::fs::create_dir_all(folder).map_err(|e| start(&e))?;
    let folder = folder.canonicalize().map_err(|e| start(&e))?;
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let model = Model::start(any).await?;
    model.set_default(Reply::short("A title"))?;
    let parts =
        load.tokens.iter().map(|t| Part::Delta { text: t.text.clone(), reasoning: t.reasoning.clone() });
    let reply = Reply { parts: parts.collect(), rate: load.rate, role_chunk: false, ..Reply::default() };
    // A message of a case carries no marker.
    model.set_default(reply.clone())?;
    model.register(TAG, reply)?;
    let sink = Sink::start(Duration::ZERO).await?;
    let stages = match &package.stages {
        Some(stages) => {
            let drivers = drivers::unpack(&folder.join("drivers")).map_err(|e| start(&e))?;
            Some((drivers.stages, stages.clone()))
        }
        None => None,
    };
    let spec = ServerSpec {
        release: identity.version.clone(),
        python: package.python.clone(),
        overlay: package.overlay.clone(),
        stages,
        folder: folder.join(format!("server-{}", profile.release_name)),
        key: KEY.to_owned(),
        webhooks: vec![sink.base_url()],
        port: 0,
    };
    let warden = warden_program().map_err(|e| start(&e))?;
    let live = LiveServer::start(spec, &warden).await?;
    let real = Party {
        side: format!("{} {}", identity.package, identity.version),
        dialer: Dialer::Tcp(live.rest.addr),
        hook: Hook::Sink(sink),
        model: model.base_url(),
        workspace: live.workspace.display().to_string(),
        says: says(&load),
    };
    let server = emulation(profile, &load, Clock::wall());
    let listening = Listening::bind(&server, any).await?;
    let addr = listening.addr().map_err(|e| start(&e))?;
    let serving = tokio::spawn(listening.run());
    let ours = emulated(&server, Dialer::Tcp(addr), &load);
    let cases = cases::cases();
    let answers = futures_util::future::join(ask(&real, &cases), ask(&ours, &cases)).await;
    serving.abort();
    live.stop().await;
    Ok((answers.0?, answers.1?))
}

/// Every entry that is not the same on both sides.
fn disagreements(emulated: &[Answered], real: &[Answered]) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let nothing = || "nothing".to_owned();
    for (ours, theirs) in emulated.iter().zip(real) {
        let mut looked_at: Vec<&String> = ours.answer.keys().chain(theirs.answer.keys()).collect();
        looked_at.sort_unstable();
        looked_at.dedup();
        for what in looked_at {
            let (ours_says, theirs_says) = (ours.answer.get(what), theirs.answer.get(what));
            if ours_says != theirs_says {
                found.push(Disagreement {
                    case: ours.name.clone(),
                    what: what.clone(),
                    emulated: ours_says.cloned().unwrap_or_else(nothing),
                    real: theirs_says.cloned().unwrap_or_else(nothing),
                    because: None,
                });
            }
        }
    }
    found
}

fn same_on_both_clocks(
    profile: &Profile<ServerTraits>,
    wall: &[Answered],
    virtually: &[Answered],
) -> Result<(), CalibrateServerError> {
    match disagreements(wall, virtually).into_iter().next() {
        None => Ok(()),
        Some(differs) => Err(CalibrateServerError::Clocks {
            profile: profile.release_name.clone(),
            case: format!("{}, {}", differs.case, differs.what),
            wall: differs.emulated,
            virtually: differs.real,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str) -> Profile<ServerTraits> {
        Catalogue::embedded().unwrap().server(name).unwrap()
    }

    #[test]
    fn answers_are_the_same_twice_and_other_ones_of_another_era() {
        let hash = |name: &str| server_answers_hash(&profile(name)).unwrap();
        assert_eq!(hash("1.58.2"), hash("1.58.2"));
        let eras = ["1.43.1", "1.44.1", "1.45.0", "1.58.2"].map(hash);
        let distinct: std::collections::BTreeSet<&String> = eras.iter().collect();
        // 1.43.1 and 1.44.1 differ in what the webhook gets, 1.45.0 has a session socket, 1.58.2 deltas on it.
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn a_trait_that_is_flipped_is_a_disagreement_that_names_it() {
        let usual = virtual_answers(&profile("1.58.2")).unwrap();
        assert_eq!(disagreements(&usual, &usual), []);
        let differs = |change: &dyn Fn(&mut ServerTraits)| {
            let mut other = profile("1.58.2");
            change(&mut other.traits);
            let found = disagreements(&usual, &virtual_answers(&other).unwrap());
            found.into_iter().map(|d| format!("{} / {}", d.case, d.what)).collect::<Vec<_>>()
        };
        let named = |found: &[String], part: &str| found.iter().any(|f| f.contains(part));
        assert!(named(&differs(&|t| t.bus.max_subscribers = 40), "cap/"));
        assert!(named(&differs(&|t| t.mutant.drop_every = 5), "frames/first turn / events: deltas"));
        assert!(named(&differs(&|t| t.mutant.alter_every = 5), "session: deltas"));
        assert!(named(&differs(&|t| t.mutant.store_deltas = true), "deltas in the log"));
        assert!(named(
            &differs(&|t| t.wire.nulls = crate::wire::dialect::Nulls::Kept),
            "shape of MessageEvent"
        ));
        assert!(named(
            &differs(&|t| t.socket.close.unauthenticated = 4003),
            "handshake/events/a bad key in the first"
        ));
        let webhook = |t: &mut ServerTraits| t.webhook.event_buffer_size = std::num::NonZeroUsize::MIN;
        assert!(named(&differs(&webhook), "webhook posts"));
    }
}
