//! Deltas after the reply: nobody saw them stream, however complete they are.

use super::server::{WiredFrame, event, pieces};
use crate::probe::trace::{ClientTrace, Fate};
use crate::record::{Hop, Reason};

/// A delta that came after the message that it is part of.
pub(super) const AFTER_THE_REPLY: Reason = Reason::new("after_the_reply");

/// What becomes of such a delta.
pub(super) fn too_late() -> Fate {
    Fate::Stopped { hop: Hop::Delivered, reason: AFTER_THE_REPLY }
}

/// Whether a frame holds the agent's reply.
pub(super) fn is_final(frame: &WiredFrame) -> bool {
    super::server::is_reply(event(&frame.value))
}

/// Takes back what an emulated client noted of deltas that a released server sent after the reply.
pub(super) fn take_back(trace: &mut ClientTrace, frames: &[WiredFrame]) {
    let Some(reply) = frames.iter().position(is_final) else { return };
    let after = trace.receipts.iter_mut().zip(frames).skip(reply + 1);
    for (receipt, _) in after.filter(|(_, frame)| pieces(&frame.value).is_some()) {
        if let Fate::Reached { pieces, .. } = &receipt.fate {
            // The client notes its pieces in the order in which it read the frames.
            trace.delivered.truncate(trace.delivered.len().saturating_sub(pieces.len()));
            receipt.fate = too_late();
        }
    }
}
