//! From blocks that ran in turn to what may be said of a time.
//!
//! A point is red only if all of this holds: the near end of its interval lies beyond the declared smallest effect, at a
//! level corrected for the number of points (Holm); a copy of BASE that took its turns like the others does not differ from
//! BASE; and a second series, measured afterwards, says the same of it.

use super::stats::bootstrap::{Interval, Tested, ratio_of_medians, tested};
use crate::record::interleaved::{Claim, Series, TimedPoint};
use crate::seed::Seed;

/// How often any of all points may be called changed although none is.
pub const FAMILY_ERROR: f64 = 0.05;

/// The blocks of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// The point.
    pub id: String,
    /// Of BASE, by round.
    pub base: Vec<f64>,
    /// Of HEAD.
    pub head: Vec<f64>,
    /// Of the second copy of BASE.
    pub control: Vec<f64>,
}

/// Judges a first series, and where a point of it would be red asks for a second one.
///
/// `again` measures once more; `None` says that it was stopped, and then nothing is confirmed.
pub fn decide<E>(
    first: &[Blocks],
    again: impl FnOnce() -> Result<Option<Vec<Blocks>>, E>,
    effect: f64,
    seed: Seed,
) -> Result<Vec<TimedPoint>, E> {
    let judged = judged(first, effect, seed.derive("first"));
    let red = |claim: Claim| claim == Claim::Regressed;
    let mut points: Vec<TimedPoint> = first
        .iter()
        .zip(judged)
        .map(|(blocks, (first, claim))| TimedPoint { id: blocks.id.clone(), claim, first, second: None })
        .collect();
    if !points.iter().any(|point| red(point.claim)) {
        return Ok(points);
    }
    let second = again()?.unwrap_or_default();
    // What is confirmed was chosen by the first series, which the second knows nothing of: it answers for these alone.
    let asked: Vec<Blocks> = second
        .into_iter()
        .filter(|blocks| points.iter().any(|point| point.id == blocks.id && red(point.claim)))
        .collect();
    let confirmed = self::judged(&asked, effect, seed.derive("second"));
    for (blocks, (series, claim)) in asked.iter().zip(confirmed) {
        if let Some(point) = points.iter_mut().find(|point| point.id == blocks.id) {
            point.second = Some(series);
            point.claim = if red(claim) { Claim::Regressed } else { Claim::NoClaim };
        }
    }
    for point in points.iter_mut().filter(|point| red(point.claim) && point.second.is_none()) {
        point.claim = Claim::NoClaim;
    }
    Ok(points)
}

/// One series: each point for itself, then all of them corrected together.
fn judged(points: &[Blocks], effect: f64, seed: Seed) -> Vec<(Series, Claim)> {
    let tests: Vec<(Option<Tested>, Interval)> =
        points.iter().map(|blocks| test(blocks, points.len(), effect, seed)).collect();
    let p = |test: &(Option<Tested>, Interval)| test.0.as_ref().map_or(1.0, |tested| tested.p);
    let holm = holm(&tests.iter().map(p).collect::<Vec<_>>());
    let series = points.iter().zip(&tests).zip(holm).map(|((blocks, test), p_holm)| {
        let (found, control) = test;
        let unknown = Interval { ratio: 1.0, lo: 0.0, hi: f64::INFINITY };
        let interval = found.as_ref().map_or(unknown, |found| found.interval);
        let series = Series {
            base_ns: blocks.base.clone(),
            head_ns: blocks.head.clone(),
            control_ns: blocks.control.clone(),
            ratio: interval.ratio,
            ci: [interval.lo, interval.hi],
            control_ci: [control.lo, control.hi],
            p: p(test),
            p_holm,
        };
        (series, claim(&interval, control, p_holm, effect))
    });
    series.collect()
}

fn test(blocks: &Blocks, points: usize, effect: f64, seed: Seed) -> (Option<Tested>, Interval) {
    let seed = seed.derive(&blocks.id);
    // The smallest level that Holm asks for has to lie within what so many resamples can tell.
    let resamples = super::stats::RESAMPLES.max(400 * points);
    let found = tested(&blocks.head, &blocks.base, effect, resamples, seed.derive("ratio"));
    let control = ratio_of_medians(&blocks.control, &blocks.base, seed.derive("control"));
    (found, control.unwrap_or(Interval { ratio: 1.0, lo: 0.0, hi: f64::INFINITY }))
}

fn claim(found: &Interval, control: &Interval, p: f64, effect: f64) -> Claim {
    let known = |of: &Interval| of.lo > 0.0 && of.hi.is_finite();
    if !known(found) || !known(control) || control.leaves_out_one() {
        return Claim::TooNoisy;
    }
    match (p <= FAMILY_ERROR, found.ratio > 1.0) {
        (true, true) => Claim::Regressed,
        (true, false) => Claim::Improved,
        // An interval wider than the whole band of no interest could not have shown the smallest effect.
        (false, _) if found.hi / found.lo > (1.0 + effect).powi(2) => Claim::TooNoisy,
        (false, _) => Claim::NoClaim,
    }
}

