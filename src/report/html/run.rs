//! A run as a section of the page: its verdict in a sentence, what broke, what to do, the grids and the findings.

use std::collections::{BTreeSet, HashMap};

use askama::Template;

use super::advice::{Step, advice, reproduce};
use super::data::Data;
use super::wording::{self, Row, counted, spaced};
use super::{Section, Tone};
use crate::record::{CellResult, Outcome, Ran, Run, Subject, Verdict};
use crate::report::broken::{STALE_ENTRIES, stale_entries};
use crate::report::costs::costs;
use crate::report::figures::figures as counts;
use crate::report::findings::{Group, groups};
use crate::report::first_screen::entries;
use crate::report::grid::{Grid, grids, marked};
use crate::report::style::mark;
use crate::report::table::unproven;

/// How many groups of findings the first screen holds.
const FIRST: usize = 5;

#[derive(Template)]
#[template(path = "html/run.html")]
struct RunView<'a> {
    /// The word that its ids begin with.
    section: &'a str,
    totals: Vec<Total>,
    broke: Vec<FindingRow<'a>>,
    more: usize,
    /// Entries of the known failures that have to go.
    stale: Vec<String>,
    declared: Vec<Declared>,
    steps: Vec<Step>,
    legend: Vec<Legend>,
    scenarios: Vec<ScenarioView<'a>>,
    unproven: Option<String>,
    rig: Vec<Row>,
}

struct Total {
    count: u64,
    what: &'static str,
    tone: Tone,
}

/// A verdict that is bad, and that a scenario says so of.
struct Declared {
    class: &'static str,
    mark: &'static str,
    words: String,
    cells: String,
}

struct Legend {
    class: &'static str,
    mark: &'static str,
    words: String,
}

struct FindingRow<'a> {
    class: &'static str,
    mark: &'static str,
    words: String,
    /// `*` unexpected, `~` known; empty for what the scenario expects.
    star: &'static str,
    outcome: &'static str,
    client: String,
    what: &'a str,
    places: &'a str,
    note: Option<&'a str>,
    /// The number of the first cell.
    first: usize,
    /// The numbers of all of them.
    cells: String,
    count: String,
}

struct ScenarioView<'a> {
    name: &'a str,
    question: &'a str,
    reported: Option<&'a str>,
    grids: Vec<GridView<'a>>,
    findings: Vec<FindingRow<'a>>,
    costs: Option<String>,
    counts: Option<(String, String)>,
}

struct GridView<'a> {
    title: &'a str,
    corner: &'static str,
    columns: Vec<Head<'a>>,
    rows: Vec<(&'a str, Vec<Option<CellView>>)>,
}

/// The name over a column, and where it may be broken.
struct Head<'a> {
    parts: Vec<&'a str>,
}

struct CellView {
    number: usize,
    /// Whether this is its first place; a client asked for by two names has two.
    first: bool,
    class: &'static str,
    loud: bool,
    unproven: bool,
    text: String,
    name: String,
}

