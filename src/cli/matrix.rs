//! `skewlab matrix`: the main job.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use super::args::{Clock, Format, Matrix};
use super::error::CliError;
use super::screen::columns;
use super::talk::{self, Progress};
use super::{interrupt, journal, known, plan};
use crate::judge::{ExitCode, exit_code};
use crate::record::Run;
use crate::report;
use crate::run::{CellRun, ClockKind, Options};
use crate::scenario::Planned;
use crate::seed::Seed;
use crate::suite;

pub(super) fn run(args: &Matrix) -> Result<ExitCode, CliError> {
    args.reports.check(args.resume.as_deref().or(args.out.as_deref()))?;
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
    let folder = args.resume.as_ref().or(args.out.as_ref());
    if let Some(dir) = folder {
        // Better to know before the work than after it.
        let other = |e: report::StoreError| CliError::Usage(format!("{e}; name another folder with --out"));
        report::writable(dir).map_err(other)?;
    }
    let catalogue = plan::catalogue(args.cells.profiles.as_ref())?;
    let (journal, finished) =
        journal::open(args.out.as_deref(), args.resume.as_deref(), &plan.journalled(options))?;
    let stop = interrupt::flag();
    let progress = Progress::new(plan.cells.len(), finished.len());
    let today = known::today();
    let done = |run: &CellRun| {
        if let Some(journal) = &journal {
            journal.keep(run);
        }
        let outcome = progress.wants_outcomes().then(|| plan.outcome(run, today)).flatten();
        progress.step(outcome.as_ref());
    };
    let told = |why: &str| talk::note(why);
    // CPU is a matter of the clock on the wall.
    let mut run = match clock {
        ClockKind::Virtual => plan.run_and_measure(options, finished, today, &stop, &done, &mut |_, _| None),
        ClockKind::Wall => {
            let mut measure = suite::by_bench(&catalogue, options.seed, &stop, &told);
            plan.run_and_measure(options, finished, today, &stop, &done, &mut measure)
        }
    };
    progress.clear();
    // Before anything is written of it.
    if let Some(laid) = &laid {
        laid.note(&mut run);
    }
    let (run, mut kept) = args.reports.keep(run, folder.map(PathBuf::as_path), &args.cells.scenarios);
    kept.journal(journal::close(journal, &run, &stop));
    // What was found is shown even when it could not be kept.
    let printed = print(&run, args.format);
    known::complain(list.as_ref(), laid.as_ref(), &run);
    let code = kept.code(exit_code(&run));
    printed?;
    Ok(code)
}

/// Prints a run as it was asked for.
pub(super) fn print(run: &Run, format: Format) -> Result<(), CliError> {
    match format {
        Format::Table => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            report::matrix_table(run, columns(), &mut out)?;
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
