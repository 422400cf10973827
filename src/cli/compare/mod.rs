//! `skewlab compare`: what changed between two results.

mod error;
mod git;
mod source;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

pub(super) use self::error::CompareError;
pub(super) use self::source::{Compared, Found, load};
use super::error::CliError;
use super::known;
use super::reports::plain_path;
use crate::judge::ExitCode;
use crate::judge::compare::{KnownFailure, Rules, compare_benches, compare_feed_benches, compare_runs};
use crate::record::baseline::Baseline;
use crate::record::comparison::Comparison;
use crate::report;
use crate::scenario::KnownList;

#[derive(Debug, ClapArgs)]
pub(super) struct Compare {
    /// What was: a result file, a folder of them, a baseline, or git:REV:PATH
    #[arg(value_name = "BASE")]
    base: String,
    /// What is now
    #[arg(value_name = "HEAD")]
    head: String,
    /// Cells of BASE may be missing in HEAD
    #[arg(long)]
    allow_gone: bool,
    /// What to do with cells whose scenario changed in between
    #[arg(long, value_enum, default_value_t = Changed::Refuse)]
    changed: Changed,
    /// File of known failures; an entry that is stale fails
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Write the comparison as JSON into this file
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CompareFormat {
    Table,
    /// For the comment on a pull request
    Markdown,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Changed {
    /// Compare nothing and say which they are
    Refuse,
    /// Leave them out and list them
    Skip,
}

pub(super) fn run(args: &Compare) -> Result<ExitCode, CliError> {
    let list = known::load(args.known.as_deref())?;
    let told = |why: &str| eprintln!("{}", report::harmless(why));
    let (base, head) = both(&args.base, &args.head, &told)?;
    if let Some(out) = &args.out {
        spared(out, &base, &head, args.known.as_deref())?;
    }
    let mut comparisons = Vec::new();
    for base in &base {
        let Some(head) = head.iter().find(|head| head.result.kind() == base.result.kind()) else {
            let kinds = |all: &[Found]| {
                all.iter().map(|found| found.result.kind().as_str()).collect::<Vec<_>>().join(" and ")
            };
            return Err(
                CompareError::Kinds { base: base.result.kind().as_str().into(), head: kinds(&head) }.into()
            );
        };
        comparisons.push(compared(args, &base.result, &head.result, list.as_ref())?);
    }
    for found in head.iter().filter(|found| base.iter().all(|b| b.result.kind() != found.result.kind())) {
        told(&format!(
            "{}: BASE has no {} to compare it with",
            found.place.display(),
            found.result.kind().as_str()
        ));
    }
    let written = match &args.out {
        Some(file) => report::write_atomically(file, |out| report::compare_json(&comparisons, out)),
        None => Ok(()),
    };
    // What was found is shown even when it could not be kept.
    print(&comparisons, args.format)?;
    let code = comparisons.iter().map(code).fold(ExitCode::AllAsExpected, ExitCode::first_of);
    match written {
        // What was found is worse than that it could not be kept.
        Err(error) if code != ExitCode::AllAsExpected => {
            anstream::eprintln!("error: {error}");
            Ok(code)
        }
        written => Ok(written.map(|()| code)?),
    }
}

/// Whether the comparison goes into a file of its own, and over none that it is made of.
fn spared(out: &Path, base: &[Found], head: &[Found], known: Option<&Path>) -> Result<(), CompareError> {
    let to = plain_path(out);
    let of = |side: &'static str, found: &[Found]| {
        found.iter().map(move |found| (side, found.place.clone())).collect::<Vec<_>>()
    };
    let mut read = [of("BASE", base), of("HEAD", head)].concat();
    read.extend(known.map(|path| ("the file of known failures", path.to_owned())));
    match read.into_iter().find(|(_, path)| plain_path(path) == to) {
        Some((what, _)) => Err(CompareError::Over { out: out.to_owned(), what }),
        None => Ok(()),
    }
}

/// Reads both sides, each on a thread of its own: most of the time of a comparison is the reading.
fn both(
    base: &str,
    head: &str,
    told: &(dyn Fn(&str) + Sync),
) -> Result<(Vec<Found>, Vec<Found>), CompareError> {
    std::thread::scope(|scope| {
        let base = scope.spawn(|| load(base, &told));
        let head = load(head, &told);
        let base = base.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((base?, head?))
    })
}

fn compared(
    args: &Compare,
    base: &Compared,
    head: &Compared,
    list: Option<&KnownList>,
) -> Result<Comparison, CompareError> {
    Ok(match (base, head) {
        (Compared::Run(base), Compared::Run(head)) => {
            let known = list.map(|list| picked(list, head)).unwrap_or_default();
            let rules = Rules {
                allow_gone: args.allow_gone,
                skip_changed: args.changed == Changed::Skip,
                known: &known,
                today: known::today(),
            };
            compare_runs(base, head, &rules)?
        }
        (Compared::Bench(base), Compared::Bench(head)) => compare_benches(base, head, args.allow_gone)?,
        (Compared::FeedBench(base), Compared::FeedBench(head)) => {
            compare_feed_benches(base, head, args.allow_gone)?
        }
        (base, head) => {
            let word = |of: &Compared| of.kind().as_str().to_owned();
            return Err(CompareError::Kinds { base: word(base), head: word(head) });
        }
    })
}

/// The entries of a file of known failures, with the cells of HEAD that each picks.
pub(super) fn picked(list: &KnownList, head: &Baseline) -> Vec<KnownFailure> {
    let ids = || head.cells.iter().map(|cell| &cell.id);
    let entry = |entry: &crate::scenario::KnownEntry| KnownFailure {
        cell: entry.cell.as_str().to_owned(),
        line: list.line(entry),
        picks: ids().filter(|id| entry.cell.picks(id)).cloned().collect(),
        known: entry.known.clone(),
    };
    list.entries.iter().map(entry).collect()
}

/// The code of a comparison, which its record carries as a number.
pub(super) fn code(of: &Comparison) -> ExitCode {
    crate::judge::compare::exit_of(of)
}

/// Prints comparisons as they were asked for.
pub(super) fn print(all: &[Comparison], format: CompareFormat) -> Result<(), CliError> {
    let mut out: Box<dyn Write> = match format {
        CompareFormat::Table => Box::new(BufWriter::new(anstream::stdout().lock())),
        _ => Box::new(BufWriter::new(std::io::stdout().lock())),
    };
    match format {
        CompareFormat::Table => all.iter().try_for_each(|one| report::compare_table(one, &mut *out))?,
        CompareFormat::Markdown => all.iter().try_for_each(|one| report::compare_markdown(one, &mut *out))?,
        CompareFormat::Json => report::compare_json(all, &mut *out)?,
    }
    out.flush()?;
    Ok(())
}