/// The section of a run, whose cells are added to the data of the page.
pub(super) fn section(run: &Run, id: String, title: String, data: &mut Data) -> askama::Result<Section> {
    let base = data.len();
    let commands: Vec<(String, Option<String>)> =
        run.scenarios.iter().map(|ran| (ran.name.clone(), reproduce(run, &ran.name))).collect();
    data.add(run, &title, &commands);
    let numbers: HashMap<*const CellResult, usize> =
        run.cells.iter().enumerate().map(|(at, cell)| (std::ptr::from_ref(cell), base + at)).collect();
    let numbers = Numbers(numbers);
    let of =
        |ran: &Ran| -> Vec<&CellResult> { run.cells.iter().filter(|c| c.scenario == ran.name).collect() };
    let parts: Vec<Part<'_>> = run
        .scenarios
        .iter()
        .map(|ran| (ran, of(ran)))
        .filter(|(_, cells)| !cells.is_empty())
        .map(|(ran, cells)| {
            let grids = grids(ran.subject, &cells);
            Part { ran, grids, groups: groups(&cells), cells }
        })
        .collect();
    let mut broken: Vec<&Group<'_>> =
        parts.iter().flat_map(|part| &part.groups).filter(|group| group.unexpected).collect();
    // What is known and tolerated comes after what is not; otherwise the worst first, over all scenarios.
    broken.sort_by_key(|group| (outcome(group) != Outcome::Unexpected, group.verdict));
    let mut steps = advice(run, broken.first().and_then(|group| group.cells.first().copied()));
    if !run.stale.is_empty() {
        steps.insert(
            0,
            Step { title: "Tidy up the known failures", text: STALE_ENTRIES.to_owned(), code: None },
        );
    }
    let broke = numbers.alike(&broken);
    let mut seen = BTreeSet::new();
    let view = RunView {
        section: &id,
        totals: totals(run),
        more: broke.len().saturating_sub(FIRST),
        broke: broke.into_iter().take(FIRST).collect(),
        stale: stale_entries(run),
        declared: declared(run),
        steps,
        legend: legend(run),
        scenarios: parts.iter().map(|part| numbers.scenario(part, &mut seen)).collect(),
        unproven: run.cells.iter().any(|cell| !cell.proven).then(|| unproven(run)),
        rig: rig(run),
    };
    let body = view.render()?;
    let (tone, sentence) = headline(run);
    Ok(Section { id, title, tone, sentence, body, has_cells: !run.cells.is_empty() })
}

/// A scenario that ran.
struct Part<'a> {
    ran: &'a Ran,
    cells: Vec<&'a CellResult>,
    grids: Vec<Grid<'a>>,
    groups: Vec<Group<'a>>,
}

/// The run in one sentence.
fn headline(run: &Run) -> (Tone, String) {
    let totals = &run.totals;
    let of = |n: u64| format!("{n} of {}", counted(totals.cells, "cell"));
    let is = |n: u64| if n == 1 { "is" } else { "are" };
    if totals.cells == 0 {
        return (Tone::Bad, "Nothing ran, and that is no success".to_owned());
    }
    if totals.rig > 0 {
        let unexpected = totals.unexpected.saturating_sub(totals.rig);
        let also = if unexpected > 0 { format!("; {unexpected} more unexpected") } else { String::new() };
        return (Tone::Bad, format!("{} say nothing, because skewlab itself failed{also}", of(totals.rig)));
    }
    if totals.unexpected > 0 {
        let is = is(totals.unexpected);
        return (Tone::Bad, format!("{} {is} not as the scenarios expect", of(totals.unexpected)));
    }
    if totals.stale > 0 {
        let (what, is) = (counted(totals.stale, "known failure"), is(totals.stale));
        return (Tone::Warn, format!("{what} {is} stale; everything else is as expected"));
    }
    if !run.stale.is_empty() {
        return (Tone::Warn, format!("{}; every cell is as expected", entries(run)));
    }
    if totals.known > 0 {
        let rest = format!("all but {}", counted(totals.known, "known failure"));
        return (Tone::Good, format!("{} as expected, {rest}", of(totals.expected)));
    }
    let all = if totals.cells == 1 {
        "The one cell is".to_owned()
    } else {
        format!("All {} cells are", totals.cells)
    };
    (Tone::Good, format!("{all} as the scenarios expect"))
}

fn totals(run: &Run) -> Vec<Total> {
    let t = &run.totals;
    let unproven = run.cells.iter().filter(|cell| !cell.proven).count() as u64;
    let total = |count: u64, what: &'static str, bad: Tone| {
        let tone = if count == 0 { Tone::Quiet } else { bad };
        Total { count, what, tone }
    };
    vec![
        total(t.expected, "as expected", Tone::Good),
        total(t.unexpected, "unexpected", Tone::Bad),
        total(t.known, "known failures", Tone::Warn),
        total(t.stale + run.stale.len() as u64, "stale", Tone::Warn),
        total(t.rig, "rig faults", Tone::Bad),
        total(unproven, "unproven", Tone::Quiet),
    ]
}

