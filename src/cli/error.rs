//! Why a command did not do its work, and the exit code for it.

use std::path::PathBuf;

use super::compare::CompareError;
use crate::agent_server::profile::ProfileError;
use crate::agent_server::server::ServerError;
use crate::judge::ExitCode;
use crate::live::env::EnvError;
use crate::live::extract::ExtractError;
use crate::live::model::ModelError;
use crate::openapi::ContractFileError;
use crate::record::StoredError;
use crate::report::{self, StoreError};
use crate::run::CellFault;
use crate::run::against::BuildError;
use crate::run::attach::AttachError;
use crate::run::calibrate::CalibrateError;
use crate::run::calibrate_server::CalibrateServerError;
use crate::run::fanout::FanOutError;
use crate::run::feed_bench::FeedBenchError;
use crate::run::live_bench::LiveBenchError;
use crate::scenario::ScenarioError;
use crate::scenario::capsule::CapsuleError;
use crate::session_feed::profile::VariantError;
use crate::session_feed::store::load::RepairError;
use crate::session_feed::store::{LoadError, StoreError as LogError};
use crate::suite::against::AgainstError;
use crate::suite::calibrate::TurnsError;
use crate::suite::explore::ExploreError;
use crate::suite::extract::ImplyError;
use crate::suite::{JournalError, PlanError};
use crate::swarm::SwarmError;
use crate::wire::MutationError;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Variant(#[from] VariantError),
    #[error(transparent)]
    Mutation(#[from] MutationError),
    #[error(transparent)]
    Swarm(#[from] SwarmError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    FanOut(#[from] FanOutError),
    #[error(transparent)]
    FeedBench(#[from] FeedBenchError),
    #[error(transparent)]
    LiveBench(#[from] LiveBenchError),
    #[error(transparent)]
    Attach(#[from] AttachError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Stored(#[from] StoredError),
    #[error(transparent)]
    Calibrate(#[from] CalibrateError),
    #[error(transparent)]
    CalibrateServer(#[from] CalibrateServerError),
    #[error(transparent)]
    Turns(#[from] TurnsError),
    #[error(transparent)]
    Env(#[from] EnvError),
    #[error(transparent)]
    Extract(#[from] ExtractError),
    #[error(transparent)]
    Imply(#[from] ImplyError),
    #[error(transparent)]
    Capsule(#[from] CapsuleError),
    #[error(transparent)]
    Explore(#[from] ExploreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Against(#[from] AgainstError),
    #[error(transparent)]
    Log(#[from] LoadError),
    #[error(transparent)]
    Repair(#[from] RepairError),
    #[error(transparent)]
    ContractFile(#[from] ContractFileError),
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("server `{server}`: {fault}")]
    Idle { server: String, fault: CellFault },
    #[error("URL: {0}")]
    Fetch(String),
    #[error("{0}")]
    Usage(String),
    #[error("the selection holds no cell{0}")]
    NothingRan(String),
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
    #[error("cannot start: {0}")]
    Start(String),
}

impl CliError {
    pub(super) fn code(&self) -> ExitCode {
        match self {
            CliError::NothingRan(_) => ExitCode::NothingRan,
            CliError::Compare(error) => error.code(),
            // The machine, the rig or an environment could not do it: nothing was said of any server.
            CliError::FanOut(_)
            | CliError::Against(AgainstError::FanOut(_) | AgainstError::Build(BuildError::Ended { .. }))
            | CliError::FeedBench(_)
            | CliError::LiveBench(_)
            | CliError::Turns(_)
            | CliError::CalibrateServer(_)
            | CliError::Fetch(_)
            | CliError::Extract(ExtractError::Ended { .. } | ExtractError::Slow { .. })
            | CliError::Attach(AttachError::Unreachable { .. } | AttachError::Say { .. }) => {
                ExitCode::RigInvalid
            }
            CliError::Env(error) if !error.is_usage() => ExitCode::RigInvalid,
            CliError::Calibrate(error) if !matches!(error, CalibrateError::Profile(_)) => {
                ExitCode::RigInvalid
            }
            CliError::Repair(RepairError::Store(LogError::Exists { .. })) => ExitCode::Usage,
            CliError::Output(_)
            | CliError::Repair(RepairError::Store(_))
            | CliError::Store(_)
            | CliError::Journal(JournalError::File { .. })
            | CliError::Start(_)
            | CliError::Swarm(_)
            | CliError::Idle { .. }
            | CliError::Model(ModelError::Listen(_))
            | CliError::Attach(AttachError::Start(_))
            | CliError::Server(ServerError::Bind { .. }) => ExitCode::Internal,
            _ => ExitCode::Usage,
        }
    }

    /// The message for a terminal; plain where colours are not wanted.
    pub(super) fn styled(&self) -> String {
        let text = match self {
            CliError::Plan(PlanError::Scenario(e)) | CliError::Scenario(e) if !e.faults().is_empty() => {
                e.styled()
            }
            // What points at a place in a file brings its own heading.
            other => {
                // It may quote a file of somebody else's.
                let text = report::harmless(&other.to_string()).into_owned();
                if text.starts_with("error") { text } else { format!("error: {text}") }
            }
        };
        match self.next() {
            Some(next) => format!("{text}\nhelp: {next}"),
            None => text,
        }
    }
}
