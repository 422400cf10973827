//! Token deltas in places that must never see one.

use super::evidence::{Evidence, count};
use crate::record::{Consumer, Duties, Finding, Reason, Signal, Verdict};
use crate::unit::Tally;

/// One finding per consumer that got what it must not get.
pub(super) fn leaks(evidence: &Evidence, duties: &Duties) -> Vec<Finding> {
    let effects = &evidence.seen.side_effects;
    let leak = |consumer: &Consumer| {
        let (deltas, reason) = match consumer {
            Consumer::Webhook => (effects.webhook.deltas, "leaked_to_webhook"),
            Consumer::Telemetry => (effects.telemetry.deltas, "leaked_to_telemetry"),
            Consumer::Idle => (effects.idle_deltas, "leaked_to_idle"),
            Consumer::Store => (effects.stored_deltas, "leaked_to_event_store"),
        };
        let amount = Tally { frames: deltas, chars: 0 };
        let (got, where_to) = (count(deltas, "token delta"), consumer.as_str());
        let note = format!("{got} reached `{where_to}`, which must see none");
        let finding = evidence.finding(Verdict::Leaked, amount, note);
        // No client is told of it, whatever else it was told.
        let reason = Some(Reason::new(reason));
        (deltas > 0).then_some(Finding { reason, signal: Signal::None, ..finding })
    };
    duties.must_not_receive.iter().filter_map(leak).collect()
}
