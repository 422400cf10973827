mod held;

use proptest::prelude::*;

use super::*;
use crate::record::baseline::{BASELINE_SCHEMA, Baseline, BaselineCell, BaselineHead, Counts};
use crate::record::comparison::{Count, CountChange};
use crate::record::{Figure, Hop, Known, Outcome, Reason, SCHEMA, Scope, Signal, Verdict};

fn today() -> chrono::NaiveDate {
    chrono::NaiveDate::from_ymd_opt(2026, 12, 1).unwrap()
}

fn rules() -> Rules<'static> {
    Rules { today: today(), ..Rules::default() }
}

fn cell(id: &str, verdict: Verdict) -> BaselineCell {
    BaselineCell {
        id: id.into(),
        hash: "0123456789abcdef".into(),
        verdict,
        scope: None,
        lost_at: None,
        reason: None,
        signal: Signal::None,
        outcome: Outcome::Expected,
        known: None,
        judged_by: None,
        also: Vec::new(),
        counts: Counts::default(),
    }
}

fn run(cells: Vec<BaselineCell>) -> Baseline {
    let head = BaselineHead {
        schema: BASELINE_SCHEMA.into(),
        of: SCHEMA.into(),
        skewlab: "0.1.0".into(),
        clock: "virtual".into(),
        seed: 1,
        cells: cells.len() as u64,
    };
    Baseline { head, cells }
}

fn one(cell: BaselineCell) -> Baseline {
    run(vec![cell])
}

fn compared(base: BaselineCell, head: BaselineCell) -> Comparison {
    compare_runs(&one(base), &one(head), &rules()).unwrap()
}

fn change(base: Verdict, head: Verdict) -> (Option<Change>, u8) {
    let found = compared(cell("a", base), cell("a", head));
    (found.changes.first().map(|c| c.change), found.exit)
}

#[test]
fn every_class_of_change_has_a_pair_that_makes_it() {
    use Verdict::{ByDesign, Delivered, DurableLoss, Invalid, LoudLoss, NotRun, SilentLoss};
    for (base, head, wanted, exit) in [
        (Delivered, Delivered, None, 0),
        (Delivered, SilentLoss, Some(Change::NewlySilent), 10),
        (LoudLoss, SilentLoss, Some(Change::NewlySilent), 10),
        (Delivered, LoudLoss, Some(Change::NewlyLoud), 10),
        (SilentLoss, DurableLoss, Some(Change::Worse), 10),
        (Delivered, ByDesign, Some(Change::Worse), 10),
        (SilentLoss, LoudLoss, Some(Change::Better), 0),
        (DurableLoss, SilentLoss, Some(Change::Better), 0),
        (ByDesign, Delivered, Some(Change::Better), 0),
        (SilentLoss, Delivered, Some(Change::Healed), 0),
        (Delivered, NotRun, Some(Change::Unjudged), 13),
        (Invalid, SilentLoss, Some(Change::JudgedAgain), 13),
    ] {
        assert_eq!(change(base, head), (wanted, exit), "{base:?} {head:?}");
    }
}

#[test]
fn a_loss_that_moved_is_seen_and_so_is_one_under_another() {
    let lost = |hop| BaselineCell { lost_at: Some(hop), ..cell("a", Verdict::SilentLoss) };
    let moved = compared(lost(Hop::Decoded), lost(Hop::Admitted));
    assert_eq!((moved.changes[0].change, moved.exit), (Change::Changed, 0));
    for other in [
        BaselineCell { scope: Some(Scope::Tail), ..lost(Hop::Decoded) },
        BaselineCell { reason: Some(Reason::new("r")), ..lost(Hop::Decoded) },
        BaselineCell { signal: Signal::Log, ..lost(Hop::Decoded) },
    ] {
        assert_eq!(compared(lost(Hop::Decoded), other).changes[0].change, Change::Changed);
    }
    let also = BaselineCell { also: vec![Verdict::OverBudget], ..lost(Hop::Decoded) };
    let under = compared(lost(Hop::Decoded), also.clone());
    assert_eq!((under.changes[0].change, under.exit), (Change::Worse, 10));
    assert_eq!(compared(also, lost(Hop::Decoded)).changes[0].change, Change::Better);
}

