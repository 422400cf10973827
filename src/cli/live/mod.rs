//! `skewlab live`: the released packages themselves, and what they need.

mod bench;
mod doctor;
mod extract;
pub(super) mod matrix;
pub(super) mod parties;
mod progress;
pub(super) mod record;
pub(super) mod setup;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::error::CliError;
use crate::judge::ExitCode;
use crate::live::env::{Cache, EnvError, Wanted};

#[derive(Debug, Subcommand)]
pub(super) enum LiveCommand {
    /// Download and install releases, each once into an environment of its own; the only command that downloads
    Setup(setup::Setup),
    /// Say what is missing, and the one command that mends it
    Doctor(doctor::Doctor),
    /// Run released servers against released clients, or either against our emulations, and judge every cell
    Matrix(matrix::LiveMatrix),
    /// Read a package and write the profile that it implies
    Extract(extract::Extract),
    /// Measure released servers on the wall clock
    #[command(subcommand)]
    Bench(bench::LiveBenchCommand),
    /// Watch the idle clocks of released servers while they stream, beside what the emulation says
    Idle(bench::LiveIdleArgs),
}

/// Which parties, and where their environments are.
#[derive(Debug, ClapArgs)]
pub(super) struct Parties {
    /// Servers: a release, latest, latest-1, latest-minor-3, path:DIR of a checkout, or a wheel; separated by commas
    #[arg(long, value_name = "VERSION", value_delimiter = ',', num_args = 1..)]
    pub(super) servers: Vec<String>,
    /// Clients: python-, typescript- or browser- and a version, as in typescript-latest; separated by commas
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', num_args = 1..)]
    pub(super) clients: Vec<String>,
    /// Folder of the environments [default: `SKEWLAB_CACHE`, or skewlab in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
    /// The Python to make environments of [default: a fitting one on this machine]
    #[arg(long, value_name = "FILE")]
    pub(super) python: Option<PathBuf>,
    /// The Chromium to use [default: `SKEWLAB_CHROMIUM`, or one on PATH]
    #[arg(long, value_name = "FILE")]
    pub(super) chromium: Option<PathBuf>,
}

impl Parties {
    pub(super) fn cache(&self) -> Result<Cache, EnvError> {
        Cache::locate(self.cache.as_deref())
    }

    pub(super) fn wanted(&self) -> Result<Vec<Wanted>, EnvError> {
        let servers = self.servers.iter().map(|said| Wanted::server(said));
        servers.chain(self.clients.iter().map(|said| Wanted::client(said))).collect()
    }
}

pub(super) fn run(command: &LiveCommand) -> Result<ExitCode, CliError> {
    match command {
        LiveCommand::Setup(setup) => setup::run(setup),
        LiveCommand::Doctor(doctor) => doctor::run(doctor),
        LiveCommand::Matrix(matrix) => matrix::run(matrix),
        LiveCommand::Extract(extract) => extract::run(extract),
        LiveCommand::Bench(command) => bench::run(command),
        LiveCommand::Idle(args) => bench::idle(args),
    }
}

/// One thread waits for programs and the network; there is nothing to compute.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CliError::Start(error.to_string()))
}
