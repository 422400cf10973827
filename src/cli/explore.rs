//! `skewlab explore`: a search for verdicts that nobody declared.

use std::cell::Cell;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::args::Format;
use super::error::CliError;
use super::interrupt;
use super::plan::catalogue;
use super::talk;
use crate::agent_server::profile::{Shelf, nearest};
use crate::judge::ExitCode;
use crate::record::explore::{Drawn, ExploreReport};
use crate::report;
use crate::scenario::Glob;
use crate::seed::Seed;
use crate::suite::explore::{Explore as Search, Limit};

/// Draw cells over servers, traits, frame mutations, clients, workloads and faults, and say what nobody had declared
///
/// Every group of bad ends that no shipped scenario expects is shrunk to the smallest cell that ends so, and written as a
/// capsule, which `skewlab replay` runs again. The same seed and budget print the same.
#[derive(Debug, Args)]
pub(super) struct Explore {
    /// Cells to draw
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000), conflicts_with_all = ["seconds", "healthy"])]
    budget: u64,
    /// Draw for so many seconds instead
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=604_800), conflicts_with = "healthy")]
    seconds: Option<u64>,
    /// Draw N cells of released pairs that have to be well, with nothing done to them, and stop at the first that is not
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    healthy: Option<u64>,
    /// Seed of the draws
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=u64::try_from(i64::MAX).unwrap_or(0)))]
    seed: u64,
    /// Servers to draw from: profiles or globs, several or separated by commas
    #[arg(long = "servers", alias = "server", value_name = "NAME", value_delimiter = ',', num_args = 1.., default_values = ["*"])]
    servers: Vec<String>,
    /// Clients to draw from: profiles or globs, several or separated by commas
    #[arg(long = "clients", alias = "client", value_name = "NAME", value_delimiter = ',', num_args = 1.., default_values = ["*"])]
    clients: Vec<String>,
    /// Worker threads [default: the machine's cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Folder for capsules
    #[arg(long, value_name = "DIR", default_value = "explore")]
    out: PathBuf,
    /// Groups to shrink and keep as capsules, at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    capsules: u16,
    /// List groups that a shipped scenario expects, too
    #[arg(long)]
    all: bool,
    /// Folder with more profiles: DIR/servers/*.toml and DIR/clients/*.toml
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(args: &Explore) -> Result<ExitCode, CliError> {
    let catalogue = catalogue(args.profiles.as_ref())?;
    let servers = names("--servers", &args.servers, catalogue.servers())?;
    let clients = names("--clients", &args.clients, catalogue.clients())?;
    // Better to know before the work than after it.
    if args.out.exists() && !args.out.is_dir() {
        let out = args.out.display();
        return Err(CliError::Usage(format!("--out {out}: this is a file, and capsules want a folder")));
    }
    for server in &servers {
        catalogue.server(server)?;
    }
    for client in &clients {
        catalogue.client(client)?;
    }
    let available = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = args.jobs.and_then(|jobs| NonZeroUsize::new(jobs.into())).unwrap_or_else(available);
    let (drawn, limit) = match (args.healthy, args.seconds) {
        (Some(cells), _) => (Drawn::HealthyPairs, Limit::Cells(cells)),
        (None, Some(seconds)) => (Drawn::Everything, Limit::Time(Duration::from_secs(seconds))),
        (None, None) => (Drawn::Everything, Limit::Cells(args.budget)),
    };
    let search = Search {
        catalogue: &catalogue,
        servers,
        clients,
        drawn,
        seed: Seed(args.seed),
        limit,
        jobs,
        capsules: args.capsules.into(),
        stop: interrupt::flag(),
    };
    let progress = Told::new(limit);
    let explored = search.run(&|cells| progress.tell(cells))?;
    progress.end(explored.report.cells);
    let mut written = Ok(());
    for (name, text) in &explored.capsules {
        let path = args.out.join(name);
        written = written.and(report::write_atomically(&path, |out| out.write_all(text.as_bytes())));
    }
    // What was found is shown even when it could not be kept.
    print(&explored.report, args)?;
    written?;
    Ok(code(&explored.report))
}

fn print(found: &ExploreReport, args: &Explore) -> Result<(), CliError> {
    match args.format {
        Format::Table => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            report::explore_table(found, Some(&args.out), args.all, &mut out)?;
            out.flush()?;
        }
        Format::Json => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            report::explore_json(found, &mut out)?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Declared groups are no news; a fault of the rig is worse than any other.
fn code(found: &ExploreReport) -> ExitCode {
    let news = || found.groups.iter().filter(|group| !group.declared);
    if found.cells == 0 {
        ExitCode::NothingRan
    } else if news().any(|group| group.verdict.is_rig_fault()) {
        ExitCode::RigInvalid
    } else if news().next().is_some() {
        ExitCode::Unexpected
    } else {
        ExitCode::AllAsExpected
    }
}

/// The profiles that are meant, each once.
fn names(flag: &str, asked: &[String], shelf: &Shelf) -> Result<Vec<String>, CliError> {
    let mut names: Vec<String> = Vec::new();
    for pattern in asked {
        let glob = Glob::new(pattern).map_err(|e| CliError::Usage(format!("{flag} {pattern}: {e}")))?;
        // A literal may name a what-if; a pattern means what exists or may come.
        let all: Vec<&str> = if glob.is_literal() {
            shelf.all().map(|about| about.name.as_str()).collect()
        } else {
            shelf.abouts().map(|about| about.name.as_str()).collect()
        };
        let found: Vec<&str> = all.iter().copied().filter(|name| glob.matches(name)).collect();
        if found.is_empty() {
            let hint = match nearest(pattern, all.iter().copied()) {
                hint if hint.is_empty() => format!("; there are {}", all.join(", ")),
                hint => hint,
            };
            return Err(CliError::Usage(format!("{flag} {pattern}: no profile matches{hint}")));
        }
        for name in found {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// How far a search is, on standard error.
struct Told {
    began: Instant,
    progress: Option<talk::Progress>,
    stepped: Cell<u64>,
}

impl Told {
    fn new(limit: Limit) -> Told {
        let total = match limit {
            Limit::Cells(cells) => usize::try_from(cells).ok(),
            Limit::Time(_) => None,
        };
        let progress = total.map(|total| talk::Progress::new(total, 0));
        Told { began: Instant::now(), progress, stepped: Cell::new(0) }
    }

    fn tell(&self, cells: u64) {
        let Some(progress) = &self.progress else { return };
        for _ in self.stepped.replace(cells)..cells {
            progress.step(None);
        }
    }

    fn end(&self, cells: u64) {
        if let Some(progress) = &self.progress {
            progress.clear();
        }
        let seconds = self.began.elapsed().as_secs_f64();
        talk::note(&format!("{cells} cells and what was shrunk of them in {seconds:.1} s"));
    }
}
