//! The exact counts of a session feed, variant by variant.

use std::collections::BTreeSet;

use comfy_table::{Cell as GridCell, CellAlignment};

use super::blocks::blocks;
use super::escape::line;
use super::order::parts;
use crate::record::{CellResult, Figure};

/// The session that is counted, and a row a figure that the scenario says something of, with a column a variant: the
/// count, or the range of the counts where faults and consumers make several; `!` stands beside it where one of them is
/// not as the scenario says. None where it says nothing.
///
/// The first session of the plan stands for the others: all counts are in `run.json`, and one that is missed anywhere is
/// a finding.
pub(super) fn figures(cells: &[&CellResult], width: Option<usize>) -> Option<(String, String)> {
    let workload = cells.iter().find(|cell| !cell.limits.is_empty())?.workload.clone();
    let cells: Vec<&CellResult> = cells.iter().filter(|cell| cell.workload == workload).copied().collect();
    let rows: BTreeSet<Figure> =
        cells.iter().flat_map(|cell| &cell.limits).map(|limit| limit.figure).collect();
    let variants = parts(&cells, |cell| vec![cell.server_release.as_str()]);
    let right = |text: &str| GridCell::new(text).set_alignment(CellAlignment::Right);
    let heads = variants.iter().map(|(variant, _)| right(&line(variant)));
    let head: Vec<GridCell> = std::iter::once(GridCell::new("")).chain(heads).collect();
    let row = |figure: Figure| -> Vec<GridCell> {
        let counts = variants.iter().map(|(_, own)| right(&counted(own, figure)));
        std::iter::once(GridCell::new(figure.words())).chain(counts).collect()
    };
    let rows: Vec<Vec<GridCell>> = rows.into_iter().map(row).collect();
    Some((line(&workload).into_owned(), blocks(&head, &rows, width)))
}

/// One figure of the cells that say something of it.
fn counted(cells: &[&CellResult], figure: Figure) -> String {
    let of = |cell: &&&CellResult| cell.limits.iter().any(|limit| limit.figure == figure);
    let limited: Vec<&CellResult> = cells.iter().filter(of).copied().collect();
    if limited.is_empty() {
        return String::new();
    }
    let missed = |cell: &&CellResult| {
        cell.limits.iter().any(|limit| limit.figure == figure && !limit.holds(&cell.figures))
    };
    let counts: BTreeSet<u64> =
        limited.iter().filter_map(|cell| cell.figures.get(&figure).copied()).collect();
    let shown = match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "?".to_owned(),
    };
    format!("{shown}{}", if limited.iter().any(missed) { "!" } else { "" })
}
