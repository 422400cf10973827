//! From a run to what is compared of it.

use std::collections::BTreeMap;

use crate::record::baseline::{
    Account, Allowed, BASELINE_SCHEMA, Baseline, BaselineCell, BaselineHead, Counts, FramesAndChars,
};
use crate::record::{Budgeted, CellResult, DeltaCosts, HopFlow, Reason, Run, SideEffects, Verdict};
use crate::unit::Tally;

/// A run as a baseline: its cells sorted by id, with what two of them are compared by.
pub fn reduced(run: &Run) -> Baseline {
    let mut cells: Vec<BaselineCell> = run.cells.iter().map(cell).collect();
    cells.sort_by(|a, b| a.id.cmp(&b.id));
    let head = BaselineHead {
        schema: BASELINE_SCHEMA.to_owned(),
        of: run.schema.clone(),
        skewlab: run.skewlab.clone(),
        clock: run.clock.clone(),
        seed: run.seed,
        cells: cells.len() as u64,
    };
    Baseline { head, cells }
}

fn cell(cell: &CellResult) -> BaselineCell {
    let mut also: Vec<Verdict> = cell.findings.iter().skip(1).map(|finding| finding.verdict).collect();
    also.sort();
    also.dedup();
    BaselineCell {
        id: cell.id.clone(),
        hash: cell.hash.clone(),
        verdict: cell.verdict,
        scope: cell.scope,
        lost_at: cell.lost_at,
        reason: cell.reason.clone(),
        signal: cell.signal,
        outcome: cell.outcome,
        known: cell.known.clone(),
        // A cell of the rig's fault was held against nothing.
        judged_by: (!cell.verdict.is_rig_fault()).then(|| cell.budgets.iter().map(allowed).collect()),
        also,
        counts: counts(cell),
    }
}

fn allowed(budgeted: &Budgeted) -> Allowed {
    let Budgeted { budget, is, limit, .. } = budgeted;
    Allowed { budget: budget.clone(), is: *is, limit: *limit }
}

/// Every exact count of a cell that [`Counts`] did not have from the beginning.
fn account(cell: &CellResult) -> Account {
    let mut found: BTreeMap<Verdict, FramesAndChars> = BTreeMap::new();
    for finding in cell.findings.iter().filter(|finding| !finding.amount.is_zero()) {
        let [frames, chars] = found.entry(finding.verdict).or_default();
        *frames = frames.saturating_add(finding.amount.frames);
        *chars = chars.saturating_add(finding.amount.chars);
    }
    let seen = cell.hops.iter().filter(|hop| !hop.unseen);
    Account {
        produced: pair(cell.produced),
        due: pair(cell.due),
        entered: seen.map(|hop| (hop.hop, pair(hop.entered))).collect(),
        found,
        log: cell
            .log
            .iter()
            .filter(|(_, lines)| **lines > 0)
            .map(|(key, lines)| (key.clone(), *lines))
            .collect(),
        surfaced: cell.surfaced.len() as u64,
        oracle: cell.oracle.map(|oracle| [oracle.steps, oracle.silent]),
        first_frame: cell.first_frame.as_ref().map(|frame| frame.number),
        proven: cell.proven,
    }
}

fn counts(cell: &CellResult) -> Counts {
    let seen = || cell.hops.iter().filter(|hop| !hop.unseen);
    let stopped = |of: fn(&HopFlow) -> &BTreeMap<Reason, Tally>| {
        let all = seen().flat_map(|hop| of(hop).iter().map(move |(reason, tally)| (hop.hop, reason, *tally)));
        let some = all.filter(|(.., tally)| !tally.is_zero());
        some.map(|(hop, reason, tally)| (format!("{hop}/{reason}"), pair(tally))).collect()
    };
    let last = cell.classes.iter().filter_map(|(class, hops)| Some((*class, pair(hops.last()?.left))));
    Counts {
        left: seen().map(|hop| (hop.hop, pair(hop.left))).collect(),
        dropped: stopped(|hop| &hop.dropped),
        added: stopped(|hop| &hop.added),
        delivered: last.filter(|(_, pair)| *pair != [0, 0]).collect(),
        durables: durables(cell),
        effects: effects(&cell.side_effects, cell.log_lines),
        foreign: cell.side_effects.foreign,
        figures: cell.figures.clone(),
        account: Some(account(cell)),
    }
}

fn pair(tally: Tally) -> FramesAndChars {
    [tally.frames, tally.chars]
}

fn durables(cell: &CellResult) -> BTreeMap<String, u64> {
    let of = &cell.durables;
    let plain = [
        ("due", of.due),
        ("sent", of.sent),
        ("accepted", of.accepted),
        ("reply due", u64::from(of.reply_due)),
        ("reply", u64::from(of.reply)),
    ];
    let plain = plain.into_iter().map(|(name, count)| (name.to_owned(), count));
    let refused = of.rejected.iter().map(|(reason, count)| (format!("refused/{reason}"), *count));
    plain.chain(refused).filter(|(_, count)| *count > 0).collect()
}

/// Everything that a turn caused beside its sockets. Names are those of a baseline file and of a report.
fn effects(of: &SideEffects, log_lines: u64) -> BTreeMap<String, u64> {
    let DeltaCosts {
        published,
        invocations,
        serialisations,
        bytes_encoded,
        frames,
        wire_bytes,
        log_lines: logged,
    } = of.costs;
    let named = [
        ("webhook posts", of.webhook.posts),
        ("webhook events", of.webhook.events),
        ("webhook deltas", of.webhook.deltas),
        ("webhook failed posts", of.webhook.failed_posts),
        ("webhook dropped events", of.webhook.dropped),
        ("stored deltas", of.stored_deltas),
        ("telemetry events", of.telemetry.events),
        ("telemetry deltas", of.telemetry.deltas),
        ("process clock writes", of.idle_writes.process),
        ("updated_at writes", of.idle_writes.updated_at),
        ("eviction clock writes", of.idle_writes.eviction),
        ("process clock writes while streaming", of.streamed_writes.process),
        ("updated_at writes while streaming", of.streamed_writes.updated_at),
        ("eviction clock writes while streaming", of.streamed_writes.eviction),
        ("deltas at the idle clocks", of.idle_deltas),
        ("deltas published", published),
        ("subscriber invocations", invocations),
        ("serialisations", serialisations),
        ("bytes encoded", bytes_encoded),
        ("delta frames", frames),
        ("wire bytes", wire_bytes),
        ("server log lines", logged),
        ("client log lines", log_lines),
    ];
    let some = named.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| (name.to_owned(), count)).collect()
}
