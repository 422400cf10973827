//! One long stream on one server, on the virtual clock, and what its idle clocks saw.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::fault::CellFault;
use super::panics;
use crate::agent_server::client::Client;
use crate::agent_server::link::{self, Attended, Phase, Target};
use crate::agent_server::profile::client::ClientChoice;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::server::{
    Chunk, Clock, Dialer, Finish, IdleClocks, Script, Server, ServerConfig, Watched,
};
use crate::record::idle::{ByClock, ClientShare, IdleSettings, ServerIdle};
use crate::seed::Seed;
use crate::wire::Mutation;

/// How much longer than its script a turn may take, in virtual time.
const SLACK: Duration = Duration::from_hours(1);

/// What to stream, and who watches.
#[derive(Debug, Clone)]
pub struct IdlePlan {
    /// Tokens a second, more than 0.
    pub rate: f64,
    /// How long text streams.
    pub duration: Duration,
    /// Idle time after which a runtime reaps the process.
    pub reap_after: Duration,
    /// Tokens of a turn before it in the same conversation; 0 for none.
    pub warm_up: u32,
    /// The clients that watch, under the names asked for.
    pub clients: Vec<(String, ClientChoice)>,
    /// Source of every id.
    pub seed: Seed,
}

impl IdlePlan {
    /// Tokens in that time: at least one, and as many as begin before it is over.
    pub fn tokens(&self) -> f64 {
        // A product a hair above a whole number is that number.
        (self.duration.as_secs_f64() * self.rate - 1e-6).ceil().max(1.0)
    }

    /// The plan as the report states it.
    pub fn settings(&self) -> IdleSettings {
        IdleSettings {
            rate: self.rate,
            duration_s: self.duration.as_secs_f64(),
            tokens: whole(self.tokens()),
            reap_after_s: self.reap_after.as_secs_f64(),
            warm_up: self.warm_up,
            clients: self.clients.iter().map(|(name, _)| name.clone()).collect(),
            seed: self.seed.0,
        }
    }

    fn script(&self, tokens: u32) -> Script {
        let chunk = |n| Chunk { text: Some(format!("t{n} ")), reasoning: None };
        let chunks = (0..tokens).map(chunk).collect();
        let gap = Duration::from_secs_f64(1.0 / self.rate);
        Script {
            user: "go".into(),
            chunks,
            gap,
            finish: Finish::Message,
            feed: None,
            tail: Duration::ZERO,
            stalls: Vec::new(),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and who asks for more tokens than fit is refused before"
)]
fn whole(tokens: f64) -> u32 {
    tokens as u32
}

/// Streams once on that server, `name` being what it was called.
///
/// There is no webhook sink: a post writes no clock. Errors when a client cannot be built or the turn does not end.
pub fn watch_idle(
    name: &str,
    profile: &Profile<ServerTraits>,
    plan: &IdlePlan,
) -> Result<ServerIdle, CellFault> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime =
        builder.enable_time().start_paused(true).build().map_err(|e| CellFault::Setup(e.to_string()))?;
    panics::caught(|| runtime.block_on(streamed(name, profile, plan)))
}

