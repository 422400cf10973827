//! What a search found and what it tried, for a person and for a program.

use std::io::{self, Write};
use std::path::Path;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use super::style::{mark, paint, style};
use super::words::cell_line;
use crate::record::explore::{Coverage, Drawn, ExploreReport, Group, Size};
use crate::record::{CellResult, Hop, Reason, Signal};

/// Pairs that nobody tried, at most so many of each kind.
const UNTRIED: usize = 4;

/// The report as JSON.
pub fn explore_json(report: &ExploreReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::other)?;
    out.write_all(b"\n")
}

/// Writes the groups that nobody declared, `all` of them with those that somebody did, and the coverage. Capsules lie in
/// `dir`. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn explore_table(report: &ExploreReport, dir: &Path, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let (news, declared): (Vec<&Group>, Vec<&Group>) =
        report.groups.iter().partition(|group| !group.declared);
    let drawn = match report.drawn {
        Drawn::Everything => "drawn cells",
        Drawn::HealthyPairs => "drawn cells of pairs that have to be well",
    };
    let ill: u64 = report.groups.iter().map(|group| group.cells).sum();
    writeln!(
        out,
        "{} {drawn}, seed {}: {} well, {ill} not, {} in which a fault never came\n",
        report.cells, report.seed, report.healthy, report.unreached
    )?;
    if news.is_empty() {
        writeln!(out, "nothing that nobody had declared")?;
    } else {
        writeln!(out, "not declared by any scenario: {}", groups(&news))?;
        table(&news, dir, out)?;
    }
    if !declared.is_empty() {
        let more = if all { "" } else { "; --all lists them" };
        writeln!(out, "\ndeclared by a scenario: {}{more}", groups(&declared))?;
        if all {
            table(&declared, dir, out)?;
        }
    }
    writeln!(out)?;
    coverage(&report.coverage, out)
}

fn groups(of: &[&Group]) -> String {
    let cells: u64 = of.iter().map(|group| group.cells).sum();
    format!("{} of {}", count(of.len() as u64, "group"), count(cells, "cell"))
}

/// Groups that differ in the client only.
struct Kind<'a> {
    /// The one that is shown: shrunk if any is.
    shown: &'a Group,
    clients: Vec<&'a str>,
    signal: Signal,
    cells: u64,
}

/// A kind a row, in the order of the groups.
fn kinds<'a>(groups: &[&'a Group]) -> Vec<Kind<'a>> {
    let mut kinds: Vec<Kind<'a>> = Vec::new();
    for group in groups {
        let end = |group: &Group| (group.verdict, group.lost_at, group.reason.clone());
        match kinds.iter_mut().find(|kind| end(kind.shown) == end(group)) {
            Some(kind) => {
                kind.clients.push(&group.client);
                kind.signal = kind.signal.max(group.signal);
                kind.cells += group.cells;
                if kind.shown.example.shrunk.is_none() && group.example.shrunk.is_some() {
                    kind.shown = group;
                }
            }
            None => kinds.push(Kind {
                shown: group,
                clients: vec![&group.client],
                signal: group.signal,
                cells: group.cells,
            }),
        }
    }
    kinds
}

fn table(groups: &[&Group], dir: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["", "lost at", "reason", "signal", "clients", "cells", "an example"]);
    let kinds = kinds(groups);
    for Kind { shown, clients, signal, cells } in &kinds {
        let word = |word: Option<&str>| Cell::new(word.unwrap_or("-"));
        table.add_row([
            Cell::new(mark(shown.verdict)),
            word(shown.lost_at.map(Hop::as_str)),
            word(shown.reason.as_ref().map(Reason::as_str)),
            Cell::new(signal.as_str()),
            Cell::new(clients.len()).set_alignment(CellAlignment::Right),
            Cell::new(cells).set_alignment(CellAlignment::Right),
            Cell::new(example(shown)),
        ]);
    }
    let mut verdicts = std::iter::once(None).chain(kinds.iter().map(|kind| Some(kind.shown.verdict)));
    for line in table.to_string().lines() {
        // A row is a line: nothing in it is wrapped.
        let coloured = verdicts.next().flatten().map(|verdict| {
            let word = mark(verdict);
            line.replacen(word, &paint(word, style(verdict)), 1)
        });
        writeln!(out, "{}", coloured.as_deref().unwrap_or(line).trim_end())?;
    }
    let kept: Vec<&str> = groups.iter().filter_map(|group| group.example.capsule.as_deref()).collect();
    if !kept.is_empty() {
        writeln!(out, "\ncapsules, for `skewlab replay FILE`:")?;
    }
    kept.iter().try_for_each(|name| writeln!(out, "  {}", dir.join(name).display()))
}

/// `python-1.55.1 on 1.58.2, -source + close; 2 tokens, 1 client`.
fn example(group: &Group) -> String {
    let example = &group.example;
    let mut parts = vec![format!("{} on {}", group.client, example.server)];
    if example.bent != "none" {
        parts.push(example.bent.clone());
    }
    parts.extend(example.traits.iter().cloned());
    let Size { tokens, clients, .. } = example.shrunk.map_or(example.drawn, |shrunk| shrunk.to);
    format!("{}; {}, {}", parts.join(", "), count(tokens, "token"), count(clients, "client"))
}

fn coverage(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "tried:")?;
    for pairs in &coverage.pairs {
        writeln!(out, "  {}: {} of {} pairs", pairs.axes, pairs.share.tried, pairs.share.of)?;
        for [one, other] in pairs.untried.iter().take(UNTRIED) {
            writeln!(out, "    not yet: {one}, {other}")?;
        }
        let more = pairs.untried.len().saturating_sub(UNTRIED);
        if more > 0 {
            writeln!(out, "    and {more} more; --format json lists all")?;
        }
    }
    let triples = coverage.triples;
    writeln!(out, "  changed trait × client × fault: {} of {}", triples.tried, triples.of)
}

fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Writes what came of a capsule that was run `times` times: that it ended as it did before, or in what it differs.
pub fn replayed(cell: &CellResult, differs: &[String], times: u32, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", cell_line(cell))?;
    if let Some(finding) = cell.findings.first() {
        writeln!(out, "  {}", finding.note)?;
    }
    if differs.is_empty() {
        let how = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        return writeln!(
            out,
            "run {how}: verdict, ledgers and evidence are those of the capsule, byte for byte"
        );
    }
    writeln!(out, "run {times} is not as the capsule says:")?;
    differs.iter().try_for_each(|line| writeln!(out, "  {line}"))
}
