//! From scenarios to a result: plan, run, judge, and put together what `run.json` holds.
//!
//! This is the only place where the runner and the judge meet, and they meet in plain records.

pub mod against;
mod assemble;
mod bench;
pub mod calibrate;
pub mod explore;
pub mod extract;
mod feed_bench;
mod fingerprint;
mod journal;
mod known;
pub mod live;
pub mod live_bench;
mod ratios;
pub mod replay;
pub mod schemas;
mod select;

pub use ratios::{MeasureCpu, by_bench, measure_cpu_ratios};

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use chrono::NaiveDate;

use crate::agent_server::profile::{Catalogue, ProfileError};
use crate::record::{CellResult, Ran, Run, SCHEMA, Times, Timing, Totals};
use crate::run::{self, CellRun, Options, Parties};
use crate::scenario::{KnownList, Loaded, Planned, ScenarioError, Selection, expand, expand_feed, members};
use crate::seed::Seed;
use crate::session_feed::Variants;
use crate::session_feed::profile::VariantError;
pub use bench::fan_out;
pub use feed_bench::feed;
pub use journal::{JOURNAL, Journal, JournalError, Journalled};
pub use known::{Complaint, Laid};

/// Cells to run, and the questions they answer.
#[derive(Debug)]
pub struct Plan {
    /// The scenarios, in the order asked for.
    pub scenarios: Vec<Ran>,
    /// Their cells.
    pub cells: Vec<Planned>,
    parties: Parties,
}

/// A plan that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A scenario or a selection is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Two scenarios of one name, whose cells could not be told apart.
    #[error("there are two scenarios called `{0}`; a file's name is its scenario's name")]
    Twice(String),
    /// Two packages of one name, whose cells could not be told apart.
    #[error(
        "two different packages would both be cell `{0}`; the last folder of a path is its name: rename one"
    )]
    OneName(String),
    /// What goes wrong in a scenario can be done to emulated parties only.
    #[error(
        "scenario `{0}` has faults, which released packages do not take: `skewlab matrix {0}` runs it emulated"
    )]
    Faults(String),
    /// Nobody asks a server of a live run how long it has been idle, and ends it.
    #[error(
        "scenario `{0}` has `[runtime]`, which ends emulated servers only: `skewlab matrix {0}` runs it emulated"
    )]
    Runtime(String),
    /// A profile is wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A variant of the session feed is wrong.
    #[error(transparent)]
    Variant(#[from] VariantError),
}

impl Plan {
    /// Loads the scenarios, given by name or file, and expands them under the selection.
    pub fn of(names: &[String], selection: &Selection, catalogue: &Catalogue) -> Result<Plan, PlanError> {
        let variants = Variants::embedded()?;
        let (mut scenarios, mut loaded) = (Vec::<Ran>::new(), Vec::new());
        for name in names.iter().flat_map(|name| members(name)) {
            let scenario = Loaded::load(&name, catalogue, &variants)?;
            if scenarios.iter().any(|s| s.name == scenario.name()) {
                return Err(PlanError::Twice(scenario.name().to_owned()));
            }
            let (name, question) = (scenario.name().to_owned(), scenario.question().to_owned());
            let seen = scenario.seen().map(str::to_owned);
            scenarios.push(Ran { name, question, seen, subject: scenario.subject() });
            loaded.push(scenario);
        }
        let subjects = scenarios.iter().map(|s| s.subject).collect();
        let selected = select::by_subject(selection, &subjects, &variants);
        let mut cells: Vec<Planned> = Vec::new();
        for scenario in &loaded {
            let Some(selection) = selected.get(&scenario.subject()) else { continue };
            match scenario {
                Loaded::AgentServer(scenario) => {
                    let own = expand(scenario, catalogue, selection)?;
                    cells.extend(own.into_iter().map(|cell| Planned::AgentServer(Box::new(cell))));
                }
                Loaded::SessionFeed(scenario) => {
                    let own = expand_feed(scenario, &variants, selection)?;
                    cells.extend(own.into_iter().map(|cell| Planned::SessionFeed(Box::new(cell))));
                }
            }
        }
        let feeds = cells.iter().filter_map(Planned::session_feed);
        let parties = Parties::of(cells.iter().filter_map(Planned::agent_server), catalogue)?;
        let parties = parties.with_feeds(feeds, &variants)?;
        Ok(Plan { scenarios, cells, parties })
    }

