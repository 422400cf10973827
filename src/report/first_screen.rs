//! The first screen: what broke, and what to do about it. Nothing where all is as expected.

use std::io::{self, Write};

use anstyle::Style;

use super::broken::{Broken, STALE_ENTRIES, Trouble, broken, stale_entries};
use super::escape::line;
use super::next::{Again, next};
use super::style::{paint, style};
use crate::record::{Run, Verdict};

/// Groups that are told; the findings below have all of them.
const MOST: usize = 5;

/// Verdicts that next steps are told for.
const STEPS: usize = 2;

/// Writes it, if there is anything to say.
pub(super) fn first_screen(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let (broken, entries) = (broken(run), stale_entries(run));
    if broken.is_empty() && entries.is_empty() {
        return Ok(());
    }
    let bold = Style::new().bold();
    writeln!(out, "{}: {}", paint("what broke", bold), summary(run, &broken))?;
    for group in broken.iter().take(MOST) {
        let word = paint(group.trouble.as_str(), style(shown_as(group)));
        writeln!(out, "  {word}  {}: {}; on {}", line(group.scenario), group.what, group.places())?;
        if let Some(note) = &group.note {
            writeln!(out, "      {note}")?;
        }
        for queue in &group.waiting {
            writeln!(out, "      {queue}")?;
        }
    }
    if broken.len() > MOST {
        writeln!(out, "  and {} more; all are below, under the grids", broken.len() - MOST)?;
    }
    for entry in entries.iter().take(MOST) {
        writeln!(out, "  {}  {entry}", paint(Trouble::Stale.as_str(), style(Verdict::LoudLoss)))?;
    }
    if entries.len() > MOST {
        writeln!(out, "  and {} more entries that have to go", entries.len() - MOST)?;
    }
    writeln!(out, "\n{}", paint("what to do", bold))?;
    let again = Again::of(run);
    let mut told: Vec<(Trouble, Verdict)> = Vec::new();
    for group in &broken {
        if told.contains(&(group.trouble, group.verdict)) || told.len() == STEPS {
            continue;
        }
        told.push((group.trouble, group.verdict));
        let next = next(&again, group);
        writeln!(out, "  {}: {}", group.verdict.as_str(), next.look)?;
        for command in &next.commands {
            writeln!(out, "      {command}")?;
        }
        if let Some(declare) = &next.declare {
            writeln!(out, "      {declare}")?;
        }
    }
    if !entries.is_empty() {
        writeln!(out, "  stale: {STALE_ENTRIES}")?;
    }
    writeln!(out)
}

/// How many cells are how, and how many entries of the known failures have to go.
pub(super) fn summary(run: &Run, broken: &[Broken<'_>]) -> String {
    let of = |trouble: Trouble| -> usize {
        broken.iter().filter(|group| group.trouble == trouble).map(|group| group.cells.len()).sum()
    };
    let kinds = [
        (of(Trouble::Rig), "rig faults or not measured"),
        (of(Trouble::Unexpected), "unexpected"),
        (of(Trouble::Stale), "stale"),
    ];
    let all: usize = kinds.iter().map(|(count, _)| count).sum();
    let kinds: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    let cells = (all > 0).then(|| format!("{all} of {} cells ({})", run.cells.len(), kinds.join(", ")));
    let entries = (!run.stale.is_empty()).then(|| entries(run));
    cells.into_iter().chain(entries).collect::<Vec<_>>().join("; ")
}

/// How many entries of the known failures have to go.
pub(super) fn entries(run: &Run) -> String {
    match run.stale.len() {
        1 => "1 entry of the known failures has to go".to_owned(),
        n => format!("{n} entries of the known failures have to go"),
    }
}

/// The verdict whose colour a group has: a stale one may well be green of itself.
fn shown_as(group: &Broken<'_>) -> Verdict {
    match group.trouble {
        Trouble::Rig => Verdict::Invalid,
        Trouble::Unexpected if !group.verdict.is_healthy() => group.verdict,
        Trouble::Unexpected => Verdict::SilentLoss,
        Trouble::Stale => Verdict::LoudLoss,
    }
}
