//! How late an event loop is: a task that sleeps by a plan, and notes by how much it missed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::delay::Delays;

/// Wakes every `every` on the current runtime until `stop` is set, and returns by how much each *planned* tick was
/// late.
///
/// Ticks are planned from the start on. A loop that is held up for 50 ms at a tick of 1 ms has 50 late ticks, of
/// 50, 49, 48 … ms, as many tasks would have been late; a sleeper that plans its next tick from the last wake-up would
/// note a single one (coordinated omission).
///
/// Two things to know. Tokio's timer and the poll under it each round up to a whole millisecond, so an idle loop
/// is late by up to 2 ms. And the wake-ups are work of the loop: they are billed to its thread, so run this beside
/// blocks whose CPU is timed only if every subject has it, or with a long `every`. A zero `every` counts as 1 ms.
pub async fn loop_lag(every: Duration, stop: Arc<AtomicBool>) -> Delays {
    let mut lag = LoopLag::new(Instant::now(), every);
    while !stop.load(Ordering::Relaxed) {
        sleep_until(lag.planned).await;
        lag.woke(Instant::now());
    }
    lag.late
}

struct LoopLag {
    every: Duration,
    planned: Instant,
    late: Delays,
}

impl LoopLag {
    fn new(now: Instant, every: Duration) -> LoopLag {
        let every = if every.is_zero() { Duration::from_millis(1) } else { every };
        LoopLag { every, planned: now + every, late: Delays::new() }
    }

    /// Notes every tick that was due by now.
    fn woke(&mut self, now: Instant) {
        while self.planned <= now {
            self.late.record(now - self.planned);
            self.planned += self.every;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Allocations;

    const TICK: Duration = Duration::from_millis(1);

    /// Runs the lag beside something that may hold the loop up.
    async fn beside(other: impl Future<Output = ()>) -> Delays {
        let stop = Arc::new(AtomicBool::new(false));
        let watching = tokio::spawn(loop_lag(TICK, Arc::clone(&stop)));
        other.await;
        stop.store(true, Ordering::Relaxed);
        watching.await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_is_free_is_never_late() {
        let late = beside(tokio::time::sleep(TICK * 100)).await;
        assert!((99..=101).contains(&late.count()), "{}", late.count());
        assert_eq!(late.quantiles().max_ns, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn every_tick_that_a_held_loop_missed_is_counted() {
        let late = beside(async {
            tokio::time::sleep(TICK * 10).await;
            // Nothing else runs meanwhile, as when a task computes for 50 ms.
            tokio::time::advance(TICK * 50).await;
            tokio::time::sleep(TICK * 10).await;
        })
        .await;
        assert!((69..=71).contains(&late.count()), "{}", late.count());
        // 49 of the 70 ticks were late; one that saw a single late tick would have a median of zero.
        assert!(late.at_quantile(0.5) >= TICK * 10, "{:?}", late.quantiles());
        assert!(late.quantiles().max_ns >= 49_000_000, "{:?}", late.quantiles());
    }

    #[test]
    fn a_stall_of_fifty_ticks_is_fifty_late_ticks() {
        let start = Instant::now();
        let mut lag = LoopLag::new(start, TICK);
        lag.woke(start + TICK / 2);
        assert_eq!(lag.late.count(), 0, "an early wake-up is no tick");
        lag.woke(start + TICK);
        let before = Allocations::here();
        lag.woke(start + TICK * 51);
        assert_eq!(Allocations::here().since(&before), Allocations::default());
        assert_eq!((lag.late.count(), lag.late.quantiles().max_ns), (51, 49_000_000));
        assert_eq!(lag.planned, start + TICK * 52);
        assert_eq!(LoopLag::new(start, Duration::ZERO).every, TICK);
    }

    #[tokio::test]
    async fn on_the_real_clock_a_held_loop_shows_against_a_free_one() {
        let free = beside(tokio::time::sleep(TICK * 60)).await;
        let held = beside(async {
            tokio::time::sleep(TICK * 10).await;
            std::thread::sleep(TICK * 80);
            tokio::time::sleep(TICK * 10).await;
        })
        .await;
        // The free one may be late on a busy machine; the held one has to be.
        assert!(free.count() >= 55, "{:?}", free.quantiles());
        assert!(held.quantiles().max_ns >= 75_000_000, "{:?}", held.quantiles());
        assert!(held.at_quantile(0.5) > TICK * 10, "{:?}", held.quantiles());
    }
}
