//! The exact counts of a session feed, variant by variant.

use std::collections::BTreeSet;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell as GridCell, CellAlignment, Table};

use crate::record::{CellResult, Figure};

/// A row a variant and workload, and a column a figure that the scenario says something of: the count, or the range of the
/// counts where faults and consumers make several; `!` stands beside it where one of them is not as the scenario says.
/// None where it says nothing.
pub(super) fn figures(cells: &[&CellResult]) -> Option<String> {
    let heads: BTreeSet<Figure> =
        cells.iter().flat_map(|cell| &cell.limits).map(|limit| limit.figure).collect();
    if heads.is_empty() {
        return None;
    }
    let right = |text: String| GridCell::new(text).set_alignment(CellAlignment::Right);
    let mut table = Table::new();
    table.load_style(NOTHING);
    let heading = heads.iter().map(|figure| right(figure.as_str().replace('_', "\n")));
    table.set_header(std::iter::once(GridCell::new("")).chain(heading));
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for cell in cells {
        let row = (cell.server_release.as_str(), cell.workload.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    for (variant, workload) in rows {
        let own = |cell: &&&CellResult| {
            (cell.server_release.as_str(), cell.workload.as_str()) == (variant, workload)
        };
        let own: Vec<&CellResult> = cells.iter().filter(own).copied().collect();
        let counts = heads.iter().map(|figure| right(counted(&own, *figure)));
        table.add_row(std::iter::once(GridCell::new(format!("{variant} {workload}"))).chain(counts));
    }
    let lines = table.to_string();
    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
    Some(lines.join("\n"))
}

/// One figure of the cells that say something of it.
fn counted(cells: &[&CellResult], figure: Figure) -> String {
    let limited = || {
        cells
            .iter()
            .flat_map(|cell| cell.limits.iter().map(move |limit| (cell, limit)))
            .filter(|(_, limit)| limit.figure == figure)
    };
    if limited().next().is_none() {
        return String::new();
    }
    let missed = limited().any(|(cell, limit)| !limit.holds(&cell.figures));
    let counts: BTreeSet<u64> =
        limited().filter_map(|(cell, _)| cell.figures.get(&figure).copied()).collect();
    let shown = match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least}–{most}"),
        _ => "?".to_owned(),
    };
    format!("{shown}{}", if missed { "!" } else { "" })
}
