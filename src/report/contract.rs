//! What was found in a document, for a person and for a program.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::style::paint;
use crate::record::Signal;
use crate::record::contract::{Broken, ContractFinding, ContractReport, Party, Severity};

/// Writes a report, worst finding first: what it is, who breaks on it and how, and what to do.
pub fn contract_table(report: &ContractReport, out: &mut dyn Write) -> io::Result<()> {
    party("contract of", &report.subject, out)?;
    if let Some(against) = &report.against {
        party("     against", against, out)?;
    }
    if let Some(types) = &report.types {
        writeln!(out, "       types {types}")?;
    }
    writeln!(out)?;
    if report.findings.is_empty() {
        writeln!(out, "nothing was found")?;
    }
    for one in &report.findings {
        finding(one, out)?;
    }
    for stale in &report.stale {
        writeln!(out, "STALE     --expect {stale}: no finding is called so")?;
    }
    summary(report, out)
}

fn party(word: &str, party: &Party, out: &mut dyn Write) -> io::Result<()> {
    let events = party
        .event_members
        .map_or_else(|| "no union of events".to_owned(), |n| format!("{n} kinds of event"));
    let unknown = match party.not_modelled {
        0 => String::new(),
        n => format!("; {n} schemas or fields are not modelled, and nothing is said of them"),
    };
    writeln!(
        out,
        "{word} {}: {events}, {} schemas, {} endpoints{unknown}",
        party.name, party.schemas, party.endpoints
    )
}

fn finding(finding: &ContractFinding, out: &mut dyn Write) -> io::Result<()> {
    let (mark, style) = mark(finding.severity);
    let known = if finding.expected { " (expected)" } else { "" };
    writeln!(out, "{} {}{known}", paint(&format!("{mark:<9}"), style), finding.id)?;
    writeln!(out, "          {}", finding.what)?;
    for (who, broken) in together(&finding.breaks) {
        writeln!(out, "          breaks {who}: {} ({})", broken.how, signal(broken))?;
    }
    writeln!(out, "          do: {}", finding.advice)
}

/// Readers that break in one way, in one line.
fn together(breaks: &[Broken]) -> Vec<(String, &Broken)> {
    let mut lines: Vec<(String, &Broken)> = Vec::new();
    for broken in breaks {
        match lines.iter_mut().find(|(_, first)| first.how == broken.how && first.signal == broken.signal) {
            Some((who, _)) => {
                who.push_str(", ");
                who.push_str(&broken.who);
            }
            None => lines.push((broken.who.clone(), broken)),
        }
    }
    lines
}

fn signal(broken: &Broken) -> &'static str {
    match broken.signal {
        Signal::None => "without a sound",
        Signal::Log => "a log line, and nothing surfaces",
        Signal::Surfaced => "it surfaces",
    }
}

fn summary(report: &ContractReport, out: &mut dyn Write) -> io::Result<()> {
    let count = |severity: Severity| report.findings.iter().filter(|f| f.severity == severity).count();
    let all = [Severity::Silent, Severity::TypeLost, Severity::Loud, Severity::Possible, Severity::Note];
    let counts: Vec<String> = all
        .into_iter()
        .map(|s| (s, count(s)))
        .filter(|(_, n)| *n > 0)
        .map(|(s, n)| format!("{n} {}", s.as_str()))
        .collect();
    let expected = report.findings.iter().filter(|f| f.expected).count();
    let known = if expected > 0 { format!(", {expected} of them expected") } else { String::new() };
    let names = |certified: Option<bool>| -> Vec<&str> {
        let asked = report.clients.iter().filter(|c| certified.is_none_or(|is| c.certified == is));
        asked.map(|c| c.name.as_str()).collect()
    };
    let asked = match &names(None)[..] {
        [] => String::new(),
        all => format!("; clients asked: {}", all.join(", ")),
    };
    let guessed = match &names(Some(false))[..] {
        [] => String::new(),
        some => format!("; without a certificate: {}", some.join(", ")),
    };
    let counts = if counts.is_empty() { "0 findings".to_owned() } else { counts.join(", ") };
    writeln!(out, "\n{counts}{known}{asked}{guessed}")
}

fn mark(severity: Severity) -> (&'static str, Style) {
    match severity {
        Severity::Silent => ("SILENT", AnsiColor::Red.on_default()),
        Severity::TypeLost => ("TYPE LOST", AnsiColor::Red.on_default()),
        Severity::Loud => ("loud", AnsiColor::Yellow.on_default()),
        Severity::Possible => ("possible", AnsiColor::Yellow.on_default()),
        Severity::Note => ("note", AnsiColor::BrightBlack.on_default()),
    }
}

/// Writes a report as JSON.
pub fn contract_json(report: &ContractReport, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(report).map_err(io::Error::other)?;
    writeln!(out, "{text}")
}
