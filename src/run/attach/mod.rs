//! `skewlab attach`: emulated clients at a server that somebody else runs, on the wall clock.
//!
//! Nobody says what such a server produced. So loss is judged among the clients, by numbers in the text, and against the
//! durable reply; `board`, `seat`, `votes` and `texts` say how. Nothing is called a loss here: that is for the judge.
//!
//! Reconnecting is not modelled. A client that is closed stays away, and is counted with the code.
//!
//! **Pitfalls.** Measuring begins when everybody has joined; what came before is due to nobody. All frames are kept as
//! one number each, one whose text differs as a note of constant size, and what the applications got as text, so memory
//! grows with clients × deltas.

mod board;
mod counted;
mod error;
mod heard;
mod numbers;
mod seat;
mod secret;
#[cfg(test)]
mod tests;
mod texts;
mod votes;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout, timeout_at};

pub use error::AttachError;

use self::board::Board;
use self::seat::{Seat, Shared, look};
use self::secret::Secret;
use crate::agent_server::client::Client;
use crate::agent_server::link::{self, Attended, Phase, Target};
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::rest;
use crate::agent_server::server::Dialer;
use crate::probe::cpu::thread_cpu;
use crate::probe::limits::raise_descriptors;
use crate::record::attach::{Attached, AttachedClient};

/// Descriptors that the process needs beside its sockets.
const OTHER_DESCRIPTORS: u64 = 32;
/// Clients that may be on their way in at once: a stranger's server is not to be flooded.
const IN_FLIGHT: u32 = 16;
/// How often it is looked how far things are.
const TICK: Duration = Duration::from_millis(5);
/// How long nobody may get an answer while clients join.
const JOIN_WAIT: Duration = Duration::from_secs(30);
/// How long nothing comes when histories are through, and how long that is waited for on a conversation that never rests.
const QUIET: Duration = Duration::from_millis(300);
const QUIET_WAIT: Duration = Duration::from_secs(5);
/// How long what one client got may take to the others once the time is over.
const LINGER: Duration = Duration::from_secs(3);
/// How long one answer to a call may take.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// How long clients may take to leave.
const LEAVE_WAIT: Duration = Duration::from_secs(5);

/// What to attach, and to what.
pub struct AttachPlan {
    /// The server.
    pub addr: SocketAddr,
    /// Host and port as they were named, for `Host` and for reports.
    pub authority: String,
    /// The conversation.
    pub conversation: String,
    /// The clients.
    pub choice: ClientChoice,
    /// How many.
    pub clients: u32,
    /// How long to look once all have joined.
    pub lasting: Duration,
    /// The message that starts a turn; nobody starts one without it.
    pub say: Option<String>,
    /// The session API key. It is in no result and no error.
    pub key: Option<String>,
}

/// A client under way.
struct Attending {
    phase: watch::Receiver<Phase>,
    task: JoinHandle<(Attended, Seat)>,
}

/// Attaches the clients, looks for the time asked for or until `stop`, and says what was seen.
pub fn attach(plan: &AttachPlan, stop: &AtomicBool) -> Result<Attached, AttachError> {
    raise_descriptors(u64::from(plan.clients) + OTHER_DESCRIPTORS)
        .map_err(|error| AttachError::Limit { clients: plan.clients, error })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(AttachError::Start)?.block_on(attached(plan, stop))
}

async fn attached(plan: &AttachPlan, stop: &AtomicBool) -> Result<Attached, AttachError> {
    let secret = Secret::of(plan.key.as_deref());
    let dialer = Dialer::Named { addr: plan.addr, authority: plan.authority.clone() };
    reachable(plan, &dialer).await?;
    let target = Target { dialer, conversation: plan.conversation.clone(), key: plan.key.clone() };
    let board = Arc::new(Mutex::new(Board::new(plan.addr.ip().is_loopback())));
    let (leave, leaving) = watch::channel(false);

    let attending = join(plan, &target, &board, &secret, &leaving, stop).await?;
    look(&board).joined();
    let (began, cpu) = (Instant::now(), thread_cpu());
    let open = look(&board).open > 0;
    if let Some(text) = plan.say.as_ref().filter(|_| open && !stop.load(Ordering::SeqCst)) {
        say(plan, &target, &board, &secret, text).await?;
    }
    let until = Instant::now() + plan.lasting;
    // Once nobody is there any more, nothing can come.
    while Instant::now() < until && !stop.load(Ordering::SeqCst) && look(&board).open > 0 {
        sleep(TICK.min(until.saturating_duration_since(Instant::now()))).await;
    }
    let complete = !stop.load(Ordering::SeqCst);
    let seconds = began.elapsed().as_secs_f64();
    let reader_cpu = thread_cpu().saturating_sub(cpu).as_secs_f64() / seconds.max(f64::EPSILON);
    look(&board).cut();
    let lingering = Instant::now();
    while lingering.elapsed() < LINGER && !look(&board).is_complete() {
        sleep(TICK).await;
    }
    leave.send_replace(true);
    let clients = left(plan, attending, &board).await;
    let board = look(&board);
    let own_clock = board.is_own_clock();
    let kinds = |durable: bool| board.due().filter(|(_, entry)| entry.durable == durable).count() as u64;
    Ok(Attached {
        server: plan.authority.clone(),
        conversation: plan.conversation.clone(),
        profile: named(&plan.choice),
        asked: plan.clients,
        for_s: plan.lasting.as_secs_f64(),
        said: board.said.is_some(),
        complete,
        seconds,
        offered: "none".to_owned(),
        deltas: kinds(false),
        replies: kinds(true),
        unidentified: board.unidentified(),
        missing_everywhere: board.missing_everywhere(),
        spread: board.spread.quantiles(),
        gap: board.gap.quantiles(),
        first_delta: board.said.is_some().then(|| board.first_delta.quantiles()),
        since_own_timestamp: own_clock.then(|| board.own_timestamp.quantiles()),
        reader_cpu,
        clients,
    })
}

