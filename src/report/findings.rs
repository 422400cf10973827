//! One line a finding. The same finding on many servers, or under many mutations, is one line.

use std::collections::BTreeMap;

use crate::record::{CellResult, Finding, Outcome, Verdict};

/// What makes two findings the same for a reader.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    unexpected: std::cmp::Reverse<bool>,
    verdict: Verdict,
    client: String,
    what: String,
}

/// Everything worth a line: all that is not plainly delivered or by design, unexpected ones first.
pub(super) fn lines(cells: &[&CellResult]) -> Vec<String> {
    let mut groups: BTreeMap<Key, Vec<&CellResult>> = BTreeMap::new();
    for cell in cells {
        for finding in &cell.findings {
            let unexpected = cell.outcome != Outcome::Expected && Some(finding) == cell.findings.first();
            if finding.verdict.is_healthy() && !unexpected {
                continue;
            }
            let key = Key {
                unexpected: std::cmp::Reverse(unexpected),
                verdict: finding.verdict,
                client: cell.client_asked.clone(),
                what: what(cell, finding),
            };
            groups.entry(key).or_default().push(cell);
        }
    }
    groups.iter().map(|(key, cells)| line(key, cells)).collect()
}

/// Hop, reason, how much of how much, and what anyone could notice.
fn what(cell: &CellResult, finding: &Finding) -> String {
    let mut text = String::new();
    if let Some(hop) = finding.lost_at {
        text.push_str(&format!(" at {hop}"));
    }
    if let Some(reason) = &finding.reason {
        text.push_str(&format!(" ({reason})"));
    }
    match finding.verdict {
        Verdict::SilentLoss | Verdict::LoudLoss => {
            let scope = finding.scope.map_or("", |s| s.as_str());
            text.push_str(&format!(
                ", {scope}: {} of {} characters",
                finding.amount.chars, cell.produced.chars
            ));
        }
        Verdict::Invalid | Verdict::NotRun => text.push_str(&format!(": {}", finding.note)),
        Verdict::Leaked | Verdict::DurableLoss => {
            text.push_str(&format!(": {} frames", finding.amount.frames))
        }
        _ => text.push_str(&format!(": {} characters", finding.amount.chars)),
    }
    text.push_str(&format!("; noticeable: {}", finding.signal.as_str()));
    if cell.log_lines > 0 {
        text.push_str(&format!(", {} log lines", cell.log_lines));
    }
    text
}

fn line(key: &Key, cells: &[&CellResult]) -> String {
    let places = places(cells);
    let mark = if key.unexpected.0 { "* " } else { "  " };
    let mut line = format!("{mark}{} {}{}; on {places}", key.client, key.verdict.as_str(), key.what);
    if key.unexpected.0
        && let Some(note) = cells.first().and_then(|c| c.outcome_note.as_deref())
    {
        line.push_str(&format!("\n      {note}"));
    }
    line
}

/// The servers, or under one server the mutations, shortened when there are many.
fn places(cells: &[&CellResult]) -> String {
    let distinct = |of: fn(&CellResult) -> &str| {
        let mut all: Vec<&str> = Vec::new();
        for cell in cells {
            if !all.contains(&of(cell)) {
                all.push(of(cell));
            }
        }
        all
    };
    let servers = distinct(|c| &c.server_release);
    let mutations = distinct(|c| &c.mutation);
    let few = |all: &[&str]| match all {
        [a, b, c, d, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c}, {d} and {} more", rest.len()),
        _ => all.join(", "),
    };
    if mutations == ["none"] { few(&servers) } else { format!("{} under {}", few(&servers), few(&mutations)) }
}
