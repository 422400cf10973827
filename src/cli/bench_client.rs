//! `skewlab bench client`: many subscribers at one server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::args::BenchClient;
use super::bench_target::{Target, auth_frame};
use super::error::CliError;
use super::interrupt;
use super::key::key;
use super::shown::show_and_keep;
use crate::judge::{ExitCode, client_bench as judge};
use crate::probe::limits::raise_descriptors;
use crate::record::client_bench::{CLIENT_BENCH_SCHEMA, ClientBench, ReadAs};
use crate::report::{client_bench_json, client_bench_table};
use crate::swarm::{Conduct, Pace, Progress, Reading, Report, SocketSpec, Swarm};

/// Descriptors that the process needs beside its sockets.
const OTHER_DESCRIPTORS: u64 = 32;

/// How often it is looked whether the next turn may start.
const TICK: Duration = Duration::from_millis(1);

/// How long nothing comes when a turn is over.
const QUIET: Duration = Duration::from_millis(100);

/// How long a turn may take to begin.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// How long the last turn may take after the time is over.
const LAST_TURN: Duration = Duration::from_secs(30);

pub(super) fn run(args: &BenchClient) -> Result<ExitCode, CliError> {
    let target = Target::parse(&args.url, args.allow_remote)?;
    let spec = SocketSpec {
        addr: target.addr,
        path_and_query: target.path_and_query,
        auth_frame: key(args.key_env.as_deref(), args.key_file.as_deref())?.map(|key| auth_frame(&key)),
        group: 0,
        conduct: Conduct::Healthy,
    };
    raise_descriptors(u64::from(args.sockets) + OTHER_DESCRIPTORS)
        .map_err(|error| CliError::Usage(format!("--sockets {}: {error}", args.sockets)))?;
    let stop = interrupt::flag();
    let mut swarm = Swarm::spawn(1)?;
    let pace = Pace { in_flight: usize::from(args.in_flight), ..Pace::default() };
    let connected = swarm.connect(vec![spec; args.sockets as usize], pace)?;
    if args.raw {
        swarm.read(Reading::Raw)?;
    }
    let before = swarm.report()?;
    let began = Instant::now();
    let (complete, replies_due) = match connected.ready {
        0 => (false, None),
        _ => read(&mut swarm, args, &stop)?,
    };
    let seconds = began.elapsed().as_secs_f64();
    let after = swarm.report()?;
    let last = swarm.stop()?;
    let mut bench = measured(&before, &after, &last, seconds, args.raw);
    bench.server = target.addr.to_string();
    bench.complete = complete;
    bench.replies_due = replies_due;
    bench.sockets = u64::from(args.sockets);
    bench.ready = connected.ready;
    bench.refused = connected.refused.iter().map(|(why, count)| (why.to_string(), *count)).collect();
    show_and_keep(&bench, args.out.as_deref(), args.format, client_bench_json, client_bench_table)?;
    let code = judge::exit_code(&bench);
    if code == ExitCode::NothingRan {
        anstream::eprintln!("nothing streamed: start a turn, or let `--say TEXT` do it");
    }
    Ok(code)
}

/// Reads for as long as was asked. Whether it was not interrupted, and the durable ends that are due where this run
/// starts the turns.
fn read(swarm: &mut Swarm, args: &BenchClient, stop: &AtomicBool) -> Result<(bool, Option<u64>), CliError> {
    let until = Instant::now() + args.lasting;
    let mut turns = match &args.say {
        Some(text) => Some(Turns::new(swarm, args.sockets, text)?),
        None => None,
    };
    while Instant::now() < until {
        if stop.load(Ordering::SeqCst) {
            return Ok((false, None));
        }
        if let Some(turns) = &mut turns {
            turns.step(swarm)?;
        }
        std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
    }
    Ok((true, turns.map(|turns| turns.finish(swarm))))
}

/// The turns that this run starts: one after another.
struct Turns {
    message: String,
    sockets: u32,
    open: u64,
    /// Durable ends of the turns that began.
    due: u64,
    /// When it was asked for a turn that has not begun, and what had come by then.
    asked: Option<(Instant, Progress)>,
    /// When something came last, and what had come by then.
    last: (Instant, Progress),
}

impl Turns {
    fn new(swarm: &mut Swarm, sockets: u32, text: &str) -> Result<Turns, CliError> {
        let content = serde_json::json!([{"type": "text", "text": text}]);
        let message = serde_json::json!({"role": "user", "content": content, "run": true}).to_string();
        let open = swarm.report()?.groups.first().map_or(0, |group| group.open);
        let last = (Instant::now(), swarm.progress(0));
        Ok(Turns { message, sockets, open, due: 0, asked: None, last })
    }

