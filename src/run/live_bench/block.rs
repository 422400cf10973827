//! One block: a fresh conversation, its sockets, a quiet window, a short turn and a long one.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::stage::{KEY, Stage, Up};
use super::{LiveBenchError, Plan};
use crate::probe::process;
use crate::record::live_bench::LiveBlock;
use crate::swarm::{Block, Conduct, Pace, SocketSpec, Swarm};

/// How long nothing happens for the idle share.
const QUIET: Duration = Duration::from_secs(2);

/// How long after the last token a turn still counts: the reply, the state and the end of the run.
const SETTLE: Duration = Duration::from_millis(500);

/// How long deltas that are on their way may take after that.
const DRAIN: Duration = Duration::from_secs(5);

/// What a block leaves beside its figures.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) block: LiveBlock,
    /// How late the model was, token by token.
    pub(super) lag: Vec<Duration>,
    /// CPU of the reading thread in the long turn.
    pub(super) reader: Duration,
    /// How long that was.
    pub(super) took: Duration,
}

/// One turn's cost.
struct Turn {
    cpu: Duration,
    took: Duration,
}

/// Measures one block. A block whose subscribers did not get everything has a fault, and no error.
pub(super) async fn run(
    stage: &Stage,
    up: &Up,
    subscribers: u32,
    plan: &Plan,
    number: usize,
) -> Result<Measured, LiveBenchError> {
    let conversation = stage.conversation(up).await?;
    let mut swarm = Swarm::spawn(1)?;
    let spec = SocketSpec {
        addr: up.server.rest.addr,
        path_and_query: format!("/sockets/events/{conversation}"),
        auth_frame: Some(serde_json::json!({"type": "auth", "session_api_key": KEY}).to_string()),
        group: 0,
        conduct: Conduct::Healthy,
    };
    let connected = swarm.connect(vec![spec; subscribers as usize], Pace::default())?;
    let mut fault = (connected.ready != u64::from(subscribers)).then(|| {
        let why: Vec<String> = connected.refused.iter().map(|(why, n)| format!("{n} × {why}")).collect();
        format!("{} of {subscribers} sockets were opened: {}", connected.ready, why.join(", "))
    });
    let base = plan.settings.base_tokens;
    let tag = |turn: &str| format!("bench-{number}-{turn}");
    // What a conversation does only once is over before anything is measured.
    turn(stage, up, &conversation, &mut swarm, (&tag("warm"), 0, base), plan).await?;
    let first = u64::from(base);
    let short = turn(stage, up, &conversation, &mut swarm, (&tag("base"), first, base), plan).await?;
    let idle_share = idle(up).await?;
    let before = swarm.report()?;
    let (long_tag, tokens) = (tag("long"), plan.settings.tokens);
    let long = turn(stage, up, &conversation, &mut swarm, (&long_tag, first * 2, tokens), plan).await?;
    let after = swarm.report()?;
    let reader = after.cpu.saturating_sub(before.cpu);
    let counts = after.groups.first().map(|g| g.counts).unwrap_or_default();
    let earlier = before.groups.first().map(|g| g.counts).unwrap_or_default();
    let counted = counts.since(&earlier);
    let due = u64::from(tokens) * u64::from(subscribers);
    fault = fault.or_else(|| {
        (counted.deltas != due || counts.lost() || counts.wrong()).then(|| {
            format!(
                "{} of {due} deltas came, {} missing, {} twice, {} late",
                counted.deltas, counts.missing, counts.duplicated, counts.reordered
            )
        })
    });
    swarm.stop()?;
    let own = |turn: &Turn| turn.cpu.as_secs_f64() - idle_share * turn.took.as_secs_f64();
    let per_token = (own(&long) - own(&short)) * 1e3 / f64::from(tokens - base);
    let streamed = stage.model.streamed(&long_tag).unwrap_or_default();
    let lag = streamed.parts.iter().map(|p| p.at.saturating_sub(p.intended_at)).collect();
    let block = LiveBlock {
        server: up.name.clone(),
        subscribers,
        cpu_ms_per_token: per_token,
        cpu_s: long.cpu.as_secs_f64(),
        base_cpu_s: short.cpu.as_secs_f64(),
        idle_share,
        deltas: counted.deltas,
        fault,
    };
    Ok(Measured { block, lag, reader, took: long.took })
}

/// One turn of numbered tokens, and what it cost. `what` is its tag, its first number and how many.
async fn turn(
    stage: &Stage,
    up: &Up,
    conversation: &str,
    swarm: &mut Swarm,
    what: (&str, u64, u32),
    plan: &Plan,
) -> Result<Turn, LiveBenchError> {
    let (tag, first, tokens) = what;
    let rate = plan.settings.rate;
    stage.rehearse(tag, first, tokens, rate)?;
    let gap = Duration::from_secs_f64(1.0 / rate);
    let start = std::time::Instant::now();
    swarm.begin(0, Block { start, gap, first, batch: 1 })?;
    let (began, before) = (Instant::now(), up.cpu()?);
    stage.say(up, conversation, tag).await?;
    stage.said(up, tag, tokens, rate).await?;
    // Every turn has the same rest, so the short one takes it off the long one.
    sleep(SETTLE).await;
    let (cpu, took) = (up.cpu()?.saturating_sub(before), began.elapsed());
    up.over(conversation, tokens).await?;
    drained(swarm).await;
    Ok(Turn { cpu, took })
}

/// Waits until nothing more comes.
async fn drained(swarm: &Swarm) {
    let until = Instant::now() + DRAIN;
    let mut last = swarm.progress(0).bytes;
    loop {
        sleep(Duration::from_millis(100)).await;
        let now = swarm.progress(0).bytes;
        if now == last || Instant::now() > until {
            return;
        }
        last = now;
    }
}

/// Share of a core that the server uses while nothing happens.
///
/// Process CPU comes in ticks of 10 ms, which over a long turn would be a tenth of what a token costs. So the fine
/// count of each thread is used: in a quiet window no thread ends and takes its count with it.
async fn idle(up: &Up) -> Result<f64, LiveBenchError> {
    let gone = || LiveBenchError::Gone { server: up.name.clone() };
    let pid = up.server.pid().ok_or_else(gone)?;
    let (began, before) = (Instant::now(), process::threads_cpu(pid).ok_or_else(gone)?);
    sleep(QUIET).await;
    let used = process::threads_cpu(pid).ok_or_else(gone)?.saturating_sub(before);
    Ok(used.as_secs_f64() / began.elapsed().as_secs_f64())
}
