//! A run as CSV: one row a cell, columns that stay.
//!
//! A text that a spreadsheet would take for a formula (one that begins with `=`, `+`, `-`, `@`, a tab or a line end) gets an
//! apostrophe before it, and so does a text that begins with an apostrophe: who reads the file with a program takes one
//! leading apostrophe away and has the text as it was, but for characters that act on a screen: those stand as escapes, so that
//! no row is more than one line. An entry of the known failures that has to go is a row without an id.

use std::borrow::Cow;
use std::io::{self, Write};

use super::broken::stale_entries;
use super::escape::line;
use crate::record::{CellResult, Hop, Outcome, Reason, Run, Scope};

/// A cell with what its run knows of it.
struct Row<'a> {
    run: &'a Run,
    cell: &'a CellResult,
    micros: Option<u64>,
}

/// What stands in one column.
enum Field<'a> {
    Text(&'a str),
    Number(u64),
    Flag(bool),
    Absent,
}

type Column = (&'static str, for<'a> fn(&Row<'a>) -> Field<'a>);

/// Every column. New ones come at the end, so that a reader by position goes on to work.
const COLUMNS: [Column; 38] = [
    ("run", |r| Field::Text(r.run.digest.get(..16).unwrap_or(&r.run.digest))),
    ("id", |r| Field::Text(&r.cell.id)),
    ("scenario", |r| Field::Text(&r.cell.scenario)),
    ("server", |r| Field::Text(&r.cell.server_release)),
    ("server_profile", |r| Field::Text(&r.cell.server)),
    ("client", |r| Field::Text(&r.cell.client_release)),
    ("client_profile", |r| Field::Text(&r.cell.client)),
    ("workload", |r| Field::Text(&r.cell.workload)),
    ("mutation", |r| Field::Text(&r.cell.mutation)),
    ("verdict", |r| Field::Text(r.cell.verdict.as_str())),
    ("expected", |r| Field::Text(r.cell.expected.as_str())),
    ("outcome", |r| Field::Text(r.cell.outcome.as_str())),
    ("outcome_note", |r| optional(r.cell.outcome_note.as_deref())),
    ("scope", |r| optional(r.cell.scope.map(Scope::as_str))),
    ("lost_at", |r| optional(r.cell.lost_at.map(Hop::as_str))),
    ("reason", |r| optional(r.cell.reason.as_ref().map(Reason::as_str))),
    ("signal", |r| Field::Text(r.cell.signal.as_str())),
    ("log_lines", |r| Field::Number(r.cell.log_lines)),
    ("note", |r| optional(r.cell.findings.first().map(|f| f.note.as_str()))),
    ("proven", |r| Field::Flag(r.cell.proven)),
    ("subscribers", |r| Field::Number(u64::from(r.cell.subscribers.unwrap_or(1)))),
    ("produced_frames", |r| Field::Number(r.cell.produced.frames)),
    ("produced_chars", |r| Field::Number(r.cell.produced.chars)),
    ("due_frames", |r| Field::Number(r.cell.due.frames)),
    ("due_chars", |r| Field::Number(r.cell.due.chars)),
    ("delivered_frames", |r| Field::Number(r.cell.delivered.frames)),
    ("delivered_chars", |r| Field::Number(r.cell.delivered.chars)),
    ("durables_due", |r| Field::Number(r.cell.durables.due)),
    ("durables_accepted", |r| Field::Number(r.cell.durables.accepted)),
    ("webhook_posts", |r| Field::Number(r.cell.side_effects.webhook.posts)),
    ("webhook_events", |r| Field::Number(r.cell.side_effects.webhook.events)),
    ("webhook_deltas", |r| Field::Number(r.cell.side_effects.webhook.deltas)),
    ("telemetry_deltas", |r| inside(r, r.cell.side_effects.telemetry.deltas)),
    ("idle_writes_process", |r| inside(r, r.cell.side_effects.idle_writes.process)),
    ("idle_writes_updated_at", |r| inside(r, r.cell.side_effects.idle_writes.updated_at)),
    ("idle_writes_eviction", |r| inside(r, r.cell.side_effects.idle_writes.eviction)),
    ("only_over_budget", |r| Field::Flag(r.cell.only_over_budget)),
    ("micros", |r| r.micros.map_or(Field::Absent, Field::Number)),
];

fn optional(text: Option<&str>) -> Field<'_> {
    text.map_or(Field::Absent, Field::Text)
}

/// What nobody could see inside a released server is absent, and not zero.
fn inside<'a>(row: &Row<'a>, count: u64) -> Field<'a> {
    if row.cell.side_effects.foreign { Field::Absent } else { Field::Number(count) }
}

/// Writes the cells of all runs, under one heading. `run` is the beginning of the run's digest.
pub fn csv(runs: &[&Run], out: &mut dyn Write) -> io::Result<()> {
    let mut to = ::csv::Writer::from_writer(out);
    to.write_record(COLUMNS.iter().map(|(name, _)| name))?;
    for run in runs {
        for (at, cell) in run.cells.iter().enumerate() {
            let row = Row { run, cell, micros: run.timing.cell_micros.get(at).copied() };
            for (_, of) in &COLUMNS {
                match of(&row) {
                    Field::Text(text) => to.write_field(&*field(text))?,
                    Field::Number(n) => to.write_field(n.to_string())?,
                    Field::Flag(flag) => to.write_field(if flag { "true" } else { "false" })?,
                    Field::Absent => to.write_field("")?,
                }
            }
            to.write_record(None::<&[u8]>)?;
        }
        // No cell, and no less red: a row without a cell's columns, with the outcome that it has.
        for entry in stale_entries(run) {
            let of = |name: &str| match name {
                "run" => run.digest.get(..16).unwrap_or(&run.digest).to_owned(),
                "outcome" => Outcome::Stale.as_str().to_owned(),
                "outcome_note" => entry.clone(),
                _ => String::new(),
            };
            to.write_record(COLUMNS.iter().map(|(name, _)| field(&of(name)).into_owned()))?;
        }
    }
    to.flush()
}

/// A text as it stands in a field: on one line, and for no spreadsheet to calculate.
fn field(text: &str) -> Cow<'_, str> {
    let text = line(text);
    if is_formula(&text) { Cow::Owned(format!("'{text}")) } else { text }
}

/// Whether a spreadsheet might calculate it, or whether the apostrophe that says that it must not is the text's own.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠'])
}
