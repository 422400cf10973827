//! The run for a person: a grid a scenario, a line a finding, and the figures at the end.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use anstyle::Style;

use super::costs::{costs, unmeasured};
use super::escape::line;
use super::figures::figures as counts;
use super::findings::lines;
use super::first_screen::{entries, first_screen};
use super::grid::{grids, legend};
use super::order::parts;
use super::style::{mark, paint, style};
use crate::record::{CellResult, Run, Subject, Verdict, holds_certificate};

/// Writes the whole report: first what broke and what to do about it, if anything did. Grids wider than `width` columns go on
/// below. Colours are ANSI; hand over a writer that strips them where they are not wanted.
pub fn matrix_table(run: &Run, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let bold = Style::new().bold();
    first_screen(run, out)?;
    let all: Vec<&CellResult> = run.cells.iter().collect();
    let of_scenario: HashMap<&str, Vec<&CellResult>> =
        parts(&all, |cell| vec![cell.scenario.as_str()]).into_iter().collect();
    for scenario in &run.scenarios {
        let Some(cells) = of_scenario.get(scenario.name.as_str()) else { continue };
        writeln!(out, "{}  {}", paint(&line(&scenario.name), bold), line(&scenario.question))?;
        if let Some(url) = &scenario.seen {
            writeln!(out, "seen at {}", line(url))?;
        }
        writeln!(out)?;
        for grid in grids(scenario.subject, cells) {
            writeln!(out, "{}\n{}\n", grid.title, coloured(&grid.text(width)))?;
        }
        let lines = lines(cells);
        if !lines.is_empty() {
            writeln!(out, "{}", paint("findings", bold))?;
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        side_effects(cells, out)?;
        if let Some((session, counts)) = counts(cells, width) {
            let title = format!("what was counted in {session}");
            writeln!(out, "{}  (! not as the scenario says)\n{counts}", paint(&title, bold))?;
        }
        if let Some(costs) = costs(cells, width) {
            let title = "what each server spends on the stream of one turn, by budget";
            writeln!(out, "{}  (! over it, ? cannot be said)\n{costs}", paint(title, bold))?;
        }
        for note in unmeasured(cells) {
            writeln!(out, "  {note}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", legend(&run.cells))?;
    figures(run, out)
}

/// Colours the marks of a finished grid, where they stand as words of their own.
fn coloured(grid: &str) -> String {
    let marks: Vec<(Verdict, &str)> = Verdict::ALL.into_iter().map(|v| (v, mark(v))).collect();
    let paint_word = |word: &str| {
        let bare = word.trim_end_matches(['*', '~']);
        let verdict = marks.iter().find(|(_, m)| *m == bare && bare.len() > 1);
        verdict.map_or_else(|| word.to_owned(), |(v, _)| paint(word, style(*v)))
    };
    let line = |l: &str| l.split(' ').map(paint_word).collect::<Vec<_>>().join(" ").trim_end().to_owned();
    grid.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Which consumers beside the sockets got deltas, per server.
fn side_effects(cells: &[&CellResult], out: &mut dyn Write) -> io::Result<()> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut rows = Vec::new();
    for cell in cells {
        if cell.produced.frames == 0 || !seen.insert(&cell.server_release) {
            continue;
        }
        let effects = &cell.side_effects;
        let deltas = effects.webhook.deltas + effects.telemetry.deltas + effects.idle_deltas;
        if deltas > 0 {
            // What nobody could see is not told as nothing.
            let inside = if effects.foreign {
                "the rest is unseen".to_owned()
            } else {
                format!("telemetry {}, idle clock {}", effects.telemetry.deltas, effects.idle_deltas)
            };
            rows.push(format!(
                "  {}: webhook {} of {} events in {} posts, {inside}",
                line(&cell.server_release),
                effects.webhook.deltas,
                effects.webhook.events,
                effects.webhook.posts,
            ));
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "deltas that reached other consumers, in one turn")?;
    rows.iter().try_for_each(|row| writeln!(out, "{row}"))
}

/// The scenarios of the session feed.
fn feeds(run: &Run) -> Vec<&str> {
    let feeds = run.scenarios.iter().filter(|scenario| scenario.subject == Subject::SessionFeed);
    feeds.map(|scenario| scenario.name.as_str()).collect()
}

/// Why cells are unproven: which profiles hold no certificate, and what nothing is there to hold against.
pub(super) fn unproven(run: &Run) -> String {
    let feeds = feeds(run);
    let (feed, others): (Vec<&CellResult>, Vec<&CellResult>) = run
        .cells
        .iter()
        .filter(|cell| !cell.proven)
        .partition(|cell| feeds.contains(&cell.scenario.as_str()));
    let why_others = (!others.is_empty()).then(|| without_certificate(&others));
    let none = "the session feed has no released package here to hold it against".to_owned();
    let all: Vec<String> = why_others.into_iter().chain((!feed.is_empty()).then_some(none)).collect();
    line(&all.join("; ")).into_owned()
}

/// Which profiles of the unproven cells hold no certificate.
fn without_certificate(unproven: &[&CellResult]) -> String {
    let cells = || unproven.iter();
    let bare = |client: &str| client.split('/').next().unwrap_or_default().to_owned();
    let of = |names: std::collections::BTreeSet<String>| {
        names.into_iter().filter(|name| !holds_certificate(name)).collect::<Vec<_>>()
    };
    let servers = of(cells().map(|cell| cell.server.clone()).collect());
    let clients = of(cells().map(|cell| bare(&cell.client)).collect());
    let kinds = [("server", servers), ("client", clients)];
    let named: Vec<String> = kinds
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(kind, names)| {
            let s = if names.len() == 1 { "" } else { "s" };
            format!("{kind}{s} {}", names.join(", "))
        })
        .collect();
    if named.is_empty() {
        // A scenario may lay traits over a server, and then it is no release any more.
        "traits are laid over their servers, which no release has".to_owned()
    } else {
        format!("no certificate of agreement with the released package for {}", named.join("; "))
    }
}

fn figures(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let totals = &run.totals;
    let unproven = run.cells.iter().filter(|c| !c.proven).count();
    writeln!(
        out,
        "{} {}: {} as expected, {} unexpected, {} known, {} stale, {} rig faults",
        totals.cells,
        if totals.cells == 1 { "cell" } else { "cells" },
        totals.expected,
        totals.unexpected,
        totals.known,
        totals.stale,
        totals.rig
    )?;
    if !run.stale.is_empty() {
        writeln!(out, "{}", entries(run))?;
    }
    let why = match unproven {
        0 => "every party agreed with its released package on what both were asked".to_owned(),
        _ => self::unproven(run),
    };
    writeln!(out, "{unproven} unproven: {why}")?;
    writeln!(
        out,
        "{:.2} s, {:.0} cells/s, {} jobs, {} clock, seed {}, digest {}",
        run.timing.seconds,
        run.timing.cells_per_second,
        run.timing.jobs,
        line(&run.clock),
        run.seed,
        line(run.digest.get(..16).unwrap_or(&run.digest))
    )
}
