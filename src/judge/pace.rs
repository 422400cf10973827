//! Text that is all there and came at the wrong time: only at the end, or behind somebody else's trouble.
//!
//! Both are differences of times of one clock. The virtual one is exact. On the wall the limits are of a size that noise does
//! not have: a quarter of a second over a quiet run of the same cell, and nine tenths of a stream of at least a second, or three
//! quarters of its text.

use super::align::Kind;
use super::evidence::{ClassText, Evidence, count};
use crate::record::{Finding, Reason, Verdict};
use crate::unit::Tally;

const HELD_TO_THE_END: Reason = Reason::new("held_to_the_end");
const PEER_STALLED: Reason = Reason::new("peer_stalled");

/// A shorter stream is over before anybody could have seen it grow.
const SHORTEST_STREAM_US: u64 = 1_000_000;
/// With fewer pieces there is hardly anything to stream.
const FEWEST_PIECES: u64 = 5;
/// How much of the time in which the model made its text may pass before the first of it is shown, per cent.
const HELD_PERCENT: u64 = 90;
/// How much of the text may come together at the end once some of it was shown, per cent. Of a stream that is even what was made
/// in its last tenth was held for no time to speak of, so it cannot be all of it.
const REST_PERCENT: u64 = 75;

/// A healthy subscriber may be delayed by so much more than without the fault, whatever its delays are.
const SHORTEST_STALL_US: u64 = 250_000;
/// Or by so many times its delay without the fault.
const STALL_FACTOR: u64 = 4;

/// All text came, and most of it when the model was as good as done: either nothing was shown before, or what followed the
/// beginning was held back and came at once. Where text is missing, that is what is to be said.
///
/// Time counts from the first text that the model made, so that a model which thinks for long before its first word is no
/// proxy that holds words back. The turns of a cell are taken together.
pub(super) fn not_streamed(evidence: &Evidence) -> Option<Finding> {
    let times = evidence.seen.times.as_ref()?;
    let (first, produced) = (times.first_us?, times.produced_us);
    let came = |kind| matches!(kind, Kind::Equal | Kind::Duplicated | Kind::Reordered);
    let whole = evidence.shown().all(|text| came(text.alignment.kind));
    let long = produced >= SHORTEST_STREAM_US && times.delay.count >= FEWEST_PIECES;
    if !whole || !long {
        return None;
    }
    let amount: Tally = evidence.shown().map(ClassText::ledger_delivered).sum();
    let shown: u64 = evidence.shown().map(|text| text.produced).sum();
    let (held, span) = (times.held_chars, seconds(produced));
    let note = if first.saturating_mul(100) >= produced.saturating_mul(HELD_PERCENT) {
        let first = seconds(first);
        format!("the model streamed for {span}, and its first text came {first} after it was made")
    } else if held.saturating_mul(100) >= shown.saturating_mul(REST_PERCENT) {
        let of = count(shown, "character");
        format!(
            "the model streamed for {span}, and {held} of {of} were held back and came together at the end"
        )
    } else {
        return None;
    };
    Some(Finding { reason: Some(HELD_TO_THE_END), ..evidence.finding(Verdict::NotStreamed, amount, note) })
}

/// A subscriber that no fault is about waited longer than in the same cell without its faults.
pub(super) fn stalled(evidence: &Evidence) -> Option<Finding> {
    let (times, quiet) = (evidence.seen.times.as_ref()?, evidence.seen.baseline.as_ref()?);
    let (now, before) = (times.delay.p99_us, quiet.delay.p99_us);
    if now.saturating_sub(before) <= SHORTEST_STALL_US.max(before.saturating_mul(STALL_FACTOR)) {
        return None;
    }
    let (now, before) = (seconds(now), seconds(before));
    let note = format!(
        "99 of 100 pieces came within {now}, and within {before} while no other subscriber was in trouble; no fault is about \
         this one"
    );
    let finding = evidence.finding(Verdict::Stalled, Tally::default(), note);
    Some(Finding { reason: Some(PEER_STALLED), ..finding })
}

/// A time as people read it: whole milliseconds below ten seconds, tenths of a second above.
pub(super) fn seconds(us: u64) -> String {
    let ms = us / 1000;
    if ms < 10_000 { format!("{ms} ms") } else { format!("{}.{} s", ms / 1000, ms % 1000 / 100) }
}
