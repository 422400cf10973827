//! What each client does with each captured frame, for a person.

use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use super::style::stacked;
use crate::agent_server::client::{CheckOutcome, Checked, NO_TEXT};

/// One frame and what each client did with it, in the order of the clients.
#[derive(Debug)]
pub struct CheckedFrame {
    /// Its name in the file, or its line.
    pub name: String,
    /// Client name and result.
    pub clients: Vec<(String, Checked)>,
}

fn mark(checked: &Checked) -> &'static str {
    match checked.outcome {
        CheckOutcome::Delivered if checked.detail == NO_TEXT => "no text",
        CheckOutcome::Delivered => "ok",
        CheckOutcome::Rejected => "REJECTED",
        CheckOutcome::Dropped => "DROPPED",
        CheckOutcome::PassedThrough => "passed",
        CheckOutcome::Corrupted => "CORRUPT",
    }
}

/// Writes the grid and a line for everything that is not plainly taken.
pub fn check_table(frames: &[CheckedFrame], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = frames.first() else { return writeln!(out, "no frames") };
    let mut table = Table::new();
    table.load_style(NOTHING);
    let heads = first.clients.iter().map(|(n, _)| Cell::new(stacked(n)).set_alignment(CellAlignment::Center));
    table.set_header(std::iter::once(Cell::new("frame")).chain(heads));
    for frame in frames {
        let marks = frame.clients.iter();
        let marks = marks.map(|(_, c)| Cell::new(mark(c)).set_alignment(CellAlignment::Center));
        table.add_row(std::iter::once(Cell::new(shown(&frame.name))).chain(marks));
    }
    let text = table.to_string();
    for line in text.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)?;
    for frame in frames {
        for (what, clients) in alike(frame) {
            writeln!(out, "  {}: {what}; on {}", shown(&frame.name), clients.join(", "))?;
        }
    }
    Ok(())
}

/// What is not plainly taken, each with the clients that do it alike.
fn alike(frame: &CheckedFrame) -> Vec<(String, Vec<&str>)> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (client, checked) in &frame.clients {
        if checked.outcome == CheckOutcome::Delivered && checked.detail.is_empty() {
            continue;
        }
        let reason = checked.reason.as_deref().map(|r| format!(" ({r})")).unwrap_or_default();
        let detail = match shown(&checked.detail) {
            detail if detail.is_empty() => String::new(),
            detail => format!(": {detail}"),
        };
        let (outcome, signal) = (checked.outcome.as_str(), checked.signal.as_str());
        let what = format!("{outcome}{reason}{detail}; noticeable: {signal}");
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, clients)) => clients.push(client),
            None => groups.push((what, vec![client])),
        }
    }
    groups
}

/// Captured text is data: control characters are escaped, and only the beginning of a long one is shown.
fn shown(text: &str) -> String {
    let escaped: String = text.chars().take(120).flat_map(escape).collect();
    if text.chars().count() > 120 { escaped + "…" } else { escaped }
}

fn escape(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}
