//! A bench and a watch of released servers put together: measure, then fit, compare, and hold against the emulation.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::agent_server::profile::{Profile, ServerTraits};
use crate::judge::live_bench as judge;
use crate::record::live_bench::{
    LIVE_BENCH_SCHEMA, LIVE_IDLE_SCHEMA, LiveBench, LiveIdle, LiveIdleReport, LiveSubject,
};
use crate::run::live_bench::{IdleWatch, LiveBenchError, Plan, measure, watch};
use crate::run::{IdlePlan, watch_idle};
use crate::seed::Seed;

/// Idle time after which a runtime reaps, for the emulation; nothing here depends on it.
const REAP_AFTER: Duration = Duration::from_mins(20);

/// Measures the plan and fits its lines. `pins` are the versions under each subject, in their order.
pub fn live_fan_out(
    plan: &Plan,
    pins: &[BTreeMap<String, String>],
    stop: &AtomicBool,
    progress: &dyn Fn(usize, usize),
) -> Result<LiveBench, LiveBenchError> {
    let measured = measure(plan, stop, progress)?;
    let subjects = plan.subjects.iter().zip(pins).zip(&measured.resident);
    let servers: Vec<LiveSubject> = subjects
        .map(|((subject, pins), resident)| LiveSubject {
            server: subject.name.clone(),
            ran: subject.package.ran.clone(),
            pins: pins.clone(),
            resident_bytes: *resident,
        })
        .collect();
    let seed = Seed(plan.settings.seed);
    let (ratios, not_compared) = judge::compare(&servers, &measured.blocks, seed);
    Ok(LiveBench {
        schema: LIVE_BENCH_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        settings: plan.settings.clone(),
        complete: measured.complete,
        points: judge::points(&servers, &measured.blocks),
        lines: judge::lines(&servers, &measured.blocks, seed),
        servers,
        blocks: measured.blocks,
        ratios,
        not_compared,
        rig: measured.rig,
    })
}

/// Watches real servers and asks their emulations the same. `profiles` are what each subject is held against.
pub fn live_idle(
    asked: &IdleWatch,
    profiles: &[Profile<ServerTraits>],
) -> Result<LiveIdleReport, LiveBenchError> {
    let duration = Duration::from_secs_f64(f64::from(asked.tokens) / asked.rate);
    let plan = IdlePlan {
        rate: asked.rate,
        duration,
        reap_after: REAP_AFTER,
        warm_up: 0,
        clients: Vec::new(),
        seed: Seed(1),
    };
    let seen = watch(asked)?;
    let mut servers = Vec::new();
    for ((subject, profile), seen) in asked.subjects.iter().zip(profiles).zip(seen) {
        let server = subject.name.clone();
        let says = watch_idle(&subject.name, profile, &plan)
            .map_err(|fault| LiveBenchError::Emulation { server: server.clone(), fault })?;
        let mut idle = LiveIdle {
            server,
            ran: subject.package.ran.clone(),
            profile: says.profile,
            polls: seen.polls,
            longest_gap_s: seen.longest_gap.as_secs_f64(),
            peak_idle_s: seen.peak_idle_s,
            emulated_peak_idle_s: says.peak_idle_s,
            distinct_updated_at: seen.distinct_updated_at,
            emulated_updated_at_per_token: says.writes_per_token.updated_at,
            contradictions: Vec::new(),
        };
        idle.contradictions = judge::contradictions(&idle, asked.tokens);
        servers.push(idle);
    }
    Ok(LiveIdleReport {
        schema: LIVE_IDLE_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        rate: asked.rate,
        duration_s: duration.as_secs_f64(),
        poll_s: asked.poll.as_secs_f64(),
        servers,
    })
}
