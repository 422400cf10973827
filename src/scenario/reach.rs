//! Tables that pick no cell. One that never counts is a typing error, or what is left of a cell that went: either way the file
//! says something that is not so.
//!
//! A selection on the command line takes the place of an axis, so a table is of use if *some* selection gives it a cell: its
//! servers and clients need not stand in the file, and need not be in this run.

use std::ops::Range;

use super::axis;
use super::expand::wanted;
use super::load::Scenario;
use super::names::{Names, SAME};
use super::pattern::{Glob, is_literal};
use super::problem::Problem;
use super::rule::{Axes, Place};
use super::section::{Faults, Section};

/// When a table of a list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// It decides which cells there are.
    Before,
    /// For every cell that it matches.
    Always,
    /// For those that no table before it matches.
    First,
}

/// The lists of a file, with what they have met so far.
pub(super) struct Reach<'a> {
    include: &'a [Axes],
    exclude: &'a [Axes],
    tables: Vec<Table<'a>>,
}

struct Table<'a> {
    list: &'static str,
    span: Range<usize>,
    axes: &'a Axes,
    counts: Counts,
    picked: bool,
    met: bool,
}

impl<'a> Reach<'a> {
    /// Nothing is looked at yet but what decides which cells there are.
    pub(super) fn of(include: &'a [Axes], exclude: &'a [Axes], file: &mut Section<'_>) -> Reach<'a> {
        let reach = Reach { include, exclude, tables: Vec::new() };
        let reach = reach.watch("include", Counts::Before, include, file);
        reach.watch("exclude", Counts::Before, exclude, file)
    }

    /// A list of which every table counts.
    pub(super) fn every(
        self,
        list: &'static str,
        axes: impl IntoIterator<Item = &'a Axes>,
        file: &mut Section<'_>,
    ) -> Reach<'a> {
        self.watch(list, Counts::Always, axes, file)
    }

    /// A list of which the first table counts.
    pub(super) fn first(
        self,
        list: &'static str,
        axes: impl IntoIterator<Item = &'a Axes>,
        file: &mut Section<'_>,
    ) -> Reach<'a> {
        self.watch(list, Counts::First, axes, file)
    }

    /// The file was read without a fault, so its tables are as many as were read.
    fn watch(
        mut self,
        list: &'static str,
        counts: Counts,
        axes: impl IntoIterator<Item = &'a Axes>,
        file: &mut Section<'_>,
    ) -> Reach<'a> {
        let spans = file.one_or_more_tables(list, &mut Faults::default()).into_iter().map(|table| table.span);
        let table = |(axes, span)| Table { list, span, axes, counts, picked: false, met: false };
        self.tables.extend(axes.into_iter().zip(spans).map(table));
        self
    }

    /// Whether every table counts somewhere.
    pub(super) fn all_met(&self) -> bool {
        self.tables.iter().all(|table| table.met)
    }

    /// A cell that there can be.
    pub(super) fn sees(&mut self, place: Place<'_>) {
        let kept = wanted(self.include, self.exclude, place);
        let mut taken: Option<&'static str> = None;
        for table in &mut self.tables {
            let counts = kept || table.counts == Counts::Before;
            if !counts || !table.axes.matches(place) {
                continue;
            }
            table.picked = true;
            if table.counts != Counts::First {
                table.met = true;
            } else if taken != Some(table.list) {
                (taken, table.met) = (Some(table.list), true);
            }
        }
    }

    /// What counts nowhere.
    pub(super) fn report(self, faults: &mut Faults) {
        for Table { list, span, picked, .. } in self.tables.into_iter().filter(|table| !table.met) {
            let problem = if picked { Problem::Shadowed { list } } else { Problem::PicksNothing { list } };
            faults.add(span, problem);
        }
    }
}

/// Reports the tables of a scenario that count nowhere.
pub(super) fn check(scenario: &Scenario, names: &impl Names, file: &mut Section<'_>, faults: &mut Faults) {
    let Scenario { include, exclude, .. } = scenario;
    let axes = scenario.budget.iter().map(|(axes, _)| axes);
    let mut reach = Reach::of(include, exclude, file).every("budget", axes, file);
    reach = reach.first("expect", scenario.expect.iter().map(|(axes, _)| axes), file);
    reach = reach.first("known", scenario.known.iter().map(|(axes, _)| axes), file);
    if reach.tables.is_empty() {
        return;
    }
    let asked = axis::asked(&scenario.clients, names);
    let mut sure = visit(scenario, &scenario.servers, &asked, names, &mut reach);
    if sure && !reach.all_met() {
        // What only a selection can ask for.
        let patterns = |of: fn(&Axes) -> &Vec<Glob>| {
            reach.tables.iter().flat_map(move |table| of(table.axes)).map(|glob| glob.as_str().to_owned())
        };
        let mut servers: Vec<String> = patterns(|axes| &axes.server).collect();
        servers = servers.iter().map(|name| axis::some_server(name, names)).collect();
        servers.extend(["*".to_owned()].into_iter().chain(scenario.servers.iter().cloned()));
        let mut clients: Vec<String> = patterns(|axes| &axes.client).collect();
        clients = clients.iter().map(|name| axis::some_client(name, names)).collect();
        clients.extend(["*".to_owned(), SAME.to_owned()].into_iter().chain(scenario.clients.iter().cloned()));
        let asked = axis::asked(&clients, names);
        sure = visit(scenario, &servers, &asked, names, &mut reach);
    }
    if !sure {
        return;
    }
    // Nobody can be asked for every list that a client may have.
    for table in &mut reach.tables {
        let any_list = |glob: &Glob| glob.as_str().split_once('/').is_some_and(|(_, list)| !is_literal(list));
        table.met |= table.axes.client.iter().any(any_list);
    }
    reach.report(faults);
}

/// Shows every cell of these parties, until there is no more to learn. False where one of them does not read: whoever runs it
/// says so, and nothing is known of its tables.
fn visit(
    scenario: &Scenario,
    servers: &[String],
    asked: &[String],
    names: &impl Names,
    reach: &mut Reach<'_>,
) -> bool {
    let written: Vec<String> = scenario.mutations.iter().map(ToString::to_string).collect();
    let Ok(servers) = axis::servers(servers, names) else { return false };
    for server in servers {
        let called = [server.name.clone(), server.profile.clone()];
        for one in asked {
            let clients = match axis::clients(std::slice::from_ref(one), &server, names) {
                Ok(clients) => clients,
                // Who ships no client of its own has no `python@same`.
                Err(_) if one.starts_with(SAME) => continue,
                Err(_) => return false,
            };
            for client in clients {
                shown(scenario, &written, &called, &[client.names, client.asked].concat(), reach);
            }
            if reach.all_met() {
                return true;
            }
        }
    }
    true
}

/// Shows every cell of one server and one client.
fn shown(
    scenario: &Scenario,
    mutations: &[String],
    server: &[String],
    client: &[String],
    reach: &mut Reach<'_>,
) {
    for workload in &scenario.workloads {
        for mutation in mutations {
            for fault in &scenario.faults {
                let (workload, fault) = (&workload.name, &fault.name);
                reach.sees(Place { server, client, workload, mutation, fault, policy: "" });
            }
        }
    }
}
