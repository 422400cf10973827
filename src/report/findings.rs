//! One line a finding. The same finding on many servers, or under many mutations, is one line.

use std::collections::BTreeMap;

use super::escape::line as one_line;
use super::order::distinct;
use super::waiting::worst;
use crate::record::{CellResult, Finding, Hop, Oracle, Outcome, Scope, Signal, Verdict};

/// What makes two findings the same for a reader.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    unexpected: std::cmp::Reverse<bool>,
    verdict: Verdict,
    client: String,
    what: String,
}

/// One finding, and the cells that it was made in.
pub(super) struct Group<'a> {
    /// Whether it is the headline of cells that are not plainly as expected.
    pub unexpected: bool,
    /// What it is.
    pub verdict: Verdict,
    /// The client and a blank; empty where it is nobody's.
    pub client: String,
    /// Hop, reason, how much, and what anyone could notice.
    pub what: String,
    /// Where: servers, sessions, mutations, shortened when there are many.
    pub places: String,
    /// What is to be said of the first of the cells, where it is not plainly as expected.
    pub note: Option<&'a str>,
    /// The cells, in plan order.
    pub cells: Vec<&'a CellResult>,
}

/// Everything worth a line, as text.
pub(super) fn lines(cells: &[&CellResult]) -> Vec<String> {
    groups(cells).iter().map(line).collect()
}

/// Everything worth a line: all that is not plainly delivered or by design, unexpected ones first.
pub(super) fn groups<'a>(cells: &[&'a CellResult]) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<Key, Vec<&'a CellResult>> = BTreeMap::new();
    for cell in cells.iter().copied() {
        for finding in &cell.findings {
            let unexpected = cell.outcome != Outcome::Expected && Some(finding) == cell.findings.first();
            if finding.verdict.is_healthy() && !unexpected {
                continue;
            }
            let key = Key {
                unexpected: std::cmp::Reverse(unexpected),
                verdict: finding.verdict,
                client: whose(cell, finding),
                what: what(cell, finding),
            };
            groups.entry(key).or_default().push(cell);
        }
    }
    let group = |(key, cells): (Key, Vec<&'a CellResult>)| {
        let Key { unexpected, verdict, client, what } = key;
        let unexpected = unexpected.0;
        let note = cells.first().filter(|_| unexpected).and_then(|c| c.outcome_note.as_deref());
        Group { unexpected, verdict, client, what, places: places(&cells), note, cells }
    };
    groups.into_iter().map(group).collect()
}

/// Verdict, hop, reason, how much of how much, and what anyone could notice.
pub(super) fn sentence(cell: &CellResult, finding: &Finding) -> String {
    format!("{}{}", finding.verdict.as_str(), what(cell, finding))
}

/// Whose it is: what a server spends is its own, whichever client attended.
pub(super) fn whose(cell: &CellResult, finding: &Finding) -> String {
    match finding.verdict {
        Verdict::OverBudget => String::new(),
        _ => format!("{} ", cell.client_release),
    }
}

/// Hop, reason, how much of how much, and what anyone could notice.
fn what(cell: &CellResult, finding: &Finding) -> String {
    let hop = finding.lost_at.map(|hop| format!(" at {hop}")).unwrap_or_default();
    let reason = finding.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let (chars, frames) = (finding.amount.chars, finding.amount.frames);
    let amount = match finding.verdict {
        Verdict::SilentLoss | Verdict::LoudLoss => {
            let scope = finding.scope.map(|scope| format!("{}, ", scope.as_str())).unwrap_or_default();
            // What is lost as a whole is the same finding in every session.
            if finding.scope == Some(Scope::Total) && is_feed(cell) {
                "total".to_owned()
            } else {
                format!("{scope}{chars} of {} characters", cell.due.chars)
            }
        }
        Verdict::OverBudget => return format!("{reason}: {}", finding.note),
        Verdict::Invalid
        | Verdict::NotRun
        | Verdict::Divergent
        | Verdict::Reaped
        | Verdict::NotStreamed
        | Verdict::Stalled
        | Verdict::Unbounded => finding.note.clone(),
        // What is lost where it would be made was never a frame.
        Verdict::DurableLoss if finding.lost_at == Some(Hop::Produced) => {
            format!(
                "the reply of {}",
                if frames == 1 { "a turn".to_owned() } else { format!("{frames} turns") }
            )
        }
        Verdict::DurableLoss => format!("{frames} of {} durable frames", cell.durables.due),
        Verdict::Leaked => format!("{frames} frames"),
        // What is wrong need not be part of what is due.
        _ => format!("{chars} characters, {} due", cell.due.chars),
    };
    let signal = finding.signal.as_str();
    let log = if cell.log_lines > 0 && finding.signal != Signal::None && !is_feed(cell) {
        format!(", {} log lines", cell.log_lines)
    } else {
        String::new()
    };
    // What a subscriber of a session feed could have told for itself, where something is missing.
    let told = cell.oracle.filter(|_| matches!(finding.verdict, Verdict::SilentLoss | Verdict::LoudLoss));
    let told = told.map_or_else(String::new, oracle);
    format!("{hop}{reason}: {amount}; noticeable: {signal}{log}{told}")
}

/// Whether it is a cell of the session feed: no other has figures.
fn is_feed(cell: &CellResult) -> bool {
    !cell.figures.is_empty()
}

fn oracle(said: Oracle) -> String {
    match said {
        Oracle { silent: 0, .. } => "; its own oracle does not flag it".to_owned(),
        Oracle { silent, steps } if silent == steps => "; its own oracle flags it".to_owned(),
        Oracle { silent, steps } => format!("; its own oracle flags {silent} of {steps} steps"),
    }
}

fn line(group: &Group<'_>) -> String {
    let known = group.cells.iter().all(|c| c.outcome == Outcome::Known);
    let mark = match (group.unexpected, known) {
        (true, true) => "~ ",
        (true, false) => "* ",
        (false, _) => "  ",
    };
    let note = group.note.map(|note| format!("\n      {}", one_line(note))).unwrap_or_default();
    // It is of the cell and not of one finding: told once, where the cell has its headline.
    let headlines = group.cells.iter().copied().filter(|cell| cell.verdict == group.verdict);
    let queues = worst(&headlines.collect::<Vec<_>>());
    let queues = queues.iter().fold(String::new(), |all, queue| all + "\n      " + queue);
    let Group { client, verdict, what, places, .. } = group;
    let what = format!("{client}{}{what}; on {places}", verdict.as_str());
    format!("{mark}{}{note}{queues}", one_line(&what))
}

/// The servers, or under one server the mutations, shortened when there are many.
pub(super) fn places(cells: &[&CellResult]) -> String {
    let distinct = |of: fn(&CellResult) -> &str| distinct(cells.iter().map(|cell| of(cell)));
    let servers = distinct(|c| &c.server_release);
    let mutations = distinct(|c| &c.mutation);
    let few = |all: &[&str]| match all {
        [a, b, c, d, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c}, {d} and {} more", rest.len()),
        _ => all.join(", "),
    };
    // Sessions of the feed differ in what there is to lose; the other subject has one workload a scenario.
    let sessions = match cells.first() {
        Some(cell) if is_feed(cell) => format!(" in {}", few(&distinct(|c| &c.workload))),
        _ => String::new(),
    };
    let under = if mutations == ["none"] { String::new() } else { format!(" under {}", few(&mutations)) };
    format!("{}{sessions}{under}", few(&servers))
}