/// What is as bad as the scenarios say: expected, and no success either.
fn declared(run: &Run) -> Vec<Declared> {
    let count = |verdict: Verdict| {
        let is = |c: &&CellResult| c.verdict == verdict && c.outcome == Outcome::Expected;
        run.cells.iter().filter(is).count() as u64
    };
    let bad = Verdict::ALL.into_iter().filter(|verdict| !verdict.is_healthy());
    bad.map(|verdict| (verdict, count(verdict)))
        .filter(|(_, n)| *n > 0)
        .map(|(verdict, n)| Declared {
            class: wording::class(verdict),
            mark: mark(verdict),
            words: spaced(verdict.as_str()),
            cells: counted(n, "cell"),
        })
        .collect()
}

fn legend(run: &Run) -> Vec<Legend> {
    let occurs = |verdict: &Verdict| run.cells.iter().any(|cell| cell.verdict == *verdict);
    let entry = |verdict: Verdict| Legend {
        class: wording::class(verdict),
        mark: mark(verdict),
        words: spaced(verdict.as_str()),
    };
    Verdict::ALL.into_iter().rev().filter(occurs).map(entry).collect()
}

fn outcome(group: &Group<'_>) -> Outcome {
    let all = |outcome: Outcome| group.cells.iter().all(|cell| cell.outcome == outcome);
    match (group.unexpected, all(Outcome::Known), all(Outcome::Stale)) {
        (false, ..) => Outcome::Expected,
        (_, true, _) => Outcome::Known,
        (_, _, true) => Outcome::Stale,
        _ => Outcome::Unexpected,
    }
}

/// The number of every cell in the page.
struct Numbers(HashMap<*const CellResult, usize>);

impl Numbers {
    fn of(&self, cell: &CellResult) -> usize {
        self.0.get(&std::ptr::from_ref(cell)).copied().unwrap_or_default()
    }

    fn finding<'a>(&self, group: &'a Group<'a>) -> FindingRow<'a> {
        let numbers: Vec<usize> = group.cells.iter().map(|cell| self.of(cell)).collect();
        let (star, outcome) = match outcome(group) {
            Outcome::Expected => ("", Outcome::Expected),
            Outcome::Known => ("~", Outcome::Known),
            other => ("*", other),
        };
        FindingRow {
            class: wording::class(group.verdict),
            mark: mark(group.verdict),
            words: spaced(group.verdict.as_str()),
            star,
            outcome: wording::outcome(outcome),
            client: group.client.trim_end().to_owned(),
            what: group.what.trim_start_matches([':', ' ']),
            places: &group.places,
            note: group.note,
            first: numbers.first().copied().unwrap_or_default(),
            cells: numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
            count: counted(numbers.len() as u64, "cell"),
        }
    }

