//! What a headline means next to what the scenario says.

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::figures;
use crate::record::{
    Expected, Figures, Finding, Hop, Known, Metric, Outcome, Reason, Scope, Signal, Verdict,
};

/// The outcome of a cell's findings, worst first, and why it is not plainly expected. What is said of the headline
/// goes for the cell, and the figures that the scenario names have to hold as well; budgets alone are looked at under a worse headline too, so that a loss which is expected
/// hides no cost that is not.
///
/// - a rig fault is unexpected, whatever the scenario says: it says nothing about the subject;
/// - as expected: fine, unless a known failure is listed, which is then stale;
/// - the known failure: tolerated up to and including its last day, stale from then on;
/// - anything else is unexpected, also when a known failure of another kind is listed or expired.
pub fn outcome(
    findings: &[Finding],
    counted: &Figures,
    expected: &Expected,
    known: Option<&Known>,
    today: NaiveDate,
) -> (Outcome, Option<String>) {
    let Some(headline) = findings.first() else {
        return (Outcome::Unexpected, Some("nothing was found, not even that all is well".to_owned()));
    };
    if headline.verdict.is_rig_fault() {
        return (Outcome::Unexpected, Some(headline.note.clone()));
    }
    let mut differs = differences(headline, expected);
    differs.extend(other_budgets(findings, expected));
    differs.extend(figures::missed(counted, &expected.figures));
    match known {
        None if differs.is_empty() => (Outcome::Expected, None),
        None => (Outcome::Unexpected, Some(differs.join("; "))),
        Some(known) if differs.is_empty() => {
            let Known { reason, link, .. } = known;
            (Outcome::Stale, Some(format!("passes now; remove the known failure: {reason} ({link})")))
        }
        Some(known) if !matches(headline, known) => {
            let at = known.lost_at.map(|hop| format!(" at `{hop}`")).unwrap_or_default();
            let code = known.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
            let other = format!("the known failure is `{}`{at}{code}", known.verdict.as_str());
            (Outcome::Unexpected, Some(format!("{}; {other}", differs.join("; "))))
        }
        Some(Known { reason, link, expires, .. }) if today > *expires => {
            (Outcome::Stale, Some(format!("expired on {expires}: {reason} ({link})")))
        }
        Some(Known { reason, link, expires, .. }) => {
            (Outcome::Known, Some(format!("{reason} ({link}), until {expires}")))
        }
    }
}

fn matches(headline: &Finding, known: &Known) -> bool {
    is_known(known, headline.verdict, headline.lost_at, headline.reason.as_ref())
}

/// Whether a cell that ended so has this failure, expired or not.
pub(super) fn is_known(
    known: &Known,
    verdict: Verdict,
    lost_at: Option<Hop>,
    reason: Option<&Reason>,
) -> bool {
    verdict == known.verdict
        && known.lost_at.is_none_or(|hop| lost_at == Some(hop))
        && known.code.as_deref().is_none_or(|code| reason.map(Reason::as_str) == Some(code))
}

/// Every given part that is not as given, by name, with both words.
fn differences(headline: &Finding, expected: &Expected) -> Vec<String> {
    let reason = headline.reason.as_ref().map(Reason::as_str);
    let parts = [
        ("verdict", Some(headline.verdict.as_str()), Some(expected.verdict.as_str())),
        ("scope", headline.scope.map(Scope::as_str), expected.scope.map(Scope::as_str)),
        ("lost_at", headline.lost_at.map(Hop::as_str), expected.lost_at.map(Hop::as_str)),
        ("signal", Some(headline.signal.as_str()), expected.signal.map(Signal::as_str)),
        ("reason", reason, expected.reason.as_deref()),
    ];
    let differing = parts.into_iter().filter(|(_, is, wanted)| wanted.is_some() && is != wanted);
    differing
        .map(|(part, is, wanted)| {
            let (is, wanted) =
                (is.map_or("absent".to_owned(), |is| format!("`{is}`")), wanted.unwrap_or("-"));
            format!("{part} is {is}, expected `{wanted}`")
        })
        .collect()
}