async fn streamed(
    name: &str,
    profile: &Profile<ServerTraits>,
    plan: &IdlePlan,
) -> Result<ServerIdle, CellFault> {
    let gone = || CellFault::Setup("the conversation vanished".to_owned());
    let tokens = whole(plan.tokens());
    let script = plan.script(tokens);
    let length = script.gap.saturating_mul(tokens.saturating_add(plan.warm_up));
    let config = ServerConfig {
        keys: Vec::new(),
        script,
        mutation: Mutation::default(),
        seed: plan.seed.derive(name),
        sinks: Vec::new(),
        keeps_notes: false,
        telemetry: true,
        auto_title: true,
        faults: Vec::new(),
        mortal: false,
    };
    let server = Server::new(profile, config, Clock::fixed());
    let conversation = server.create_conversation().await;
    let sweeping = server.clone();
    let sweep = tokio::spawn(async move { sweeping.sweep().await });
    let (stop, stopped) = watch::channel(false);
    let target = Target { dialer: Dialer::memory(&server), conversation: conversation.clone(), key: None };
    let mut watching = Vec::new();
    for (_, choice) in &plan.clients {
        watching.push(attend(&target, choice, &stopped).await?);
    }
    let over = async || {
        let limit = length.saturating_add(SLACK);
        timeout(limit, server.idle()).await.map_err(|_| CellFault::Deadline(limit.as_secs()))
    };
    if plan.warm_up > 0 {
        server.next_turn(plan.script(plan.warm_up));
        server.say(&conversation, "warm up").then_some(()).ok_or_else(gone)?;
        over().await?;
    }
    server.watch_idle(plan.reap_after);
    let started = Instant::now();
    server.say(&conversation, "go").then_some(()).ok_or_else(gone)?;
    over().await?;
    let took = started.elapsed();
    let clocks = server.watched(&conversation).ok_or_else(gone)?;
    sweep.abort();
    stop.send_replace(true);
    let mut clients = Vec::new();
    for ((client, _), watching) in plan.clients.iter().zip(watching) {
        let attended = watching.await.map_err(|e| CellFault::Panicked(e.to_string()))?;
        clients
            .push(ClientShare { client: client.clone(), delivered: attended.trace.delivered.len() as u64 });
    }
    Ok(outcome(name, profile, tokens, took, &clocks, clients))
}

/// Lets a client attend, and waits until it is ready or never will be.
async fn attend(
    target: &Target,
    choice: &ClientChoice,
    stopped: &watch::Receiver<bool>,
) -> Result<JoinHandle<Attended>, CellFault> {
    let traits = choice.profile.traits.clone();
    let client =
        Client::new(&choice.profile, choice.list.as_deref()).map_err(|e| CellFault::Setup(e.to_string()))?;
    let (phase, mut phases) = watch::channel(Phase::Connecting);
    let (target, stopped) = (target.clone(), stopped.clone());
    let watching = tokio::spawn(async move { link::attend(&target, &traits, client, &phase, stopped).await });
    // A client that never gets ready is part of the answer.
    let _ = phases.wait_for(|p| *p != Phase::Connecting).await;
    Ok(watching)
}

fn outcome(
    name: &str,
    profile: &Profile<ServerTraits>,
    tokens: u32,
    took: Duration,
    clocks: &IdleClocks,
    clients: Vec<ClientShare>,
) -> ServerIdle {
    let writes = by_clock(clocks, |w| w.token_writes);
    #[expect(clippy::cast_precision_loss, reason = "a count of writes is far below 2^52")]
    let per_token = |w: &Watched| w.token_writes as f64 / f64::from(tokens);
    let seconds = |time: Option<Duration>| time.map(|t| t.as_secs_f64());
    ServerIdle {
        server: name.to_owned(),
        profile: profile.about.name.clone(),
        what_if: profile.about.what_if,
        tokens,
        streamed_s: took.as_secs_f64(),
        writes,
        writes_per_token: by_clock(clocks, per_token),
        other_writes: by_clock(clocks, |w| w.other_writes),
        peak_idle_s: clocks.process.peak.as_secs_f64(),
        peaks_s: by_clock(clocks, |w| w.peak.as_secs_f64()),
        first_refresh_s: seconds(clocks.process.first_token_write),
        reaped_at_s: seconds(clocks.process.reached),
        evicted_at_s: seconds(clocks.evicted),
        clients,
    }
}

fn by_clock<T>(clocks: &IdleClocks, of: impl Fn(&Watched) -> T) -> ByClock<T> {
    ByClock {
        process: of(&clocks.process),
        updated_at: of(&clocks.updated_at),
        eviction: clocks.eviction.as_ref().map(of),
    }
}