    /// A row for groups that differ in nothing but whose they are: of four front ends that lose the same for the same
    /// reason at the same places, a reader wants to be told once.
    fn alike<'a>(&self, groups: &[&'a Group<'a>]) -> Vec<FindingRow<'a>> {
        let mut rows: Vec<(&Group<'_>, FindingRow<'a>)> = Vec::new();
        for group in groups.iter().copied() {
            let same = |(other, _): &&mut (&Group<'_>, FindingRow<'a>)| {
                let key = |g: &Group<'_>| (g.verdict, outcome(g), g.what.clone(), g.places.clone());
                key(other) == key(group)
            };
            let row = self.finding(group);
            match rows.iter_mut().find(same) {
                Some((_, before)) => {
                    before.client = format!("{}, {}", before.client, row.client);
                    before.cells = format!("{} {}", before.cells, row.cells);
                    before.count = counted(before.cells.split(' ').count() as u64, "cell");
                }
                None => rows.push((group, row)),
            }
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn scenario<'a>(&self, part: &'a Part<'a>, seen: &mut BTreeSet<usize>) -> ScenarioView<'a> {
        ScenarioView {
            name: &part.ran.name,
            question: &part.ran.question,
            reported: part.ran.seen.as_deref(),
            grids: part.grids.iter().map(|grid| self.grid(grid, part.ran.subject, seen)).collect(),
            findings: part.groups.iter().map(|group| self.finding(group)).collect(),
            costs: costs(&part.cells, None),
            counts: counts(&part.cells, None),
        }
    }

    fn grid<'a>(&self, grid: &'a Grid<'a>, subject: Subject, seen: &mut BTreeSet<usize>) -> GridView<'a> {
        let columns = grid.columns.iter().map(|name| Head { parts: parts(name) }).collect();
        let rows = grid.rows.iter().map(|(row, cells)| {
            let cells = cells.iter().map(|cell| cell.map(|cell| self.cell(cell, row, seen))).collect();
            (row.as_str(), cells)
        });
        let rows = rows.collect();
        let corner = match (subject, grid.title.contains("by variant")) {
            (Subject::SessionFeed, true) if grid.title.ends_with("fault by variant") => "fault \\ variant",
            (Subject::SessionFeed, _) => "consumer \\ variant",
            _ if grid.title.ends_with("client by server") => "client \\ server",
            _ => "what goes wrong \\ client",
        };
        GridView { title: &grid.title, corner, columns, rows }
    }

    fn cell(&self, cell: &CellResult, row: &str, seen: &mut BTreeSet<usize>) -> CellView {
        let number = self.of(cell);
        // A client that was asked for by another name is called by the name of its row.
        let client =
            if cell.client_asked.iter().any(|asked| asked == row) { row } else { &cell.client_release };
        let mutation =
            if cell.mutation == "none" { String::new() } else { format!(" under {}", cell.mutation) };
        let proof = if cell.proven { "" } else { ", unproven" };
        let (verdict, outcome) = (spaced(cell.verdict.as_str()), wording::outcome(cell.outcome));
        CellView {
            number,
            first: seen.insert(number),
            class: wording::class(cell.verdict),
            loud: cell.outcome != Outcome::Expected,
            unproven: !cell.proven,
            text: marked(cell),
            name: format!("{client} on {}{mutation}: {verdict}, {outcome}{proof}", cell.server_release),
        }
    }
}

/// A name in the parts that a column may break it into.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(at) =
        rest.char_indices().skip(1).find(|(_, c)| matches!(c, '-' | '+' | '/' | '_')).map(|(at, _)| at)
    {
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// What the run says of itself and of the machine.
fn rig(run: &Run) -> Vec<Row> {
    let timing = &run.timing;
    let mut micros = timing.cell_micros.clone();
    micros.sort_unstable();
    let at = |percent: usize| micros.get((micros.len() * percent).div_ceil(100).saturating_sub(1));
    let time = |us: Option<&u64>| us.map_or_else(|| "-".to_owned(), |us| wording::micros(*us));
    let row = |what: &str, value: String| (what.to_owned(), value);
    vec![
        row("skewlab", run.skewlab.clone()),
        row("clock", run.clock.clone()),
        row("seed", run.seed.to_string()),
        row("digest", run.digest.clone()),
        row("wall time", format!("{:.2} s, {:.0} cells a second", timing.seconds, timing.cells_per_second)),
        row("jobs", timing.jobs.to_string()),
        row(
            "time of a cell",
            format!("p50 {}, p99 {}, max {}", time(at(50)), time(at(99)), time(micros.last())),
        ),
        row("rig faults", run.totals.rig.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_broken_before_what_joins_their_parts() {
        assert_eq!(
            parts("python-1.43.1+AB/token_callbacks"),
            ["python", "-1.43.1", "+AB", "/token", "_callbacks"]
        );
        assert_eq!(parts("1.58.2"), ["1.58.2"]);
        assert_eq!(parts("-é+"), ["-é", "+"]);
        assert_eq!(parts(""), [""]);
    }
}
