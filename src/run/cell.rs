//! One cell: start the server, let the clients attend, start the turn, let everything settle, settle up.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::director::{self, Director, Set};
use super::evidence::{Against, Read};
use super::fault::CellFault;
use super::handled::Handled;
use super::observe::{Evening, observation};
use super::parties::Parties;
use super::reaper;
use crate::agent_server::client::Client;
use crate::agent_server::fault::{Fault, Hold, Kind};
use crate::agent_server::link::{self, Attended, Phase, Target};
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::rest;
use crate::agent_server::server::net::Listening;
use crate::agent_server::server::{Clock, Dialer, Script, Server, ServerConfig, SinkModel, Stage};
use crate::probe::ledger::Endpoint;
use crate::record::Observation;
use crate::scenario::Cell;
use crate::seed::Seed;

/// The session API key that the rig gives every server and client. It guards nothing but the rig.
const RIG_KEY: &str = "rig";

/// How long what passes without delay may take to arrive.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// Bytes that pongs of all clients may make in between.
const PONGS: u64 = 64;

/// How long a client may take to get ready before the turn starts without it; longer than any client's own limit.
const CONNECT_WAIT: Duration = Duration::from_secs(45);

/// How much longer than its script a turn may take: a minute of wall time, an hour of virtual time.
const SLACK_WALL: Duration = Duration::from_mins(1);
const SLACK_VIRTUAL: Duration = Duration::from_hours(1);

/// Which clock a cell runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// Paused time and pipes in memory: the same seed gives the same bytes.
    Virtual,
    /// Real time and loopback sockets.
    Wall,
}

impl ClockKind {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ClockKind::Virtual => "virtual",
            ClockKind::Wall => "wall",
        }
    }
}

/// Runs one cell to its end on this thread. One observation a client, in the order in which they joined; never empty.
pub fn run_cell(
    cell: &Cell,
    parties: &Parties,
    clock: ClockKind,
    seed: Seed,
) -> Result<Vec<Observation>, CellFault> {
    let setup = |what: &str, name: &str| CellFault::Setup(format!("{what} `{name}` was not resolved"));
    let server = parties.server(cell).ok_or_else(|| setup("server", &cell.server))?;
    let client = parties.client(&cell.client).ok_or_else(|| setup("client", &cell.client))?;
    let mut builder = tokio::runtime::Builder::new_current_thread();
    match clock {
        // A paused clock never meets a real socket: every timeout would fire at once.
        ClockKind::Virtual => builder.enable_time().start_paused(true),
        ClockKind::Wall => builder.enable_all(),
    };
    let runtime = builder.build().map_err(|e| CellFault::Setup(e.to_string()))?;
    let successor = |fault: &Fault| match &fault.kind {
        Kind::Swap { server, .. } => {
            parties.successor(cell, server).map(Some).ok_or_else(|| setup("server", server))
        }
        Kind::Restart { .. } => Ok(parties.successor(cell, &cell.server)),
        _ => Ok(None),
    };
    let cast = Cast {
        server,
        own: parties.own_server(&cell.client),
        client,
        successors: cell.faults.iter().map(successor).collect::<Result<_, _>>()?,
    };
    let seed = seed.derive(&cell.id);
    let mut observed = runtime.block_on(attended(cell, &cast, clock, seed))?;
    // Whoever no fault is about is held against the same cell without its faults.
    let healthy: Vec<usize> =
        (1..=cell.subscribers).zip(0..).filter(|(n, _)| spared(cell, *n)).map(|(_, at)| at).collect();
    if !healthy.is_empty() {
        let quiet = Cell { faults: Arc::default(), ..cell.clone() };
        let quiet = runtime.block_on(attended(&quiet, &cast, clock, seed))?;
        for at in healthy {
            if let (Some(seen), Some(before)) = (observed.get_mut(at), quiet.get(at)) {
                seen.baseline.clone_from(&before.times);
            }
        }
    }
    Ok(observed)
}

/// Whether something goes wrong in the cell, and all of it for other subscribers.
fn spared(cell: &Cell, subscriber: u32) -> bool {
    !cell.faults.is_empty() && cell.faults.iter().all(|fault| !fault.concerns(subscriber))
}

/// What the model streams in that cell; the error says why no emulated server can.
pub(super) fn script(cell: &Cell) -> Result<Script, CellFault> {
    if cell.workload.needs_a_package() {
        let why = "an emulated server plays no tool call in an answer and no failing provider; `skewlab live matrix` does";
        return Err(CellFault::Setup(why.to_owned()));
    }
    Ok(cell.workload.script())
}

/// Silences of the workload, all together.
fn load_stalls(cell: &Cell) -> Duration {
    cell.workload.stalls().into_iter().map(|(_, time)| time).sum()
}

/// The parties of one cell.
struct Cast<'a> {
    server: &'a Profile<ServerTraits>,
    own: Option<&'a Profile<ServerTraits>>,
    client: &'a ClientChoice,
    /// The server that takes the place of the first, fault by fault.
    successors: Vec<Option<Arc<Profile<ServerTraits>>>>,
}

