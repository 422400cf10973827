//! Deltas after the reply: nobody saw them stream, however complete they are.
//!
//! Of a library's client and of an emulated one it is known what came late. Of a page it is only known what stood there before
//! the reply: the rest is missing from the stream.

use super::server::{WiredFrame, event, pieces};
use crate::probe::trace::{ClientTrace, Fate};
use crate::record::{Hop, Reason};

/// A delta that came after the message that it is part of.
pub(super) const AFTER_THE_REPLY: Reason = Reason::new("after_the_reply");

/// What becomes of such a delta in a page.
pub(super) fn too_late() -> Fate {
    Fate::Stopped { hop: Hop::Delivered, reason: AFTER_THE_REPLY }
}

/// Whether a frame holds the agent's reply.
pub(super) fn is_final(frame: &WiredFrame) -> bool {
    super::server::is_reply(event(&frame.value))
}

/// What an emulated client got of deltas that a released server sent after the reply: the pieces' places among all that it got.
pub(super) fn places(trace: &ClientTrace, frames: &[WiredFrame]) -> Vec<usize> {
    let reached = |k: usize| matches!(trace.receipts.get(k).map(|r| &r.fate), Some(Fate::Reached { .. }));
    let Some(reply) = frames.iter().position(is_final).filter(|k| reached(*k)) else { return Vec::new() };
    let (mut late, mut next) = (Vec::new(), 0);
    for (k, (receipt, frame)) in trace.receipts.iter().zip(frames).enumerate() {
        let (Fate::Reached { pieces: got, .. }, Some(_)) = (&receipt.fate, pieces(&frame.value)) else {
            continue;
        };
        for piece in got {
            let place = trace.delivered.iter().skip(next).position(|other| other == piece);
            let Some(at) = place.map(|place| next + place) else { continue };
            next = at + 1;
            late.extend((k > reply).then_some(at));
        }
    }
    late
}
