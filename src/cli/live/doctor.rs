//! `skewlab live doctor`: what is missing.

use std::io::Write;

use clap::Args as ClapArgs;

use super::{Parties, runtime};
use crate::cli::error::CliError;
use crate::judge::ExitCode;
use crate::live::env::{State, doctor};

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Doctor {
    #[command(flatten)]
    parties: Parties,
}

pub(super) fn run(args: &Doctor) -> Result<ExitCode, CliError> {
    let cache = args.parties.cache()?;
    let wanted = args.parties.wanted()?;
    let (python, chromium) = (args.parties.python.as_deref(), args.parties.chromium.as_deref());
    let checks = runtime()?.block_on(doctor(&cache, &wanted, python, chromium))?;
    let width = checks.iter().map(|check| check.what.len()).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<width$}  {:<10}  {}", "cache", "", cache.root().display())?;
    let mut missing = 0_usize;
    for check in &checks {
        let state = match &check.state {
            State::Found => "found",
            State::Missing { .. } => "MISSING",
            State::NotNeeded => "not needed",
        };
        writeln!(out, "{:<width$}  {state:<10}  {}", check.what, check.detail)?;
        if let State::Missing { mend } = &check.state {
            missing += 1;
            writeln!(out, "{:<width$}  {:<10}  mend: {mend}", "", "")?;
        }
    }
    // The rig is not complete: the same code as for a run that could not be judged.
    Ok(if missing == 0 { ExitCode::AllAsExpected } else { ExitCode::RigInvalid })
}
