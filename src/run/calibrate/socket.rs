//! The corpus on one socket to both: an emulated server writes each frame to the released client and to the emulation
//! of it, and two fences behind it. What a client says before it says the second fence is about the frame: whatever a
//! frame leaves for a later turn of an event loop has happened by then.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::answer::Difference;
use super::cases::Case;
use super::error::CalibrateError;
use crate::agent_server::client::Client;
use crate::agent_server::link::{self, Phase, Target};
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::server::net::Listening;
use crate::agent_server::server::{Clock, Dialer, Finish, Script, Server, ServerConfig};
use crate::live::driver::{Attend, Driver};
use crate::live::report::{Report, Said};
use crate::probe::ledger::Endpoint;
use crate::probe::{ClientTrace, Fate, Receipt};
use crate::record::Signal;
use crate::run::CellFault;
use crate::run::live::rig::{MODEL, Rig};
use crate::seed::Seed;

/// How long a client may take to get ready; its own limit is 30 s.
const READY_WITHIN: Duration = Duration::from_secs(45);

/// How long a client may take to say a fence.
const FENCE_WITHIN: Duration = Duration::from_secs(10);

/// The cell's name for the driver.
const CELL: &str = "calibrate";

/// Fences behind each frame.
const FENCES: usize = 2;

/// What one side let be noticed of one frame on a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heard {
    /// Whether a callback of the application was called.
    pub(super) called: bool,
    /// The loudest thing.
    pub(super) signal: Signal,
    /// Whether it came between its neighbours' fences; `false` for a client that said the fence no more.
    pub(super) in_place: bool,
}

/// Where the two differ on one frame.
pub(super) fn difference(emulated: &Heard, real: &Heard) -> Vec<Difference> {
    let mut found = Vec::new();
    if !real.in_place || !emulated.in_place {
        let word = |h: &Heard| if h.in_place { "goes on" } else { "hears nothing any more" }.to_owned();
        found.push(("order", word(emulated), word(real)));
    }
    if emulated.called != real.called {
        let word = |h: &Heard| if h.called { "a callback was called" } else { "no callback" }.to_owned();
        found.push(("outcome", word(emulated), word(real)));
    }
    if emulated.signal != real.signal {
        found.push(("signal", emulated.signal.as_str().to_owned(), real.signal.as_str().to_owned()));
    }
    found
}

/// An emulated server that listens, and stops when it is dropped.
pub(super) struct Stand {
    pub(super) server: Server,
    pub(super) addr: SocketAddr,
    serving: JoinHandle<()>,
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Puts every case to both. What is returned is in the order of the cases, the emulation first. A client that falls
/// silent ends it: what comes after is not returned.
pub(super) async fn hear(
    rig: &Rig,
    driver: &mut Driver,
    choice: &ClientChoice,
    server: &Profile<ServerTraits>,
    cases: &[Case],
) -> Result<Vec<(Heard, Heard)>, CalibrateError> {
    let profile = choice.profile.release_name.as_str();
    let stand = stand(rig, server, profile).await?;
    let conversation = attend(rig, driver, &stand, profile).await?;
    let target = Target {
        dialer: Dialer::Tcp(stand.addr),
        conversation: conversation.clone(),
        key: Some(rig.key.clone()),
    };
    let client = Client::new(&choice.profile, choice.list.as_deref())?;
    let (phase, mut phases) = watch::channel(Phase::Connecting);
    let (stop, stopped) = watch::channel(false);
    let traits = choice.profile.traits.clone();
    let attending =
        tokio::spawn(async move { link::attend(&target, &traits, client, &phase, stopped).await });
    // A client that is ready when its socket is open may still wait for the first frames.
    let _ = timeout(READY_WITHIN, phases.wait_for(|p| *p != Phase::Connecting)).await;
    let mut real = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let heard = put(driver, &stand.server, &conversation, at, &case.raw, profile).await?;
        let goes_on = heard.in_place;
        real.push(heard);
        if !goes_on {
            break;
        }
    }
    stop.send_replace(true);
    let attended = attending.await.map_err(|e| unasked(profile, &e))?;
    let mut said = Vec::new();
    driver.leave(CELL, &mut said).await.map_err(|error| failed(profile, error))?;
    let emulated = emulated(&attended.trace, real.len());
    Ok(emulated.into_iter().zip(real).collect())
}

