//! From scenarios to a result: plan, run, judge, and put together what `run.json` holds.
//!
//! This is the only place where the runner and the judge meet, and they meet in plain records.

mod assemble;
mod bench;
pub mod calibrate;
mod digest;
pub mod extract;
mod feed_bench;
pub mod live;
pub mod live_bench;
mod ratios;

pub use ratios::{MeasureCpu, by_bench, measure_cpu_ratios};

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use chrono::NaiveDate;

use crate::agent_server::profile::{Catalogue, ProfileError};
use crate::record::{CellResult, Ran, Run, SCHEMA, Subject, Timing, Totals};
use crate::run::{self, CellRun, Options, Parties};
use crate::scenario::{Cell, Scenario, ScenarioError, Selection, expand};
use crate::seed::Seed;
pub use bench::fan_out;
pub use feed_bench::feed;

/// Cells to run, and the questions they answer.
#[derive(Debug)]
pub struct Plan {
    /// The scenarios, in the order asked for.
    pub scenarios: Vec<Ran>,
    /// Their cells.
    pub cells: Vec<Cell>,
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
    /// A profile is wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl Plan {
    /// Loads the scenarios, given by name or file, and expands them under the selection.
    pub fn of(names: &[String], selection: &Selection, catalogue: &Catalogue) -> Result<Plan, PlanError> {
        let (mut scenarios, mut cells) = (Vec::new(), Vec::new());
        for name in names {
            let scenario = Scenario::load(name, catalogue)?;
            if scenarios.iter().any(|s: &Ran| s.name == scenario.name) {
                return Err(PlanError::Twice(scenario.name));
            }
            cells.extend(expand(&scenario, catalogue, selection)?);
            scenarios.push(Ran {
                name: scenario.name.clone(),
                question: scenario.question.clone(),
                subject: Subject::AgentServer,
            });
        }
        let parties = Parties::of(&cells, catalogue)?;
        Ok(Plan { scenarios, cells, parties })
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
        self.run_and_measure(options, today, stop, done, &mut |_, _| None)
    }

    /// The same, with somebody who measures CPU where a budget asks for it. Without, such a budget says that it was
    /// not measured.
    pub fn run_and_measure(
        &self,
        options: Options,
        today: NaiveDate,
        stop: &AtomicBool,
        done: &(dyn Fn(&CellRun) + Sync),
        measure: &mut MeasureCpu<'_>,
    ) -> Run {
        let started = Instant::now();
        let mut runs = run::execute(&self.cells, &self.parties, options, stop, done);
        // After the cells, so that nothing else runs while it is measured.
        measure_cpu_ratios(&self.cells, &mut runs, measure);
        let seconds = started.elapsed().as_secs_f64();
        let settings =
            Settings { seed: options.seed, clock: options.clock.as_str(), jobs: options.jobs, live: false };
        written(&self.cells, &runs, &self.scenarios, &settings, seconds, today)
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

/// Judges the evidence of every cell and writes the run down.
fn written(
    cells: &[Cell],
    runs: &[CellRun],
    scenarios: &[Ran],
    settings: &Settings,
    seconds: f64,
    today: NaiveDate,
) -> Run {
    let cells: Vec<CellResult> = runs
        .iter()
        .zip(cells)
        .map(|(run, cell)| assemble::cell(cell, &run.result, today, settings.live))
        .collect();
    let timing = Timing {
        seconds,
        cells_per_second: if seconds > 0.0 { count(cells.len()) / seconds } else { 0.0 },
        jobs: settings.jobs,
        cell_micros: runs.iter().map(|r| r.micros).collect(),
    };
    let mut run = Run {
        schema: SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        seed: settings.seed.0,
        clock: settings.clock.to_owned(),
        digest: String::new(),
        scenarios: scenarios.to_vec(),
        totals: totals(&cells),
        cells,
        timing,
    };
    run.digest = digest::digest(&run);
    run
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

fn totals(cells: &[CellResult]) -> Totals {
    use crate::record::Outcome;
    let mut totals = Totals { cells: cells.len() as u64, ..Totals::default() };
    for cell in cells {
        let slot = match cell.outcome {
            _ if cell.verdict.is_rig_fault() => &mut totals.rig,
            Outcome::Expected => &mut totals.expected,
            Outcome::Unexpected => &mut totals.unexpected,
            Outcome::Known => &mut totals.known,
            Outcome::Stale => &mut totals.stale,
        };
        *slot += 1;
    }
    totals
}