    /// Asks for the next turn once the one before is over. Its durable end is not its end: what is said between the two
    /// starts no turn, so it is waited until nothing comes any more.
    fn step(&mut self, swarm: &mut Swarm) -> Result<(), CliError> {
        let now = swarm.progress(0);
        if now.bytes != self.last.1.bytes {
            self.last = (Instant::now(), now);
        }
        self.begun(now);
        let may_ask = match &self.asked {
            Some((when, _)) => when.elapsed() > ASK_AGAIN,
            None => now.replies >= self.due && self.last.0.elapsed() > QUIET,
        };
        if may_ask {
            self.asked = Some((Instant::now(), now));
            say(swarm, self.sockets, &self.message)?;
        }
        Ok(())
    }

    /// Whether the turn that was asked for has begun: then its ends are due.
    fn begun(&mut self, now: Progress) {
        if self.asked.is_some_and(|(_, then)| now.deltas > then.deltas || now.replies > then.replies) {
            self.asked = None;
            self.due += self.open;
        }
    }

    /// Reads the turn under way to its end, or its rest would be called missing; returns what was due in all.
    fn finish(mut self, swarm: &Swarm) -> u64 {
        while self.asked.is_some_and(|(when, _)| when.elapsed() < ASK_AGAIN) {
            std::thread::sleep(TICK);
            self.begun(swarm.progress(0));
        }
        swarm.wait_for_replies(0, self.due, LAST_TURN);
        self.due
    }
}

/// Sends the message on the first socket that is open.
fn say(swarm: &mut Swarm, sockets: u32, message: &str) -> Result<(), CliError> {
    for socket in 0..sockets as usize {
        if swarm.say(socket, message)? {
            break;
        }
    }
    Ok(())
}

/// The figures of what lay between two reports; what is counted until the very end comes from the last one.
fn measured(before: &Report, after: &Report, last: &Report, seconds: f64, raw: bool) -> ClientBench {
    #[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^52")]
    let float = |n: u64| n as f64;
    let sum = |report: &Report, of: fn(&crate::swarm::GroupReport) -> u64| -> u64 {
        report.groups.iter().map(of).sum()
    };
    let bytes = sum(after, |g| g.bytes) - sum(before, |g| g.bytes);
    let messages = sum(after, |g| g.messages) - sum(before, |g| g.messages);
    let cpu = after.cpu.saturating_sub(before.cpu).as_secs_f64();
    let per = |amount: f64, of: u64| (of > 0).then(|| amount / float(of));
    let allocations = float(after.allocations.saturating_sub(before.allocations));
    let full = |value: Option<f64>| value.filter(|_| !raw);
    let group = last.groups.first();
    ClientBench {
        schema: CLIENT_BENCH_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        server: String::new(),
        reading: if raw { ReadAs::Raw } else { ReadAs::Full },
        complete: false,
        sockets: 0,
        ready: 0,
        refused: std::collections::BTreeMap::new(),
        closed: group
            .map(|g| g.closed.iter().map(|(why, n)| (why.to_string(), *n)).collect())
            .unwrap_or_default(),
        unread: group.map_or(0, |g| g.unread),
        seconds,
        bytes,
        messages: (!raw).then_some(messages),
        cpu_us_per_message: full(per(cpu * 1e6, messages)),
        cpu_us_per_kib: per(cpu * 1e6 * 1024.0, bytes),
        cpu_share: (after.groups.iter().any(|g| g.open > 0) && seconds > 0.0).then(|| cpu / seconds),
        allocations_per_message: full(per(allocations, messages)),
        heap_bytes_per_socket: per(float(after.memory.socket_bytes), after.memory.sockets),
        heap_bytes_shared: after.memory.shared_bytes,
        rss_bytes: resident(),
        unreadable: group.filter(|_| !raw).map(|g| g.unreadable),
        counts: group.filter(|_| !raw).map(|g| g.counts),
        replies_due: None,
        frame_gap: group.filter(|_| !raw).map(|g| g.times.frame_gap.quantiles()),
    }
}

/// `VmRSS` of this process, bytes.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Reads `10s`, `500ms`, `2m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration.is_zero() => Err("no time at all; expected 10s, 500ms, 2m".to_owned()),
        Ok(duration) if duration > Duration::from_hours(24) => Err("more than a day".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}; expected 10s, 500ms, 2m")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_with_its_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["0s", "-1s", "ten", "5", "2d"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
