//! Draws from one seed.

use std::time::Duration;

use rand::Rng as _;
use rand::rngs::ChaCha8Rng;

use crate::seed::Seed;

/// A generator that says what a draw is for. The same seed draws the same on every machine.
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: Seed) -> Dice {
        Dice(seed.rng())
    }

    /// From 0 to below `n`; 0 for nothing to choose from.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.0.next_u64() % n }
    }

    /// From `least` to `most`, both included.
    pub(super) fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// The same for what is counted in 32 bits.
    pub(super) fn times(&mut self, most: u32) -> u32 {
        u32::try_from(self.within(1, u64::from(most))).unwrap_or(1)
    }

    /// In that many of a hundred draws.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Whole milliseconds, both ends included.
    pub(super) fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.within(least, most))
    }

    /// One of them. The list is never empty: all of them are written in the code or checked before.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len() as u64);
        &from[usize::try_from(at).unwrap_or_default()]
    }
}
