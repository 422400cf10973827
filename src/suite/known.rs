//! A file of known failures laid over a plan, and what became of its entries.

use std::collections::BTreeSet;

use crate::record::comparison::Stale;
use crate::record::{Known, Outcome, Run};
use crate::scenario::{KnownEntry, KnownList};

/// Which cells each entry was laid over.
///
/// What a scenario lists itself goes before, so an entry that picks only such cells does nothing, and is stale. An entry that
/// picks nothing of the plan is stale too, unless it picks a cell that the command line left out.
#[derive(Debug)]
pub struct Laid<'a> {
    list: &'a KnownList,
    entries: Vec<Fate>,
}

/// One entry and the plan.
#[derive(Debug, Default)]
struct Fate {
    /// Cells that it was laid over.
    laid: BTreeSet<String>,
    /// Whether it picks a cell that another entry or the scenario lists.
    shadowed: bool,
    /// Whether it picks a cell that was not asked for.
    elsewhere: bool,
}

/// An entry that has to go.
#[derive(Debug)]
pub struct Complaint<'a> {
    /// The entry.
    pub entry: &'a KnownEntry,
    /// The same as data.
    pub stale: Stale,
    /// Whether a cell of the run is stale because of it.
    pub by_a_cell: bool,
}

impl<'a> Laid<'a> {
    /// Lays a list over cells: their ids, and the failures that they list so far.
    pub(super) fn over<'c>(
        list: &'a KnownList,
        cells: impl Iterator<Item = (&'c str, &'c mut Option<Known>)>,
    ) -> Laid<'a> {
        let mut entries: Vec<Fate> = list.entries.iter().map(|_| Fate::default()).collect();
        for (id, known) in cells {
            for (entry, fate) in
                list.entries.iter().zip(&mut entries).filter(|(entry, _)| entry.cell.picks(id))
            {
                if known.is_some() {
                    fate.shadowed = true;
                } else {
                    *known = Some(entry.known.clone());
                    fate.laid.insert(id.to_owned());
                }
            }
        }
        Laid { list, entries }
    }

    /// Spares entries that pick one of these cells, which the command line left out.
    pub fn spare<'c>(&mut self, ids: impl Iterator<Item = &'c str>) {
        for id in ids {
            for (entry, fate) in self.list.entries.iter().zip(&mut self.entries) {
                fate.elsewhere |= entry.cell.picks(id);
            }
        }
    }

    /// Puts the entries that have to go and that no cell tells of into the run, so that every report of it says so: those that
    /// picked nothing. One of which a cell is stale is told by that cell.
    pub fn note(&self, run: &mut Run) {
        let untold = self.complaints(run).into_iter().filter(|complaint| !complaint.by_a_cell);
        let stale: Vec<Stale> = untold.map(|complaint| complaint.stale).collect();
        if !stale.is_empty() {
            run.stale = stale;
            run.seal();
        }
    }

    /// The entries that have to go after this run: those that picked nothing, and those of which a cell is stale.
    pub fn complaints(&self, run: &Run) -> Vec<Complaint<'a>> {
        let complaint = |(entry, fate): (&'a KnownEntry, &Fate)| {
            let cell = run.cells.iter().find(|c| c.outcome == Outcome::Stale && fate.laid.contains(&c.id));
            let by_a_cell = cell.is_some();
            let why = match cell {
                Some(cell) => {
                    format!("`{}` {}", cell.id, cell.outcome_note.as_deref().unwrap_or("is stale"))
                }
                None if !fate.laid.is_empty() || fate.elsewhere => return None,
                None if fate.shadowed => {
                    "every cell that it picks is listed before it, by its scenario or by an entry".to_owned()
                }
                None => "it picks no cell".to_owned(),
            };
            let stale =
                Stale { line: Some(self.list.line(entry)), cell: entry.cell.as_str().to_owned(), why };
            Some(Complaint { entry, stale, by_a_cell })
        };
        self.list.entries.iter().zip(&self.entries).filter_map(complaint).collect()
    }
}