fn named(choice: &ClientChoice) -> String {
    let list = choice.list.as_ref().map(|list| format!("/{list}")).unwrap_or_default();
    format!("{}{list}", choice.profile.release_name)
}

/// One connection that says nothing, so that a wrong port is one error and not one a client.
async fn reachable(plan: &AttachPlan, dialer: &Dialer) -> Result<(), AttachError> {
    let fails = |why: String| AttachError::Unreachable { server: plan.authority.clone(), why };
    match timeout(ANSWER_WAIT, dialer.dial()).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(fails(error.to_string())),
        Err(_) => Err(fails(format!("no answer within {} s", ANSWER_WAIT.as_secs()))),
    }
}

/// Starts the clients and waits until each has joined or will not, and until histories are through.
async fn join(
    plan: &AttachPlan,
    target: &Target,
    board: &Shared,
    secret: &Secret,
    leaving: &watch::Receiver<bool>,
    stop: &AtomicBool,
) -> Result<Vec<Attending>, AttachError> {
    let choice = &plan.choice;
    let traits = Arc::new(choice.profile.traits.clone());
    let mut attending: Vec<Attending> = Vec::new();
    let (mut answered, mut moved) = (0, Instant::now());
    // A server that has not answered anybody for so long is not asked by any more.
    while moved.elapsed() < JOIN_WAIT && !stop.load(Ordering::SeqCst) {
        let before = std::mem::replace(&mut answered, look(board).answered);
        if answered > before {
            moved = Instant::now();
        }
        let here = u32::try_from(attending.len()).unwrap_or(u32::MAX);
        if answered >= plan.clients {
            break;
        }
        if here == plan.clients || here.saturating_sub(answered) >= IN_FLIGHT {
            sleep(TICK).await;
            continue;
        }
        let client = Client::new(&choice.profile, choice.list.as_deref())?;
        let mut seat = Seat::new(board.clone(), secret.clone(), traits.streams);
        let (phase, phases) = watch::channel(Phase::Connecting);
        let (target, traits, leaving) = (target.clone(), traits.clone(), leaving.clone());
        let task = tokio::spawn(async move {
            let attended = link::attend_before(&target, &traits, client, &phase, leaving, &mut seat).await;
            (attended, seat)
        });
        attending.push(Attending { phase: phases, task });
    }
    let waiting = Instant::now();
    while waiting.elapsed() < QUIET_WAIT && !stop.load(Ordering::SeqCst) {
        let quiet = look(board).last.elapsed();
        if quiet >= QUIET || look(board).open == 0 {
            break;
        }
        sleep(TICK).await;
    }
    Ok(attending)
}

/// Starts a turn.
async fn say(
    plan: &AttachPlan,
    target: &Target,
    board: &Shared,
    secret: &Secret,
    text: &str,
) -> Result<(), AttachError> {
    look(board).said = Some(Instant::now());
    let why = match timeout(ANSWER_WAIT, rest::post_message(target, text, true)).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => secret.out_of(&error.to_string()),
        Err(_) => format!("no answer within {} s", ANSWER_WAIT.as_secs()),
    };
    Err(AttachError::Say { server: plan.authority.clone(), why })
}

/// Waits until the clients have left, and gathers what they saw. One that hangs on its way in is given up.
///
/// Nobody is asked before all have left: what the last one reads may decide which text was right.
async fn left(plan: &AttachPlan, attending: Vec<Attending>, board: &Shared) -> Vec<AttachedClient> {
    let traits = &plan.choice.profile.traits;
    let deadline = tokio::time::Instant::now() + LEAVE_WAIT;
    let mut ended = Vec::new();
    for Attending { phase, mut task } in attending {
        ended.push(match timeout_at(deadline, &mut task).await {
            Ok(Ok(left)) => Ok(left),
            gone => {
                task.abort();
                Err(match gone {
                    Ok(Err(error)) => format!("the client failed: {error}"),
                    _ if *phase.borrow() == Phase::Connecting => "no answer to the connection".to_owned(),
                    _ => "it did not leave in time".to_owned(),
                })
            }
        });
    }
    let board = look(board);
    let seen = |left: Result<(Attended, Seat), String>| match left {
        Ok((attended, seat)) => seat.seen(&board, traits, &attended.trace),
        Err(why) => {
            AttachedClient { refused: Some(why), streams: traits.streams, ..AttachedClient::default() }
        }
    };
    let mut clients: Vec<AttachedClient> = ended.into_iter().map(seen).collect();
    drop(board);
    // Those that an interrupted run did not start.
    let nobody = AttachedClient {
        refused: Some("not started".to_owned()),
        streams: traits.streams,
        ..AttachedClient::default()
    };
    clients.resize(plan.clients as usize, nobody);
    clients
}