    /// What its journal is of.
    pub fn journalled(&self, options: Options) -> Journalled {
        let cells = self.cells.iter().map(|cell| (cell.id(), cell.hash()));
        Journalled::of(options.clock.as_str(), options.seed.0, cells)
    }

    /// What a finished cell means, for whoever watches a run that is not at its end.
    pub fn outcome(&self, run: &CellRun, today: NaiveDate) -> Option<CellResult> {
        Some(judged(self.cells.get(run.index)?, run, today))
    }

    /// Lays known failures over the cells whose scenario lists none of its own.
    pub fn lay<'a>(&mut self, list: &'a KnownList) -> Laid<'a> {
        let cells = self.cells.iter_mut().map(|cell| match cell {
            Planned::AgentServer(cell) => (cell.id.as_str(), &mut cell.known),
            Planned::SessionFeed(cell) => (cell.id.as_str(), &mut cell.known),
        });
        Laid::over(list, cells)
    }

    /// Runs the plan and judges every cell.
    ///
    /// `today` decides whether a known failure has expired. `done` is told of every finished cell.
    pub fn run(
        &self,
        options: Options,
        today: NaiveDate,
        stop: &AtomicBool,
        done: &(dyn Fn(&CellRun) + Sync),
    ) -> Run {
        self.run_and_measure(options, Vec::new(), today, stop, done, &mut |_, _| None)
    }

    /// The same, with what an earlier attempt at this plan has `finished`, and with somebody who measures CPU where a budget
    /// asks for it. Without, such a budget says that it was not measured.
    pub fn run_and_measure(
        &self,
        options: Options,
        finished: Vec<CellRun>,
        today: NaiveDate,
        stop: &AtomicBool,
        done: &(dyn Fn(&CellRun) + Sync),
        measure: &mut MeasureCpu<'_>,
    ) -> Run {
        let started = Instant::now();
        let mut runs: Vec<CellRun> = run::execute(&self.cells, &self.parties, options, finished, stop, done);
        // After the cells, so that nothing else runs while it is measured.
        measure_cpu_ratios(&self.cells, &mut runs, measure);
        let seconds = started.elapsed().as_secs_f64();
        let settings =
            Settings { seed: options.seed, clock: options.clock.as_str(), jobs: options.jobs, live: false };
        let judged = runs.iter().zip(&self.cells).map(|(run, cell)| judged(cell, run, today));
        written(judged.collect(), &runs, &self.scenarios, &settings, seconds)
    }
}

fn judged(cell: &Planned, run: &CellRun, today: NaiveDate) -> CellResult {
    match cell {
        Planned::AgentServer(cell) => assemble::cell(cell, &run.result, today, false),
        Planned::SessionFeed(cell) => assemble::feed_cell(cell, &run.result, today),
    }
}

/// What a run was run with, as far as its result says it.
struct Settings {
    seed: Seed,
    clock: &'static str,
    jobs: usize,
    /// Whether packages took part.
    live: bool,
}

/// Writes the run down, its cells judged.
fn written(
    cells: Vec<CellResult>,
    runs: &[CellRun],
    scenarios: &[Ran],
    settings: &Settings,
    seconds: f64,
) -> Run {
    let timing = Timing {
        seconds,
        cells_per_second: if seconds > 0.0 { count(cells.len()) / seconds } else { 0.0 },
        jobs: settings.jobs,
        cell_micros: runs.iter().map(|r| r.micros).collect(),
        cell_times: times(runs, &cells),
    };
    let mut run = Run {
        schema: SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        seed: settings.seed.0,
        clock: settings.clock.to_owned(),
        digest: String::new(),
        sealed: false,
        scenarios: scenarios.to_vec(),
        totals: Totals::of(&cells),
        stale: Vec::new(),
        cells,
        timing,
    };
    run.seal();
    run
}

/// The times of the client that joined each cell first, where any cell has some.
fn times(runs: &[CellRun], cells: &[CellResult]) -> Vec<Option<Times>> {
    let of = |run: &CellRun| run.result.as_ref().ok().and_then(|clients| clients.first()?.times.clone());
    let times: Vec<_> = runs.iter().map(of).collect();
    if times.iter().all(Option::is_none) || times.len() != cells.len() { Vec::new() } else { times }
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
