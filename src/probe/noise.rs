//! How steady this machine is: the CPU time of a fixed piece of work, again and again.

use std::hint::black_box;
use std::time::Duration;

use super::cpu::thread_cpu;

/// Rounds of the fixed work: about a millisecond in a release build.
const ROUNDS: u32 = 500_000;
/// With fewer samples the outer tenths are single values.
const FEWEST: usize = 10;

/// CPU times of the same work at many moments of a run.
///
/// The same clock times the server. What moves it without the code having changed (a host that takes the core away,
/// a neighbour in the cache, the core's frequency) moves the server's figures too.
#[derive(Debug, Clone, Default)]
pub struct Noise {
    times: Vec<Duration>,
}

impl Noise {
    /// No samples yet, and room for that many without another allocation.
    pub fn with_room(samples: usize) -> Noise {
        Noise { times: Vec::with_capacity(samples) }
    }

    /// Does the work once, about a millisecond, on the calling thread. Between blocks, never inside one: it is billed
    /// to this thread like all else.
    pub fn sample(&mut self) {
        let start = thread_cpu();
        black_box(work(ROUNDS));
        self.times.push(thread_cpu().saturating_sub(start));
    }

    /// Samples taken.
    pub fn samples(&self) -> usize {
        self.times.len()
    }

    /// `(p90 − p10) ÷ p50` of the times: 0 when all are the same, 0.1 when the middle four fifths spread over a tenth.
    /// `None` with fewer than ten samples, or when the clock is too coarse to see the work.
    pub fn score(&self) -> Option<f64> {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let at = |tenths: usize| sorted.get((sorted.len() - 1) * tenths / 10).map(Duration::as_secs_f64);
        if sorted.len() < FEWEST {
            return None;
        }
        let median = at(5)?;
        (median > 0.0).then_some((at(9)? - at(1)?) / median)
    }
}

/// A chain of xorshifts, each of which needs the one before: no wide core can overlap them, and memory is not touched.
fn work(rounds: u32) -> u64 {
    let mut x = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = u64>) -> Option<f64> {
        Noise { times: times.into_iter().map(Duration::from_micros).collect() }.score()
    }

    #[test]
    fn a_steady_machine_scores_nothing_and_a_disturbed_one_something() {
        assert_eq!(of([1000; 50]), Some(0.0));
        // One stray sample in fifty is not noise, one in five is.
        assert_eq!(of((0..50).map(|i| if i == 7 { 9000 } else { 1000 })), Some(0.0));
        assert_eq!(of((0..50).map(|i| if i % 5 == 0 { 1500 } else { 1000 })), Some(0.5));
        assert!(of((0..101).map(|i| 950 + i)).is_some_and(|s| (s - 0.08).abs() < 1e-12));
    }

    #[test]
    fn a_few_samples_have_no_score() {
        assert_eq!(of([]), None);
        assert_eq!(of([1000; 9]), None);
        assert_eq!(of([1000; 10]), Some(0.0));
        assert_eq!(of([0; 10]), None);
    }

    #[test]
    fn the_work_is_really_done() {
        // The fastest of several: the machine that runs the tests may be busy.
        let fastest = |rounds| {
            let once = |_| {
                let start = thread_cpu();
                black_box(work(rounds));
                thread_cpu().saturating_sub(start)
            };
            (0..9).map(once).min().unwrap()
        };
        assert!(fastest(4 * ROUNDS) > 2 * fastest(ROUNDS));
        let mut noise = Noise::with_room(10);
        (0..10).for_each(|_| noise.sample());
        assert_eq!(noise.samples(), 10);
        // A machine that is slow while one of the two is timed, and not while the other is, proves nothing: once is enough.
        let whole = (0..20).any(|_| {
            noise.sample();
            noise.times.last().is_some_and(|t| *t * 2 > fastest(ROUNDS))
        });
        assert!(whole, "a sample is the whole work");
        assert!(noise.score().is_some_and(|s| s >= 0.0));
    }
}
