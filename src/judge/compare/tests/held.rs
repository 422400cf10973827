//! What a comparison does not believe: budgets that went, known failures without a day, green by being new.

use super::super::*;
use super::{cell, compared, counting, one, rules, run, today};
use crate::record::baseline::{Account, Allowed, BaselineCell, Counts};
use crate::record::comparison::Count;
use crate::record::{Comparison as Is, Hop, Known, Outcome, Verdict};

fn judged(verdict: Verdict, by: &[(&str, Is, f64)]) -> BaselineCell {
    let allowed =
        |(budget, is, limit): &(&str, Is, f64)| Allowed { budget: (*budget).into(), is: *is, limit: *limit };
    BaselineCell { judged_by: Some(by.iter().map(allowed).collect()), ..cell("a", verdict) }
}

#[test]
fn a_budget_that_went_heals_nothing() {
    use Verdict::{Delivered, OverBudget, SilentLoss};
    let budget = [("log_lines", Is::AtMost, 0.0)];
    let with = |verdict| judged(verdict, &budget);
    let without = |verdict| judged(verdict, &[]);
    for (base, head, change, exit, words) in [
        (with(OverBudget), without(Delivered), Change::Rejudged, 10, "log_lines <= 0 is gone"),
        (with(Delivered), without(Delivered), Change::Rejudged, 10, "log_lines <= 0 is gone"),
        (without(Delivered), with(Delivered), Change::Rejudged, 0, "log_lines <= 0 is new"),
        (without(Delivered), with(OverBudget), Change::Worse, 10, "log_lines <= 0 is new"),
        (with(Delivered), without(SilentLoss), Change::NewlySilent, 10, "log_lines <= 0 is gone"),
    ] {
        let found = compared(base, head);
        assert_eq!((found.changes[0].change, found.exit), (change, exit), "{:?}", found.changes);
        assert_eq!(found.changes[0].budgets.as_deref(), Some(words));
    }
    let healed = compared(with(OverBudget), with(Delivered));
    assert_eq!(
        (healed.changes[0].change, healed.exit, &healed.changes[0].budgets),
        (Change::Healed, 0, &None)
    );
    let skip = Rules { skip_changed: true, ..rules() };
    let found = compare_runs(&one(with(OverBudget)), &one(without(Delivered)), &skip).unwrap();
    assert_eq!((found.changes[0].change, found.exit), (Change::Rejudged, 0), "allowed, and still told");
    // A side that does not say leaves it open, and the comparison says so.
    let found = compared(cell("a", Delivered), without(Delivered));
    assert!(
        found.changes.is_empty() && found.notes.iter().any(|note| note.contains("budgets")),
        "{:?}",
        found.notes
    );
}

#[test]
fn a_limit_gates_where_it_allows_more() {
    let of = |is, limits: &[f64]| {
        let by: Vec<(&str, Is, f64)> = limits.iter().map(|limit| ("log_lines", is, *limit)).collect();
        judged(Verdict::Delivered, &by)
    };
    for (is, looser) in [
        (Is::AtMost, [3.0, 4.0]),
        (Is::Below, [3.0, 4.0]),
        (Is::AtLeast, [4.0, 3.0]),
        (Is::Above, [4.0, 3.0]),
    ] {
        let [from, to] = looser;
        assert_eq!(compared(of(is, &[from]), of(is, &[to])).exit, 10, "{is:?}");
        let stricter = compared(of(is, &[to]), of(is, &[from]));
        assert_eq!((stricter.exit, stricter.changes[0].change), (0, Change::Rejudged), "{is:?}");
        assert!(compared(of(is, &[from]), of(is, &[from])).changes.is_empty());
    }
    assert_eq!(compared(of(Is::Exactly, &[1.0]), of(Is::Exactly, &[0.0])).exit, 10);
    let found = compared(of(Is::AtMost, &[3.0]), of(Is::AtMost, &[4.0]));
    assert_eq!(found.changes[0].budgets.as_deref(), Some("log_lines <= 3 is <= 4 now"));
}

fn listed(verdict: Verdict, known: Option<Verdict>) -> BaselineCell {
    let known = known.map(|verdict| Known {
        verdict,
        lost_at: None,
        code: None,
        reason: "tracked".into(),
        link: "https://x/1".into(),
        expires: today(),
    });
    BaselineCell { outcome: Outcome::Known, known, ..cell("a", verdict) }
}

#[test]
fn what_a_run_calls_known_is_held_to_its_day() {
    use Verdict::{Delivered, LoudLoss, SilentLoss};
    let on = |today, base: BaselineCell, head: BaselineCell| {
        compare_runs(&one(base), &one(head), &Rules { today, ..rules() }).unwrap()
    };
    let tomorrow = today().succ_opt().unwrap();
    let ill = || listed(SilentLoss, Some(SilentLoss));
    let found = on(today(), cell("a", Delivered), ill());
    assert_eq!((found.exit, found.changes[0].gates), (0, false));
    assert_eq!(found.changes[0].known.as_deref(), Some("tracked (https://x/1), until 2026-12-01"));
    let found = on(tomorrow, cell("a", Delivered), ill());
    assert_eq!((found.exit, found.changes[0].gates, &found.changes[0].known), (10, true, &None));
    let found = on(tomorrow, ill(), ill());
    assert_eq!((found.exit, found.stale.len(), found.changes.len()), (11, 1, 0), "it was known before, too");
    assert!(found.stale[0].why.contains("expired on 2026-12-01: tracked (https://x/1)"), "{:?}", found.stale);
    // The entry is of another failure: somebody edited the outcome.
    assert_eq!(on(today(), cell("a", Delivered), listed(SilentLoss, Some(LoudLoss))).exit, 10);
    // An older file does not say until when.
    let found = on(today(), cell("a", Delivered), listed(SilentLoss, None));
    assert!(
        found.exit == 10 && found.notes.iter().any(|note| note.contains("until when")),
        "{:?}",
        found.notes
    );
}

