//! Collecting deltas for one animation frame (`streaming-delta-batcher.ts`, 1.15.0 on).
//!
//! A queued delta has no fate yet. Its receipt is written when it is read, so that receipts stay in frame
//! order, and says that the text was never drawn; drawing it corrects the receipt. A queue that is thrown
//! away therefore never claims text.

use std::time::Duration;

use crate::probe::{ClientTrace, Fate, Receipt};
use crate::record::Signal;
use crate::record::{Hop, Reason};

/// A delta that waits to be drawn.
#[derive(Debug)]
pub(super) struct Queued<T> {
    /// Which receipt is its.
    receipt: usize,
    /// The delta.
    pub(super) delta: T,
}

impl<T> Queued<T> {
    /// Writes down that a delta was read and is not drawn yet.
    pub(super) fn note(delta: T, trace: &mut ClientTrace) -> Queued<T> {
        let receipt = trace.receipts.len();
        let fate = Fate::Stopped { hop: Hop::Delivered, reason: Reason::new("never_drawn") };
        trace.receipts.push(Receipt { fate, signal: Signal::None });
        Queued { receipt, delta }
    }

    /// Writes down what became of it.
    pub(super) fn settle(&self, fate: Fate, trace: &mut ClientTrace) {
        if let Some(receipt) = trace.receipts.get_mut(self.receipt) {
            receipt.fate = fate;
        }
    }
}

/// The queue of one socket.
#[derive(Debug)]
pub(super) struct Batcher<T> {
    frame: Duration,
    queue: Vec<Queued<T>>,
}

impl<T> Batcher<T> {
    /// A queue that is due `ms` after its first delta; 0 for one that is always due.
    pub(super) fn new(ms: u64) -> Batcher<T> {
        Batcher { frame: Duration::from_millis(ms), queue: Vec::new() }
    }

    /// Adds a delta; gives the queue back if it need not wait.
    pub(super) fn push(&mut self, delta: Queued<T>) -> Vec<Queued<T>> {
        self.queue.push(delta);
        if self.frame.is_zero() { self.take() } else { Vec::new() }
    }

    /// Empties the queue.
    pub(super) fn take(&mut self) -> Vec<Queued<T>> {
        std::mem::take(&mut self.queue)
    }

    /// How long after the first delta the queue is due; `None` while it is empty.
    pub(super) fn due(&self) -> Option<Duration> {
        (!self.queue.is_empty()).then_some(self.frame)
    }
}