/// Whether the headline is as expected and a budget is broken all the same that is not expected to be.
pub fn only_over_budget(findings: &[Finding], expected: &Expected) -> bool {
    let as_expected = |headline: &Finding| differences(headline, expected).is_empty();
    findings.first().is_some_and(as_expected)
        && wanted(findings, expected).is_some_and(|wanted| !broken(findings).is_subset(&wanted))
}

/// The budgets that are broken, by name.
fn broken(findings: &[Finding]) -> BTreeSet<&str> {
    let broken = findings.iter().filter(|f| f.verdict == Verdict::OverBudget);
    broken.filter_map(|f| f.reason.as_ref().map(Reason::as_str)).collect()
}

/// The budgets that have to be broken; none where any may be. What the headline says itself is not said twice.
fn wanted<'a>(findings: &[Finding], expected: &'a Expected) -> Option<BTreeSet<&'a str>> {
    let worse = findings.first().is_some_and(|headline| headline.verdict < Verdict::OverBudget);
    match &expected.over {
        Some(over) => Some(over.iter().map(|metric: &Metric| metric.as_str()).collect()),
        None => worse.then(BTreeSet::new),
    }
}

/// The broken budgets, where they are not exactly those that are expected.
fn other_budgets(findings: &[Finding], expected: &Expected) -> Option<String> {
    let (broken, wanted) = (broken(findings), wanted(findings, expected)?);
    let list = |of: BTreeSet<&str>| {
        let named: Vec<String> = of.into_iter().map(|name| format!("`{name}`")).collect();
        if named.is_empty() { "none".to_owned() } else { named.join(", ") }
    };
    (broken != wanted).then(|| format!("over budget is {}, expected {}", list(broken), list(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Comparison, Figure, FigureLimit};
    use crate::unit::Tally;

    /// The outcome of a cell with one finding.
    fn outcome(
        headline: &Finding,
        expected: &Expected,
        known: Option<&Known>,
        today: NaiveDate,
    ) -> (Outcome, Option<String>) {
        super::outcome(std::slice::from_ref(headline), &Figures::new(), expected, known, today)
    }

    fn found(verdict: Verdict) -> Finding {
        Finding {
            verdict,
            scope: Some(Scope::Total),
            lost_at: Some(Hop::Decoded),
            reason: Some(Reason::new("unknown_kind")),
            signal: Signal::Log,
            amount: Tally::default(),
            note: "a note".to_owned(),
        }
    }

    fn known(verdict: Verdict, lost_at: Option<Hop>) -> Known {
        let expires = day(15);
        Known {
            verdict,
            lost_at,
            code: None,
            reason: "why".to_owned(),
            link: "https://x/1".to_owned(),
            expires,
        }
    }

    fn day(day: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 6, day).unwrap()
    }

    fn full() -> Expected {
        Expected {
            scope: Some(Scope::Total),
            lost_at: Some(Hop::Decoded),
            signal: Some(Signal::Log),
            reason: Some("unknown_kind".to_owned()),
            because: Some("of 1.22".to_owned()),
            ..Expected::of(Verdict::SilentLoss)
        }
    }

    #[test]
    fn all_given_parts_must_match_and_the_note_names_those_that_do_not() {
        let headline = found(Verdict::SilentLoss);
        assert_eq!(outcome(&headline, &full(), None, day(1)), (Outcome::Expected, None));
        let none = || Finding { scope: None, lost_at: None, reason: None, ..found(Verdict::SilentLoss) };
        for (expected, headline, note) in [
            (
                Expected { verdict: Verdict::LoudLoss, ..full() },
                found(Verdict::SilentLoss),
                "verdict is `silent_loss`, expected `loud_loss`",
            ),
            (
                Expected { scope: Some(Scope::Gap), ..full() },
                found(Verdict::SilentLoss),
                "scope is `total`, expected `gap`",
            ),
            (
                Expected { lost_at: Some(Hop::Sent), ..full() },
                found(Verdict::SilentLoss),
                "lost_at is `decoded`, expected `sent`",
            ),
            (
                Expected { signal: Some(Signal::None), ..full() },
                found(Verdict::SilentLoss),
                "signal is `log`, expected `none`",
            ),
            (
                Expected { reason: Some("x".to_owned()), ..full() },
                found(Verdict::SilentLoss),
                "reason is `unknown_kind`, expected `x`",
            ),
            (
                full(),
                none(),
                "scope is absent, expected `total`; lost_at is absent, expected `decoded`; reason is absent, expected `unknown_kind`",
            ),
        ] {
            assert_eq!(
                outcome(&headline, &expected, None, day(1)),
                (Outcome::Unexpected, Some(note.to_owned()))
            );
        }
    }

    #[test]
    fn what_is_not_given_may_be_anything() {
        let expected = Expected::of(Verdict::SilentLoss);
        assert_eq!(outcome(&found(Verdict::SilentLoss), &expected, None, day(1)).0, Outcome::Expected);
    }

    #[test]
    fn a_known_failure_is_tolerated_until_its_last_day_only() {
        let (headline, expected) = (found(Verdict::SilentLoss), Expected::of(Verdict::Delivered));
        let known = known(Verdict::SilentLoss, Some(Hop::Decoded));
        let (is, note) = outcome(&headline, &expected, Some(&known), day(15));
        assert_eq!((is, note.as_deref()), (Outcome::Known, Some("why (https://x/1), until 2026-06-15")));
        let (is, note) = outcome(&headline, &expected, Some(&known), day(16));
        assert_eq!((is, note.as_deref()), (Outcome::Stale, Some("expired on 2026-06-15: why (https://x/1)")));
    }

    #[test]
    fn a_known_failure_that_passes_is_stale() {
        let expected = Expected::of(Verdict::Delivered);
        for today in [day(1), day(30)] {
            let (is, note) = outcome(
                &found(Verdict::Delivered),
                &expected,
                Some(&known(Verdict::SilentLoss, None)),
                today,
            );
            assert_eq!(is, Outcome::Stale);
            assert!(note.unwrap().starts_with("passes now"));
        }
    }

    #[test]
    fn another_failure_than_the_known_one_is_unexpected_even_after_it_expired() {
        let expected = Expected::of(Verdict::Delivered);
        for (verdict, lost_at) in [(Verdict::Corrupted, None), (Verdict::SilentLoss, Some(Hop::Sent))] {
            for today in [day(1), day(30)] {
                let (is, note) =
                    outcome(&found(Verdict::SilentLoss), &expected, Some(&known(verdict, lost_at)), today);
                assert_eq!(is, Outcome::Unexpected);
                assert!(note.unwrap().contains("the known failure is"));
            }
        }
    }

    #[test]
    fn the_broken_budgets_are_all_named_or_it_is_another_outcome() {
        let over = |metric: Metric| Finding {
            reason: Some(Reason::new(metric.as_str())),
            ..found(Verdict::OverBudget)
        };
        let findings = [over(Metric::SerialisationsPerToken), over(Metric::IdleWrites)];
        let with = |metrics: &[Metric]| Expected {
            over: Some(metrics.iter().copied().collect()),
            ..Expected::of(Verdict::OverBudget)
        };
        let is = |expected: &Expected| super::outcome(&findings, &Figures::new(), expected, None, day(1));
        assert_eq!(is(&Expected::of(Verdict::OverBudget)).0, Outcome::Expected);
        assert_eq!(
            is(&with(&[Metric::IdleWrites, Metric::SerialisationsPerToken])),
            (Outcome::Expected, None)
        );
        let (outcome, note) = is(&with(&[Metric::IdleWrites]));
        assert_eq!(outcome, Outcome::Unexpected);
        let said = "over budget is `idle_writes`, `serialisations_per_token`, expected `idle_writes`";
        assert_eq!(note.as_deref(), Some(said));
        assert!(!super::only_over_budget(&findings, &Expected::of(Verdict::OverBudget)));
        // A worse headline that is expected hides nothing, whether the budgets are named or not.
        let lossy = [found(Verdict::SilentLoss), over(Metric::IdleWrites)];
        let nothing = Expected { over: Some(BTreeSet::new()), ..Expected::of(Verdict::SilentLoss) };
        let (outcome, note) = super::outcome(&lossy, &Figures::new(), &nothing, None, day(1));
        assert_eq!(outcome, Outcome::Unexpected);
        assert_eq!(note.as_deref(), Some("over budget is `idle_writes`, expected none"));
        let unnamed = Expected::of(Verdict::SilentLoss);
        assert_eq!(super::outcome(&lossy, &Figures::new(), &unnamed, None, day(1)), (outcome, note));
        let named = Expected { over: Some([Metric::IdleWrites].into()), ..unnamed.clone() };
        assert_eq!(super::outcome(&lossy, &Figures::new(), &named, None, day(1)), (Outcome::Expected, None));
        let only = |expected: &Expected| super::only_over_budget(&lossy, expected);
        assert_eq!([only(&nothing), only(&unnamed), only(&named)], [true, true, false]);
        // Another loss than the expected one, or fewer broken budgets, are more than a cost.
        assert!(!only(&Expected { scope: Some(Scope::Gap), ..unnamed.clone() }));
        assert!(!super::only_over_budget(&lossy[..1], &named));
        assert_eq!(super::outcome(&lossy[..1], &Figures::new(), &named, None, day(1)).0, Outcome::Unexpected);
        assert_eq!(super::outcome(&[], &Figures::new(), &nothing, None, day(1)).0, Outcome::Unexpected);
    }

    #[test]
    fn a_rig_fault_is_never_expected_and_never_known() {
        for verdict in [Verdict::NotRun, Verdict::Invalid] {
            let note = Some("a note".to_owned());
            let is = outcome(&found(verdict), &Expected::of(verdict), Some(&known(verdict, None)), day(1));
            assert_eq!(is, (Outcome::Unexpected, note.clone()));
            assert_eq!(outcome(&found(verdict), &Expected::of(verdict), None, day(1)).0, Outcome::Unexpected);
        }
    }

    #[test]
    fn a_figure_that_is_missed_makes_the_outcome_unexpected_and_all_are_named() {
        let limit = |figure, is, value, from: Option<&str>| FigureLimit {
            figure,
            is,
            value: Some(value),
            from: from.map(str::to_owned),
        };
        let expected = Expected {
            figures: vec![
                limit(Figure::Dispatches, Comparison::Exactly, 20.0, Some("N+C")),
                limit(Figure::DurableChunks, Comparison::AtMost, 7.0, Some("k")),
                limit(Figure::HandledChunks, Comparison::Exactly, 0.0, None),
            ],
            ..Expected::of(Verdict::SilentLoss)
        };
        let is = |figures: &[(Figure, u64)]| {
            let figures: Figures = figures.iter().copied().collect();
            super::outcome(&[found(Verdict::SilentLoss)], &figures, &expected, None, day(1))
        };
        let right = [(Figure::Dispatches, 20), (Figure::DurableChunks, 3), (Figure::HandledChunks, 0)];
        assert_eq!(is(&right), (Outcome::Expected, None));
        let (outcome, note) = is(&[(Figure::Dispatches, 19), (Figure::DurableChunks, 8)]);
        assert_eq!(outcome, Outcome::Unexpected);
        let said = "dispatches is 19, expected == 20 (N+C); durable_chunks is 8, expected <= 7 (k); \
                    handled_chunks was not counted, expected == 0";
        assert_eq!(note.as_deref(), Some(said));
    }
}
