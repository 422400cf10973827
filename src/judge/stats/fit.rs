//! A line through costs at several numbers of subscribers: `cost = a + b · subscribers`.

use super::{EVERYTHING, FEWEST_BLOCKS, RESAMPLES, draw, median, median_of, middle_95};
use crate::record::bench::{Line, Residual};
use crate::seed::Seed;

/// Passes of the fit that weigh by the line of the pass before; the weights are settled after two.
const PASSES: u32 = 3;
/// A residual below this share of the line is the rounding of the arithmetic.
const ROUNDING: f64 = 1e-9;

/// A fitted line with 95 % intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// At no subscribers.
    pub a: f64,
    /// Per subscriber.
    pub b: f64,
    /// Interval of `a`.
    pub a_ci: [f64; 2],
    /// Interval of `b`.
    pub b_ci: [f64; 2],
    /// Of each point, in the order given.
    pub residuals: Vec<Residual>,
}

/// Fits the medians of blocks, and resamples the blocks within each number of subscribers for the intervals.
///
/// Least squares of *relative* distances: each point weighs `1 ÷ fitted²`. Noise is in proportion to cost, so with
/// equal weights the noise at 1,000 subscribers would drown what the point at none says about `a`. The line is not known
/// before the fit; it starts from the medians' own weights and is fitted again with the weights of its last line.
///
/// `None` without two different numbers of subscribers: no slope. Nothing is clipped: a negative `a` or `b` says that the
/// cost is no line, or is lost in the noise. The intervals are everything when a point has fewer than [`FEWEST_BLOCKS`]
/// blocks. They tell the noise of the blocks; whether a line is the right shape is for the residuals to tell.
pub fn fit(points: &[(u32, &[f64])], seed: Seed) -> Option<Fit> {
    let points: Vec<(u32, &[f64])> =
        points.iter().copied().filter(|(_, blocks)| !blocks.is_empty()).collect();
    let medians: Vec<(u32, f64)> = points.iter().map(|(n, blocks)| (*n, median_of(blocks))).collect();
    let (a, b) = relative_least_squares(&medians)?;
    let residuals = residuals(&medians, a, b);
    let mut intervals = [EVERYTHING; 2];
    if points.iter().all(|(_, blocks)| blocks.len() >= FEWEST_BLOCKS) {
        let mut rng = seed.rng();
        let (mut drawn, mut taken, mut again) = (Vec::new(), Vec::new(), medians);
        intervals = resampled(|| {
            for ((_, middle), (_, blocks)) in again.iter_mut().zip(&points) {
                draw(&mut rng, blocks.len(), &mut drawn);
                taken.clear();
                taken.extend(drawn.iter().filter_map(|i| blocks.get(*i)));
                *middle = median(&mut taken);
            }
            relative_least_squares(&again)
        });
    }
    let [a_ci, b_ci] = intervals;
    Some(Fit { a, b, a_ci, b_ci, residuals })
}

