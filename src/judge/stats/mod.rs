//! Statistics of repeated blocks: pure functions of numbers and a seed.
//!
//! Medians, because a block that the machine disturbed is an outlier and not a measurement. Intervals by resampling the
//! blocks (bootstrap, percentile method, 95 %), because nobody knows the distribution of a block's time.

pub mod bootstrap;
pub mod fit;

pub use bootstrap::{Interval, ratio_of_medians};
pub use fit::{Fit, fit, line};

/// Resamples behind an interval: the ends of 95 % are then the 50th from either side.
pub const RESAMPLES: usize = 2000;

/// With fewer blocks no interval is claimed. An interval from resamples reaches no farther than the blocks do, and the
/// range of four blocks holds the true median 7 times in 8 only (of five: 15 in 16, of six: 31 in 32).
pub const FEWEST_BLOCKS: usize = 5;

/// The middle value, or the mean of the two; NaN of nothing. Reorders what it is given.
fn median(values: &mut [f64]) -> f64 {
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    if values.is_empty() {
        return f64::NAN;
    }
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    f64::midpoint(lower, upper)
}

/// The median of values that stay as they are.
fn median_of(values: &[f64]) -> f64 {
    median(&mut values.to_vec())
}

/// An interval that says nothing.
pub const EVERYTHING: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// The values that leave out 2.5 % of the resamples on either side; everything when there are none.
fn middle_95(resampled: &mut [f64]) -> [f64; 2] {
    resampled.sort_unstable_by(f64::total_cmp);
    let out = resampled.len() / 40;
    let ends = (resampled.get(out), resampled.iter().rev().nth(out));
    if let (Some(lo), Some(hi)) = ends { [*lo, *hi] } else { EVERYTHING }
}

/// Indices below `n`, drawn with replacement into `drawn`.
///
/// Multiply and shift instead of a library's range: the same seed has to give the same interval in every version, and
/// the bias, `n / 2³²`, is nothing.
fn draw(rng: &mut impl rand::Rng, n: usize, drawn: &mut Vec<usize>) {
    drawn.clear();
    drawn.extend((0..n).map(|_| {
        let wide = u64::from(rng.next_u32()) * n as u64;
        usize::try_from(wide >> 32).unwrap_or_default()
    }));
}

#[cfg(test)]
pub(super) mod sample;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn medians_of_odd_even_and_none() {
        assert_eq!(median_of(&[3.0, 1.0, 2.0]).to_bits(), 2_f64.to_bits());
        assert_eq!(median_of(&[4.0, 1.0, 2.0, 3.0]).to_bits(), 2.5_f64.to_bits());
        assert_eq!(median_of(&[7.0]).to_bits(), 7_f64.to_bits());
        assert_eq!(median_of(&[1.0, 9.0]).to_bits(), 5_f64.to_bits());
        assert!(median_of(&[]).is_nan());
    }

    #[test]
    fn the_middle_leaves_out_fifty_of_two_thousand_on_each_side() {
        let mut values: Vec<f64> = (0..2000_u32).rev().map(f64::from).collect();
        assert_eq!(middle_95(&mut values).map(f64::to_bits), [50.0, 1949.0].map(f64::to_bits));
        assert_eq!(middle_95(&mut []).map(f64::to_bits), EVERYTHING.map(f64::to_bits));
    }

    #[test]
    fn every_index_is_drawn_equally_often() {
        let (mut rng, mut drawn, mut seen) = (Seed(1).rng(), Vec::new(), [0_u32; 7]);
        for _ in 0..10_000 {
            draw(&mut rng, 7, &mut drawn);
            for i in &drawn {
                seen[*i] += 1;
            }
        }
        assert_eq!(seen.iter().sum::<u32>(), 70_000);
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 500), "{seen:?}");
    }
}
