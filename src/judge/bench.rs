//! From the points of a bench to what may be said about them: a line for each subject, and a ratio between subjects.

use std::fmt;

use super::stats::bootstrap::{Interval, factor, ratio_of_medians};
use super::stats::fit;
use crate::record::bench::{Model, Point, Ratio};
use crate::seed::Seed;

/// What is compared: a bus with an encoding. Shown as `BUS/ENCODING`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject<'a> {
    /// The bus.
    pub bus: &'a str,
    /// The encoding.
    pub encoding: &'a str,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bus, self.encoding)
    }
}

impl<'a> Subject<'a> {
    /// Whose cost a point is.
    pub fn of(point: &'a Point) -> Subject<'a> {
        Subject { bus: &point.bus, encoding: &point.encoding }
    }
}

/// Each subject once, in the order of its first point.
fn subjects(points: &[Point]) -> Vec<Subject<'_>> {
    let mut found = Vec::new();
    for subject in points.iter().map(Subject::of) {
        if !found.contains(&subject) {
            found.push(subject);
        }
    }
    found
}

/// `cost = a + b · subscribers` for each subject that was measured at two numbers of subscribers or more. CPU is fitted to
/// the blocks, bytes and allocations to their one figure a point.
pub fn models(points: &[Point], seed: Seed) -> Vec<Model> {
    let model = |subject: Subject<'_>| {
        let own: Vec<&Point> = points.iter().filter(|p| Subject::of(p) == subject).collect();
        let seed = seed.derive(&format!("model {subject}"));
        let blocks: Vec<(u32, &[f64])> = own.iter().map(|p| (p.subscribers, &p.cpu_ns_blocks[..])).collect();
        let line = |figure: fn(&Point) -> f64| {
            let figures: Vec<(u32, f64)> = own.iter().map(|p| (p.subscribers, figure(p))).collect();
            fit::line(&figures, seed)
        };
        let cpu = fit::fit(&blocks, seed)?;
        Some(Model {
            bus: subject.bus.to_owned(),
            encoding: subject.encoding.to_owned(),
            a_ns: cpu.a,
            b_ns: cpu.b,
            a_ci: cpu.a_ci,
            b_ci: cpu.b_ci,
            residuals: cpu.residuals,
            bytes: line(|p| p.per_token.wire_bytes)?,
            allocations: line(|p| p.per_token.allocations)?,
        })
    };
    subjects(points).into_iter().filter_map(model).collect()
}

/// CPU of every other subject over the reference's, at each number of subscribers that both were measured at.
///
/// `controls` are blocks of a second copy of the reference, by number of subscribers, that ran interleaved with the rest. What
/// the reference seems to differ from itself is what this machine makes up, so no smaller difference is claimed. Without a
/// control nothing is.
pub fn ratios(
    points: &[Point],
    reference: Subject<'_>,
    controls: &[(u32, Vec<f64>)],
    seed: Seed,
) -> Vec<Ratio> {
    let ratio = |point: &Point| {
        let (subject, n) = (Subject::of(point), point.subscribers);
        let base = &points.iter().find(|p| Subject::of(p) == reference && p.subscribers == n)?.cpu_ns_blocks;
        let seed = seed.derive(&format!("ratio {subject} {reference} {n}"));
        let found = ratio_of_medians(&point.cpu_ns_blocks, base, seed)?;
        let control = controls
            .iter()
            .find(|(at, _)| *at == n)
            .and_then(|(_, copy)| ratio_of_medians(base, copy, seed.derive("control")))
            .unwrap_or(Interval { ratio: 1.0, lo: 0.0, hi: f64::INFINITY });
        Some(Ratio {
            of: subject.to_string(),
            vs: reference.to_string(),
            subscribers: n,
            ratio: found.ratio,
            ci: [found.lo, found.hi],
            control_ci: [control.lo, control.hi],
            claim: claim(&found, &control),
        })
    };
    let others = |subject: &Subject<'_>| *subject != reference;
    subjects(points)
        .into_iter()
        .filter(others)
        .flat_map(|subject| points.iter().filter(move |p| Subject::of(p) == subject))
        .filter_map(ratio)
        .collect()
}

