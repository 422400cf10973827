//! `skewlab live bench` and `skewlab live idle`: what released servers cost and show while they stream.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};

use super::matrix::Folder;
use super::parties::servers;
use crate::agent_server::profile::Catalogue;
use crate::cli::args::Format;
use crate::cli::error::CliError;
use crate::cli::shown::show_and_keep;
use crate::cli::{idle, interrupt, plan};
use crate::judge::ExitCode;
use crate::live::env::{Cache, Wanted, find};
use crate::record::live_bench::LiveSettings;
use crate::report;
use crate::run::live::ServerPackage;
use crate::run::live_bench::{BASE_TOKENS, IdleWatch, MOST_SUBSCRIBERS, Plan, Subject};
use crate::suite::live::Named;
use crate::suite::live_bench::{live_fan_out, live_idle};

/// The packages that carry a delta from the model to a socket: other versions of them are another server.
const PINS: [&str; 8] =
    ["fastapi", "starlette", "uvicorn", "websockets", "pydantic", "pydantic-core", "litellm", "httpx"];

/// The fewest tokens beyond the short turn: process CPU comes in ticks of 10 ms, and fewer are lost in them.
const FEWEST_TOKENS: i64 = 20;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum LiveBenchCommand {
    /// CPU per token of released servers against subscribers, with the line through it
    Fanout(LiveFanOut),
}

/// Which servers, and where everything goes.
#[derive(Debug, ClapArgs)]
struct Common {
    /// Servers: a release, latest, latest-1, path:DIR of a checkout, or a wheel [default: all that are set up]
    #[arg(long, value_name = "VERSION", value_delimiter = ',', num_args = 1..)]
    servers: Vec<String>,
    /// Folder of the environments [default: `SKEWLAB_CACHE`, or skewlab in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Keep the folders and logs of the servers here [default: a temporary folder that is removed]
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Write the result as JSON into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct LiveFanOut {
    #[command(flatten)]
    common: Common,
    /// Numbers of subscribers, at most 49: a conversation takes 50, and one is the server's own
    #[arg(long, value_name = "N", value_delimiter = ',', num_args = 1.., default_values = ["0", "1", "10", "45"])]
    subscribers: Vec<u32>,
    /// Tokens of the turn that is measured
    #[arg(long, value_name = "N", default_value_t = 300,
          value_parser = clap::value_parser!(u32).range(FEWEST_TOKENS..=100_000))]
    tokens: u32,
    /// Tokens a second
    #[arg(long, value_name = "R", default_value_t = 20.0, value_parser = idle::rate, allow_negative_numbers = true)]
    rate: f64,
    /// Blocks of each server at each number of subscribers; fewer than 5 have no interval of a ratio
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Seed of the order and of resampling
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct LiveIdleArgs {
    #[command(flatten)]
    common: Common,
    /// Tokens a second
    #[arg(long, value_name = "R", default_value_t = 5.0, value_parser = idle::rate, allow_negative_numbers = true)]
    rate: f64,
    /// How long text streams
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = idle::duration, allow_hyphen_values = true)]
    duration: Duration,
}

pub(super) fn run(command: &LiveBenchCommand) -> Result<ExitCode, CliError> {
    match command {
        LiveBenchCommand::Fanout(args) => fan_out(args),
    }
}

fn fan_out(args: &LiveFanOut) -> Result<ExitCode, CliError> {
    let mut subscribers = args.subscribers.clone();
    subscribers.sort_unstable();
    subscribers.dedup();
    if let Some(most) = subscribers.last().filter(|most| **most > MOST_SUBSCRIBERS) {
        return Err(CliError::Usage(format!(
            "--subscribers {most}: at most {MOST_SUBSCRIBERS} are expected. A released server takes 50 subscribers a \
             conversation and is one of them itself; it closes every further socket with 1013"
        )));
    }
    let found = Found::of(&args.common)?;
    writable(args.common.out.as_deref())?;
    let folder = Folder::make(args.common.logs.clone())?;
    let settings = LiveSettings {
        subscribers,
        tokens: args.tokens,
        base_tokens: BASE_TOKENS,
        rate: args.rate,
        repeats: args.repeats,
        seed: args.seed,
    };
    let plan = Plan { settings, subjects: found.subjects, folder: folder.path.clone() };
    let shown = std::io::stderr().is_terminal();
    let progress = |done: usize, of: usize| {
        if shown {
            eprint!("\r{done}/{of} blocks");
        }
    };
    let bench = live_fan_out(&plan, &found.pins, &interrupt::flag(), &progress)?;
    if shown {
        eprint!("\r{:width$}\r", "", width = 40);
    }
    let (out, format) = (args.common.out.as_deref(), args.common.format);
    show_and_keep(&bench, out, format, report::live_bench_json, report::live_bench_table)?;
    let lost = bench.blocks.iter().any(|b| b.fault.is_some());
    Ok(match (lost, bench.rig.valid && bench.complete) {
        // As in the bench of the emulation: who may not be quoted comes first.
        (_, false) => ExitCode::RigInvalid,
        (true, true) => ExitCode::Unexpected,
        (false, true) => ExitCode::AllAsExpected,
    })
}

