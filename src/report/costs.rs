//! What the scenario's budgets measured, server by server.

use std::collections::HashSet;

use comfy_table::{Cell as GridCell, CellAlignment};

use super::blocks::blocks;
use super::escape::line;
use super::order::distinct;
use crate::record::{Budgeted, CellResult, Comparison};

/// A row a server and a column a budget; `!` stands beside what is over it, `?` for what was not measured or is too uncertain. None where
/// no cell has a budget.
///
/// A server has one row for each set of figures: most have one, whatever client attended.
pub(super) fn costs(cells: &[&CellResult], width: Option<usize>) -> Option<String> {
    let mut heads: Vec<&Budgeted> = Vec::new();
    for budgeted in cells.iter().flat_map(|cell| &cell.budgets) {
        if heads.iter().all(|head| !same(head, budgeted)) {
            heads.push(budgeted);
        }
    }
    if heads.is_empty() {
        return None;
    }
    let right = |text: String| GridCell::new(text).set_alignment(CellAlignment::Right);
    // One limit for all, or each cell has its own.
    let one = |head: &Budgeted| {
        let mut all = cells.iter().flat_map(|cell| &cell.budgets).filter(|own| same(own, head));
        all.all(|own| Comparison::Exactly.holds(own.limit, head.limit))
    };
    let heading = heads.iter().map(|head| right(title(head, one(head))));
    let head: Vec<GridCell> = std::iter::once(GridCell::new("")).chain(heading).collect();
    let mut seen: HashSet<(&str, Vec<String>)> = HashSet::new();
    let mut rows: Vec<Vec<GridCell>> = Vec::new();
    for cell in cells.iter().filter(|cell| !cell.budgets.is_empty()) {
        let figure = |head: &&Budgeted| {
            cell.budgets.iter().find(|own| same(own, head)).map_or_else(String::new, figure)
        };
        let row = (cell.server_release.as_str(), heads.iter().map(figure).collect::<Vec<String>>());
        if seen.insert(row.clone()) {
            let figures = row.1.into_iter().map(right);
            rows.push(std::iter::once(GridCell::new(line(row.0))).chain(figures).collect());
        }
    }
    Some(blocks(&head, &rows, width))
}

/// Why budgets were not measured, each reason once.
pub(super) fn unmeasured(cells: &[&CellResult]) -> Vec<String> {
    let unsaid = cells.iter().flat_map(|cell| &cell.budgets).filter(|budgeted| budgeted.kept.is_none());
    distinct(unsaid.map(|budgeted| line(&budgeted.note).into_owned()))
}

/// One column: one metric and one comparison. The limit may differ from cell to cell.
fn same(one: &Budgeted, other: &Budgeted) -> bool {
    (&one.budget, one.is) == (&other.budget, other.is)
}

/// The metric in lines short enough for a column, over its comparison and limit, where that is one.
fn title(budgeted: &Budgeted, one_limit: bool) -> String {
    let name = line(&budgeted.budget).replace("_per_", "\nper ").replace('_', "\n");
    let limit = if one_limit { rounded(budgeted.limit) } else { "…".to_owned() };
    format!("{name}\n{} {limit}", budgeted.is.as_str())
}

fn figure(budgeted: &Budgeted) -> String {
    let measured = budgeted.measured.map_or_else(|| "?".to_owned(), rounded);
    let mark = match budgeted.kept {
        Some(false) => "!",
        None if budgeted.measured.is_some() => "?",
        _ => "",
    };
    format!("{measured}{mark}")
}

/// At most two decimals, and none for a whole number.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
}
