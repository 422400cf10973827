//! `skewlab live matrix`: the released packages meet each other, or our emulations of them.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::Parties;
use super::parties::{clients, servers};
use crate::cli::args::Format;
use crate::cli::error::CliError;
use crate::cli::reports::Reports;
use crate::cli::talk::Progress;
use crate::cli::{interrupt, journal, known, matrix, plan};
use crate::judge::{ExitCode, exit_code};
use crate::live::env::find_chromium;
use crate::probe::Scratch;
use crate::report;
use crate::run::live::{ClientPackage, LiveCell, LiveOptions, Memory};
use crate::seed::Seed;
use crate::suite::live::LivePlan;

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct LiveMatrix {
    #[command(flatten)]
    pub(in crate::cli) parties: Parties,
    /// Scenarios, by name or file
    #[arg(long = "scenario", value_name = "NAME|FILE", default_values = ["release-skew"], value_delimiter = ',')]
    scenarios: Vec<String>,
    /// Only cells whose id matches: a glob over the whole id, or without `/` over any part of it
    #[arg(long, value_name = "GLOB")]
    only: Option<String>,
    /// Folder with more profiles: DIR/servers/*.toml and DIR/clients/*.toml
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Cells at once
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// File of known failures, beside those that the scenarios list; an entry that is stale fails
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Write run.json into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the run in this folder that was killed or stopped: cells that are finished do not run again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "record"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    reports: Reports,
    /// Keep every frame with its time and direction in this folder, for `skewlab judge`
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Keep the folders and logs of servers and clients here [default: a temporary folder that is removed]
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &LiveMatrix) -> Result<ExitCode, CliError> {
    args.reports.check(args.resume.as_deref().or(args.out.as_deref()))?;
    let catalogue = plan::catalogue(args.profiles.as_ref())?;
    let cache = args.parties.cache()?;
    let servers = servers(&cache, &args.parties.servers, &catalogue)?;
    let clients = clients(&cache, &args.parties.clients, &servers, &catalogue)?;
    let list = known::load(args.known.as_deref())?;
    let mut plan = LivePlan::of(&args.scenarios, &servers, &clients, args.only.as_deref(), &catalogue)?;
    if plan.tasks.is_empty() {
        return Err(CliError::NothingRan(
            ": the scenario has no cell for these servers and clients".to_owned(),
        ));
    }
    let laid = list.as_ref().map(|list| plan.lay(list));
    let needs_browser = plan.tasks.iter().any(|t| matches!(t.client, ClientPackage::Canvas { .. }));
    let chromium = if needs_browser {
        Some(super::runtime()?.block_on(find_chromium(args.parties.chromium.as_deref()))?.path)
    } else {
        None
    };
    let out = args.resume.as_ref().or(args.out.as_ref());
    for dir in out.into_iter().chain(&args.record).chain(&args.logs) {
        // Better to know before the work than after it.
        report::writable(dir).map_err(|e| CliError::Usage(e.to_string()))?;
    }
    let folder = Folder::make(args.logs.clone())?;
    let options =
        LiveOptions { jobs: usize::from(args.jobs), seed: Seed(1), folder: folder.path.clone(), chromium };
    let (journal, finished) =
        journal::open(args.out.as_deref(), args.resume.as_deref(), &plan.journalled(&options))?;
    let stop = interrupt::flag();
    let progress = Progress::new(plan.tasks.len(), finished.len());
    let today = known::today();
    let done = |cell: &LiveCell| {
        if let Some(journal) = &journal {
            journal.keep(&cell.run);
        }
        if let Err(fault) = &cell.run.result {
            progress.aside(&report::harmless(&fault.to_string()));
        }
        let outcome = progress.wants_outcomes().then(|| plan.outcome(&cell.run, today)).flatten();
        progress.step(outcome.as_ref());
    };
    let outcome = plan.run(&options, finished, today, &stop, &done);
    progress.clear();
    let mut outcome = outcome.map_err(|fault| CliError::Start(fault.to_string()))?;
    if let Some(laid) = &laid {
        laid.note(&mut outcome.run);
    }
    let recorded = match &args.record {
        Some(dir) => super::record::keep(dir, &args.scenarios, &plan, &outcome),
        None => Ok(()),
    };
    let (run, mut kept) = args.reports.keep(outcome.run, out.map(PathBuf::as_path), &args.scenarios);
    kept.journal(journal::close(journal, &run, &stop));
    // What was found is shown even when it could not be kept.
    let printed = matrix::print(&run, args.format).and_then(|()| match args.format {
        Format::Table => held(&outcome.memory),
        Format::Json => Ok(()),
    });
    known::complain(list.as_ref(), laid.as_ref(), &run);
    let code = kept.code(exit_code(&run));
    printed?;
    recorded?;
    Ok(code)
}

/// What the parties held at most.
fn held(memory: &Memory) -> Result<(), CliError> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    let mib = |bytes: &u64| bytes / (1024 * 1024);
    let line = |of: &std::collections::BTreeMap<String, u64>| {
        of.iter().map(|(name, bytes)| format!("{name} {} MiB", mib(bytes))).collect::<Vec<_>>().join(", ")
    };
    if !memory.servers.is_empty() {
        writeln!(out, "resident at most: servers {}", line(&memory.servers))?;
    }
    if !memory.clients.is_empty() {
        writeln!(out, "                  clients {}", line(&memory.clients))?;
    }
    out.flush()?;
    Ok(())
}

/// The folder of a run; a temporary one goes when the run is over.
pub(in crate::cli) struct Folder {
    pub(in crate::cli) path: PathBuf,
    _temporary: Option<Scratch>,
}

impl Folder {
    pub(in crate::cli) fn make(named: Option<PathBuf>) -> Result<Folder, CliError> {
        let Some(path) = named else {
            let scratch = Scratch::new("live").map_err(|error| CliError::Start(error.to_string()))?;
            return Ok(Folder { path: scratch.path().to_owned(), _temporary: Some(scratch) });
        };
        std::fs::create_dir_all(&path)
            .map_err(|error| CliError::Start(format!("{}: {error}", path.display())))?;
        Ok(Folder { path, _temporary: None })
    }
}
