//! What a search found and what it tried, for a person and for a program; for a pull request in `markdown`.

mod markdown;

pub use markdown::explore_markdown;

use std::io::{self, Write};
use std::path::Path;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, Table};

use crate::record::explore::{Coverage, Drawn, ExploreReport, Group, Pairs, Size};
use crate::record::{CellResult, Hop, Reason, Signal};
use crate::report::style::{mark, paint, style};
use crate::report::words::{cell_line, counted};

/// Pairs that nobody tried, at most so many of each kind.
const UNTRIED: usize = 4;

/// The report as JSON.
pub fn explore_json(report: &ExploreReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::other)?;
    out.write_all(b"\n")
}

/// Writes the groups that nobody declared, `all` of them with those that somebody did, and the coverage. Capsules lie in
/// `dir`; without one it is not known where. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn explore_table(
    report: &ExploreReport,
    dir: Option<&Path>,
    all: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (news, declared) = parted(report);
    writeln!(out, "{}\n", counts(report))?;
    if news.is_empty() {
        writeln!(out, "{NO_NEWS}")?;
    } else {
        writeln!(out, "{NEWS}: {}", groups(&news))?;
        table(&news, dir, out)?;
    }
    if !declared.is_empty() {
        let more = if all { "" } else { "; --all lists them" };
        writeln!(out, "\n{DECLARED}: {}{more}", groups(&declared))?;
        if all {
            table(&declared, dir, out)?;
        }
    }
    writeln!(out)?;
    coverage(&report.coverage, out)
}

/// What no scenario declares.
pub(super) const NEWS: &str = "not declared by any scenario";

/// Where there is none of it.
pub(super) const NO_NEWS: &str = "nothing that nobody had declared";

/// What a scenario declares.
pub(super) const DECLARED: &str = "declared by a scenario";

/// The groups that no scenario declares, and the others.
pub(super) fn parted(report: &ExploreReport) -> (Vec<&Group>, Vec<&Group>) {
    report.groups.iter().partition(|group| !group.declared)
}

/// How many cells ended how.
pub(super) fn counts(report: &ExploreReport) -> String {
    let of = match report.drawn {
        Drawn::Everything => "",
        Drawn::HealthyPairs => " of pairs that have to be well",
    };
    let drawn = counted(report.cells, "drawn cell");
    let ill: u64 = report.groups.iter().map(|group| group.cells).sum();
    format!(
        "{drawn}{of}, seed {}: {} well, {ill} not, {} in which a fault never came",
        report.seed, report.healthy, report.unreached
    )
}

pub(super) fn groups(of: &[&Group]) -> String {
    let cells: u64 = of.iter().map(|group| group.cells).sum();
    format!("{} of {}", counted(of.len() as u64, "group"), counted(cells, "cell"))
}

/// Groups that differ in the client only.
pub(super) struct Kind<'a> {
    /// The one that is shown: shrunk if any is.
    pub(super) shown: &'a Group,
    pub(super) clients: Vec<&'a str>,
    pub(super) signal: Signal,
    pub(super) cells: u64,
}

impl Kind<'_> {
    /// What stands behind its verdict in a row: hop, reason, signal, clients, cells and an example.
    pub(super) fn row(&self) -> [String; 6] {
        let Kind { shown, clients, signal, cells } = self;
        let word = |word: Option<&str>| word.unwrap_or("-").to_owned();
        [
            word(shown.lost_at.map(Hop::as_str)),
            word(shown.reason.as_ref().map(Reason::as_str)),
            signal.as_str().to_owned(),
            clients.len().to_string(),
            cells.to_string(),
            example(shown),
        ]
    }
}

/// The heads of these rows.
pub(super) const ROW: [&str; 6] = ["lost at", "reason", "signal", "clients", "cells", "an example"];

/// A kind a row, in the order of the groups.
pub(super) fn kinds<'a>(groups: &[&'a Group]) -> Vec<Kind<'a>> {
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

fn table(groups: &[&Group], dir: Option<&Path>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(std::iter::once("").chain(ROW));
    let kinds = kinds(groups);
    for kind in &kinds {
        let row = kind.row().map(Cell::new).into_iter().enumerate().map(|(at, cell)| match ROW[at] {
            "clients" | "cells" => cell.set_alignment(CellAlignment::Right),
            _ => cell,
        });
        table.add_row(std::iter::once(Cell::new(mark(kind.shown.verdict))).chain(row));
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
        let of = if dir.is_some() { "" } else { " in the folder of the search" };
        writeln!(out, "\ncapsules{of}, for `skewlab replay FILE`:")?;
    }
    let path = |name: &str| dir.map_or_else(|| name.into(), |dir| dir.join(name));
    kept.iter().try_for_each(|name| writeln!(out, "  {}", path(name).display()))
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
    format!("{}; {}, {}", parts.join(", "), counted(tokens, "token"), counted(clients, "client"))
}

fn coverage(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "tried:")?;
    for pairs in &coverage.pairs {
        writeln!(out, "  {}", tried(pairs))?;
        for [one, other] in pairs.untried.iter().take(UNTRIED) {
            writeln!(out, "    not yet: {one}, {other}")?;
        }
        let more = pairs.untried.len().saturating_sub(UNTRIED);
        if more > 0 {
            writeln!(out, "    and {more} more; --format json lists all")?;
        }
    }
    writeln!(out, "  {}", tried_triples(coverage))
}

/// `client × fault: 25 of 62 pairs`.
pub(super) fn tried(pairs: &Pairs) -> String {
    format!("{}: {} of {} pairs", pairs.axes, pairs.share.tried, pairs.share.of)
}

/// The same of three axes together.
pub(super) fn tried_triples(coverage: &Coverage) -> String {
    format!("{TRIPLES}: {} of {}", coverage.triples.tried, coverage.triples.of)
}

/// The three axes of which triples are counted.
pub(super) const TRIPLES: &str = "changed trait × client × fault";

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