pub(super) fn idle(args: &LiveIdleArgs) -> Result<ExitCode, CliError> {
    const MOST: f64 = 100_000.0;
    let tokens = (args.duration.as_secs_f64() * args.rate).ceil();
    if !(1.0..=MOST).contains(&tokens) {
        return Err(CliError::Usage(format!(
            "--rate {} for --duration {} is {tokens} tokens; from 1 to {MOST} are expected",
            args.rate,
            humantime::format_duration(args.duration)
        )));
    }
    let found = Found::of(&args.common)?;
    writable(args.common.out.as_deref())?;
    let folder = Folder::make(args.common.logs.clone())?;
    let catalogue = plan::catalogue(None)?;
    let profiles = found.profiles.iter().map(|name| catalogue.server(name)).collect::<Result<Vec<_>, _>>()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let tokens = tokens as u32;
    let watch = IdleWatch {
        subjects: found.subjects,
        rate: args.rate,
        tokens,
        poll: Duration::from_secs(1),
        folder: folder.path.clone(),
    };
    let seen = live_idle(&watch, &profiles)?;
    let (out, format) = (args.common.out.as_deref(), args.common.format);
    show_and_keep(&seen, out, format, report::live_bench_json, report::live_idle_table)?;
    let contradicted = seen.servers.iter().any(|s| !s.contradictions.is_empty());
    Ok(if contradicted { ExitCode::Unexpected } else { ExitCode::AllAsExpected })
}

/// The servers that were asked for, with what they stand on.
struct Found {
    subjects: Vec<Subject>,
    profiles: Vec<String>,
    pins: Vec<BTreeMap<String, String>>,
}

impl Found {
    fn of(common: &Common) -> Result<Found, CliError> {
        let cache = Cache::locate(common.cache.as_deref())?;
        let catalogue: Catalogue = plan::catalogue(None)?;
        let mut found = Found { subjects: Vec::new(), profiles: Vec::new(), pins: Vec::new() };
        let servers = servers(&cache, &common.servers, &catalogue)?;
        for (n, Named { label, profile, package, .. }) in servers.into_iter().enumerate() {
            let ServerPackage::Python(package) = package else {
                return Err(CliError::Usage(format!(
                    "--servers {label}: a released server is expected; an emulated one has `skewlab bench fanout` and \
                     `skewlab idle`"
                )));
            };
            if found.subjects.iter().any(|s| s.name == label) {
                return Err(CliError::Usage(format!("--servers {label}: named twice")));
            }
            found.pins.push(pins(&cache, common.servers.get(n).unwrap_or(&label))?);
            found.subjects.push(Subject { name: label, package });
            found.profiles.push(profile);
        }
        Ok(found)
    }
}

/// Versions of what a server stands on; `said` is what it was asked for as.
fn pins(cache: &Cache, said: &str) -> Result<BTreeMap<String, String>, CliError> {
    let environment = find(cache, &Wanted::server(said)?)?;
    let known =
        PINS.iter().filter_map(|pin| Some(((*pin).to_owned(), environment.packages.get(*pin)?.clone())));
    Ok(known.collect())
}

fn writable(file: Option<&Path>) -> Result<(), CliError> {
    // Better to know before the work than after it.
    let Some(file) = file else { return Ok(()) };
    let dir = file.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    report::writable(dir).map_err(|e| CliError::Usage(e.to_string()))
}
