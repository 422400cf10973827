//! Budgets: for each metric a cell that costs just too much, beside one that costs just what it may.

use super::*;
use crate::judge::budgets;
use crate::record::{Budget, Comparison, CpuLimit, CpuRatio, Limit, Metric};

/// Tokens of the sample's workload, and clients that attend it.
const TOKENS: u64 = 10;
const SUBSCRIBERS: u64 = 2;

fn limit(metric: Metric, is: Comparison, value: f64) -> Limit {
    Limit { metric, is, value, from: None }
}

fn allow(limits: Vec<Limit>, cpu: Option<CpuLimit>) -> Duties {
    let budget = Budget { tokens: TOKENS, subscribers: SUBSCRIBERS, limits, cpu };
    Duties { budget, ..Duties::default() }
}

/// Sets what the metric counts.
fn cost(seen: &mut Observation, metric: Metric, n: u64) {
    let effects = &mut seen.side_effects;
    let (costs, webhook, writes) = (&mut effects.costs, &mut effects.webhook, &mut effects.streamed_writes);
    match metric {
        Metric::SerialisationsPerToken => costs.serialisations = n,
        Metric::InvocationsPerToken => costs.invocations = n,
        Metric::BytesPerToken => costs.bytes_encoded = n,
        Metric::FramesPerToken => costs.frames = n,
        Metric::WireBytesPerTextByte => costs.wire_bytes = n,
        Metric::LogLines => costs.log_lines = n,
        Metric::WebhookDeltaEvents => webhook.deltas = n,
        Metric::WebhookPosts => webhook.posts = n,
        Metric::WebhookEvents => webhook.events = n,
        Metric::TelemetryDeltas => effects.telemetry.deltas = n,
        Metric::IdleWrites => writes.process = n,
        Metric::UpdatedAtWrites => writes.updated_at = n,
        Metric::EvictionWrites => writes.eviction = n,
    }
}

/// By what the metric divides: the sample's reply has 23 characters of one byte.
fn parts(metric: Metric) -> u32 {
    match metric {
        Metric::WireBytesPerTextByte => 23 * 2,
        share if share.is_share() => 10,
        _ => 1,
    }
}

#[test]
fn a_budget_is_broken_by_one_too_many_and_kept_at_its_limit() {
    for metric in Metric::ALL {
        // A limit on every metric, so that the wrong one firing would show.
        let limits = Metric::ALL.map(|m| limit(m, Comparison::AtMost, 3.0)).to_vec();
        let duties = allow(limits, None);
        let at = u64::from(parts(metric)) * 3;
        let mut seen = healthy();
        cost(&mut seen, metric, at);
        assert_eq!(judge(&seen, &duties)[0].verdict, Verdict::Delivered, "{}", metric.as_str());
        cost(&mut seen, metric, at + 1);
        let found = judge(&seen, &duties);
        assert_eq!(found.iter().map(|f| f.verdict).collect::<Vec<_>>(), [Verdict::OverBudget], "{found:?}");
        assert_eq!(found[0].reason.as_ref().map(Reason::as_str), Some(metric.as_str()));
        let is = 3.0 + 1.0 / f64::from(parts(metric));
        let is = if metric.is_share() { format!("{is:.2}") } else { is.to_string() };
        assert_eq!(found[0].note, format!("{is} {}, budget 3", metric.words()));
        // Who has no budget may cost what it likes.
        only(&seen, Verdict::Delivered, "");
    }
}

#[test]
fn a_note_says_metric_measured_and_limit() {
    let mut seen = healthy();
    cost(&mut seen, Metric::SerialisationsPerToken, 20);
    cost(&mut seen, Metric::IdleWrites, 500);
    let from = Some("ceil(T/30)+1".to_owned());
    let limits = vec![
        Limit { from, ..limit(Metric::IdleWrites, Comparison::AtMost, 2.0) },
        limit(Metric::SerialisationsPerToken, Comparison::AtMost, 1.0),
    ];
    let found = judge(&seen, &allow(limits, None));
    let notes: Vec<&str> = found.iter().map(|f| f.note.as_str()).collect();
    let expected = [
        "2.00 serialisations a token, budget 1",
        "500 process clock writes while streaming, budget 2 (ceil(T/30)+1)",
    ];
    assert_eq!(notes, expected);
    let close = allow(vec![limit(Metric::SerialisationsPerToken, Comparison::AtMost, 1.9999)], None);
    assert_eq!(judge(&seen, &close)[0].note, "2.000000 serialisations a token, budget 1.9999");
}

#[test]
fn a_budget_may_ask_for_more_or_for_exactly() {
    let mut seen = healthy();
    cost(&mut seen, Metric::IdleWrites, 1);
    for (is, kept) in Comparison::ALL.into_iter().zip([true, true, true, false, false]) {
        let found = judge(&seen, &allow(vec![limit(Metric::IdleWrites, is, 1.0)], None));
        assert_eq!(found[0].verdict == Verdict::Delivered, kept, "{is:?}");
    }
    let none = allow(vec![limit(Metric::TelemetryDeltas, Comparison::AtLeast, 1.0)], None);
    assert_eq!(judge(&seen, &none)[0].note, "0 telemetry deltas, budget >= 1");
}