/// Holm's step-down correction, in the order given.
fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let (mut corrected, mut largest) = (vec![1.0; p.len()], 0.0_f64);
    for (rank, at) in order.into_iter().enumerate() {
        let left = f64::from(u32::try_from(p.len() - rank).unwrap_or(u32::MAX));
        largest = largest.max(p[at] * left).min(1.0);
        corrected[at] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::super::stats::sample::blocks;
    use super::*;

    const EFFECT: f64 = 0.05;
    const ROUNDS: usize = 15;

    /// Points that cost `factor` as much in HEAD, the first of them only where `one` says so.
    fn points(seed: u64, count: usize, factor: f64, one: bool, noise: f64) -> Vec<Blocks> {
        let mut rng = Seed(seed).rng();
        (0..count)
            .map(|n| {
                let factor = if one && n > 0 { 1.0 } else { factor };
                let mut run = |cost| blocks(&mut rng, cost, noise, ROUNDS);
                let (base, control, head) = (run(1000.0), run(1000.0), run(1000.0 * factor));
                Blocks { id: format!("p/{n}"), base, head, control }
            })
            .collect()
    }

    fn decided(seed: u64, count: usize, factor: f64, one: bool, noise: f64) -> Vec<TimedPoint> {
        let again =
            || Ok::<_, std::convert::Infallible>(Some(points(seed + 10_000, count, factor, one, noise)));
        decide(&points(seed, count, factor, one, noise), again, EFFECT, Seed(seed)).unwrap()
    }

    #[test]
    fn a_tenth_more_is_found_and_confirmed() {
        let found = (0..20).filter(|seed| {
            let points = decided(*seed, 6, 1.1, true, 0.02);
            assert!(points[1..].iter().all(|p| p.claim != Claim::Regressed), "only the first costs more");
            points[0].claim == Claim::Regressed && points[0].second.is_some()
        });
        let found = found.count();
        println!("a tenth more on one of six points, noise 2 %: found {found} of 20 times");
        assert!(found >= 18, "{found} of 20");
    }

    #[test]
    fn identical_code_raises_no_alarm_more_often_than_declared() {
        for noise in [0.02, 0.10] {
            let all: Vec<Vec<TimedPoint>> =
                (0..100).map(|seed| decided(seed, 3, 1.0, false, noise)).collect();
            let any = |of: fn(&TimedPoint) -> bool| all.iter().filter(|points| points.iter().any(of)).count();
            // A second series is measured where the first one said so.
            let (first, alarms) = (any(|p| p.second.is_some()), any(|p| p.claim == Claim::Regressed));
            println!(
                "identical code, 3 points, noise {noise}: {first} of 100 first series, {alarms} of 100 alarms"
            );
            assert!(alarms <= 5, "{alarms} alarms of 100 at a declared {FAMILY_ERROR}");
        }
    }

    #[test]
    fn less_than_the_smallest_effect_is_no_claim_and_less_cost_is_an_improvement() {
        for seed in 0..10 {
            assert_eq!(decided(seed, 1, 1.02, false, 0.01)[0].claim, Claim::NoClaim);
            assert_eq!(decided(seed, 1, 0.8, false, 0.01)[0].claim, Claim::Improved);
        }
    }

    #[test]
    fn noise_that_hides_the_effect_is_told_from_no_effect() {
        assert_eq!(decided(1, 1, 1.0, false, 0.5)[0].claim, Claim::TooNoisy);
        let few =
            vec![Blocks { id: "p".into(), base: vec![1.0; 4], head: vec![2.0; 4], control: vec![1.0; 4] }];
        let again = || panic!("nothing to confirm");
        let found = decide::<()>(&few, again, EFFECT, Seed(1)).unwrap();
        assert_eq!(found[0].claim, Claim::TooNoisy, "four blocks say nothing");
    }

    #[test]
    fn a_control_that_differs_from_itself_silences_the_alarm() {
        let mut shaken = points(1, 1, 1.3, false, 0.02);
        for block in &mut shaken[0].control {
            *block *= 1.2;
        }
        let again = || panic!("nothing to confirm");
        let found = decide::<()>(&shaken, again, EFFECT, Seed(1)).unwrap();
        assert_eq!(found[0].claim, Claim::TooNoisy);
    }

    #[test]
    fn what_the_second_series_does_not_say_is_not_red() {
        let first = points(1, 2, 1.3, false, 0.02);
        let ok = |second: Option<Vec<Blocks>>| move || Ok::<_, std::convert::Infallible>(second);
        let claims = |second| -> Vec<Claim> {
            let points = decide(&first, ok(second), EFFECT, Seed(1)).unwrap();
            points.iter().map(|p| p.claim).collect()
        };
        assert_eq!(claims(Some(points(2, 2, 1.3, false, 0.02))), [Claim::Regressed; 2]);
        assert_eq!(claims(Some(points(2, 2, 1.3, true, 0.02))), [Claim::Regressed, Claim::NoClaim]);
        assert_eq!(claims(Some(points(2, 2, 1.0, false, 0.02))), [Claim::NoClaim; 2]);
        assert_eq!(claims(None), [Claim::NoClaim; 2], "it was stopped");
    }

    #[test]
    fn holm_multiplies_by_what_is_left_and_never_falls() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&holm(&[0.01, 0.04, 0.03]), &[0.03, 0.06, 0.06]));
        assert!(close(&holm(&[0.9, 0.02]), &[0.9, 0.04]));
        assert!(close(&holm(&[0.6, 0.7]), &[1.0, 1.0]));
        assert!(holm(&[]).is_empty());
    }
}