#[test]
fn a_cell_that_is_gone_is_a_finding_and_a_new_one_is_none() {
    let two = run(vec![cell("a", Verdict::Delivered), cell("b", Verdict::Delivered)]);
    let less = compare_runs(&two, &one(cell("a", Verdict::Delivered)), &rules()).unwrap();
    assert_eq!((less.changes[0].change, less.changes[0].id.as_str(), less.exit), (Change::Gone, "b", 10));
    let allowed = Rules { allow_gone: true, ..rules() };
    assert_eq!(compare_runs(&two, &one(cell("a", Verdict::Delivered)), &allowed).unwrap().exit, 0);
    let more = compare_runs(&one(cell("a", Verdict::Delivered)), &two, &rules()).unwrap();
    assert_eq!((more.changes[0].change, more.exit, more.compared), (Change::Added, 0, 1));
}

#[test]
fn what_did_not_run_the_same_thing_is_refused_or_listed() {
    let other = BaselineCell { hash: "other".into(), ..cell("b", Verdict::SilentLoss) };
    let base = run(vec![cell("a", Verdict::Delivered), cell("b", Verdict::Delivered)]);
    let head = run(vec![cell("a", Verdict::Delivered), other]);
    let said = compare_runs(&base, &head, &rules()).unwrap_err().to_string();
    assert!(
        said.contains("1 of the cells") && said.contains("`b`") && said.contains("--changed skip"),
        "{said}"
    );
    let skip = Rules { skip_changed: true, ..rules() };
    let found = compare_runs(&base, &head, &skip).unwrap();
    assert_eq!((found.skipped, found.compared, found.exit), (vec!["b".to_owned()], 1, 0));
}

/// What makes a head another one.
type With = fn(&mut BaselineHead);

