//! `bench … --against`: another build of skewlab, or another server, measured in turn with this one.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args as ClapArgs;

use super::args::Format;
use super::error::CliError;
use super::shown::show_and_keep;
use crate::judge::ExitCode;
use crate::record::interleaved::Interleaved;
use crate::report;
use crate::run::against::measure_with;
use crate::suite::against::{AgainstError, Question, Turn, builds, exit_of};

/// Blocks of each side where nothing is said: enough for a claim on many points.
pub(super) const BLOCKS: u32 = 15;

#[derive(Debug, ClapArgs)]
pub(super) struct Against {
    /// Another build of skewlab: both measure in turn, a process a block, and this one is judged
    #[arg(long, value_name = "BIN")]
    pub(super) against: Option<PathBuf>,
    /// The smallest change of CPU that is one, in per cent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent, allow_negative_numbers = true)]
    pub(super) smallest_effect: f64,
}

/// A share from a number of per cent.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (0.1..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected per cent, a number from 0.1 to 1000, as in 5".to_owned()),
    }
}

/// Measures this build and the other one in turn, with these arguments.
pub(super) fn other_build(
    program: &Path,
    args: &[OsString],
    rounds: u32,
    (smallest_effect, seed): (f64, u64),
    stop: &AtomicBool,
) -> Result<Interleaved, CliError> {
    let own = std::env::current_exe().map_err(|e| CliError::Start(e.to_string()))?;
    if !program.is_file() {
        return Err(CliError::Usage(format!("--against {}: there is no such file", program.display())));
    }
    // A name without a folder would be looked for on PATH, and be another file than the one that is there.
    let program = std::path::absolute(program).map_err(|e| CliError::Start(e.to_string()))?;
    let question =
        Question { base: "another build".to_owned(), head: "this build".to_owned(), smallest_effect, seed };
    let mut done = 0;
    let result = builds(&question, rounds, &mut |turn| {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let measured = measure_with(if turn == Turn::Head { &own } else { &program }, args);
        done += 1;
        if std::io::stderr().is_terminal() {
            eprint!("\r{done} blocks, {} to a series ", rounds * 3);
        }
        match measured {
            // Ctrl-C reaches the child as well.
            Err(_) if stop.load(Ordering::Relaxed) => Ok(None),
            other => Ok(Some(other.map_err(AgainstError::from)?)),
        }
    });
    if std::io::stderr().is_terminal() {
        eprint!("\r{:width$}\r", "", width = 50);
    }
    Ok(result?)
}

/// Writes and prints a result, and gives its code.
pub(super) fn conclude(of: &Interleaved, out: Option<&Path>, format: Format) -> Result<ExitCode, CliError> {
    show_and_keep(of, out, format, report::interleaved_json, report::interleaved_table)?;
    Ok(exit_of(of))
}

/// `--name value …` of an option with several values.
pub(super) fn option(name: &str, values: impl IntoIterator<Item = String>) -> Vec<OsString> {
    std::iter::once(name.to_owned()).chain(values).map(OsString::from).collect()
}
