//! `skewlab live setup`: environments, made once.

use std::io::Write;
use std::sync::{Arc, Mutex};

use clap::Args as ClapArgs;

use super::progress::Progress;
use super::{Parties, runtime};
use crate::cli::error::CliError;
use crate::judge::ExitCode;
use crate::live::env::{Done, EnvError, Kind, Wanted, find_chromium, setup};

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Setup {
    #[command(flatten)]
    pub(in crate::cli) parties: Parties,
}

pub(super) fn run(args: &Setup) -> Result<ExitCode, CliError> {
    let cache = args.parties.cache()?;
    let mut wanted = args.parties.wanted()?;
    if wanted.is_empty() {
        wanted.push(Wanted::server("latest")?);
    }
    let at = Arc::new(Mutex::new("the environments".to_owned()));
    let mut progress = Progress::new(at.clone());
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        tokio::select! {
            biased;
            // What is dropped here takes its installer with it.
            _ = tokio::signal::ctrl_c() => {
                let name = at.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
                Err(EnvError::Interrupted { name })
            }
            done = setup(&cache, &wanted, args.parties.python.as_deref(), &mut progress) => done,
        }
    });
    drop(progress);
    let mut results = done?;
    if wanted.iter().any(|wanted| wanted.kind == Kind::Browser) {
        // Nothing is installed for it: a browser is the machine's, and needed by nobody else.
        match runtime.block_on(find_chromium(args.parties.chromium.as_deref())) {
            Ok(found) => writeln!(std::io::stdout(), "{:<24} {}", found.version, found.path.display())?,
            Err(error) => results.push(Err(error)),
        }
    }
    shown(results)
}

/// Prints what is ready; of the failures the first decides the exit code, and all are told.
fn shown(results: Vec<Result<Done, EnvError>>) -> Result<ExitCode, CliError> {
    let mut out = std::io::stdout().lock();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(done) => {
                let took = done.took.map_or_else(
                    || "ready before".to_owned(),
                    |took| format!("ready after {:.1} s", took.as_secs_f64()),
                );
                let note = done.note.map_or_else(String::new, |note| format!("  ({note})"));
                writeln!(out, "{:<24} {took}  {}{note}", done.name, done.dir.display())?;
            }
            Err(error) => failures.push(error),
        }
    }
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(ExitCode::AllAsExpected) };
    for other in failures {
        anstream::eprintln!("error: {other}");
    }
    Err(first.into())
}
