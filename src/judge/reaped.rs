//! A server that its runtime ended because it looked idle.

use super::evidence::Evidence;
use super::pace::seconds;
use crate::record::{Finding, Reason, Signal, Verdict};
use crate::unit::Tally;

const LOOKED_IDLE: Reason = Reason::new("looked_idle");

/// It was ended in the middle of a turn. One that had nothing to do is what the policy is for.
pub(super) fn reaped(evidence: &Evidence) -> Option<Finding> {
    let reaped = evidence.seen.reaped.filter(|reaped| reaped.running)?;
    let at = seconds(reaped.at_ms.saturating_mul(1000));
    let note = format!(
        "{at} into the run the runtime ended the server while a turn was running: its `idle_time` said {} s",
        reaped.idle_s
    );
    // What a client notices is the end of its connection, and not why.
    let finding = evidence.finding(Verdict::Reaped, Tally::default(), note);
    Some(Finding { reason: Some(LOOKED_IDLE), signal: Signal::None, ..finding })
}
