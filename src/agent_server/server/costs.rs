//! Exact counters of what deltas cost. Relaxed atomics: nothing is ordered by them, they are only added up.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::record::DeltaCosts;

/// The counters of one server.
#[derive(Debug, Default)]
pub(super) struct CostCounters {
    published: AtomicU64,
    invocations: AtomicU64,
    serialisations: AtomicU64,
    bytes_encoded: AtomicU64,
    frames: AtomicU64,
    wire_bytes: AtomicU64,
    log_lines: AtomicU64,
    /// Somebody may wait for the number of publishes that is in `awaited`.
    awaited: AtomicU64,
    reached: Notify,
}

/// Bytes of a server's text frame: the header depends on the length, and there is no mask.
pub(super) fn frame_bytes(payload: usize) -> u64 {
    let header = match payload {
        0..=125 => 2,
        126..=65_535 => 4,
        _ => 10,
    };
    header + payload as u64
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl CostCounters {
    /// A bus has called that many subscribers with a delta, and the last of them has ended.
    pub(super) fn published(&self, subscribers: usize) {
        let before = self.published.fetch_add(1, Ordering::Relaxed);
        self.invoked(subscribers);
        if before + 1 == self.awaited.load(Ordering::Relaxed) {
            self.reached.notify_one();
        }
    }

    /// Waits until that many deltas have been published. One waiter at a time.
    pub(super) async fn reached(&self, deltas: u64) {
        self.awaited.store(deltas, Ordering::Relaxed);
        while self.published.load(Ordering::Relaxed) < deltas {
            self.reached.notified().await;
        }
    }

    /// That many subscribers were called with a delta beside the buses.
    pub(super) fn invoked(&self, subscribers: usize) {
        add(&self.invocations, subscribers as u64);
    }

    /// A delta was encoded into that many bytes.
    pub(super) fn serialised(&self, bytes: usize) {
        add(&self.serialisations, 1);
        add(&self.bytes_encoded, bytes as u64);
    }

    /// A delta frame of that payload was written.
    pub(super) fn wrote(&self, payload: usize) {
        add(&self.frames, 1);
        add(&self.wire_bytes, frame_bytes(payload));
    }

    /// A subscriber failed on a delta, which the server logs.
    pub(super) fn logged(&self) {
        add(&self.log_lines, 1);
    }

    pub(super) fn read(&self) -> DeltaCosts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DeltaCosts {
            published: read(&self.published),
            invocations: read(&self.invocations),
            serialisations: read(&self.serialisations),
            bytes_encoded: read(&self.bytes_encoded),
            frames: read(&self.frames),
            wire_bytes: read(&self.wire_bytes),
            log_lines: read(&self.log_lines),
        }
    }
}
