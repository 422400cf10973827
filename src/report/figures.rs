//! The exact counts of a session feed, variant by variant.

use std::collections::BTreeSet;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell as GridCell, CellAlignment, Table};

use crate::record::{CellResult, Figure};

/// The session that is counted, and a row a figure that the scenario says something of, with a column a variant: the
/// count, or the range of the counts where faults and consumers make several; `!` stands beside it where one of them is
/// not as the scenario says. None where it says nothing.
///
/// The first session of the plan stands for the others: all counts are in `run.json`, and one that is missed anywhere is
/// a finding.
pub(super) fn figures(cells: &[&CellResult]) -> Option<(String, String)> {
    let workload = cells.iter().find(|cell| !cell.limits.is_empty())?.workload.clone();
    let cells: Vec<&CellResult> = cells.iter().filter(|cell| cell.workload == workload).copied().collect();
    let rows: BTreeSet<Figure> =
        cells.iter().flat_map(|cell| &cell.limits).map(|limit| limit.figure).collect();
    let mut variants: Vec<&str> = Vec::new();
    for cell in &cells {
        if !variants.contains(&cell.server_release.as_str()) {
            variants.push(&cell.server_release);
        }
    }
    let right = |text: &str| GridCell::new(text).set_alignment(CellAlignment::Right);
    let mut table = Table::new();
    table.load_style(NOTHING);
    let heads = variants.iter().map(|variant| right(variant));
    table.set_header(std::iter::once(GridCell::new("")).chain(heads));
    for figure in rows {
        let counts = variants.iter().map(|variant| {
            let own = cells.iter().filter(|cell| cell.server_release == *variant);
            right(&counted(&own.copied().collect::<Vec<_>>(), figure))
        });
        table.add_row(std::iter::once(GridCell::new(figure.words())).chain(counts));
    }
    let lines = table.to_string();
    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
    Some((workload, lines.join("\n")))
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