#[test]
fn a_loss_is_worse_than_what_it_costs_and_the_rig_is_worse_than_both() {
    let duties = allow(vec![limit(Metric::LogLines, Comparison::AtMost, 0.0)], None);
    let mut seen = observe(reply(), |_, _| LOST);
    cost(&mut seen, Metric::LogLines, 1);
    let verdicts = |seen: &Observation| judge(seen, &duties).iter().map(|f| f.verdict).collect::<Vec<_>>();
    assert_eq!(verdicts(&seen), [Verdict::SilentLoss, Verdict::OverBudget]);
    seen.signal = Signal::Surfaced;
    assert_eq!(verdicts(&seen), [Verdict::LoudLoss, Verdict::OverBudget]);
    assert_eq!(judge(&seen, &duties)[1].signal, Signal::None, "what it surfaced is not the cost");
    seen.rig_faults = vec!["a panic".to_owned()];
    assert_eq!(verdicts(&seen), [Verdict::Invalid]);
    // A client that does not stream, on a server that spends too much on it.
    let mut seen = observe(reply(), |_, _| LOST);
    seen.streams = false;
    assert_eq!(verdicts(&seen), [Verdict::ByDesign]);
    cost(&mut seen, Metric::LogLines, 1);
    assert_eq!(verdicts(&seen), [Verdict::OverBudget]);
}

#[test]
fn a_share_of_nothing_is_neither_kept_nor_broken() {
    let duties = allow(vec![limit(Metric::WireBytesPerTextByte, Comparison::AtMost, 0.0)], None);
    let mut seen = observe(vec![], |_, _| Arrives);
    cost(&mut seen, Metric::WireBytesPerTextByte, 9);
    let [budgeted] = &budgets(&seen, &duties.budget)[..] else { panic!("one budget") };
    assert_eq!((budgeted.measured, budgeted.kept), (None, None));
    assert!(budgeted.note.contains("nothing to divide by"), "{}", budgeted.note);
    assert_eq!(judge(&seen, &duties)[0].verdict, Verdict::Delivered);
}

fn ratio(ratio: f64, ci: [f64; 2], control_ci: [f64; 2]) -> CpuRatio {
    CpuRatio { ratio, ci, control_ci, valid: true }
}

#[test]
fn cpu_is_over_its_budget_only_beyond_interval_and_noise() {
    let limit = CpuLimit { server: "1.43.1".to_owned(), max: 1.0 };
    let duties = allow(vec![], Some(limit));
    let quiet = [0.98, 1.02];
    for (measured, kept) in [
        (ratio(1.30, [1.25, 1.35], quiet), Some(false)),
        // The whole interval has to lie above the limit; until it does, nobody knows.
        (ratio(1.30, [1.00, 1.60], quiet), None),
        (ratio(2.00, [0.40, 9.00], quiet), None),
        (ratio(0.99, [0.90, 1.10], quiet), Some(true)),
        (ratio(0.50, [0.45, 0.55], quiet), Some(true)),
        // A server against itself differed by as much, in either direction.
        (ratio(1.30, [1.25, 1.35], [0.98, 1.30]), None),
        (ratio(1.30, [1.25, 1.35], [0.75, 1.02]), None),
        (CpuRatio { valid: false, ..ratio(1.30, [1.25, 1.35], quiet) }, None),
    ] {
        let mut seen = healthy();
        seen.cpu_ratio = Some(measured);
        let [budgeted] = &budgets(&seen, &duties.budget)[..] else { panic!("one budget") };
        assert_eq!(budgeted.kept, kept, "{measured:?}: {}", budgeted.note);
        let verdict = if kept == Some(false) { Verdict::OverBudget } else { Verdict::Delivered };
        let found = judge(&seen, &duties);
        assert_eq!((found.len(), found[0].verdict), (1, verdict), "{measured:?}");
    }
    let mut seen = healthy();
    seen.cpu_ratio = Some(ratio(1.30, [1.25, 1.35], quiet));
    let note = "1.30 [1.25, 1.35] times CPU a token over that of 1.43.1, budget 1";
    assert_eq!(judge(&seen, &duties)[0].note, note);
    // Nobody measured it: nothing is found, and it is said that nothing was measured.
    let unmeasured = &budgets(&healthy(), &duties.budget)[0];
    assert_eq!((unmeasured.measured, unmeasured.kept), (None, None));
    assert!(unmeasured.note.contains("was not measured"), "{}", unmeasured.note);
    assert_eq!(judge(&healthy(), &duties)[0].verdict, Verdict::Delivered);
}
