//! Known failures beside a comparison: which changes they cover, and which of them have to go.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::judge::expect::is_known;
use crate::record::baseline::BaselineCell;
use crate::record::comparison::Stale;
use crate::record::{Known, Outcome};

/// One entry of a file of known failures, with the cells that it picks.
#[derive(Debug, Clone)]
pub struct KnownFailure {
    /// Its pattern, as written.
    pub cell: String,
    /// Its line, from 1.
    pub line: u64,
    /// The ids that the pattern picks, among those of HEAD.
    pub picks: Vec<String>,
    /// The failure.
    pub known: Known,
}

/// The first entry that lists each cell.
pub(super) fn by_cell(known: &[KnownFailure]) -> BTreeMap<&str, &KnownFailure> {
    let mut by_cell = BTreeMap::new();
    for entry in known {
        for id in &entry.picks {
            by_cell.entry(id.as_str()).or_insert(entry);
        }
    }
    by_cell
}

/// What a report says of the failure, if the cell has it and it is still tolerated.
pub(super) fn covers(entry: &KnownFailure, cell: &BaselineCell, today: NaiveDate) -> Option<String> {
    let Known { reason, link, expires, .. } = &entry.known;
    (has(entry, cell) && today <= *expires).then(|| format!("{reason} ({link}), until {expires}"))
}

/// The same of the failure that the run itself lists: what it calls known is tolerated until its last day, and not at all
/// where it does not say which that is.
pub(super) fn own(cell: &BaselineCell, today: NaiveDate) -> Option<String> {
    let known = cell.known.as_ref().filter(|_| cell.outcome == Outcome::Known)?;
    let Known { reason, link, expires, .. } = known;
    let is = is_known(known, cell.verdict, cell.lost_at, cell.reason.as_ref());
    (is && today <= *expires).then(|| format!("{reason} ({link}), until {expires}"))
}

fn has(entry: &KnownFailure, cell: &BaselineCell) -> bool {
    is_known(&entry.known, cell.verdict, cell.lost_at, cell.reason.as_ref())
}

/// Entries that pick nothing, whose failure is gone from a cell, or that expired; and the scenarios' own that ended so.
pub(super) fn stale(
    known: &[KnownFailure],
    head: &BTreeMap<&str, &BaselineCell>,
    today: NaiveDate,
) -> Vec<Stale> {
    let first = by_cell(known);
    let of_entry = |entry: &KnownFailure| {
        let listed = |id: &&String| first.get(id.as_str()).is_some_and(|first| std::ptr::eq(*first, entry));
        let picked = || entry.picks.iter().filter_map(|id| head.get(id.as_str()));
        let passes = |cell: &&&BaselineCell| cell.verdict.is_healthy() || cell.outcome == Outcome::Expected;
        let Known { reason, link, expires, .. } = &entry.known;
        let why = if picked().next().is_none() {
            "it picks no cell".to_owned()
        } else if !entry.picks.iter().any(|id| listed(&id)) {
            "every cell that it picks is listed before it".to_owned()
        } else if let Some(cell) = picked().find(passes) {
            format!("`{}` passes now; remove it: {reason} ({link})", cell.id)
        } else if today > *expires {
            format!("it expired on {expires}: {reason} ({link})")
        } else {
            return None;
        };
        Some(Stale { line: Some(entry.line), cell: entry.cell.clone(), why })
    };
    let own = head.values().filter_map(|cell| {
        let why = match (cell.outcome, &cell.known) {
            (Outcome::Stale, _) => "the run lists a known failure that passes now or has expired".to_owned(),
            (Outcome::Known, Some(Known { reason, link, expires, .. })) if today > *expires => {
                format!("the known failure that the run lists expired on {expires}: {reason} ({link})")
            }
            _ => return None,
        };
        Some(Stale { line: None, cell: cell.id.clone(), why })
    });
    known.iter().filter_map(of_entry).chain(own).collect()
}
