//! One live cell: a client attends, the turn runs, everything settles, and what was seen is put together.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::super::handled::Handled;
use super::rig::{MODEL, Rig, length};
use super::stand::{Party, Stand};
use crate::agent_server::client::Client;
use crate::agent_server::link::{self, Phase, Target};
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::server::{Dialer, Notes, PeerId};
use crate::live::capture::{CAPTURE_SCHEMA, Capture, ClientSide, ServerSide};
use crate::live::driver::{Attend, Driver, DriverError};
use crate::live::report::{Report, Said};
use crate::live::rest::status;
use crate::live::tap::{Side, WireSocket};
use crate::probe::LinkTrace;
use crate::record::{Consumer, Metric, SideEffects};
use crate::run::CellFault;
use crate::scenario::Cell;

/// How long a client may take to get ready; its own limit is 30 s.
const READY_WITHIN: Duration = Duration::from_secs(45);

/// How much longer than its script a turn may take. The Python client of stage A alone was seen to take 12 s for a
/// 2 s turn, with one traceback a token.
const SLACK: Duration = Duration::from_mins(1);

/// How long a turn whose start raised an exception may take to begin all the same, and to end.
const BEGUN_WITHIN: Duration = Duration::from_secs(15);

/// How long nothing passes on the sockets when a turn has settled.
const QUIET: Duration = Duration::from_millis(300);

/// How long settling may take.
const SETTLE_WITHIN: Duration = Duration::from_secs(10);

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Words for a conversation in which nothing runs any more.
const ENDED: [&str; 5] = ["finished", "error", "stuck", "paused", "idle"];

/// What a client showed of itself.
pub(super) struct Attended {
    pub(super) conversation: String,
    pub(super) client: ClientSide,
    /// An emulated client's own names of its connections, in order.
    pub(super) peers: Vec<PeerId>,
    pub(super) ran: String,
}

/// A cell's name in messages and markers: a path is no word.
pub(super) fn tag(cell: &Cell) -> String {
    format!("{}-{}", cell.hash, cell.client.replace(['/', '+', '.'], "-"))
}

/// A released library under its driver.
pub(super) async fn library(
    rig: &Rig,
    stand: &Stand,
    cell: &Cell,
    text: &str,
    driver: &mut Driver,
) -> Result<Attended, CellFault> {
    let tag = tag(cell);
    let mut said = Vec::new();
    let model = rig.model.base_url();
    let attend = Attend {
        cell: &tag,
        server: stand.tap.addr(),
        key: &rig.key,
        folder: &stand.workspace,
        model: &model,
        model_name: MODEL,
        conversation: None,
    };
    let attended = driver.attend(&attend, READY_WITHIN, &mut said).await.map_err(hung)?;
    let within = length(&cell.workload).saturating_add(SLACK);
    let conversation = if let Some(conversation) = attended {
        driver.say(&tag, text, within, &mut said).await.map_err(hung)?;
        conversation
    } else {
        unready(rig, stand, &attend, text, driver, &mut said).await?
    };
    // A run that raised may never have begun; where it did, the server goes on.
    let raised = said.iter().any(|s| matches!(s.what, Report::Raised { .. }));
    over(stand, &conversation, if raised { BEGUN_WITHIN } else { within }, raised).await?;
    let settled = Instant::now() + SETTLE_WITHIN;
    while Instant::now() < settled && !quiet(rig, stand, &conversation) {
        driver.listen(Instant::now() + LOOK_EVERY, &mut said).await.map_err(hung)?;
    }
    driver.leave(&tag, &mut said).await.map_err(hung)?;
    // A warm driver may still say something about the cell before.
    said.retain(|s: &Said| s.cell.as_deref().is_none_or(|of| of == tag));
    Ok(Attended {
        conversation,
        client: ClientSide::Library { said },
        peers: Vec::new(),
        ran: driver.package(),
    })
}

/// A client that cannot get ready is part of the answer, and somebody else starts the turn. It did not say which
/// conversation it opened, so it is given one and tries again.
async fn unready(
    rig: &Rig,
    stand: &Stand,
    first: &Attend<'_>,
    text: &str,
    driver: &mut Driver,
    said: &mut Vec<Said>,
) -> Result<String, CellFault> {
    let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
    driver.leave(first.cell, said).await.map_err(hung)?;
    said.clear();
    let folder = stand.workspace.display().to_string();
    let made = stand.rest.create(&rig.model.base_url(), MODEL, &folder).await;
    let conversation = made.map_err(|e| setup(&e))?;
    let again = Attend { conversation: Some(&conversation), ..first.clone() };
    driver.attend(&again, READY_WITHIN, said).await.map_err(hung)?;
    stand.rest.say(&conversation, text).await.map_err(|e| setup(&e))?;
    Ok(conversation)
}

