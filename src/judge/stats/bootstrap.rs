//! How many times as expensive one subject is as another, and how sure that is.

use super::{FEWEST_BLOCKS, RESAMPLES, draw, median, median_of, middle_95};
use crate::seed::Seed;

/// A ratio with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Median over median.
    pub ratio: f64,
    /// Lower end; 0 when nothing is known.
    pub lo: f64,
    /// Upper end; infinite when nothing is known.
    pub hi: f64,
}

impl Interval {
    /// Whether both ends lie on the same side of 1.
    pub fn leaves_out_one(&self) -> bool {
        self.lo > 1.0 || self.hi < 1.0
    }

    /// How far the interval reaches from 1, as a factor of at least 1: 1.25 for `[0.8, 1.1]`. Twice and half are
    /// equally far, so it does not matter which subject is the numerator.
    pub fn reach(&self) -> f64 {
        factor(self.lo).max(factor(self.hi))
    }
}

/// How far a ratio is from 1, as a factor of at least 1.
pub fn factor(ratio: f64) -> f64 {
    if ratio >= 1.0 { ratio } else { ratio.recip() }
}

/// `median(of) ÷ median(vs)` with its interval from [`RESAMPLES`] resamples. `None` when there is nothing to divide
/// or nothing to divide by: no blocks, or a denominator that is not above zero.
///
/// Blocks at the same index ran one after the other. With as many on both sides a resample takes the same indices from
/// both, so what disturbed both at once (a busy minute of the machine) cancels out; otherwise each side is
/// resampled for itself.
///
/// With fewer than [`FEWEST_BLOCKS`] on a side the interval is everything, `0 … ∞`: so few have no 95 % interval, and
/// a bootstrap of them would look surer than it is.
pub fn ratio_of_medians(of: &[f64], vs: &[f64], seed: Seed) -> Option<Interval> {
    let ratio = ratio(of, vs)?;
    if of.len().min(vs.len()) < FEWEST_BLOCKS {
        return Some(Interval { ratio, lo: 0.0, hi: f64::INFINITY });
    }
    let mut ratios = resampled(of, vs, RESAMPLES, seed);
    let [lo, hi] = middle_95(&mut ratios);
    Some(Interval { ratio, lo, hi })
}

/// A ratio that was tested against a smallest effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The ratio with its 95 % interval.
    pub interval: Interval,
    /// How likely so much is where the ratio is no farther from 1 than the smallest effect, as a factor; two-sided.
    pub p: f64,
}

/// [`ratio_of_medians`], and how surely it lies beyond `1 + effect`, or below `1 ÷ (1 + effect)`.
///
/// Resamples reach no farther than the blocks do, so all of them may lie on one side where only luck put the blocks there. Of
/// `n` blocks that happens once in `2^(n-1)`, and no smaller probability is given.
pub fn tested(of: &[f64], vs: &[f64], effect: f64, resamples: usize, seed: Seed) -> Option<Tested> {
    let ratio = ratio(of, vs)?;
    let blocks = of.len().min(vs.len());
    if blocks < FEWEST_BLOCKS {
        return Some(Tested { interval: Interval { ratio, lo: 0.0, hi: f64::INFINITY }, p: 1.0 });
    }
    let mut ratios = resampled(of, vs, resamples, seed);
    let far = 1.0 + effect;
    let [above, below] = [
        ratios.iter().filter(|ratio| **ratio <= far).count(),
        ratios.iter().filter(|ratio| **ratio >= far.recip()).count(),
    ];
    #[expect(clippy::cast_precision_loss, reason = "thousands of resamples")]
    let share = |within: usize| (within + 1) as f64 / (ratios.len() + 1) as f64;
    let least = 2_f64.powi(1 - i32::try_from(blocks).unwrap_or(i32::MAX));
    let p = (2.0 * share(above.min(below))).max(least).min(1.0);
    let [lo, hi] = middle_95(&mut ratios);
    Some(Tested { interval: Interval { ratio, lo, hi }, p })
}

/// Median over median, where there is something to divide and to divide by.
fn ratio(of: &[f64], vs: &[f64]) -> Option<f64> {
    let (above, below) = (median_of(of), median_of(vs));
    Some(above / below).filter(|ratio| ratio.is_finite() && below > 0.0)
}

