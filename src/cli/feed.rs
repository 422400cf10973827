//! `skewlab feed`: the session feed. `check` says what is in a session log, and whether it can be trusted.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::args::Format;
use super::error::CliError;
use crate::judge::ExitCode;
use crate::report::{feed_log_json, feed_log_table};
use crate::session_feed::store::load::{load, repaired};

#[derive(Debug, Subcommand)]
pub(super) enum FeedCommand {
    /// Say what is in a session log and what a crash left open, or why it cannot be trusted
    Check(Check),
}

#[derive(Debug, ClapArgs)]
pub(super) struct Check {
    /// The log: JSON lines, or SQLite in a build with the feature `sqlite`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the repaired log to this new file; FILE is never written to
    #[arg(long, value_name = "OUT")]
    repair: Option<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

pub(super) fn run(command: &FeedCommand) -> Result<ExitCode, CliError> {
    let FeedCommand::Check(check) = command;
    let loaded = match &check.repair {
        Some(to) => repaired(&check.file, to)?,
        None => load(&check.file)?,
    };
    let summary = loaded.summary(check.file.clone(), check.repair.clone());
    let mut out = std::io::stdout().lock();
    match check.format {
        Format::Table => feed_log_table(&summary, &mut out)?,
        Format::Json => feed_log_json(&summary, &mut out)?,
    }
    out.flush()?;
    // Nothing is broken in such a log; but which of its two texts is the true one, nobody can tell.
    Ok(if summary.divergent_steps.is_empty() { ExitCode::AllAsExpected } else { ExitCode::Unexpected })
}
