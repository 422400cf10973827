//! Two runs, cell by cell.

use std::collections::BTreeMap;

use super::budgets::{Rejudged, rejudged};
use super::difference::differing;
use super::{Incomparable, Rules, exit_of, known};
use crate::record::baseline::{Baseline, BaselineCell, BaselineHead};
use crate::record::comparison::{
    COMPARISON_SCHEMA, CellChange, Change, Comparison, CountChange, Kind, Side, State,
};
use crate::record::{Outcome, Verdict};

/// Compares two runs. Both are told by id; the order of cells says nothing.
pub fn compare_runs(base: &Baseline, head: &Baseline, rules: &Rules<'_>) -> Result<Comparison, Incomparable> {
    comparable(&base.head, &head.head)?;
    let (before, after) = (by_id(base, "BASE")?, by_id(head, "HEAD")?);
    let other = |(id, cell): (&&str, &&BaselineCell)| {
        let same = before.get(id).is_none_or(|there| there.hash == cell.hash);
        (!same).then(|| (*id).to_owned())
    };
    let skipped: Vec<String> = after.iter().filter_map(other).collect();
    if !skipped.is_empty() && !rules.skip_changed {
        return Err(of_scenario(skipped));
    }
    let listed = known::by_cell(rules.known);
    let (mut changes, mut counts, mut compared) = (Vec::new(), Vec::new(), 0);
    for (id, cell) in &after {
        let known = listed.get(id).and_then(|entry| known::covers(entry, cell, rules.today));
        let known = known.or_else(|| known::own(cell, rules.today));
        match before.get(id) {
            None => changes.push(added(cell, known)),
            // It is left out, and what stands in its place is as new as any: red is red.
            Some(there) if there.hash != cell.hash => {
                let red = added(cell, known);
                changes.extend((red.gates && there.outcome != Outcome::Unexpected).then_some(red));
            }
            Some(there) => {
                compared += 1;
                compare(there, cell, known, rules, &mut changes, &mut counts);
            }
        }
    }
    let gone = before.iter().filter(|(id, _)| !after.contains_key(*id));
    changes.extend(gone.map(|(_, cell)| gone_cell(cell, rules.allow_gone)));
    changes.sort_by(|a, b| (a.change, &a.id).cmp(&(b.change, &b.id)));
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        kind: Kind::Run,
        base: side(&base.head),
        head: side(&head.head),
        compared,
        totals: totals(&changes),
        changes,
        counts,
        times: Vec::new(),
        skipped,
        stale: known::stale(rules.known, &after, rules.today),
        rig: [rig("BASE", &before), rig("HEAD", &after)].concat(),
        notes: notes(base, head),
        exit: 0,
    };
    comparison.exit = exit_of(&comparison).code();
    Ok(comparison)
}

/// Whether the two were asked the same.
fn comparable(base: &BaselineHead, head: &BaselineHead) -> Result<(), Incomparable> {
    let settings = [
        ("the schema", base.of.clone(), head.of.clone(), "run both with one skewlab"),
        ("the clock", base.clock.clone(), head.clock.clone(), "run both on one clock"),
        ("the seed", base.seed.to_string(), head.seed.to_string(), "run both with one --seed"),
    ];
    match settings.into_iter().find(|(_, base, head, _)| base != head) {
        None => Ok(()),
        Some((what, base, head, help)) => Err(Incomparable::Setting { what, base, head, help }),
    }
}

fn by_id<'a>(
    of: &'a Baseline,
    side: &'static str,
) -> Result<BTreeMap<&'a str, &'a BaselineCell>, Incomparable> {
    if of.cells.is_empty() {
        return Err(Incomparable::Empty { side, what: "cell" });
    }
    let mut by_id = BTreeMap::new();
    for cell in &of.cells {
        if by_id.insert(cell.id.as_str(), cell).is_some() {
            return Err(Incomparable::Twice { side, id: cell.id.clone() });
        }
    }
    Ok(by_id)
}

/// How many ids a message names.
const NAMED: usize = 3;

