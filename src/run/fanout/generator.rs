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
    /// Stands still, and from then on counts the time between chunks from where it stood: the closed loop of a load
    /// tool that waits for its own sending. Measured from when it emits, no delay would show (coordinated omission).
    Closed(Duration),
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
    let mut pushed_back = Duration::ZERO;
    let middle = u32::try_from(chunks.len() / 2).unwrap_or(u32::MAX);
    for (n, chunk) in (0_u32..).zip(chunks) {
        if n == middle {
            pushed_back = stand_still(mutant);
        }
        let (planned, due) = (schedule.due(n), schedule.due(n) + pushed_back);
        loop {
            let now = Instant::now();
            if now >= due || stop.load(Ordering::Relaxed) {
                lag.record(now.saturating_duration_since(planned));
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

/// The deliberate fault, if there is one; returns by how much it moves the rest of the plan.
fn stand_still(mutant: Option<GeneratorMutant>) -> Duration {
    match mutant {
        Some(GeneratorMutant::Stall(length)) => {
            std::thread::sleep(length);
            Duration::ZERO
        }
        Some(GeneratorMutant::Closed(length)) => {
            std::thread::sleep(length);
            length
        }
        None => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::server::Feed;

    const STALL: Duration = Duration::from_millis(80);
    const ALMOST: Duration = Duration::from_millis(77);

    /// What the generator says of itself, and by how much each chunk was behind the plan when it came out.
    fn emitted(mutant: Option<GeneratorMutant>) -> (Emitted, Vec<Duration>) {
        let (to, feed) = Feed::new(64);
        let chunks = vec![Chunk { text: Some(String::new()), reasoning: None }; 40];
        let schedule = Schedule { start: Instant::now(), gap: Duration::from_millis(2) };
        let mut from = feed.take().unwrap();
        let late = std::thread::spawn(move || {
            let mut late = Vec::new();
            while from.blocking_recv().is_some() {
                let n = u32::try_from(late.len()).unwrap();
                late.push(Instant::now().saturating_duration_since(schedule.due(n)));
            }
            late
        });
        let said = emit(chunks, schedule, mutant, &to, &AtomicU64::new(0), &AtomicBool::new(false));
        drop(to);
        (said, late.join().unwrap())
    }

    /// Chunks that came at least that much after they were meant to.
    fn later(late: &[Duration], than: Duration) -> usize {
        late.iter().filter(|l| **l >= than).count()
    }

    #[test]
    fn a_stall_shows_in_every_chunk_that_it_made_late() {
        // A machine that stands still itself would look like the fault, so the healthy one may try again.
        let healthy = (0..5).any(|_| {
            let (said, on_time) = emitted(None);
            assert_eq!((said.refused, on_time.len()), (0, 40));
            later(&on_time, STALL / 2) == 0
        });
        assert!(healthy);
        // 80 ms stand for 40 of these chunks: measured from the plan, the second half is late, and less and less.
        let (stalled, late) = emitted(Some(GeneratorMutant::Stall(STALL)));
        assert!(stalled.lag.quantiles().max_ns >= 75_000_000, "{:?}", stalled.lag.quantiles());
        assert!(later(&late, STALL / 2) >= 15, "{late:?}");
    }

    #[test]
    fn a_closed_loop_cannot_hide_behind_its_own_pace() {
        let (closed, late) = emitted(Some(GeneratorMutant::Closed(STALL)));
        assert!(later(&late, ALMOST) >= 20, "{late:?}");
        let lag = closed.lag.at_quantile(0.6);
        assert!(lag >= ALMOST, "{:?}", closed.lag.quantiles());
    }

    #[test]
    fn a_feed_without_room_is_counted() {
        let (to, _feed) = Feed::new(3);
        let chunks = vec![Chunk::default(); 5];
        let schedule = Schedule { start: Instant::now(), gap: Duration::ZERO };
        let (out, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let said = emit(chunks, schedule, None, &to, &out, &stop);
        assert_eq!((said.refused, out.load(Ordering::Relaxed)), (2, 3));
    }
}
