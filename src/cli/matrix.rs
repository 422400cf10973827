//! `skewlab matrix`: the main job.

use std::collections::BTreeSet;
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::args::{Clock, Format, Matrix};
use super::error::CliError;
use super::{interrupt, known, plan};
use crate::judge::{ExitCode, exit_code};
use crate::record::Run;
use crate::report;
use crate::run::{ClockKind, Options};
use crate::scenario::Planned;
use crate::seed::Seed;
use crate::suite;

pub(super) fn run(args: &Matrix) -> Result<ExitCode, CliError> {
    let list = known::load(args.known.as_deref())?;
    let mut plan = plan::plan(&args.cells)?;
    let mut laid = list.as_ref().map(|list| plan.lay(list));
    if let Some(laid) = &mut laid {
        let all = plan::unselected(&args.cells)?;
        let asked: BTreeSet<&str> = plan.cells.iter().map(Planned::id).collect();
        laid.spare(all.cells.iter().map(Planned::id).filter(|id| !asked.contains(id)));
    }
    let jobs = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let clock = match args.clock {
        Clock::Virtual => ClockKind::Virtual,
        Clock::Wall => ClockKind::Wall,
    };
    let options = Options { clock, seed: Seed(args.seed), jobs };
    if let Some(dir) = &args.out {
        // Better to know before the work than after it.
        report::writable(dir).map_err(|e| CliError::Usage(e.to_string()))?;
    }
    let stop = interrupt::flag();
    let progress = Progress::new(plan.cells.len());
    let today = known::today();
    let catalogue = plan::catalogue(args.cells.profiles.as_ref())?;
    let run = match clock {
        ClockKind::Virtual => plan.run(options, today, &stop, &|_| progress.step()),
        // CPU is a matter of the clock on the wall.
        ClockKind::Wall => {
            let told = |why: &str| eprintln!("{why}");
            let mut measure = suite::by_bench(&catalogue, options.seed, &stop, &told);
            plan.run_and_measure(options, today, &stop, &|_| progress.step(), &mut measure)
        }
    };
    progress.clear();
    let written = match &args.out {
        Some(dir) => report::write_atomically(&dir.join("run.json"), |out| report::json(&run, out)),
        None => Ok(()),
    };
    // What was found is shown even when it could not be kept.
    print(&run, args.format)?;
    written?;
    Ok(known::conclude(list.as_ref(), laid.as_ref(), &run, exit_code(&run)))
}

/// Prints a run as it was asked for.
pub(super) fn print(run: &Run, format: Format) -> Result<(), CliError> {
    match format {
        Format::Table => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            report::matrix_table(run, &mut out)?;
            out.flush()?;
        }
        Format::Json => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            report::json(run, &mut out)?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Cells done, on a terminal only.
struct Progress {
    total: usize,
    done: AtomicUsize,
    shown: bool,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress { total, done: AtomicUsize::new(0), shown: std::io::stderr().is_terminal() }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown && done.is_multiple_of(16) {
            eprint!("\r{done}/{} cells", self.total);
        }
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r{:width$}\r", "", width = 40);
        }
    }
}