fn of_scenario(ids: Vec<String>) -> Incomparable {
    let named: Vec<String> = ids.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
    let rest = ids.len().saturating_sub(NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    Incomparable::Scenario { count: ids.len(), shown: named.join(", ") + &more, ids }
}

fn compare(
    base: &BaselineCell,
    head: &BaselineCell,
    known: Option<String>,
    rules: &Rules<'_>,
    changes: &mut Vec<CellChange>,
    counts: &mut Vec<CountChange>,
) {
    // What the scenario says of a cell is compared too: a run that is red by it is not the same as one that is green.
    let turned = base.outcome != Outcome::Unexpected && head.outcome == Outcome::Unexpected;
    let change = match changed(base, head) {
        None | Some(Change::Changed) if turned => Some(Change::Worse),
        change => change,
    };
    // A verdict that moved says more than the counts that moved with it. A cell of the rig's fault counted nothing. What is
    // known is one verdict, and no licence for it to grow.
    let same = matches!(change, None | Some(Change::Changed));
    let judged = !base.verdict.is_rig_fault() && !head.verdict.is_rig_fault();
    if judged {
        counts.extend(differing(&head.id, &base.counts, &head.counts, same));
    }
    // A verdict by other budgets says nothing next to the first, unless it is worse all the same.
    let other = rejudged(base, head);
    let change = match change {
        Some(Change::Healed | Change::Better | Change::Changed) | None if other.is_some() => {
            Some(Change::Rejudged)
        }
        change => change,
    };
    let weaker = other.as_ref().is_some_and(|other| other.weaker) && !rules.skip_changed;
    let Some(change) = change else { return };
    let worse = matches!(change, Change::Unjudged | Change::NewlySilent | Change::NewlyLoud | Change::Worse);
    changes.push(CellChange {
        id: head.id.clone(),
        change,
        gates: ((worse || turned) && known.is_none()) || weaker,
        base: Some(state(base)),
        head: Some(state(head)),
        known,
        budgets: other.map(|Rejudged { words, .. }| words),
    });
}

/// How the end of a cell changed; nothing where it did not.
fn changed(base: &BaselineCell, head: &BaselineCell) -> Option<Change> {
    let (before, after) = (base.verdict, head.verdict);
    match (before.is_rig_fault(), after.is_rig_fault()) {
        (false, true) => return Some(Change::Unjudged),
        (true, false) => return Some(Change::JudgedAgain),
        (true, true) => return (before != after).then_some(Change::Changed),
        (false, false) => {}
    }
    // The first verdict is the worst.
    match after.cmp(&before) {
        std::cmp::Ordering::Less => Some(match after {
            Verdict::SilentLoss => Change::NewlySilent,
            Verdict::LoudLoss => Change::NewlyLoud,
            _ => Change::Worse,
        }),
        std::cmp::Ordering::Greater if after.is_healthy() && !before.is_healthy() => Some(Change::Healed),
        std::cmp::Ordering::Greater => Some(Change::Better),
        std::cmp::Ordering::Equal => {
            if head.also.iter().any(|found| !found.is_healthy() && !base.also.contains(found)) {
                Some(Change::Worse)
            } else if base.also.iter().any(|found| !found.is_healthy() && !head.also.contains(found)) {
                Some(Change::Better)
            } else {
                let place = |of: &BaselineCell| (of.scope, of.lost_at, of.reason.clone(), of.signal);
                (place(base) != place(head)).then_some(Change::Changed)
            }
        }
    }
}

fn state(cell: &BaselineCell) -> State {
    State {
        verdict: cell.verdict,
        scope: cell.scope,
        lost_at: cell.lost_at,
        reason: cell.reason.clone(),
        signal: cell.signal,
        also: cell.also.clone(),
    }
}

fn added(cell: &BaselineCell, known: Option<String>) -> CellChange {
    // What nobody had before may be red from its first day on, and is no less red for that.
    let red = matches!(cell.outcome, Outcome::Unexpected | Outcome::Known);
    CellChange {
        id: cell.id.clone(),
        change: Change::Added,
        gates: red && known.is_none(),
        base: None,
        head: Some(state(cell)),
        known,
        budgets: None,
    }
}

fn gone_cell(cell: &BaselineCell, allowed: bool) -> CellChange {
    let base = Some(state(cell));
    CellChange {
        id: cell.id.clone(),
        change: Change::Gone,
        gates: !allowed,
        base,
        head: None,
        known: None,
        budgets: None,
    }
}

pub(super) fn totals(changes: &[CellChange]) -> BTreeMap<Change, u64> {
    let mut totals = BTreeMap::new();
    for change in changes {
        *totals.entry(change.change).or_default() += 1;
    }
    totals
}

fn side(head: &BaselineHead) -> Side {
    Side { skewlab: head.skewlab.clone(), cells: head.cells }
}

fn rig(side: &str, cells: &BTreeMap<&str, &BaselineCell>) -> Vec<String> {
    let faulty = cells.values().filter(|cell| cell.verdict.is_rig_fault());
    faulty.map(|cell| format!("{side}: `{}` is {}", cell.id, cell.verdict.as_str())).collect()
}

fn notes(base: &Baseline, head: &Baseline) -> Vec<String> {
    let (was, is) = (&base.head.skewlab, &head.head.skewlab);
    // Not refused: two versions on the same cells is what a change of skewlab itself is told by.
    let versions = (was != is).then(|| {
        format!("BASE was made by skewlab {was} and HEAD by {is}: a difference may be skewlab's own")
    });
    [versions, older("BASE", base), older("HEAD", head), untold(head), unproven(base, head)]
        .into_iter()
        .flatten()
        .collect()
}

/// What is not compared because a side was kept before it was.
fn older(side: &str, of: &Baseline) -> Option<String> {
    of.cells.iter().any(|cell| cell.counts.account.is_none()).then(|| {
        format!(
            "{side} was kept by an older skewlab: budgets, what was produced and due, what came to each hop, amounts of findings,              lines by message, what surfaced and what the consumer counted are not compared; keep it anew"
        )
    })
}

/// Known failures of HEAD that nobody can hold to a day.
fn untold(head: &Baseline) -> Option<String> {
    let untold = |cell: &&BaselineCell| cell.outcome == Outcome::Known && cell.known.is_none();
    let count = head.cells.iter().filter(untold).count();
    (count > 0).then(|| {
        format!(
            "HEAD lists {count} known failures without saying until when: an older skewlab wrote it, and none of them is              tolerated here; run it again"
        )
    })
}

/// Certificates say how far a result can be believed, and change no result.
fn unproven(base: &Baseline, head: &Baseline) -> Option<String> {
    let proven = |of: &Baseline| -> BTreeMap<String, bool> {
        let accounts =
            of.cells.iter().filter_map(|cell| Some((cell.id.clone(), cell.counts.account.as_ref()?.proven)));
        accounts.collect()
    };
    let (before, after) = (proven(base), proven(head));
    let turned = |was: bool| -> Vec<&String> {
        let other = |(id, is): &(&String, &bool)| **is != was && before.get(*id) == Some(&was);
        after.iter().filter(other).map(|(id, _)| id).collect()
    };
    let said = |ids: &[&String], what: &str| {
        ids.first().map(|first| format!("{} cells {what}, first `{first}`", ids.len()))
    };
    let both = [said(&turned(true), "are unproven that were proven"), said(&turned(false), "are proven now")];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join("; "))
}