/// Fits one figure for each number of subscribers, where there are no blocks to resample: counts.
///
/// The interval comes from what lies off the line: its relative residuals are resampled among the points, widened by
/// `√(k ÷ (k − 2))` for the two parameters that made them smaller. Counts on a line leave nothing off it, and the interval is
/// of no width. Two points always lie on a line, so they have no interval. `None` as for [`fit()`].
pub fn line(points: &[(u32, f64)], seed: Seed) -> Option<Line> {
    let (a, b) = relative_least_squares(points)?;
    let count = points.len();
    if count < 3 {
        return Some(Line { a, b, b_ci: EVERYTHING });
    }
    let off: Vec<f64> = residuals(points, a, b)
        .iter()
        .map(|r| if r.relative.abs() < ROUNDING { 0.0 } else { r.relative })
        .collect();
    if off.iter().all(|r| *r == 0.0) {
        return Some(Line { a, b, b_ci: [b, b] });
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of points")]
    let widen = (count as f64 / (count - 2) as f64).sqrt();
    let mut rng = seed.rng();
    let mut drawn = Vec::new();
    let [_, b_ci] = resampled(|| {
        draw(&mut rng, count, &mut drawn);
        let moved = |((n, _), i): (&(u32, f64), &usize)| {
            let on_line = a + b * f64::from(*n);
            (*n, on_line * (1.0 + widen * off.get(*i).copied().unwrap_or_default()))
        };
        let again: Vec<(u32, f64)> = points.iter().zip(&drawn).map(moved).collect();
        relative_least_squares(&again)
    });
    Some(Line { a, b, b_ci })
}

/// Intervals of `a` and `b` over many fits.
fn resampled(refit: impl FnMut() -> Option<(f64, f64)>) -> [[f64; 2]; 2] {
    let (mut a, mut b): (Vec<f64>, Vec<f64>) =
        std::iter::repeat_with(refit).take(RESAMPLES).flatten().unzip();
    [middle_95(&mut a), middle_95(&mut b)]
}

fn residuals(points: &[(u32, f64)], a: f64, b: f64) -> Vec<Residual> {
    let of = |(n, value): &(u32, f64)| {
        let (off, fitted) = (value - (a + b * f64::from(*n)), a + b * f64::from(*n));
        // Nothing measured where nothing was fitted is no deviation.
        Residual { subscribers: *n, relative: if off == 0.0 { 0.0 } else { off / fitted.abs() } }
    };
    points.iter().map(of).collect()
}

fn relative_least_squares(points: &[(u32, f64)]) -> Option<(f64, f64)> {
    // A fitted value of nothing would weigh infinitely much. No point weighs more than the cheapest that cost anything.
    let cheapest =
        points.iter().map(|(_, y)| y.abs()).filter(|y| *y > 0.0).min_by(f64::total_cmp).unwrap_or(1.0);
    let weight = |fitted: f64| fitted.abs().max(cheapest).powi(-2);
    let (mut a, mut b) = weighted(points, |_, y| weight(y))?;
    for _ in 0..PASSES {
        (a, b) = weighted(points, |n, _| weight(a + b * n))?;
    }
    Some((a, b))
}

/// `None` where all weight is on one number of subscribers, or a value is not finite.
fn weighted(points: &[(u32, f64)], weight: impl Fn(f64, f64) -> f64) -> Option<(f64, f64)> {
    let first = points.first()?.0;
    if points.iter().all(|(n, _)| *n == first) {
        return None;
    }
    let weighed = || points.iter().map(|(n, y)| (f64::from(*n), *y, weight(f64::from(*n), *y)));
    let (sum, n_sum, y_sum) =
        weighed().fold((0.0, 0.0, 0.0), |(s, ns, ys), (n, y, w)| (s + w, ns + w * n, ys + w * y));
    let (n_mean, y_mean) = (n_sum / sum, y_sum / sum);
    let (across, along) = weighed().fold((0.0, 0.0), |(across, along), (n, y, w)| {
        (across + w * (n - n_mean) * (y - y_mean), along + w * (n - n_mean).powi(2))
    });
    let b = across / along;
    let a = y_mean - b * n_mean;
    (a.is_finite() && b.is_finite()).then_some((a, b))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "these figures are the same to the last bit, or wrong")]

    use super::super::sample::blocks;
    use super::*;

    const COUNTS: [u32; 6] = [0, 1, 10, 50, 200, 1000];

    fn measured(seed: u64, (a, b): (f64, f64), noise: f64, repeats: usize) -> Vec<(u32, Vec<f64>)> {
        let mut rng = Seed(seed).rng();
        COUNTS.iter().map(|n| (*n, blocks(&mut rng, a + b * f64::from(*n), noise, repeats))).collect()
    }

    fn fitted(points: &[(u32, Vec<f64>)], seed: u64) -> Option<Fit> {
        let points: Vec<(u32, &[f64])> = points.iter().map(|(n, blocks)| (*n, &blocks[..])).collect();
        fit(&points, Seed(seed))
    }

    fn holds([lo, hi]: [f64; 2], truth: f64) -> bool {
        lo <= truth && truth <= hi
    }

    #[test]
    fn known_costs_are_within_their_intervals_as_often_as_those_say() {
        let (truth, seeds) = ((20_000.0, 900.0), 100);
        let (mut a_held, mut b_held) = (0, 0);
        for seed in 0..seeds {
            let found = fitted(&measured(seed, truth, 0.05, 15), seed).unwrap();
            a_held += u64::from(holds(found.a_ci, truth.0));
            b_held += u64::from(holds(found.b_ci, truth.1));
        }
        println!("intervals at 95 % that held the true value: a {a_held}, b {b_held} of {seeds}");
        assert!(a_held >= seeds * 9 / 10 && b_held >= seeds * 9 / 10, "a {a_held}, b {b_held} of {seeds}");
        // An interval of everything would always hold it.
        let one = fitted(&measured(1, truth, 0.05, 15), 1).unwrap();
        assert!(
            one.b_ci[1] - one.b_ci[0] < 0.1 * truth.1 && one.a_ci[1] - one.a_ci[0] < 0.15 * truth.0,
            "{one:?}"
        );
    }

    #[test]
    fn many_subscribers_do_not_drown_what_none_cost() {
        // 5 % of the cost at 1,000 subscribers is twice what a token costs with none.
        let mut points = measured(7, (20_000.0, 900.0), 0.0, 5);
        points[5].1.iter_mut().for_each(|cost| *cost *= 1.05);
        let weighed = fitted(&points, 1).unwrap();
        assert!((weighed.a / 20_000.0 - 1.0).abs() < 0.02, "{weighed:?}");
        let medians: Vec<(u32, f64)> = points.iter().map(|(n, blocks)| (*n, blocks[0])).collect();
        let (plain, _) = weighted(&medians, |_, _| 1.0).unwrap();
        assert!((plain / 20_000.0 - 1.0).abs() > 0.1, "equal weights would do as well: {plain}");
    }

    #[test]
    fn a_cost_that_is_no_line_shows_in_its_residuals() {
        let straight = fitted(&measured(1, (20_000.0, 900.0), 0.001, 5), 1).unwrap();
        assert!(straight.residuals.iter().all(|r| r.relative.abs() < 0.01), "{straight:?}");
        let mut bent = measured(1, (20_000.0, 900.0), 0.001, 5);
        for (n, blocks) in &mut bent {
            for cost in blocks {
                *cost += 2.0 * f64::from(*n).powi(2);
            }
        }
        let bent = fitted(&bent, 1).unwrap();
        assert!(bent.residuals.iter().any(|r| r.relative.abs() > 0.2), "{bent:?}");
        assert_eq!(bent.residuals.iter().map(|r| r.subscribers).collect::<Vec<_>>(), COUNTS);
    }

    #[test]
    fn no_two_numbers_of_subscribers_have_no_slope() {
        assert_eq!(fit(&[], Seed(1)), None);
        assert_eq!(fit(&[(10, &[5.0; 9])], Seed(1)), None);
        assert_eq!(fit(&[(10, &[5.0; 9]), (10, &[6.0; 9])], Seed(1)), None);
        assert_eq!(fit(&[(10, &[5.0; 9]), (20, &[])], Seed(1)), None);
        assert_eq!(fit(&[(10, &[5.0; 9]), (20, &[f64::NAN; 9])], Seed(1)), None);
        assert_eq!(line(&[(10, 5.0)], Seed(1)), None);
    }

    #[test]
    fn a_negative_estimate_stays_negative() {
        let found = fit(&[(10, &[100.0; 5]), (20, &[50.0; 5])], Seed(1)).unwrap();
        assert!((found.b + 5.0).abs() < 1e-9 && (found.a - 150.0).abs() < 1e-9, "{found:?}");
        let found = fit(&[(10, &[5.0; 5]), (20, &[50.0; 5])], Seed(1)).unwrap();
        assert!((found.a + 40.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_few_blocks_have_a_line_and_no_interval() {
        let found = fit(&[(0, &[100.0; 9]), (20, &[50.0; 4])], Seed(1)).unwrap();
        assert_eq!((found.a_ci, found.b_ci), (EVERYTHING, EVERYTHING));
        let found = fit(&[(0, &[100.0; 5]), (20, &[50.0; 5])], Seed(1)).unwrap();
        assert_eq!((found.a_ci, found.b_ci), ([found.a; 2], [found.b; 2]));
    }

    #[test]
    fn exact_counts_have_an_interval_of_no_width() {
        for (a, b) in [(7.0, 3.0), (0.0, 165.0), (5.0, 0.0), (0.0, 0.0)] {
            let counts: Vec<(u32, f64)> = COUNTS.iter().map(|n| (*n, a + b * f64::from(*n))).collect();
            let found = line(&counts, Seed(1)).unwrap();
            assert!((found.a - a).abs() < 1e-6 && (found.b - b).abs() < 1e-6, "{found:?}");
            assert_eq!(found.b_ci, [found.b; 2], "{found:?}");
        }
    }

    #[test]
    fn counts_off_the_line_have_a_wide_interval() {
        let off: Vec<(u32, f64)> = COUNTS
            .iter()
            .zip([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
            .map(|(n, s)| (*n, (7.0 + 3.0 * f64::from(*n)) * (1.0 + 0.1 * s)))
            .collect();
        let found = line(&off, Seed(1)).unwrap();
        assert!(holds(found.b_ci, 3.0) && found.b_ci[1] - found.b_ci[0] > 0.1, "{found:?}");
        assert_eq!(line(&[(0, 7.0), (10, 37.0)], Seed(1)).unwrap().b_ci, EVERYTHING);
    }
}
