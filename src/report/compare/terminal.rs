//! A comparison on a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{SHOWN, details, groups, left_out, places, result, stale, summary, unchanged};
use crate::record::comparison::{CellChange, Change, Comparison, Counted, State};
use crate::report::escape::line as plain;
use crate::report::style::{paint, style};

/// Writes the comparison as text. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn compare_table(of: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    if let Some(sentence) = unchanged(of) {
        writeln!(out, "{sentence}")?;
        return times(of, out);
    }
    writeln!(out, "{}\n", summary(of))?;
    for change in Change::ALL {
        let cells: Vec<&CellChange> = of.changes.iter().filter(|c| c.change == change).collect();
        if cells.is_empty() {
            continue;
        }
        heading(out, &format!("{} ({})", change.words(), cells.len()))?;
        for cell in cells.iter().take(SHOWN) {
            writeln!(out, "{}", line(cell))?;
        }
        rest(out, cells.len())?;
    }
    counts(of, out)?;
    list(out, "left out: another scenario's cell now", &of.skipped)?;
    list(out, "known failures that have to go", &stale(of))?;
    list(out, "the rig", &of.rig)?;
    times(of, out)?;
    writeln!(out, "{}", result(of))
}

fn heading(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", paint(text, Style::new().bold()))
}

fn rest(out: &mut dyn Write, count: usize) -> io::Result<()> {
    if let Some(more) = left_out(count) {
        writeln!(out, "    {more}")?;
    }
    writeln!(out)
}

fn list(out: &mut dyn Write, title: &str, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    heading(out, &format!("{title} ({})", lines.len()))?;
    for line in lines.iter().take(SHOWN) {
        writeln!(out, "    {}", plain(line))?;
    }
    rest(out, lines.len())
}

/// A line of a cell: a star where the exit code follows from it.
fn line(cell: &CellChange) -> String {
    let star = if cell.gates { "*" } else { " " };
    let states = match (&cell.base, &cell.head) {
        (Some(base), Some(head)) => format!(": {} → {}", state(base), state(head)),
        (Some(one), None) | (None, Some(one)) => format!(": {}", state(one)),
        (None, None) => String::new(),
    };
    let known =
        cell.known.as_ref().map(|known| format!("\n      known: {}", plain(known))).unwrap_or_default();
    let budgets =
        cell.budgets.as_ref().map(|words| format!("\n      budgets: {}", plain(words))).unwrap_or_default();
    format!("  {star} {}{states}{known}{budgets}", plain(&cell.id))
}

fn state(of: &State) -> String {
    let details = details(of);
    let behind =
        if details.is_empty() { String::new() } else { format!(" ({})", plain(&details.join(", "))) };
    format!("{}{behind}", paint(of.verdict.as_str(), style(of.verdict)))
}

fn counts(of: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let groups = groups(of);
    if groups.is_empty() {
        return Ok(());
    }
    heading(out, "exact counts  (* the exit code follows from it)")?;
    for group in groups.iter().take(SHOWN) {
        let star = if group.gates { "*" } else { " " };
        let colour = match (group.gates, group.counted) {
            (false, _) => AnsiColor::BrightBlack,
            (true, Counted::Text) => AnsiColor::Red,
            (true, Counted::Cost) => AnsiColor::Yellow,
        };
        let figures = paint(&format!("{} → {}", group.base, group.head), colour.on_default());
        let places = places(&group.cells, of.kind, |id| plain(id).into_owned());
        writeln!(out, "  {star} {}: {figures} in {places}", plain(group.count))?;
    }
    rest(out, groups.len())
}

fn times(of: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    for note in &of.notes {
        writeln!(out, "{}", plain(note))?;
    }
    if of.times.is_empty() {
        return Ok(());
    }
    heading(out, "CPU a chunk, µs  (not judged)")?;
    for time in of.times.iter().take(SHOWN) {
        let (base, head) = (time.base_ns / 1000.0, time.head_ns / 1000.0);
        writeln!(out, "    {}: {base:.2}, {head:.2}", plain(&time.id))?;
    }
    rest(out, of.times.len())
}
