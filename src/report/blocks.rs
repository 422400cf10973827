//! A table that is as wide as it has to be, or, where it is shown in fewer columns than that, several narrower ones below
//! each other. A line that the terminal wraps is no line of a table any more.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, Table};

/// A table whose first column names its rows and stands in every block. Lines carry no blanks at their end.
pub(super) fn blocks(head: &[Cell], rows: &[Vec<Cell>], width: Option<usize>) -> String {
    let whole = table(head, rows, &(1..head.len()).collect::<Vec<_>>());
    // A blank on either side of each.
    let widths: Vec<usize> =
        whole.column_max_content_widths().iter().map(|width| usize::from(*width) + 2).collect();
    let first = widths.first().copied().unwrap_or_default();
    let limit = width.unwrap_or(usize::MAX);
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
    let mut used = first;
    for column in 1..head.len() {
        let own = widths.get(column).copied().unwrap_or_default();
        let fits = used.saturating_add(own) <= limit;
        match blocks.last_mut() {
            // A column that is too wide alone stands alone.
            Some(block) if fits || block.is_empty() => {
                block.push(column);
                used = used.saturating_add(own);
            }
            _ => {
                blocks.push(vec![column]);
                used = first.saturating_add(own);
            }
        }
    }
    let shown: Vec<String> = match blocks.as_slice() {
        [_] => vec![trimmed(&whole)],
        several => several.iter().map(|columns| trimmed(&table(head, rows, columns))).collect(),
    };
    shown.join("\n\n")
}

fn table(head: &[Cell], rows: &[Vec<Cell>], columns: &[usize]) -> Table {
    let of = |cells: &[Cell]| -> Vec<Cell> {
        let picked = std::iter::once(&0).chain(columns);
        picked.map(|at| cells.get(*at).cloned().unwrap_or_else(|| Cell::new(""))).collect()
    };
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(of(head));
    for row in rows {
        table.add_row(of(row));
    }
    table
}

fn trimmed(table: &Table) -> String {
    let text = table.to_string();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_wide_goes_on_below_with_its_first_column() {
        let cells = |texts: &[&str]| -> Vec<Cell> { texts.iter().map(Cell::new).collect() };
        let (head, rows) = (cells(&["", "one", "two", "three"]), [cells(&["row", "1", "2", "3"])]);
        let shown = |width| blocks(&head, &rows, width);
        assert_eq!(shown(None), "      one  two  three\n row  1    2    3");
        assert_eq!(shown(Some(22)), shown(None));
        assert_eq!(shown(Some(15)), "      one  two\n row  1    2\n\n      three\n row  3");
        assert!(shown(Some(15)).lines().all(|line| line.len() <= 15));
        // Narrower than any of it: a column a block, and nothing is lost.
        assert_eq!(shown(Some(1)).matches("row").count(), 3);
    }
}