/// A client that attends, and what it read.
type Seated = JoinHandle<(Attended, Read)>;

async fn attended(
    cell: &Cell,
    cast: &Cast<'_>,
    clock: ClockKind,
    seed: Seed,
) -> Result<Vec<Observation>, CellFault> {
    let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
    let script = script(cell)?;
    let chunks = u32::try_from(script.chunks.len()).unwrap_or(u32::MAX);
    let length = script.gap.saturating_mul(chunks).saturating_add(load_stalls(cell));
    let user = script.user.clone();
    let (server, set) = raised(cell, cast, script, clock, seed).await?;
    let (stage, target) = (&set.stage, &set.target);
    let mut director = Director::new(&cell.faults, set.clone()).await;
    let (stop, stopped) = watch::channel(false);
    let attending = seated(cell, cast, &set, &stopped).await?;
    let pulse = server.pulse();
    let watched = cell
        .idle_policy
        .map(|policy| tokio::spawn(reaper::watch(stage.clone(), target.clone(), policy, Instant::now())));
    director.begin(&pulse);
    rest::post_message(target, &user, true).await.map_err(|e| setup(&e))?;
    let slack = if clock == ClockKind::Virtual { SLACK_VIRTUAL } else { SLACK_WALL };
    let limit = length.saturating_add(slack);
    timeout(limit, server.idle()).await.map_err(|_| CellFault::Deadline(limit.as_secs()))?;
    director.done(limit).await;
    sleep(patience(cell)).await;
    // A fault may have started another turn, on another server.
    let server = stage.server().unwrap_or(server);
    timeout(limit, server.idle()).await.map_err(|_| CellFault::Deadline(limit.as_secs()))?;
    let reaped = reaper::ended(watched).await;
    set.ways.iter().for_each(|way| way.release());
    let busy = cast.client.profile.traits.intake.handle_s.duration();
    set.handled.out(busy).await;
    settle(clock, cast.server, &server, &slowest(cell)).await;
    if !cell.faults.is_empty() {
        read_out(clock, &set).await;
        set.handled.out(busy).await;
    }
    stop.send_replace(true);
    let mut all: Vec<(Attended, Read)> = Vec::new();
    for client in attending {
        // On a paused clock a client that waits for nothing would wait for ever.
        let left = timeout(slack, client).await;
        let left = left.map_err(|_| CellFault::Hung("a client did not leave".to_owned()))?;
        all.push(left.map_err(|e| CellFault::Panicked(e.to_string()))?);
    }
    if let Some(missing) = director.missing().first() {
        return Err(CellFault::NeverFired(missing.clone()));
    }
    let evening = Evening { notes: server.notes(), side_effects: server.side_effects(), reaped };
    let profile = &cast.client.profile;
    let against = Against {
        server: cast.server,
        own: cast.own,
        mutation: &cell.mutation,
        legacy: profile.traits.connect.endpoint == Endpoint::Events,
        shows: &profile.traits.shows,
    };
    let observed = |(attended, read)| observation(&evening, profile, attended, &read, &against);
    Ok(all.into_iter().map(observed).collect())
}

/// Whether that subscriber comes only when a fault lets it.
fn comes_later(cell: &Cell, subscriber: u32) -> bool {
    cell.faults.iter().any(|fault| fault.kind == Kind::Join && fault.concerns(subscriber))
}

/// The server on its stage, and everything that faults can act on.
async fn raised(
    cell: &Cell,
    cast: &Cast<'_>,
    script: Script,
    clock: ClockKind,
    seed: Seed,
) -> Result<(Server, Set), CellFault> {
    let setup = |e: &dyn std::fmt::Display| CellFault::Setup(e.to_string());
    let config = ServerConfig {
        keys: vec![RIG_KEY.to_owned()],
        script,
        mutation: cell.mutation.clone(),
        seed,
        sinks: vec![cell.sink.clone()],
        keeps_notes: true,
        telemetry: true,
        auto_title: true,
        faults: director::stream_faults(&cell.faults),
        mortal: cell.idle_policy.is_some() || cell.faults.iter().any(|fault| fault.kind.needs_mortal()),
    };
    let server_clock = if clock == ClockKind::Virtual { Clock::fixed() } else { Clock::wall() };
    let server = Server::new(cast.server, config, server_clock);
    let stage = Stage::of(&server);
    let dialer = match clock {
        ClockKind::Virtual => Dialer::on(&stage),
        ClockKind::Wall => {
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let listening = Listening::on(&stage, any).await.map_err(|e| setup(&e))?;
            let addr = listening.addr().map_err(|e| setup(&e))?;
            tokio::spawn(listening.run());
            Dialer::Tcp(addr)
        }
    };
    director::slow_sinks(&cell.faults, &server);
    let conversation = server.create_conversation().await;
    let subscribers = 1..=cell.subscribers.max(1);
    let set = Set {
        stage,
        first: server.clone(),
        target: Target { dialer, conversation, key: Some(RIG_KEY.to_owned()) },
        ways: subscribers.clone().map(|_| Arc::default()).collect(),
        endpoint: cast.client.profile.traits.connect.endpoint,
        successors: cast.successors.clone(),
        handled: Handled::default(),
        doors: subscribers.map(|n| watch::Sender::new(!comes_later(cell, n))).collect(),
    };
    Ok((server, set))
}

