//! What every stage needs at hand: how failures sound, where text goes, and the notes.

use super::delivery::Delivery;
use super::failure;
use crate::agent_server::profile::client::{Failure, FailureTraits};
use crate::probe::{ClientTrace, Fate, Receipt};
use crate::record::Signal;
use crate::record::{Hop, Reason};

/// The surroundings of one frame on its way through a client.
pub(super) struct Desk<'a> {
    pub(super) failure: &'a FailureTraits,
    pub(super) delivery: &'a mut Delivery,
    pub(super) trace: &'a mut ClientTrace,
}

impl Desk<'_> {
    /// Writes the receipt of the frame at hand.
    pub(super) fn receipt(&mut self, fate: Fate) {
        self.trace.receipts.push(Receipt { fate, signal: Signal::None });
    }

    /// Notes a failure of one stage.
    pub(super) fn note(&mut self, stage: fn(&FailureTraits) -> &Failure, detail: &str) {
        failure::note(stage(self.failure), detail, self.trace);
    }
}

/// A stop at `hop`.
pub(super) fn stopped(hop: Hop, reason: &'static str) -> Fate {
    Fate::Stopped { hop, reason: Reason::new(reason) }
}

/// A frame that was taken and carries no delta's text.
pub(super) fn taken() -> Fate {
    Fate::Reached { pieces: Vec::new(), missing: Reason::new("not_a_delta") }
}
