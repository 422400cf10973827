//! What waited for a subscriber that did not read, and whether anything would have ended that.

use super::evidence::{Evidence, count};
use crate::record::{Finding, Reason, Verdict};
use crate::unit::{Tally, size};

const NO_LIMIT: Reason = Reason::new("no_limit");

/// A queue without a limit counts as grown from so many frames on, or so many bytes: what a repair elsewhere chose as its bound.
const MOST_FRAMES: u64 = 1_000;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// A queue that has a limit is none of this, however long it gets: at the limit its connection is closed, and that is a loss.
pub(super) fn unbounded(evidence: &Evidence) -> Option<Finding> {
    let queue = evidence.seen.queue.as_ref()?;
    let grown = queue.peak_frames >= MOST_FRAMES || queue.peak_bytes >= MOST_BYTES;
    if !grown || queue.limit_bytes.is_some() {
        return None;
    }
    let (frames, bytes) = (count(queue.peak_frames, "frame"), size(queue.peak_bytes));
    let left = match queue.at_close_frames {
        0 => "they went out in the end".to_owned(),
        frames => format!("{} still waited when the connection ended", count(frames, "frame")),
    };
    let note = format!(
        "{frames} ({bytes}) waited in the server for this subscriber, and nothing limits them; {left}"
    );
    let amount = Tally { frames: queue.peak_frames, chars: 0 };
    Some(Finding { reason: Some(NO_LIMIT), ..evidence.finding(Verdict::Unbounded, amount, note) })
}