/// A client that hangs is killed by whoever holds its driver; its cell says so.
fn hung(error: DriverError) -> CellFault {
    match error {
        DriverError::Hung { .. } => CellFault::Hung(error.to_string()),
        other => CellFault::Setup(other.to_string()),
    }
}

/// Our emulation of a client, on the wall clock.
pub(super) async fn emulated(
    rig: &Rig,
    stand: &Stand,
    cell: &Cell,
    text: &str,
    choice: &ClientChoice,
) -> Result<Attended, CellFault> {
    let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
    let folder = stand.workspace.display().to_string();
    let made = stand.rest.create(&rig.model.base_url(), MODEL, &folder).await;
    let conversation = made.map_err(|e| setup(&e))?;
    let dialer = Dialer::Tcp(stand.tap.addr());
    let target = Target { dialer, conversation: conversation.clone(), key: Some(rig.key.clone()) };
    let client = Client::new(&choice.profile, choice.list.as_deref()).map_err(|e| setup(&e))?;
    let (phase, mut phases) = watch::channel(Phase::Connecting);
    let (stop, stopped) = watch::channel(false);
    let traits = choice.profile.traits.clone();
    let (busy, handled) = (traits.intake.handle_s.duration(), Handled::default());
    let mut counted = handled.clone();
    let attending = tokio::spawn(async move {
        link::attend_before(&target, &traits, client, &phase, stopped, &mut counted).await
    });
    let _ = timeout(READY_WITHIN, phases.wait_for(|p| *p != Phase::Connecting)).await;
    stand.rest.say(&conversation, text).await.map_err(|e| setup(&e))?;
    over(stand, &conversation, length(&cell.workload).saturating_add(SLACK), false).await?;
    settle(rig, stand, &conversation).await;
    handled.out(busy).await;
    stop.send_replace(true);
    let attended = attending.await.map_err(|e| CellFault::Panicked(e.to_string()))?;
    let ran = format!("skewlab {}, emulating {}", env!("CARGO_PKG_VERSION"), cell.client);
    let link::Attended { trace, peers } = attended;
    Ok(Attended { conversation, client: ClientSide::Emulated { trace: Box::new(trace) }, peers, ran })
}

