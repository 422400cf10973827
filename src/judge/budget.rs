//! What a cell cost against what its scenario allows.

use super::evidence::Evidence;
use crate::record::{
    Budget, Budgeted, Comparison, CpuLimit, CpuRatio, Finding, Limit, Metric, Observation, Reason, Signal,
    Verdict,
};
use crate::unit::Tally;

/// How every budget of a cell was kept, in the order of the metrics; one that cannot be judged says why.
pub fn budgets(seen: &Observation, budget: &Budget) -> Vec<Budgeted> {
    let mut all: Vec<(Metric, Budgeted)> =
        budget.limits.iter().map(|limit| (limit.metric, counted(seen, budget, limit))).collect();
    all.sort_by_key(|(metric, _)| *metric);
    let counts = all.into_iter().map(|(_, budgeted)| budgeted);
    counts.chain(budget.cpu.as_ref().map(|limit| cpu(seen.cpu_ratio.as_ref(), limit))).collect()
}

/// One finding per broken budget.
pub(super) fn broken(evidence: &Evidence, budget: &Budget) -> Vec<Finding> {
    let over = |budgeted: Budgeted| {
        let finding = evidence.finding(Verdict::OverBudget, Tally::default(), budgeted.note);
        // No client is told what it costs, whatever else it was told.
        Finding { reason: Some(Reason::from(budgeted.budget)), signal: Signal::None, ..finding }
    };
    budgets(evidence.seen, budget).into_iter().filter(Budgeted::broken).map(over).collect()
}

fn counted(seen: &Observation, budget: &Budget, limit: &Limit) -> Budgeted {
    let Limit { metric, is, value, from } = limit;
    let measured = measured(seen, budget, *metric);
    let allowed = allowed(*is, *value, from.as_deref());
    let note = match measured {
        Some(measured) => {
            format!("{} {}, budget {allowed}", figure(*metric, measured, *value), metric.words())
        }
        None if unseen(seen, *metric) => {
            format!("{} cannot be told: a released server does not show it", metric.words())
        }
        None => format!("{} cannot be told: there was nothing to divide by", metric.words()),
    };
    let kept = measured.map(|measured| is.holds(measured, *value));
    Budgeted { budget: metric.as_str().to_owned(), is: *is, limit: *value, measured, kept, note }
}

/// Whether this is a cost inside a released server.
fn unseen(seen: &Observation, metric: Metric) -> bool {
    use Metric::{WebhookDeltaEvents, WebhookEvents, WebhookPosts};
    seen.side_effects.foreign && ![WebhookDeltaEvents, WebhookPosts, WebhookEvents].contains(&metric)
}

/// The cost itself; none for a share of nothing, and for what nobody could see.
fn measured(seen: &Observation, budget: &Budget, metric: Metric) -> Option<f64> {
    if unseen(seen, metric) {
        return None;
    }
    let effects = &seen.side_effects;
    let (costs, webhook, writes) = (&effects.costs, &effects.webhook, &effects.streamed_writes);
    let text: u64 = seen.produced.iter().map(|piece| piece.text.len() as u64).sum();
    let (whole, parts) = match metric {
        Metric::SerialisationsPerToken => (costs.serialisations, budget.tokens),
        Metric::InvocationsPerToken => (costs.invocations, budget.tokens),
        Metric::BytesPerToken => (costs.bytes_encoded, budget.tokens),
        Metric::FramesPerToken => (costs.frames, budget.tokens),
        Metric::WireBytesPerTextByte => (costs.wire_bytes, text * budget.subscribers),
        Metric::LogLines => (costs.log_lines, 1),
        Metric::WebhookDeltaEvents => (webhook.deltas, 1),
        Metric::WebhookPosts => (webhook.posts, 1),
        Metric::WebhookEvents => (webhook.events, 1),
        Metric::TelemetryDeltas => (effects.telemetry.deltas, 1),
        Metric::IdleWrites => (writes.process, 1),
        Metric::UpdatedAtWrites => (writes.updated_at, 1),
        Metric::EvictionWrites => (writes.eviction, 1),
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of one cell are far below 2^52")]
    (parts > 0).then(|| whole as f64 / parts as f64)
}

/// Counts as they are; shares with as many decimals as it takes to tell them from the limit.
fn figure(metric: Metric, measured: f64, limit: f64) -> String {
    let close = (measured - limit).abs() < 0.005 && !Comparison::Exactly.holds(measured, limit);
    match (metric.is_share(), close) {
        (false, _) => format!("{measured}"),
        (true, false) => format!("{measured:.2}"),
        (true, true) => format!("{measured:.6}"),
    }
}

/// The limit as a reader finds it in the scenario: `1`, `>= 1`, `2 (ceil(T/30)+1)`.
fn allowed(is: Comparison, value: f64, from: Option<&str>) -> String {
    let sign = if is == Comparison::AtMost { String::new() } else { format!("{} ", is.as_str()) };
    let from = from.map(|from| format!(" ({from})")).unwrap_or_default();
    format!("{sign}{value}{from}")
}

/// A ratio is beyond its limit only when its whole interval is, and by more than noise alone makes of a server
/// against itself. One that is above its limit by less than that was neither kept nor broken, as far as anybody can
/// tell.
fn cpu(ratio: Option<&CpuRatio>, limit: &CpuLimit) -> Budgeted {
    let CpuLimit { server, max } = limit;
    let named = format!("CPU a token over that of {server}");
    let unsaid = |why: &str| (None, None, format!("{named} was not measured: {why}"));
    let (measured, kept, note) = match ratio {
        None => unsaid("no bench on the wall clock ran beside it"),
        Some(ratio) if !ratio.valid => unsaid("the rig was the bottleneck"),
        Some(CpuRatio { ratio, ci: [low, high], control_ci: [control_low, control_high], .. }) => {
            let noise = control_high.max(1.0 / control_low);
            let said = format!("{ratio:.2} [{low:.2}, {high:.2}] times {named}, budget {max}");
            if ratio <= max {
                (Some(*ratio), Some(true), said)
            } else if *low <= *max {
                (Some(*ratio), None, format!("{said}; no claim: the interval reaches down to the budget"))
            } else if ratio / max > noise {
                (Some(*ratio), Some(false), said)
            } else {
                let control = format!("the control [{control_low:.2}, {control_high:.2}] is as wide");
                (Some(*ratio), None, format!("{said}; no claim: {control}"))
            }
        }
    };
    let budget = Budgeted::CPU_RATIO_VS.to_owned();
    Budgeted { budget, is: Comparison::AtMost, limit: *max, measured, kept, note }
}