#[test]
fn other_clocks_seeds_and_schemas_are_refused_with_the_reason() {
    let base = one(cell("a", Verdict::Delivered));
    let cases: [(With, &str); 3] = [
        (|h| h.clock = "wall".into(), "the clock is `virtual` in BASE and `wall` in HEAD"),
        (|h| h.seed = 2, "the seed is `1` in BASE and `2` in HEAD"),
        (|h| h.of = "skewlab.run/0".into(), "the schema is"),
    ];
    for (with, part) in cases {
        let mut head = base.clone();
        with(&mut head.head);
        let said = compare_runs(&base, &head, &rules()).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
    let said = compare_runs(&base, &run(Vec::new()), &rules()).unwrap_err().to_string();
    assert!(said.contains("HEAD is empty"), "{said}");
    let twice = run(vec![cell("a", Verdict::Delivered), cell("a", Verdict::Delivered)]);
    assert!(compare_runs(&twice, &base, &rules()).unwrap_err().to_string().contains("BASE has `a` twice"));
    let mut newer = base.clone();
    newer.head.skewlab = "9.9.9".into();
    assert!(compare_runs(&base, &newer, &rules()).unwrap().notes[0].contains("9.9.9"));
}

fn counting(effects: &[(&str, u64)], left: u64) -> BaselineCell {
    let effects = effects.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    let counts = Counts { effects, left: [(Hop::Sent, [left, left])].into(), ..Counts::default() };
    BaselineCell { counts, ..cell("a", Verdict::Delivered) }
}

#[test]
fn text_gates_either_way_and_costs_only_upwards() {
    let posts = |n| counting(&[("webhook posts", n)], 3);
    let up = compared(posts(3), posts(4));
    assert_eq!((up.exit, up.counts.len(), up.counts[0].gates), (12, 1, true));
    assert_eq!((up.counts[0].base, up.counts[0].head), (Some(Count::Whole(3)), Some(Count::Whole(4))));
    let down = compared(posts(4), posts(3));
    assert_eq!((down.exit, down.counts.len(), down.counts[0].gates), (0, 1, false));
    let (none, some) = (counting(&[], 3), posts(1));
    assert_eq!(compared(none, some).exit, 12, "from nothing is up, too");
    for (base, head) in [(3, 4), (4, 3)] {
        let found = compared(counting(&[], base), counting(&[], head));
        assert_eq!((found.exit, found.counts.len()), (10, 2), "frames and characters");
    }
    let both = compared(counting(&[("webhook posts", 1)], 1), counting(&[("webhook posts", 2)], 2));
    assert_eq!(both.exit, 10, "text is worse than cost");
}

#[test]
fn a_cell_that_its_scenario_no_longer_expects_is_no_cell_that_did_not_change() {
    let red = |verdict| BaselineCell { outcome: Outcome::Unexpected, ..cell("a", verdict) };
    let same = compared(cell("a", Verdict::SilentLoss), red(Verdict::SilentLoss));
    assert_eq!((same.exit, same.changes.len(), same.changes[0].change), (10, 1, Change::Worse));
    // A budget that is gone makes the verdict better and the run red.
    let better = compared(cell("a", Verdict::OverBudget), red(Verdict::Delivered));
    assert_eq!((better.exit, better.changes[0].change, better.changes[0].gates), (10, Change::Healed, true));
    let before = compared(red(Verdict::SilentLoss), red(Verdict::SilentLoss));
    assert_eq!((before.exit, before.changes.len()), (0, 0), "it was red before");
}

#[test]
fn the_counts_of_a_cell_that_healed_gate_nothing() {
    let mut healed = counting(&[("webhook posts", 9)], 9);
    healed.verdict = Verdict::Delivered;
    let ill = BaselineCell { verdict: Verdict::SilentLoss, ..counting(&[], 3) };
    let found = compared(ill, healed);
    assert_eq!(found.exit, 0);
    assert!(!found.counts.is_empty() && found.counts.iter().all(|c| !c.gates));
}

#[test]
fn what_one_side_could_not_see_gates_nothing() {
    let figure = |n: Option<u64>| {
        let figures = n.map(|n| (Figure::DurableChunks, n)).into_iter().collect();
        BaselineCell { counts: Counts { figures, ..Counts::default() }, ..cell("a", Verdict::Delivered) }
    };
    let found = compared(figure(None), figure(Some(3)));
    assert_eq!((found.exit, found.counts.len(), found.counts[0].base), (0, 1, None));
    assert_eq!(compared(figure(Some(2)), figure(Some(3))).exit, 10);
    let foreign = |posts| {
        let mut cell = counting(&[("webhook posts", posts)], 3);
        cell.counts.foreign = true;
        cell
    };
    let seen = counting(&[("webhook posts", 1), ("serialisations", 7)], 3);
    let found = compared(seen.clone(), foreign(1));
    assert_eq!((found.exit, found.counts.len()), (0, 1), "{:?}", found.counts);
    assert_eq!(compared(seen, foreign(2)).exit, 12, "the webhook is seen from outside");
}

fn known(picks: &[&str], verdict: Verdict, code: Option<&str>) -> KnownFailure {
    let expires = today();
    let (reason, link) = ("tracked".to_owned(), "https://x/1".to_owned());
    let known = Known { verdict, lost_at: None, code: code.map(str::to_owned), reason, link, expires };
    KnownFailure { cell: "*".into(), line: 7, picks: picks.iter().map(|p| (*p).to_owned()).collect(), known }
}

#[test]
fn a_known_failure_is_tolerated_until_it_expires_and_stale_when_it_is_gone() {
    let (well, mut ill) = (cell("a", Verdict::Delivered), cell("a", Verdict::SilentLoss));
    (ill.reason, ill.outcome) = (Some(Reason::new("r")), Outcome::Unexpected);
    let with = |known: &[KnownFailure], today, head: &BaselineCell| {
        let rules = Rules { known, today, ..rules() };
        compare_runs(&one(well.clone()), &one(head.clone()), &rules).unwrap()
    };
    let listed = [known(&["a"], Verdict::SilentLoss, Some("r"))];
    let found = with(&listed, today(), &ill);
    assert_eq!((found.exit, found.changes[0].gates), (0, false));
    assert!(found.changes[0].known.as_ref().unwrap().contains("https://x/1"));
    let tomorrow = today().succ_opt().unwrap();
    let late = with(&listed, tomorrow, &ill);
    assert_eq!((late.exit, late.stale[0].line), (10, Some(7)), "and its failure is one again");
    assert!(late.stale[0].why.contains("expired"));
    let gone = with(&listed, today(), &well);
    assert_eq!(gone.exit, 11);
    assert!(gone.stale[0].why.contains("passes now"), "{:?}", gone.stale);
    let nothing = with(&[known(&[], Verdict::SilentLoss, None)], today(), &well);
    assert_eq!((nothing.exit, nothing.stale[0].why.as_str()), (11, "it picks no cell"));
    let twice = with(&[listed[0].clone(), listed[0].clone()], today(), &ill);
    assert_eq!((twice.exit, twice.stale.len()), (11, 1));
    assert!(twice.stale[0].why.contains("listed before it"), "{:?}", twice.stale);
    assert_eq!(with(&[known(&["a"], Verdict::SilentLoss, Some("other"))], today(), &ill).exit, 10);
    assert_eq!(with(&[known(&["a"], Verdict::LoudLoss, None)], today(), &ill).exit, 10);
}

#[test]
fn a_hundred_thousand_cells_are_compared_in_one_pass() {
    let many = |bad: usize| {
        let verdict = |n| if n < bad { Verdict::SilentLoss } else { Verdict::Delivered };
        let counts = counting(&[("webhook posts", 3)], 5).counts;
        let cell = |n| BaselineCell { counts: counts.clone(), ..cell(&format!("s/{n:06}"), verdict(n)) };
        run((0..100_000).map(cell).collect())
    };
    let found = compare_runs(&many(0), &many(1000), &rules()).unwrap();
    assert_eq!((found.compared, found.changes.len(), found.exit), (100_000, 1000, 10));
}

fn any_cell(id: usize) -> impl Strategy<Value = BaselineCell> {
    let verdict = proptest::sample::select(&Verdict::ALL[..]);
    let hop = proptest::option::of(proptest::sample::select(&Hop::ALL[..]));
    (verdict, hop, 0_u64..3, 0_u64..3, proptest::bool::ANY).prop_map(
        move |(verdict, lost_at, posts, left, log)| {
            let counts = counting(&[("webhook posts", posts)], left).counts;
            let signal = if log { Signal::Log } else { Signal::None };
            BaselineCell { lost_at, signal, counts, ..cell(&format!("s/{id}"), verdict) }
        },
    )
}

fn any_run() -> impl Strategy<Value = Baseline> {
    let cells: Vec<_> = (0..5).map(|n| proptest::option::of(any_cell(n))).collect();
    let some = cells.prop_map(|cells| cells.into_iter().flatten().collect::<Vec<_>>());
    some.prop_filter("a run has cells", |cells| !cells.is_empty()).prop_map(run)
}

proptest! {
    #[test]
    fn a_run_beside_itself_is_no_change(of in any_run()) {
        let found = compare_runs(&of, &of, &rules()).unwrap();
        prop_assert!(found.changes.is_empty() && found.counts.is_empty());
        let rig = of.cells.iter().any(|cell| cell.verdict.is_rig_fault());
        prop_assert_eq!(found.exit, if rig { 13 } else { 0 });
    }

    #[test]
    fn what_gets_worse_one_way_gets_better_the_other(base in any_run(), head in any_run()) {
        let there = compare_runs(&base, &head, &rules()).unwrap();
        let back = compare_runs(&head, &base, &rules()).unwrap();
        let of = |found: &Comparison, wanted: &[Change]| -> Vec<String> {
            let mut ids: Vec<String> =
                found.changes.iter().filter(|c| wanted.contains(&c.change)).map(|c| c.id.clone()).collect();
            ids.sort();
            ids
        };
        let worse = [Change::NewlySilent, Change::NewlyLoud, Change::Worse];
        prop_assert_eq!(of(&there, &worse), of(&back, &[Change::Better, Change::Healed]));
        prop_assert_eq!(of(&there, &[Change::Gone]), of(&back, &[Change::Added]));
        prop_assert_eq!(of(&there, &[Change::Unjudged]), of(&back, &[Change::JudgedAgain]));
        prop_assert_eq!(of(&there, &[Change::Changed]), of(&back, &[Change::Changed]));
        let mut turned: Vec<CountChange> = back.counts.clone();
        for c in &mut turned {
            std::mem::swap(&mut c.base, &mut c.head);
        }
        let bare = |counts: &[CountChange]| -> Vec<(String, String, Option<Count>, Option<Count>)> {
            counts.iter().map(|c| (c.id.clone(), c.count.clone(), c.base, c.head)).collect()
        };
        prop_assert_eq!(bare(&there.counts), bare(&turned));
    }
}
