//! A comparison for the comment on a pull request.

use std::io::{self, Write};

use super::{SHOWN, details, groups, left_out, places, result, stale, summary, unchanged};
use crate::record::comparison::{CellChange, Change, Comparison, State};
use crate::report::escape::line;

/// Writes the comparison as Markdown. Every text that is not ours stands in `<code>`, where nothing in it is read as
/// markup, as a mention or as a link.
pub fn compare_markdown(of: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### skewlab: {}\n", result(of))?;
    if let Some(sentence) = unchanged(of) {
        writeln!(out, "{sentence}")?;
        return foot(of, out);
    }
    writeln!(out, "{}\n", summary(of))?;
    for change in Change::ALL {
        let cells: Vec<&CellChange> = of.changes.iter().filter(|c| c.change == change).collect();
        if cells.is_empty() {
            continue;
        }
        writeln!(
            out,
            "**{} ({})**\n\n| | cell | before | now |\n|---|---|---|---|",
            change.words(),
            cells.len()
        )?;
        for cell in cells.iter().take(SHOWN) {
            let mark = if cell.gates { "❌" } else { "" };
            let known =
                cell.known.as_ref().map(|known| format!("<br>known: {}", code(known))).unwrap_or_default();
            let (base, head) = (state(cell.base.as_ref()), state(cell.head.as_ref()));
            let budgets = cell
                .budgets
                .as_ref()
                .map(|words| format!("<br>budgets: {}", code(words)))
                .unwrap_or_default();
            writeln!(out, "| {mark} | {}{known}{budgets} | {base} | {head} |", code(&cell.id))?;
        }
        rest(out, cells.len())?;
    }
    counts(of, out)?;
    list(out, "left out: another scenario's cell now", &of.skipped)?;
    list(out, "known failures that have to go", &stale(of))?;
    list(out, "the rig", &of.rig)?;
    foot(of, out)
}

fn rest(out: &mut dyn Write, count: usize) -> io::Result<()> {
    if let Some(more) = left_out(count) {
        writeln!(out, "\n{more}")?;
    }
    writeln!(out)
}

fn list(out: &mut dyn Write, title: &str, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "**{title} ({})**\n", lines.len())?;
    for line in lines.iter().take(SHOWN) {
        writeln!(out, "- {}", code(line))?;
    }
    rest(out, lines.len())
}

fn state(of: Option<&State>) -> String {
    let Some(of) = of else { return "-".to_owned() };
    let details = details(of);
    let behind = if details.is_empty() { String::new() } else { format!(" {}", code(&details.join(", "))) };
    format!("{}{behind}", code(of.verdict.as_str()))
}

fn counts(of: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let groups = groups(of);
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "**exact counts**\n\n| | count | before | now | where |\n|---|---|---|---|---|")?;
    for group in groups.iter().take(SHOWN) {
        let mark = if group.gates { "❌" } else { "" };
        let places = places(&group.cells, of.kind, code);
        writeln!(out, "| {mark} | {} | {} | {} | {places} |", code(group.count), group.base, group.head)?;
    }
    rest(out, groups.len())
}

fn foot(of: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    if !of.times.is_empty() {
        writeln!(out, "| point | CPU µs before | now |\n|---|---|---|")?;
        for time in of.times.iter().take(SHOWN) {
            let (base, head) = (time.base_ns / 1000.0, time.head_ns / 1000.0);
            writeln!(out, "| {} | {base:.2} | {head:.2} |", code(&time.id))?;
        }
        rest(out, of.times.len())?;
    }
    of.notes.iter().try_for_each(|note| writeln!(out, "{}", escaped(note)))
}

/// Somebody else's text as code.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Text of which every ASCII sign is written as its number, so that neither Markdown nor HTML reads it.
fn escaped(text: &str) -> String {
    line(text).chars().map(number).collect()
}

fn number(c: char) -> String {
    // These never begin anything in the middle of a line.
    let harmless = c.is_ascii_alphanumeric() || !c.is_ascii() || matches!(c, ' ' | '/' | ',' | '-' | ';');
    if harmless { c.to_string() } else { format!("&#{};", u32::from(c)) }
}
