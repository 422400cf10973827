//! The shipped scenarios of the session feed against what they promise: reasons, reach, and ids.

use std::collections::BTreeSet;

use super::{FeedCell, FeedScenario, expand_feed};
use crate::record::Figure;
use crate::scenario::expand::Selection;
use crate::scenario::load::stem;
use crate::scenario::loaded::Loaded;
use crate::scenario::names::double::Double;
use crate::scenario::rule::{Axes, Place};
use crate::scenario::shipped::SHIPPED;
use crate::session_feed::Variants;

fn shipped() -> Vec<FeedScenario> {
    let variants = Variants::embedded().unwrap();
    let loaded = SHIPPED.iter().map(|(path, _)| Loaded::load(stem(path), &Double::new(), &variants).unwrap());
    let feeds = loaded.filter_map(|loaded| match loaded {
        Loaded::SessionFeed(scenario) => Some(scenario),
        Loaded::AgentServer(_) => None,
    });
    feeds.collect()
}

fn cells(scenario: &FeedScenario, selection: &Selection) -> Vec<FeedCell> {
    expand_feed(scenario, &Variants::embedded().unwrap(), selection).unwrap_or_else(|e| panic!("{e}"))
}

fn matches(axes: &Axes, cell: &FeedCell) -> bool {
    let policy = cell.policy.map(|policy| policy.to_string()).unwrap_or_default();
    axes.matches(Place {
        server: std::slice::from_ref(&cell.variant),
        client: &[cell.consumer.as_str().to_owned()],
        workload: &cell.workload.name,
        mutation: &cell.fault.to_string(),
        fault: "",
        policy: &policy,
    })
}

#[test]
fn every_expectation_names_its_row_and_is_some_cells_first_match() {
    for scenario in shipped() {
        let cells = cells(&scenario, &Selection::default());
        let first = |cell| scenario.expect.iter().position(|(axes, _)| matches(axes, cell));
        let met: BTreeSet<usize> = cells.iter().filter_map(first).collect();
        for (at, (_, (expected, _))) in scenario.expect.iter().enumerate() {
            let because = expected.because.as_deref().unwrap_or_default();
            assert!(
                because.starts_with("row") || because.starts_with("section"),
                "{}: {expected:?}",
                scenario.name
            );
            assert!(met.contains(&at), "{}: never met: {expected:?}", scenario.name);
        }
        let unmet = cells.iter().filter(|cell| first(cell).is_none());
        assert_eq!(
            unmet.map(|cell| &cell.id).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "nothing is left to chance"
        );
    }
}

/// Rows of the facts that no cell can say: what is opinion, and what takes two sessions (9, in part), is said elsewhere.
#[test]
fn every_row_of_the_facts_has_an_expectation() {
    let all: Vec<String> = shipped()
        .iter()
        .flat_map(|s| s.expectations().filter_map(|e| e.because.clone()).collect::<Vec<_>>())
        .collect();
    let rows: BTreeSet<u32> = all
        .iter()
        .filter_map(|because| because.strip_prefix("rows").or_else(|| because.strip_prefix("row")))
        .flat_map(|rest| {
            let head = rest.split([':', 'm']).next().unwrap_or_default().to_owned();
            let ends: Vec<u32> =
                head.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
            if head.contains(" to ") { (ends[0]..=ends[1]).collect() } else { ends }
        })
        .collect();
    // Row 4 is about bytes on a wire, row 11 about the oracle: both are held in `tests/integration/feed.rs`.
    let missing: Vec<u32> = (1..=24).filter(|row| !rows.contains(row) && ![4, 11].contains(row)).collect();
    assert_eq!(missing, Vec::<u32>::new());
}

#[test]
fn ids_are_paths_with_the_policy_behind_the_fault() {
    let all = shipped();
    let of = |name: &str| all.iter().find(|s| s.name == name).unwrap();
    let feed = cells(of("session-feed"), &Selection::default());
    assert!(feed.iter().any(|c| c.id == "session-feed/mirror-removed/stale-plugin/chat/none"));
    let crash = cells(of("crash"), &Selection::default());
    assert!((450..600).contains(&crash.len()), "{}", crash.len());
    assert!(crash.iter().any(|c| c.id == "crash/embedded/resume/reply/kill@40,window-200ms"));
    let ids: BTreeSet<&str> = crash.iter().map(|c| c.id.as_str()).collect();
    let hashes: BTreeSet<&str> = crash.iter().map(|c| c.hash.as_str()).collect();
    assert_eq!((ids.len(), hashes.len()), (crash.len(), crash.len()));
}

#[test]
fn a_selection_takes_the_place_of_variants_and_consumers() {
    let all = shipped();
    let feed = all.iter().find(|s| s.name == "session-feed").unwrap();
    let select = |servers: &[&str], clients: &[&str], only: Option<&str>| {
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Selection { servers: own(servers), clients: own(clients), only: only.map(str::to_owned) }
    };
    let count = |s: &Selection| cells(feed, s).len();
    assert_eq!(count(&select(&["embedded"], &["acp"], Some("hey"))), 1);
    assert_eq!(count(&select(&["mirror*"], &["*-plugin"], Some("hey"))), 6);
    assert_eq!(count(&select(&["zzz*"], &[], None)), 0);
    for (selection, hint) in [
        (select(&["mirored"], &[], None), "did you mean `mirrored`"),
        (select(&[], &["stale"], None), "did you mean `stale-plugin`"),
    ] {
        let error = expand_feed(feed, &Variants::embedded().unwrap(), &selection).unwrap_err().to_string();
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn a_limit_over_what_the_run_counts_has_its_value_afterwards() {
    let all = shipped();
    let feed = all.iter().find(|s| s.name == "session-feed").unwrap();
    let cells = cells(feed, &Selection::default());
    let cell = cells.iter().find(|c| c.id == "session-feed/mirrored/persistence/chat/none").unwrap();
    let value = |figures: &[(Figure, u64)], of: Figure| {
        let limits = cell.limits(&figures.iter().copied().collect());
        limits.iter().find(|limit| limit.figure == of).unwrap().value
    };
    let counted = [(Figure::Events, 24)];
    // 18 chunks, two plain listeners of the log beside the store, three of the live feed.
    assert_eq!(value(&counted, Figure::Dispatches), Some(42.0));
    assert_eq!(value(&counted, Figure::ChunkCallbacks), Some(108.0));
    assert_eq!(value(&[], Figure::Dispatches), None, "nobody counted the events");
    assert_eq!(value(&[], Figure::ChunkCallbacks), Some(108.0));
}
