//! The model: emits chunks at their planned times, on a thread of its own.
//!
//! The plan is an open loop: chunk `n` is due at `start + n · gap` whatever happened before it, so a generator or a
//! server that stalls makes later chunks late and none of them due later.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Sender;

use crate::agent_server::server::Chunk;
use crate::probe::cpu;
use crate::probe::delay::Delays;

/// When the chunks of a block are due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// When the first one is.
    pub(super) start: Instant,
    /// Time between two; zero for flat out, where all are due at the start.
    pub(super) gap: Duration,
}

impl Schedule {
    /// When chunk `n` of the block is due.
    pub(super) fn due(&self, n: u32) -> Instant {
        self.start + self.gap.saturating_mul(n)
    }
}

/// A deliberate fault of the generator, to prove that the delays would show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratorMutant {
    /// Stands still for this long in the middle of each block, then catches up.
    Stall(Duration),
}

/// What the generator did in one block.
#[derive(Debug)]
pub(super) struct Emitted {
    /// CPU of its thread.
    pub(super) cpu: Duration,
    /// By how much each emission was behind its due time.
    pub(super) lag: Delays,
    /// Chunks that the server's feed had no room for: a fault of the rig.
    pub(super) refused: u64,
}

/// Emits the chunks, counting them in `emitted`, until they are out or `stop` turns true.
pub(super) fn emit(
    chunks: Vec<Chunk>,
    schedule: Schedule,
    mutant: Option<GeneratorMutant>,
    to: &Sender<Chunk>,
    emitted: &AtomicU64,
    stop: &AtomicBool,
) -> Emitted {
    let before = cpu::thread_cpu();
    let mut lag = Delays::new();
    let mut refused = 0;
    let middle = u32::try_from(chunks.len() / 2).unwrap_or(u32::MAX);
    for (n, chunk) in (0_u32..).zip(chunks) {
        if let Some(GeneratorMutant::Stall(length)) = mutant
            && n == middle
        {
            std::thread::sleep(length);
        }
        let due = schedule.due(n);
        loop {
            let now = Instant::now();
            if now >= due || stop.load(Ordering::Relaxed) {
                lag.record(now.saturating_duration_since(due));
                break;
            }
            // In steps, so that a stop is noticed while chunks are far apart.
            std::thread::sleep((due - now).min(Duration::from_millis(100)));
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if to.try_send(chunk).is_ok() {
            emitted.fetch_add(1, Ordering::Relaxed);
        } else {
            refused += 1;
        }
    }
    Emitted { cpu: cpu::thread_cpu().saturating_sub(before), lag, refused }
}
