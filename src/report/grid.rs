//! Two axes as a grid of marks.

use std::collections::HashMap;

use comfy_table::{Cell as GridCell, CellAlignment};

use super::blocks::blocks;
use super::escape::line;
use super::order::{distinct, parts};
use super::style::{mark, stacked};
use crate::record::{CellResult, Outcome, Subject, Verdict};

/// The names of a cell on one axis: a client asked for by two names stands in two rows.
type Axis = fn(&CellResult) -> Vec<String>;

/// One grid: what stands where rows and columns meet, if anything does.
pub(super) struct Grid<'a> {
    /// What it shows.
    pub(super) title: String,
    /// The names over the columns.
    pub(super) columns: Vec<String>,
    /// A name a row, and a cell a column.
    pub(super) rows: Vec<(String, Vec<Option<&'a CellResult>>)>,
}

fn server(cell: &CellResult) -> Vec<String> {
    vec![line(&cell.server_release).into_owned()]
}

fn client(cell: &CellResult) -> Vec<String> {
    cell.client_asked.iter().map(|name| line(name).into_owned()).collect()
}

/// What tells cells of one server and client apart.
fn variant(cell: &CellResult) -> Vec<String> {
    vec![line(&format!("{} {}", cell.workload, cell.mutation)).into_owned()]
}

fn values(cells: &[&CellResult], axis: Axis) -> Vec<String> {
    distinct(cells.iter().flat_map(|c| axis(c)))
}

/// The grids of one scenario.
pub(super) fn grids<'a>(subject: Subject, cells: &[&'a CellResult]) -> Vec<Grid<'a>> {
    match subject {
        Subject::AgentServer => agent_server(cells),
        Subject::SessionFeed => feed(cells),
    }
}

/// Consumers against variants, once for every fault; or, where faults are more than consumers, faults against variants,
/// once a consumer.
fn feed<'a>(cells: &[&'a CellResult]) -> Vec<Grid<'a>> {
    let (consumers, faults) = (values(cells, client), values(cells, variant));
    if faults.len() > consumers.len() {
        let of = |(consumer, part): (String, Vec<&'a CellResult>)| {
            grid(format!("{consumer}: fault by variant"), &part, variant, server)
        };
        return parts(cells, client).into_iter().map(of).collect();
    }
    let of = |(fault, part): (String, Vec<&'a CellResult>)| {
        grid(format!("{fault}: consumer by variant"), &part, client, server)
    };
    parts(cells, variant).into_iter().map(of).collect()
}

/// Clients against servers, once a variant; or, where there is one server and many variants, variants against clients.
fn agent_server<'a>(cells: &[&'a CellResult]) -> Vec<Grid<'a>> {
    let (servers, variants) = (values(cells, server), values(cells, variant));
    if let ([only], [_, _, ..]) = (servers.as_slice(), variants.as_slice()) {
        let title = format!("server {only}: workload and what goes wrong, by client");
        return vec![grid(title, cells, variant, client)];
    }
    let of = |(variant, part): (String, Vec<&'a CellResult>)| {
        grid(format!("{variant}: client by server"), &part, client, server)
    };
    parts(cells, variant).into_iter().map(of).collect()
}

fn grid<'a>(title: String, cells: &[&'a CellResult], rows: Axis, columns: Axis) -> Grid<'a> {
    let (names, heads) = (values(cells, rows), values(cells, columns));
    let place = |names: &[String]| -> HashMap<String, usize> {
        names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect()
    };
    let (row_of, column_of) = (place(&names), place(&heads));
    let mut marks: Vec<Vec<Option<&CellResult>>> = vec![vec![None; heads.len()]; names.len()];
    for cell in cells {
        for row in rows(cell).iter().filter_map(|name| row_of.get(name)) {
            for column in columns(cell).iter().filter_map(|name| column_of.get(name)) {
                // Of several in one place the first stands for all, as it did in the plan.
                marks[*row][*column].get_or_insert(cell);
            }
        }
    }
    Grid { title, columns: heads, rows: names.into_iter().zip(marks).collect() }
}

impl Grid<'_> {
    /// The grid in lines no wider than that, if it can be; without its title.
    pub(super) fn text(&self, width: Option<usize>) -> String {
        let center = |text: String| GridCell::new(text).set_alignment(CellAlignment::Center);
        let first = |text: &str| GridCell::new(text);
        let head: Vec<GridCell> =
            std::iter::once(first("")).chain(self.columns.iter().map(|h| center(stacked(h)))).collect();
        let row = |(name, cells): &(String, Vec<Option<&CellResult>>)| -> Vec<GridCell> {
            let marks = cells.iter().map(|cell| center(cell.map_or_else(String::new, marked)));
            std::iter::once(first(name)).chain(marks).collect()
        };
        blocks(&head, &self.rows.iter().map(row).collect::<Vec<_>>(), width)
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