/// The ratio in every resample.
fn resampled(of: &[f64], vs: &[f64], resamples: usize, seed: Seed) -> Vec<f64> {
    let mut rng = seed.rng();
    let (mut drawn, mut above, mut below) = (Vec::new(), Vec::new(), Vec::new());
    let take = |from: &[f64], drawn: &[usize], into: &mut Vec<f64>| {
        into.clear();
        into.extend(drawn.iter().filter_map(|i| from.get(*i)));
        median(into)
    };
    let one = |_| {
        draw(&mut rng, of.len(), &mut drawn);
        let numerator = take(of, &drawn, &mut above);
        if of.len() != vs.len() {
            draw(&mut rng, vs.len(), &mut drawn);
        }
        numerator / take(vs, &drawn, &mut below)
    };
    (0..resamples).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::blocks;
    use super::*;

    /// 15 blocks of each, interleaved.
    fn pair(seed: u64, factor: f64, noise: f64) -> Interval {
        let mut rng = Seed(seed).rng();
        let vs = blocks(&mut rng, 1000.0, noise, 15);
        let of = blocks(&mut rng, 1000.0 * factor, noise, 15);
        ratio_of_medians(&of, &vs, Seed(seed).derive("resample")).unwrap()
    }

    #[test]
    fn a_tenth_more_shows_and_a_thousandth_does_not() {
        let more = pair(1, 1.1, 0.02);
        assert!(more.leaves_out_one() && more.lo < 1.1 && 1.1 < more.hi, "{more:?}");
        assert!(!pair(1, 1.001, 0.02).leaves_out_one());
        assert!(pair(1, 0.9, 0.02).leaves_out_one());
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        let missed = (0..200).filter(|seed| pair(*seed, 1.0, 0.02).leaves_out_one()).count();
        println!("intervals at 95 % that left out the true ratio: {missed} of 200");
        // Too few would be as wrong as too many: an interval of everything never misses.
        assert!((1..=20).contains(&missed), "{missed} of 200");
    }

    #[test]
    fn what_disturbs_both_at_once_cancels_out() {
        let mut rng = Seed(3).rng();
        // The machine is up to twice as slow in some rounds; of costs 5 % more in each of them.
        let vs: Vec<f64> = (0..15_u32).map(|i| 1000.0 * (1.0 + f64::from(i % 5) / 4.0)).collect();
        let of: Vec<f64> = vs.iter().map(|v| blocks(&mut rng, v * 1.05, 0.002, 1)[0]).collect();
        let paired = ratio_of_medians(&of, &vs, Seed(1)).unwrap();
        assert!(paired.lo > 1.04 && paired.hi < 1.06, "{paired:?}");
        // One block fewer on one side, and they are no pairs any more.
        let apart = ratio_of_medians(&of[1..], &vs, Seed(1)).unwrap();
        assert!(!apart.leaves_out_one(), "{apart:?}");
    }

    #[test]
    fn too_few_blocks_say_nothing() {
        let few = ratio_of_medians(&[20.0; 4], &[10.0; 9], Seed(1)).unwrap();
        assert_eq!(few, Interval { ratio: 2.0, lo: 0.0, hi: f64::INFINITY });
        assert!(!few.leaves_out_one());
        assert!(ratio_of_medians(&[20.0; 5], &[10.0; 5], Seed(1)).unwrap().leaves_out_one());
    }

    #[test]
    fn nothing_to_divide_by_is_no_ratio() {
        assert_eq!(ratio_of_medians(&[], &[1.0; 5], Seed(1)), None);
        assert_eq!(ratio_of_medians(&[1.0; 5], &[], Seed(1)), None);
        assert_eq!(ratio_of_medians(&[1.0; 5], &[0.0; 5], Seed(1)), None);
        assert_eq!(ratio_of_medians(&[f64::NAN; 5], &[1.0; 5], Seed(1)), None);
    }

    #[test]
    fn one_seed_one_interval() {
        assert_eq!(pair(5, 1.0, 0.02), pair(5, 1.0, 0.02));
        let mut rng = Seed(5).rng();
        let vs = blocks(&mut rng, 1000.0, 0.02, 15);
        let of = blocks(&mut rng, 1000.0, 0.02, 15);
        assert_ne!(ratio_of_medians(&of, &vs, Seed(1)), ratio_of_medians(&of, &vs, Seed(2)));
    }

    #[test]
    fn half_is_as_far_as_twice() {
        assert_eq!(factor(0.5).to_bits(), factor(2.0).to_bits());
        let interval = |lo, hi| Interval { ratio: 1.0, lo, hi }.reach();
        assert_eq!(interval(0.8, 1.1).to_bits(), 1.25_f64.to_bits());
        assert!(interval(0.0, f64::INFINITY).is_infinite());
    }
}
