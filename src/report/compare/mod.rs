//! A comparison for a person, for a pull request, and for a program. Verdicts come first, then exact counts, then times.

mod markdown;
mod terminal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};

pub use markdown::compare_markdown;
pub use terminal::compare_table;

use crate::record::comparison::{Change, Comparison, Count, CountChange, Counted, Kind, State};

/// The comparisons as JSON: one object, or a list where several kinds were compared.
pub fn compare_json(all: &[Comparison], out: &mut dyn Write) -> io::Result<()> {
    match all {
        [one] => serde_json::to_writer_pretty(&mut *out, one)?,
        _ => serde_json::to_writer_pretty(&mut *out, all)?,
    }
    writeln!(out)
}

/// How many of one kind a person is shown; a program gets all.
const SHOWN: usize = 20;

/// What is compared, in the plural.
fn things(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "cells",
        Kind::Bench | Kind::FeedBench => "points",
    }
}

/// `3 cells`, `1 cell`.
pub(super) fn many(count: u64, kind: Kind) -> String {
    let things = things(kind);
    if count == 1 { format!("1 {}", things.trim_end_matches('s')) } else { format!("{count} {things}") }
}

/// The one sentence where nothing changed; what a side could not say stands in the notes.
fn unchanged(of: &Comparison) -> Option<String> {
    let nothing = of.changes.is_empty()
        && of.counts.is_empty()
        && of.skipped.is_empty()
        && of.stale.is_empty()
        && of.rig.is_empty();
    let what = match of.kind {
        Kind::Run => "verdict, scope, hop, reason, signal, budgets and every exact count",
        Kind::Bench | Kind::FeedBench => "every exact count",
    };
    nothing.then(|| format!("Nothing changed: {} compared, the same in {what}.", many(of.compared, of.kind)))
}

/// Each entry of a list of known failures that has to go, with its line.
pub(super) fn stale(of: &Comparison) -> Vec<String> {
    let entries = of.stale.iter().map(|entry| {
        let line = entry.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{line}{}: {}", entry.cell, entry.why)
    });
    entries.collect()
}

/// The first line: how many of what, and what comes of it.
pub(super) fn summary(of: &Comparison) -> String {
    let gating = of.counts.iter().filter(|count| count.gates).count();
    let by_change = Change::ALL
        .into_iter()
        .filter_map(|change| of.totals.get(&change).map(|count| format!("{count} {}", change.words())));
    let counts = match (of.counts.len(), gating) {
        (0, _) => "no exact count differs".to_owned(),
        (1, 0) => "1 exact count differs and does not gate".to_owned(),
        (n, 0) => format!("{n} exact counts differ, none of which gates"),
        (1, _) => "1 exact count differs and gates".to_owned(),
        (n, g) => format!("{n} exact counts differ, {g} of which gate"),
    };
    let parts: Vec<String> = by_change.chain([counts]).collect();
    format!("{} compared: {}.", many(of.compared, of.kind), parts.join(", "))
}

/// What the exit code says.
pub(super) fn result(of: &Comparison) -> &'static str {
    match of.exit {
        0 => "nothing got worse (exit 0)",
        10 => "something got worse (exit 10)",
        11 => "a known failure has to go from its list (exit 11)",
        12 => "something costs more (exit 12)",
        _ => "the rig was at fault on a side, so this says less than it claims (exit 13)",
    }
}

/// A state in words, after the word of its verdict; every part of it is somebody else's text.
pub(super) fn details(state: &State) -> Vec<String> {
    let scope = state.scope.map(|scope| scope.as_str().to_owned());
    let at = state.lost_at.map(|hop| format!("at {hop}"));
    let reason = state.reason.as_ref().map(ToString::to_string);
    let signal = state
        .verdict
        .is_healthy()
        .then_some(())
        .map_or_else(|| Some(format!("noticeable {}", state.signal.as_str())), |()| None);
    let also = (!state.also.is_empty()).then(|| {
        let also: Vec<&str> = state.also.iter().map(|verdict| verdict.as_str()).collect();
        format!("and {}", also.join(", "))
    });
    [scope, at, reason, signal, also].into_iter().flatten().collect()
}

/// Equal differences of one count, in as many cells as have it.
pub(super) struct Group<'a> {
    pub(super) count: &'a str,
    pub(super) counted: Counted,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) gates: bool,
    pub(super) cells: Vec<&'a str>,
}

/// The differences, those that gate first, then text before costs, then those of the most cells.
pub(super) fn groups(of: &Comparison) -> Vec<Group<'_>> {
    type Key<'a> = (bool, Counted, &'a str, String, String);
    let mut by_key: BTreeMap<Key<'_>, Vec<&str>> = BTreeMap::new();
    for change in &of.counts {
        let CountChange { id, count, counted, base, head, gates } = change;
        by_key.entry((!gates, *counted, count, figure(*base), figure(*head))).or_default().push(id);
    }
    let mut groups = Vec::new();
    for ((quiet, counted, count, base, head), cells) in by_key {
        groups.push(Group { count, counted, base, head, gates: !quiet, cells });
    }
    // Stable: what is left equal stays in the order of its name.
    groups.sort_by_key(|group| (!group.gates, group.counted, std::cmp::Reverse(group.cells.len())));
    groups
}

/// A count as it is read; `not counted` where there is none.
pub(in crate::report) fn figure(count: Option<Count>) -> String {
    match count {
        None => "not counted".to_owned(),
        Some(Count::Whole(n)) => n.to_string(),
        Some(Count::Share(n)) => format!("{n:.4}"),
    }
}

/// Cells of a group, in words.
pub(super) fn places(cells: &[&str], kind: Kind, show: impl Fn(&str) -> String) -> String {
    match cells {
        [] => String::new(),
        [one] => show(one),
        [first, ..] => format!("{}, first {}", many(cells.len() as u64, kind), show(first)),
    }
}

/// Lines that were left out.
fn left_out(count: usize) -> Option<String> {
    count
        .checked_sub(SHOWN)
        .filter(|rest| *rest > 0)
        .map(|rest| format!("and {rest} more (all of them with --format json)"))
}
