//! `skewlab bench feed`: what a chunk costs a session feed, and what a mirror costs on top.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use super::against::{self, Against};
use super::args::Format;
use super::error::CliError;
use super::interrupt;
use super::shown::show_and_keep;
use crate::judge::ExitCode;
use crate::record::feed_bench::FeedSettings;
use crate::report;
use crate::session_feed::Variants;
use crate::session_feed::store::FlushPolicy;
use crate::suite;

/// Measure what a chunk costs a session feed: dispatches, callbacks, bytes, syncs, allocations and CPU, by variant
#[derive(Debug, ClapArgs)]
pub(super) struct BenchFeed {
    /// Variants to compare; the first is what the others are compared with
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1..,
          default_values = ["mirrored", "mirror-removed", "transient-only", "embedded"])]
    variant: Vec<String>,
    /// Numbers of plain listeners
    #[arg(long, value_name = "N", value_delimiter = ',', num_args = 1.., allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(0..=10_000), default_values = ["0", "1", "8", "64"])]
    listeners: Vec<u32>,
    /// Chunks of a session
    #[arg(long, value_name = "N", default_value_t = 20_000, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(5..=10_000_000))]
    chunks: u32,
    /// Characters of text in a delta
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    payload: u32,
    /// Chunks a second on the session's own clock, which the flush window goes by
    #[arg(long, value_name = "R", default_value_t = 100_000.0, allow_negative_numbers = true, value_parser = rate)]
    rate: f64,
    /// When events become durable: turn-end, checkpoints, every-event, window-200ms
    #[arg(long, value_name = "POLICY", default_value = "window-200ms")]
    policy: String,
    /// Pack deltas of one block into rows
    #[arg(long)]
    packed: bool,
    /// Where the store is: on disk with real syncs, or in memory
    #[arg(long, value_enum, default_value_t = Store::Disk)]
    store: Store,
    /// Sessions of each variant at each number of listeners; fewer than 5 allow no claim [default: 7, and 15 with --against]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: Option<u32>,
    #[command(flatten)]
    against: Against,
    /// Seed of order and resampling
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the result as JSON to this file
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Store {
    Disk,
    Memory,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (1e-3..=1e6).contains(&rate) => Ok(rate),
        _ => Err("expected chunks a second, a number from 0.001 to 1000000".to_owned()),
    }
}

pub(super) fn run(args: &BenchFeed) -> Result<ExitCode, CliError> {
    let usage = |e: &dyn std::fmt::Display| CliError::Usage(e.to_string());
    let shelf = Variants::embedded().map_err(|e| usage(&e))?;
    let mut names: Vec<String> = Vec::new();
    args.variant.iter().for_each(|name| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    });
    let variants: Result<Vec<_>, _> = names.iter().map(|name| shelf.get(name)).collect();
    let variants = variants.map_err(|e| usage(&format_args!("--variant: {e}")))?;
    let policy: FlushPolicy = args.policy.parse().map_err(|e| usage(&format_args!("--policy: {e}")))?;
    let mut listeners = args.listeners.clone();
    listeners.sort_unstable();
    listeners.dedup();
    let settings = FeedSettings {
        variants: names,
        listeners,
        chunks: args.chunks,
        payload: args.payload,
        rate: args.rate,
        policy: policy.to_string(),
        packed: args.packed,
        store: if args.store == Store::Disk { "disk" } else { "memory" }.to_owned(),
        repeats: args.repeats.unwrap_or(if args.against.against.is_some() { against::BLOCKS } else { 7 }),
        seed: args.seed,
    };
    if let Some(file) = &args.out {
        // Better to know before the work than after it.
        let dir = file.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
        report::writable(dir).map_err(|e| usage(&e))?;
    }
    let stop = interrupt::flag();
    if let Some(program) = &args.against.against {
        let limits = (args.against.smallest_effect, args.seed);
        let result =
            against::other_build(program, &one_block(args, &settings), settings.repeats, limits, &stop)?;
        return against::conclude(&result, args.out.as_deref(), args.format);
    }
    let bench = suite::feed(&settings, &variants, policy, &stop, &progress).map_err(CliError::from)?;
    clear();
    show_and_keep(
        &bench,
        args.out.as_deref(),
        args.format,
        report::feed_bench_json,
        report::feed_bench_table,
    )?;
    Ok(if bench.complete { ExitCode::AllAsExpected } else { ExitCode::RigInvalid })
}

/// The same bench with one session a point, printed as JSON: what both builds are asked.
fn one_block(args: &BenchFeed, settings: &FeedSettings) -> Vec<OsString> {
    let listeners = settings.listeners.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let options = [
        ("--variant", settings.variants.join(",")),
        ("--listeners", listeners),
        ("--chunks", settings.chunks.to_string()),
        ("--payload", settings.payload.to_string()),
        ("--rate", settings.rate.to_string()),
        ("--policy", settings.policy.clone()),
        ("--store", settings.store.clone()),
        ("--seed", settings.seed.to_string()),
        ("--repeats", "1".to_owned()),
        ("--format", "json".to_owned()),
    ];
    let mut all: Vec<OsString> = ["bench", "feed"].map(OsString::from).to_vec();
    all.extend(options.into_iter().flat_map(|(name, value)| against::option(name, [value])));
    if args.packed {
        all.push("--packed".into());
    }
    all
}

fn progress(done: usize, of: usize) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{done} of {of} sessions ");
    }
}

fn clear() {
    if std::io::stderr().is_terminal() {
        eprint!("\r{:width$}\r", "", width = 40);
    }
}