/// The clients, each in its seat as far as it gets there.
async fn seated(
    cell: &Cell,
    cast: &Cast<'_>,
    set: &Set,
    stopped: &watch::Receiver<bool>,
) -> Result<Vec<Seated>, CellFault> {
    let profile = &cast.client.profile;
    let mut attending = Vec::new();
    for ((n, way), door) in (1..).zip(&set.ways).zip(&set.doors) {
        let client = Client::new(profile, cast.client.list.as_deref());
        let client = client.map_err(|e| CellFault::Setup(e.to_string()))?;
        let (phase, mut phases) = watch::channel(Phase::Connecting);
        let mut own = set.target.clone();
        if !cell.faults.is_empty() {
            own.dialer = own.dialer.through(way);
        }
        let (traits, stopped, handled) = (profile.traits.clone(), stopped.clone(), set.handled.clone());
        let mut door = door.subscribe();
        attending.push(tokio::spawn(async move {
            let mut read = Read::counted(handled);
            let mut leaving = stopped.clone();
            tokio::select! {
                biased;
                _ = door.wait_for(|open| *open) => {}
                _ = leaving.wait_for(|stop| *stop) => {}
            }
            let attended = link::attend_before(&own, &traits, client, &phase, stopped, &mut read).await;
            (attended, read)
        }));
        // One after the other, so that who joins when is the same in every run. A client that never gets ready
        // is part of the answer; somebody else starts the turn all the same.
        if !comes_later(cell, n) {
            let _ = timeout(CONNECT_WAIT, phases.wait_for(|p| *p != Phase::Connecting)).await;
        }
    }
    Ok(attending)
}

/// How long what a fault holds back may still come when the turn is over.
fn patience(cell: &Cell) -> Duration {
    let held = cell.faults.iter().filter_map(|fault| match fault.kind {
        Kind::Delay { by, .. } | Kind::Buffer { hold: Hold::Time(by) } => Some(by),
        _ => None,
    });
    held.max().unwrap_or_default()
}

/// Lets ways that stand still come back, and slow ones run empty: until nothing came any more that is more than pongs, or for
/// ten minutes.
async fn read_out(clock: ClockKind, set: &Set) {
    let (step, steps) = match clock {
        ClockKind::Virtual => (Duration::from_mins(1), 10),
        ClockKind::Wall => (Duration::from_millis(500), 60),
    };
    if let Some(at) = set.ways.iter().filter_map(|way| way.waits_until()).max() {
        sleep_until(at).await;
    }
    if !set.ways.iter().any(|way| way.linger()) {
        // A client that knocks for ever keeps nobody waiting.
        sleep(if clock == ClockKind::Virtual { AFTERWARDS } else { step }).await;
        return;
    }
    let passed = || set.ways.iter().map(|way| way.passed()).sum::<u64>();
    let mut before = passed();
    for _ in 0..steps {
        sleep(step).await;
        let now = passed();
        if now - before < PONGS {
            return;
        }
        before = now;
    }
}

/// The webhook sink, as slow as it is at its slowest.
fn slowest(cell: &Cell) -> SinkModel {
    let slow = cell.faults.iter().filter_map(|fault| match fault.kind {
        Kind::SlowSink { latency, .. } => Some(latency),
        _ => None,
    });
    SinkModel { latency: slow.fold(cell.sink.latency, Duration::max), ..cell.sink.clone() }
}

/// Lets frames arrive. Where time costs nothing, webhooks flush when they would; else the server is closed,
/// which makes them flush now.
async fn settle(clock: ClockKind, profile: &Profile<ServerTraits>, server: &Server, sink: &SinkModel) {
    match clock {
        ClockKind::Virtual => {
            let webhook = &profile.traits.webhook;
            let flush = webhook.flush_delay_s.duration() + Duration::from_secs(1);
            sleep(flush).await;
            if *sink != SinkModel::default() {
                drained(server, flush + webhook.retry_delay_s.duration() + sink.latency).await;
            }
        }
        ClockKind::Wall => {
            sleep(Duration::from_millis(300)).await;
            server.close().await;
        }
    }
}

/// Waits until a slow or unwilling sink has got all that it will get: until nothing was posted for longer than any
/// pause between two attempts. A sink that refuses for good is left after an hour.
async fn drained(server: &Server, longest_pause: Duration) {
    let (mut waited, mut before) = (Duration::ZERO, server.side_effects().webhook);
    while waited < SLACK_VIRTUAL {
        sleep(longest_pause).await;
        waited += longest_pause;
        let now = server.side_effects().webhook;
        if now == before {
            return;
        }
        before = now;
    }
}