/// Waits until the server says that nothing runs in the conversation. One that has not begun is waited for, unless it
/// `may_not` begin: then not having begun within the time is an end too.
pub(super) async fn over(
    stand: &Stand,
    conversation: &str,
    within: Duration,
    may_not: bool,
) -> Result<(), CellFault> {
    let deadline = Instant::now() + within;
    let mut begun = false;
    loop {
        let now = stand.rest.conversation(conversation).await.map_err(|e| CellFault::Setup(e.to_string()))?;
        let word = status(&now);
        begun |= word != "idle";
        if ENDED.contains(&word) && begun {
            return Ok(());
        }
        if Instant::now() > deadline {
            return if may_not && !begun { Ok(()) } else { Err(CellFault::Deadline(within.as_secs())) };
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Waits until nothing passes any more.
pub(super) async fn settle(rig: &Rig, stand: &Stand, conversation: &str) {
    let until = Instant::now() + SETTLE_WITHIN;
    sleep(QUIET).await;
    while Instant::now() < until && !quiet(rig, stand, conversation) {
        sleep(LOOK_EVERY).await;
    }
}

fn quiet(rig: &Rig, stand: &Stand, conversation: &str) -> bool {
    let last = stand.tap.last_activity(conversation).map(|(at, _)| at);
    last.is_none_or(|at| rig.clock.now() - at > QUIET.as_secs_f64())
}

/// Everything that was seen of the cell.
pub(super) async fn captured(
    rig: &Rig,
    stand: &Stand,
    cell: &Cell,
    attended: Attended,
) -> Result<Capture, CellFault> {
    let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
    let conversation = &attended.conversation;
    let mut sockets = stand.tap.sockets(conversation);
    for frame in sockets.iter_mut().flat_map(|socket| &mut socket.frames) {
        // A key is kept nowhere, not even one that opens nothing any more.
        if frame.from == Side::Client && frame.text.contains("session_api_key") {
            frame.text = frame.text.replace(&format!("\"{}\"", rig.key), "\"…\"");
        }
    }
    let mut faults = Vec::new();
    let (server, chunks, side_effects) = match &stand.party {
        Party::Live { sink, .. } => {
            if asks_for_the_sink(cell) {
                drained(|| sink.posts(conversation).len() as u64, FLUSH, cell).await;
            }
            let events = stand.rest.events(conversation).await.map_err(|e| setup(&e))?;
            let now = stand.rest.conversation(conversation).await.map_err(|e| setup(&e))?;
            let deltas = events.iter().filter(|e| e["kind"] == crate::wire::DELTA_KIND).count() as u64;
            let side_effects = SideEffects {
                webhook: sink.counts(conversation),
                stored_deltas: deltas,
                ..SideEffects::default()
            };
            let chunks = rig.sent(&tag(cell));
            if !rig.asked(&tag(cell)) {
                faults.push("the model was never asked for this cell".to_owned());
            }
            (
                ServerSide::Live {
                    status: status(&now).to_owned(),
                    events: events.iter().map(short).collect(),
                },
                chunks,
                side_effects,
            )
        }
        Party::Emulated { server, held_back, .. } => {
            if asks_for_the_sink(cell) {
                let attempts = || {
                    let webhook = server.side_effects().webhook;
                    webhook.posts + webhook.failed_posts
                };
                drained(attempts, *held_back, cell).await;
            }
            let notes = server.notes();
            let mut earlier = links(&notes, &sockets, &attended);
            let link = earlier.pop().unwrap_or_default();
            let side_effects = server.side_effects();
            (
                ServerSide::Emulated { trace: Box::new(notes.server), link: Box::new(link), earlier },
                Vec::new(),
                side_effects,
            )
        }
        Party::Gone => return Err(CellFault::Setup("the server was stopped".to_owned())),
    };
    stand.tap.forget(conversation);
    Ok(Capture {
        schema: CAPTURE_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        cell: cell.id.clone(),
        hash: cell.hash.clone(),
        ran: vec![stand.ran.clone(), attended.ran],
        chunks,
        server,
        client: attended.client,
        sockets,
        side_effects,
        rig_faults: faults,
    })
}

/// What an emulated server noted of the client's connections, in order: of an emulated client by its own word, else as they
/// passed the tap.
fn links(notes: &Notes, sockets: &[WireSocket], attended: &Attended) -> Vec<LinkTrace> {
    let seen = |socket: &WireSocket| notes.links.get(&u64::from(socket.peer)).cloned().unwrap_or_default();
    if !matches!(attended.client, ClientSide::Emulated { .. }) {
        return sockets.iter().map(seen).collect();
    }
    let of = |peer: &PeerId| sockets.iter().find(|socket| u64::from(socket.client) == *peer);
    attended.peers.iter().map(|peer| of(peer).map(seen).unwrap_or_default()).collect()
}

/// Whether the scenario wants to know what the webhook sink got: that takes longer than the turn.
fn asks_for_the_sink(cell: &Cell) -> bool {
    cell.must_not_receive.contains(&Consumer::Webhook)
        || cell.budget.limits.iter().any(|limit| WEBHOOK_METRICS.contains(&limit.metric))
}

const WEBHOOK_METRICS: [Metric; 3] =
    [Metric::WebhookDeltaEvents, Metric::WebhookPosts, Metric::WebhookEvents];

/// Waits until the sink has got all that it will get: until nothing came for longer than the server holds events back.
async fn drained(posts: impl Fn() -> u64, held_back: Duration, cell: &Cell) {
    let quiet = held_back + cell.sink.latency + Duration::from_secs(2);
    let until = Instant::now() + DRAIN_WITHIN;
    let (mut before, mut since) = (posts(), Instant::now());
    while since.elapsed() < quiet && Instant::now() < until {
        sleep(LOOK_EVERY).await;
        let now = posts();
        if now != before {
            (before, since) = (now, Instant::now());
        }
    }
}

/// `flush_delay` of a webhook by default: how long a released server holds back events that do not fill its buffer.
const FLUSH: Duration = Duration::from_secs(30);

/// How long draining may take. 65 posts of a second each were measured.
const DRAIN_WITHIN: Duration = Duration::from_mins(5);

/// An event as far as the evidence needs it: a system prompt is long, and nobody's loss.
fn short(event: &Value) -> Value {
    let keep = ["id", "timestamp", "source", "kind", "llm_message", "action", "tool_name", "key"];
    let fields = event.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| keep.contains(&name.as_str()));
    let mut short: Value = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    if short["kind"] == "SystemPromptEvent" || short["kind"] == "ConversationStateUpdateEvent" {
        short["llm_message"] = Value::Null;
    }
    short
}
