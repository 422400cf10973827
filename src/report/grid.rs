//! Two axes as a grid of cells, and the same as a text of marks.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell as GridCell, CellAlignment, Table};

use super::style::{mark, stacked};
use crate::record::{CellResult, Outcome, Verdict};

/// The names of a cell on one axis: a client asked for by two names stands in two rows.
type Axis = fn(&CellResult) -> Vec<String>;

fn server(cell: &CellResult) -> Vec<String> {
    vec![cell.server_release.clone()]
}

fn client(cell: &CellResult) -> Vec<String> {
    cell.client_asked.clone()
}

/// What tells cells of one server and client apart.
fn variant(cell: &CellResult) -> Vec<String> {
    vec![format!("{} {}", cell.workload, cell.mutation)]
}

fn values(cells: &[&CellResult], axis: Axis) -> Vec<String> {
    let mut seen = Vec::new();
    for value in cells.iter().flat_map(|c| axis(c)) {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// Cells by two of their names.
pub(super) struct Grid<'a> {
    /// What stands in it.
    pub title: String,
    /// The names over its columns.
    pub columns: Vec<String>,
    /// A name and a cell a column; none where the scenario has no such cell.
    pub rows: Vec<(String, Vec<Option<&'a CellResult>>)>,
}

/// The grids of one scenario of the session feed: consumers against variants, once for every fault; or, where faults are
/// more than consumers, faults against variants, once a consumer.
pub(super) fn feed_grids<'a>(cells: &[&'a CellResult]) -> Vec<Grid<'a>> {
    let (consumers, faults) = (values(cells, client), values(cells, variant));
    let part = |of: Axis, value: &String| -> Vec<&'a CellResult> {
        cells.iter().copied().filter(|cell| of(cell).contains(value)).collect()
    };
    if faults.len() > consumers.len() {
        let grid = |c: &String| grid(format!("{c}: fault by variant"), &part(client, c), variant, server);
        return consumers.iter().map(grid).collect();
    }
    let grid = |f: &String| grid(format!("{f}: consumer by variant"), &part(variant, f), client, server);
    faults.iter().map(grid).collect()
}

/// The grids of one scenario: clients against servers, once a variant; or, where there is one server and
/// many variants, variants against clients.
pub(super) fn grids<'a>(cells: &[&'a CellResult]) -> Vec<Grid<'a>> {
    let (servers, variants) = (values(cells, server), values(cells, variant));
    if servers.len() == 1 && variants.len() > 1 {
        let title = format!("server {}: what is done to each delta frame, by client", servers[0]);
        return vec![grid(title, cells, variant, client)];
    }
    let part = |v: &String| -> Vec<&'a CellResult> {
        cells.iter().copied().filter(|c| variant(c).contains(v)).collect()
    };
    variants.iter().map(|v| grid(format!("{v}: client by server"), &part(v), client, server)).collect()
}

fn grid<'a>(title: String, cells: &[&'a CellResult], rows: Axis, columns: Axis) -> Grid<'a> {
    let heads = values(cells, columns);
    let row = |row: String| {
        let at = |column: &String| {
            cells.iter().copied().find(|c| rows(c).contains(&row) && columns(c).contains(column))
        };
        let cells = heads.iter().map(at).collect();
        (row, cells)
    };
    let rows = values(cells, rows).into_iter().map(row).collect();
    Grid { title, columns: heads, rows }
}

impl Grid<'_> {
    /// As a text of marks.
    pub(super) fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING);
        let centred = |text: String| GridCell::new(text).set_alignment(CellAlignment::Center);
        let head = self.columns.iter().map(|column| centred(stacked(column)));
        table.set_header(std::iter::once(GridCell::new("")).chain(head));
        for (row, cells) in &self.rows {
            let marks = cells.iter().map(|cell| centred(cell.map_or_else(String::new, marked)));
            table.add_row(std::iter::once(GridCell::new(row)).chain(marks));
        }
        table.to_string()
    }
}

/// The mark, with a star when the scenario expects something else.
pub(super) fn marked(cell: &CellResult) -> String {
    let star = match cell.outcome {
        Outcome::Expected => "",
        Outcome::Known => "~",
        Outcome::Unexpected | Outcome::Stale => "*",
    };
    format!("{}{star}", mark(cell.verdict))
}

/// What the marks mean, for those that occur.
pub(super) fn legend(cells: &[CellResult]) -> String {
    let occurs = |v: &Verdict| cells.iter().any(|c| c.verdict == *v);
    let words: Vec<String> = Verdict::ALL
        .into_iter()
        .rev()
        .filter(occurs)
        .map(|v| format!("{} {}", mark(v), v.as_str()))
        .collect();
    format!("{}  (* not as the scenario expects, ~ known)", words.join("  "))
}