fn failed(profile: &str, error: crate::live::driver::DriverError) -> CalibrateError {
    CalibrateError::Driver { profile: profile.to_owned(), error }
}

pub(super) fn unasked(profile: &str, problem: &dyn std::fmt::Display) -> CalibrateError {
    CalibrateError::Unasked { profile: profile.to_owned(), problem: problem.to_string() }
}

/// Starts the server with nothing to say of its own.
pub(super) async fn stand(
    rig: &Rig,
    server: &Profile<ServerTraits>,
    profile: &str,
) -> Result<Stand, CalibrateError> {
    let config = ServerConfig {
        keys: vec![rig.key.clone()],
        script: Script {
            user: String::new(),
            chunks: Vec::new(),
            gap: Duration::ZERO,
            finish: Finish::Message,
            feed: None,
            tail: Duration::ZERO,
            stalls: Vec::new(),
        },
        mutation: crate::wire::Mutation::default(),
        seed: Seed(1),
        sinks: Vec::new(),
        keeps_notes: false,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let server = Server::new(server, config, Clock::wall());
    let failed = |error| CalibrateError::Server { profile: profile.to_owned(), error };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listening = Listening::bind(&server, any).await.map_err(failed)?;
    let addr = listening.addr().map_err(|e| CalibrateError::Rig {
        profile: profile.to_owned(),
        fault: CellFault::Setup(e.to_string()),
    })?;
    let serving = tokio::spawn(listening.run());
    Ok(Stand { server, addr, serving })
}

async fn attend(
    rig: &Rig,
    driver: &mut Driver,
    stand: &Stand,
    profile: &str,
) -> Result<String, CalibrateError> {
    let model = rig.model.base_url();
    let attend = Attend {
        cell: CELL,
        server: stand.addr,
        key: &rig.key,
        folder: &rig.folder,
        model: &model,
        model_name: MODEL,
        conversation: None,
    };
    let mut said = Vec::new();
    let conversation = driver.attend(&attend, READY_WITHIN, &mut said).await;
    let conversation = conversation.map_err(|error| failed(profile, error))?;
    conversation.ok_or_else(|| {
        let why = said.iter().rev().find_map(|s| match &s.what {
            Report::Failed { error, .. } => Some(error.clone()),
            _ => None,
        });
        unasked(profile, &format!("it could not attend: {}", why.unwrap_or_default()))
    })
}

/// One frame and its fences; what the released client says until it says the last of them.
async fn put(
    driver: &mut Driver,
    server: &Server,
    conversation: &str,
    at: usize,
    raw: &str,
    profile: &str,
) -> Result<Heard, CalibrateError> {
    let mut said = Vec::new();
    let gone = || unasked(profile, &"its conversation is gone");
    server.inject(conversation, Endpoint::Events, raw).await.ok_or_else(gone)?;
    for number in 0..FENCES {
        let id = format!("fence-{at}-{number}");
        server.inject(conversation, Endpoint::Events, &fence(&id)).await.ok_or_else(gone)?;
        let is_mine = |r: &Report| is_fence(r, &id);
        match driver.until("fence", FENCE_WITHIN, &mut said, is_mine).await {
            Ok(()) => {}
            Err(crate::live::driver::DriverError::Hung { .. }) => return Ok(heard(&said, false)),
            Err(error) => return Err(failed(profile, error)),
        }
    }
    Ok(heard(&said, true))
}

/// A state update that every client takes, and that none acts on.
pub(super) fn fence(id: &str) -> String {
    json!({"id": id, "timestamp": "2026-11-30T07:45:00.123456", "source": "environment", "key": "skewlab_fence",
        "value": id, "kind": "ConversationStateUpdateEvent"})
    .to_string()
}

fn is_fence(report: &Report, id: &str) -> bool {
    matches!(report, Report::Callback { id: Some(Value::String(own)), .. } if own == id)
}

fn heard(said: &[Said], in_place: bool) -> Heard {
    let fence =
        |id: &Option<Value>| id.as_ref().and_then(Value::as_str).is_some_and(|id| id.starts_with("fence-"));
    let called = |said: &Said| match &said.what {
        Report::Callback { id, .. } => !fence(id),
        Report::Token { .. } => true,
        _ => false,
    };
    let signal = said.iter().map(|said| match &said.what {
        Report::Error { .. } | Report::Raised { .. } => Signal::Surfaced,
        Report::Log { .. } => Signal::Log,
        _ => Signal::None,
    });
    Heard { called: said.iter().any(called), signal: signal.max().unwrap_or_default(), in_place }
}

/// The emulation's notes on the last frames that it read: each is one receipt, and so is each fence.
fn emulated(trace: &ClientTrace, frames: usize) -> Vec<Heard> {
    let each = 1 + FENCES;
    let first = trace.receipts.len().saturating_sub(frames * each);
    let taken = |receipt: &Receipt| matches!(receipt.fate, Fate::Reached { .. });
    let heard = trace.receipts[first..].chunks(each).map(|receipts| Heard {
        called: receipts.first().is_some_and(taken),
        signal: receipts.iter().map(|receipt| receipt.signal).max().unwrap_or_default(),
        in_place: receipts.len() == each && receipts[1..].iter().all(taken),
    });
    heard.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(report: Value) -> Said {
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn fences_are_not_heard_and_the_loudest_counts() {
        let fence = said(json!({"ev": "callback", "at": 0.0, "id": "fence-1-0"}));
        let log = said(json!({"ev": "log", "at": 0.0, "level": "ERROR", "message": "m"}));
        let error = said(json!({"ev": "error", "at": 0.0, "where": "onError", "error": "e"}));
        let call = said(json!({"ev": "callback", "at": 0.0, "id": 7}));
        let of = |said: &[&Said]| {
            let heard = heard(&said.iter().map(|s| (*s).clone()).collect::<Vec<_>>(), true);
            (heard.called, heard.signal)
        };
        assert_eq!(of(&[&fence]), (false, Signal::None));
        assert_eq!(of(&[&log, &fence]), (false, Signal::Log));
        assert_eq!(of(&[&call, &log, &error, &fence]), (true, Signal::Surfaced));
    }

    #[test]
    fn a_frame_has_the_first_of_three_receipts() {
        let reached = || Receipt {
            fate: Fate::Reached { pieces: Vec::new(), missing: crate::record::Reason::new("m") },
            signal: Signal::None,
        };
        let stopped = Receipt {
            fate: Fate::Stopped { hop: crate::record::Hop::Decoded, reason: crate::record::Reason::new("r") },
            signal: Signal::Log,
        };
        // One frame of the server's own comes first.
        let receipts = vec![reached(), stopped, reached(), reached(), reached(), reached(), reached()];
        let trace = ClientTrace { receipts, ..ClientTrace::default() };
        let heard = emulated(&trace, 2);
        assert_eq!(heard[0], Heard { called: false, signal: Signal::Log, in_place: true });
        assert_eq!(heard[1], Heard { called: true, signal: Signal::None, in_place: true });
    }

    #[test]
    fn what_differs_on_a_socket_is_named() {
        let one = Heard { called: true, signal: Signal::None, in_place: true };
        assert!(difference(&one, &one).is_empty());
        let other = Heard { called: false, signal: Signal::Surfaced, in_place: false };
        let what: Vec<&str> = difference(&one, &other).iter().map(|(what, ..)| *what).collect();
        assert_eq!(what, ["order", "outcome", "signal"]);
    }
}
