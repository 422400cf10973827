//! What waited for a subscriber, in the server or in its own client, and whether anything would have ended that.

use super::evidence::{Evidence, count};
use crate::record::evidence::Queue;
use crate::record::{Finding, Reason, Verdict};
use crate::unit::{Tally, size};

const NO_LIMIT: Reason = Reason::new("no_limit");
const NO_LIMIT_IN_CLIENT: Reason = Reason::new("no_limit_in_client");

/// A queue without a limit counts as grown from so many frames on, or so many bytes: what a repair elsewhere chose as its bound.
const MOST_FRAMES: u64 = 1_000;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// A queue that has a limit is none of this, however long it gets: at the limit its connection is closed, and that is a loss.
pub(super) fn in_server(evidence: &Evidence) -> Option<Finding> {
    let queue = grown(evidence.seen.queue.as_ref())?;
    let left = match queue.at_close_frames {
        0 => "they went out in the end".to_owned(),
        frames => format!("{} still waited when the connection ended", count(frames, "frame")),
    };
    Some(unbounded(evidence, queue, NO_LIMIT, "in the server for this subscriber", &left))
}

/// The same between a client's socket and its application. At a limit the socket is not read, and what piles up is the server's.
pub(super) fn in_client(evidence: &Evidence) -> Option<Finding> {
    let queue = grown(evidence.seen.receive_queue.as_ref())?;
    let left = match queue.at_close_frames {
        0 => "the application took them in the end".to_owned(),
        frames => format!("it had still to take {} when the connection ended", count(frames, "frame")),
    };
    Some(unbounded(evidence, queue, NO_LIMIT_IN_CLIENT, "in the client for its application", &left))
}

/// That queue, if nothing limits it and it grew.
fn grown(queue: Option<&Queue>) -> Option<&Queue> {
    queue.filter(|queue| {
        let limited = queue.limit_bytes.is_some() || queue.limit_frames.is_some();
        !limited && (queue.peak_frames >= MOST_FRAMES || queue.peak_bytes >= MOST_BYTES)
    })
}

fn unbounded(evidence: &Evidence, queue: &Queue, reason: Reason, place: &str, left: &str) -> Finding {
    let (frames, bytes) = (count(queue.peak_frames, "frame"), size(queue.peak_bytes));
    let amount = Tally { frames: queue.peak_frames, chars: 0 };
    let note = format!("{frames} ({bytes}) waited {place}, and nothing limits them; {left}");
    Finding { reason: Some(reason), ..evidence.finding(Verdict::Unbounded, amount, note) }
}