/// The rule of [`Ratio::claim`]. "Farther" is meant as a factor, so that a claim does not depend on which of the two is
/// the numerator.
fn claim(found: &Interval, control: &Interval) -> bool {
    found.leaves_out_one() && factor(found.ratio) > control.reach()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "these figures are the same to the last bit, or wrong")]

    use super::super::stats::sample::blocks;
    use super::*;
    use crate::record::bench::PerToken;

    const SHIPPED: Subject<'static> = Subject { bus: "shared", encoding: "per-subscriber" };
    const ONCE: Subject<'static> = Subject { bus: "split", encoding: "once" };

    fn point(subject: Subject<'_>, subscribers: u32, cpu_ns_blocks: Vec<f64>) -> Point {
        let n = f64::from(subscribers);
        Point {
            bus: subject.bus.into(),
            encoding: subject.encoding.into(),
            subscribers,
            repeats: 15,
            per_token: PerToken { allocations: 7.0 + 3.0 * n, wire_bytes: 165.0 * n, ..PerToken::default() },
            cpu_ns_blocks,
        }
    }

    /// A bench of two subjects at 50 subscribers, the second `factor` times as expensive.
    fn compared(seed: u64, factor: f64, control_noise: f64) -> Ratio {
        let mut rng = Seed(seed).rng();
        let mut run = |cost, noise| blocks(&mut rng, cost, noise, 15);
        let points = [point(SHIPPED, 50, run(1000.0, 0.02)), point(ONCE, 50, run(1000.0 * factor, 0.02))];
        let controls = [(50, run(1000.0, control_noise))];
        let [found] = &ratios(&points, SHIPPED, &controls, Seed(seed))[..] else { panic!("one ratio") };
        found.clone()
    }

    #[test]
    fn a_tenth_more_is_claimed_and_so_is_a_tenth_less() {
        for seed in 0..5 {
            let more = compared(seed, 1.1, 0.02);
            assert!(more.claim && more.ci[0] > 1.0, "{more:?}");
            assert!(compared(seed, 0.9, 0.02).claim);
        }
    }

    #[test]
    fn subjects_that_cost_the_same_are_hardly_ever_claimed_to_differ() {
        let all: Vec<Ratio> = (0..200).map(|seed| compared(seed, 1.0, 0.02)).collect();
        let outside = all.iter().filter(|r| r.ci[0] > 1.0 || r.ci[1] < 1.0).count();
        let claimed = all.iter().filter(|r| r.claim).count();
        println!("of 200 pairs of equals: {outside} intervals without 1, {claimed} claims");
        assert!(claimed <= outside && outside <= 20, "{claimed} claims, {outside} intervals");
        assert!(claimed <= 10, "{claimed} claims");
    }

    #[test]
    fn a_control_that_differs_as_much_silences_the_claim() {
        let steady = compared(1, 1.1, 0.02);
        let shaky = compared(1, 1.1, 0.4);
        assert_eq!((steady.claim, shaky.claim), (true, false), "{steady:?} {shaky:?}");
        assert_eq!(
            steady.ci.map(f64::to_bits),
            shaky.ci.map(f64::to_bits),
            "the control is all that changed"
        );
        assert!(shaky.control_ci[0] < 0.9 || shaky.control_ci[1] > 1.1, "{shaky:?}");
    }

    #[test]
    fn a_difference_within_its_own_noise_is_not_claimed() {
        let of: Vec<f64> = [900.0, 1200.0, 1300.0].repeat(5);
        let judged = |of: Vec<f64>| {
            let points = [point(SHIPPED, 50, vec![1000.0; 15]), point(ONCE, 50, of)];
            ratios(&points, SHIPPED, &[(50, vec![1000.0; 15])], Seed(1)).remove(0)
        };
        let noisy = judged(of.clone());
        assert!(noisy.ratio == 1.2 && noisy.ci[0] < 1.0 && !noisy.claim, "{noisy:?}");
        assert!(judged(of.iter().map(|cost| cost + 200.0).collect()).claim);
    }

    #[test]
    fn without_a_control_nothing_is_claimed() {
        let points = [point(SHIPPED, 50, vec![1000.0; 15]), point(ONCE, 50, vec![2000.0; 15])];
        let judged = |controls: &[(u32, Vec<f64>)]| ratios(&points, SHIPPED, controls, Seed(1))[0].claim;
        assert!(judged(&[(50, vec![1000.0; 15])]));
        assert!(!judged(&[]));
        assert!(!judged(&[(10, vec![1000.0; 15])]), "a control at another number of subscribers is none");
        assert!(!judged(&[(50, vec![1000.0; 4])]), "a control of four blocks is none");
    }

    #[test]
    fn every_subject_is_held_against_the_reference_wherever_both_were_measured() {
        let even = Subject { bus: "opt-in", encoding: "once" };
        let cost = |n: f64| vec![n; 5];
        let points = [
            point(ONCE, 0, cost(3.0)),
            point(SHIPPED, 0, cost(2.0)),
            point(SHIPPED, 10, cost(20.0)),
            point(ONCE, 10, cost(30.0)),
            point(even, 10, cost(20.0)),
            point(even, 50, cost(20.0)),
        ];
        let found = ratios(&points, SHIPPED, &[], Seed(1));
        let shown: Vec<(&str, u32, f64)> =
            found.iter().map(|r| (&r.of[..], r.subscribers, r.ratio)).collect();
        assert_eq!(shown, [("split/once", 0, 1.5), ("split/once", 10, 1.5), ("opt-in/once", 10, 1.0)]);
        assert!(found.iter().all(|r| r.vs == "shared/per-subscriber"));
        assert!(ratios(&points, Subject { bus: "none", ..SHIPPED }, &[], Seed(1)).is_empty());
    }

    #[test]
    fn a_model_for_every_subject_with_a_slope() {
        let mut points = vec![point(ONCE, 10, vec![5.0; 5])];
        for n in [0, 1, 10, 100] {
            points.push(point(SHIPPED, n, vec![20_000.0 + 900.0 * f64::from(n); 5]));
        }
        let [model] = &models(&points, Seed(1))[..] else { panic!("one subject has a slope") };
        assert_eq!((model.bus.as_str(), model.encoding.as_str()), ("shared", "per-subscriber"));
        assert!((model.a_ns - 20_000.0).abs() < 0.01 && (model.b_ns - 900.0).abs() < 0.01, "{model:?}");
        assert!(
            (model.bytes.b - 165.0).abs() < 1e-6 && (model.allocations.a - 7.0).abs() < 1e-6,
            "{model:?}"
        );
        assert_eq!(model.allocations.b_ci, [model.allocations.b; 2]);
        assert_eq!(model.residuals.len(), 4);
    }
}
