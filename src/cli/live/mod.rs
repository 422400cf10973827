//! `skewlab live`: the released packages themselves.

pub(super) mod extract;

use clap::Subcommand;

use super::error::CliError;
use crate::judge::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum LiveCommand {
    /// Read a package and write the profile that it implies
    Extract(extract::Extract),
}

pub(super) fn run(command: &LiveCommand) -> Result<ExitCode, CliError> {
    match command {
        LiveCommand::Extract(extract) => extract::run(extract),
    }
}