#[test]
fn a_new_cell_that_is_red_is_red() {
    let green = || cell("a", Verdict::Delivered);
    let new = |cell: BaselineCell| {
        let cell = BaselineCell { id: "b".into(), ..cell };
        let found = compare_runs(&one(green()), &run(vec![green(), cell]), &rules()).unwrap();
        (found.changes[0].change, found.changes[0].gates, found.exit)
    };
    let outcome = |outcome| BaselineCell { outcome, ..cell("b", Verdict::SilentLoss) };
    assert_eq!(new(outcome(Outcome::Unexpected)), (Change::Added, true, 10));
    assert_eq!(
        new(outcome(Outcome::Expected)),
        (Change::Added, false, 0),
        "it is lost, and its scenario says so"
    );
    assert_eq!(new(listed(Verdict::SilentLoss, Some(Verdict::SilentLoss))), (Change::Added, false, 0));
    assert_eq!(new(listed(Verdict::SilentLoss, None)), (Change::Added, true, 10));
    // One that was left out because it does something else now is as new as that.
    let other = |outcome| BaselineCell { hash: "other".into(), outcome, ..cell("b", Verdict::SilentLoss) };
    let before = |outcome| run(vec![green(), BaselineCell { outcome, ..cell("b", Verdict::Delivered) }]);
    let skip = Rules { skip_changed: true, ..rules() };
    let exit = |was, is| compare_runs(&before(was), &run(vec![green(), other(is)]), &skip).unwrap().exit;
    assert_eq!(exit(Outcome::Expected, Outcome::Unexpected), 10);
    assert_eq!(exit(Outcome::Expected, Outcome::Expected), 0);
    assert_eq!(exit(Outcome::Unexpected, Outcome::Unexpected), 0, "it was red before");
    // Nothing is there to hold it against, and it is red all the same.
    let other = BaselineCell { id: "b".into(), ..outcome(Outcome::Unexpected) };
    assert_eq!(
        compare_runs(&one(green()), &one(other), &Rules { allow_gone: true, ..rules() }).unwrap().exit,
        10
    );
}

fn counted(account: Account) -> BaselineCell {
    BaselineCell {
        counts: Counts { account: Some(account), ..counting(&[], 3).counts },
        ..cell("a", Verdict::Delivered)
    }
}

/// What makes an account another one.
type With = fn(&mut Account);

#[test]
fn every_exact_count_is_compared() {
    let base = Account {
        produced: [1, 2],
        due: [1, 2],
        entered: [(Hop::Sent, [1, 2])].into(),
        found: [(Verdict::Corrupted, [1, 2])].into(),
        log: [("refused".to_owned(), 1)].into(),
        surfaced: 1,
        oracle: Some([2, 1]),
        first_frame: Some(3),
        proven: true,
    };
    let cases: [(With, &str, u8); 10] = [
        (|a| a.produced = [2, 2], "produced by the model, frames", 10),
        (|a| a.due = [1, 1], "due to the application, characters", 10),
        (|a| a.entered = [(Hop::Sent, [1, 3])].into(), "came to sent, characters", 10),
        (|a| a.found = [(Verdict::Corrupted, [1, 9])].into(), "found corrupted, characters", 10),
        (|a| a.found.clear(), "found corrupted, frames", 10),
        (|a| a.log = [("refused".to_owned(), 2)].into(), "client log, refused, lines", 12),
        (
            |a| a.log = [("refused".to_owned(), 1), ("other".to_owned(), 1)].into(),
            "client log, other, lines",
            12,
        ),
        (|a| a.surfaced = 0, "what surfaced", 10),
        (|a| a.oracle = Some([2, 2]), "by the consumer's own count, silent steps", 10),
        (|a| a.first_frame = Some(4), "number of the first frame that was lost", 10),
    ];
    for (with, name, exit) in cases {
        let mut head = base.clone();
        with(&mut head);
        let found = compared(counted(base.clone()), counted(head));
        assert_eq!((found.exit, found.counts[0].count.as_str()), (exit, name), "{:?}", found.counts);
    }
    assert_eq!(compared(counted(base.clone()), counted(base.clone())).counts, []);
    let unproven = compared(counted(base.clone()), counted(Account { proven: false, ..base.clone() }));
    assert!(
        unproven.exit == 0 && unproven.notes[0].contains("1 cells are unproven that were proven, first `a`")
    );
    // A file that was kept before says nothing of them, and that is said.
    let older = compared(counting(&[], 3), counted(base));
    assert!(
        older.counts.is_empty() && older.notes[0].contains("BASE was kept by an older skewlab"),
        "{:?}",
        older.notes
    );
}

#[test]
fn counts_beyond_what_a_float_holds_are_told_apart() {
    const LARGE: u64 = 1 << 53;
    let found = compared(counting(&[("wire bytes", LARGE)], 3), counting(&[("wire bytes", LARGE + 1)], 3));
    let one = &found.counts[0];
    assert_eq!(
        (found.exit, one.base, one.head),
        (12, Some(Count::Whole(LARGE)), Some(Count::Whole(LARGE + 1)))
    );
}
