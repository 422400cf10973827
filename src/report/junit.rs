//! A run as `JUnit` XML: one suite a scenario, one case a cell.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::broken::{STALE_ENTRIES, Trouble, said, stale_entries, trouble};
use super::escape::{block, line};
use super::next::Again;
use super::order::parts;
use super::waiting::waiting;
use crate::record::{CellResult, Outcome, Run};

/// Writes the cells of all runs as one document. Cells that are not as expected and stale ones are failures, rig faults are
/// errors, known failures are skipped; the type is the verdict. Entries of the known failures that have to go are failures too. What XML cannot hold stands as an escape that can be read.
pub fn junit(runs: &[&Run], out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("skewlab");
    for run in runs {
        let again = Again::of(run);
        let cells: Vec<(usize, &CellResult)> = run.cells.iter().enumerate().collect();
        for (scenario, cells) in parts(&cells, |(_, cell)| vec![cell.scenario.as_str()]) {
            let mut suite = TestSuite::new(&*line(scenario));
            let mut micros = None;
            for (at, cell) in cells {
                let own = run.timing.cell_micros.get(at).copied();
                micros = own.map(|own| micros.unwrap_or(0) + own).or(micros);
                suite.add_test_case(case(run, &again, cell, own));
            }
            if let Some(micros) = micros {
                suite.set_time(Duration::from_micros(micros));
            }
            report.add_test_suite(suite);
        }
        let entries = stale_entries(run);
        if !entries.is_empty() {
            report.add_test_suite(known_failures(&entries));
        }
    }
    report.serialize(out).map_err(io::Error::other)
}

/// Entries that have to go, a failing case each: they make the exit code, so they make the document red too.
fn known_failures(entries: &[String]) -> TestSuite {
    let mut suite = TestSuite::new("known failures");
    for entry in entries {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("stale").set_message(entry.as_str()).set_description(STALE_ENTRIES);
        let mut case = TestCase::new(entry.as_str(), status);
        case.set_classname("known failures");
        suite.add_test_case(case);
    }
    suite
}

fn case(run: &Run, again: &Again<'_>, cell: &CellResult, micros: Option<u64>) -> TestCase {
    let mut case = TestCase::new(&*line(&cell.id), status(run, again, cell));
    let class = format!("{}.{}.{}", cell.scenario, cell.server_release, cell.client_release);
    case.set_classname(&*line(&class));
    if let Some(micros) = micros {
        case.set_time(Duration::from_micros(micros));
    }
    case
}

fn status(run: &Run, again: &Again<'_>, cell: &CellResult) -> TestCaseStatus {
    let note = cell.outcome_note.as_deref().map(line);
    let message = match &note {
        Some(note) => format!("{}; {note}", said(cell)),
        None => said(cell),
    };
    let mut status = match trouble(run, cell) {
        Some(Trouble::Rig) => TestCaseStatus::non_success(NonSuccessKind::Error),
        Some(Trouble::Unexpected | Trouble::Stale) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        None if cell.outcome == Outcome::Known => {
            // The reason with its link is what whoever reads of a skipped case wants to know.
            let mut status = TestCaseStatus::skipped();
            status.set_message(note.map_or(message, |note| format!("known: {note}")));
            return status;
        }
        None => return TestCaseStatus::success(),
    };
    status.set_type(cell.verdict.as_str()).set_message(message).set_description(&*block(&body(again, cell)));
    status
}

/// The notes, the hops, and how to run it alone.
fn body(again: &Again<'_>, cell: &CellResult) -> String {
    let mut text = String::new();
    for finding in &cell.findings {
        push(&mut text, format_args!("{}: {}\n", finding.verdict.as_str(), line(&finding.note)));
    }
    if !cell.hops.is_empty() {
        push(
            &mut text,
            format_args!("\n{:<12}{:>10}{:>10}{:>10}  dropped\n", "characters", "in", "out", "added"),
        );
    }
    for flow in &cell.hops {
        let hop = flow.hop.as_str();
        if flow.unseen {
            push(&mut text, format_args!("{hop:<12}    unseen\n"));
            continue;
        }
        let added: u64 = flow.added.values().map(|tally| tally.chars).sum();
        let (entered, left) = (flow.entered.chars, flow.left.chars);
        push(&mut text, format_args!("{hop:<12}{entered:>10}{left:>10}{added:>10}"));
        for (reason, tally) in &flow.dropped {
            push(&mut text, format_args!("  {} {}", tally.chars, line(reason.as_str())));
        }
        text.push('\n');
    }
    for (label, waited) in waiting(cell) {
        push(&mut text, format_args!("{label:<12}{waited}\n"));
    }
    if let Some(command) = again.command(cell) {
        push(&mut text, format_args!("\n{command}\n"));
    }
    text
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing into a string does not fail.
    let _ = text.write_fmt(more);
}
