//! Why a server could not be asked.

use crate::live::loopback::LoopbackError;
use crate::live::model::ModelError;
use crate::live::server::ServerError as LiveServerError;
use crate::scenario::ScenarioError;

/// A calibration that did not come to its end. What differs between the two sides is no error.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateServerError {
    /// The shipped scenario does not read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The shipped scenario has not the workload that is asked for.
    #[error("scenarios/release-skew.toml has no workload `chat`")]
    NoWorkload,
    /// The fake model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The webhook sink.
    #[error(transparent)]
    Sink(#[from] LoopbackError),
    /// The released server did not come up.
    #[error(transparent)]
    Server(#[from] LiveServerError),
    /// The emulation could not listen.
    #[error(transparent)]
    Emulation(#[from] crate::agent_server::server::ServerError),
    /// The folder, the runtime or the warden.
    #[error("cannot start: {0}")]
    Start(String),
    /// One side did not do what no case is about.
    #[error("{side}, {case}: {problem}")]
    Side {
        /// `the emulation` or the package with its version.
        side: String,
        /// The case, or what was prepared.
        case: String,
        /// What happened.
        problem: String,
    },
    /// The emulation says one thing on the wall clock and another on the virtual one.
    #[error(
        "the emulation of {profile} answers `{case}` on the wall clock as `{wall}` and on the virtual one as \
         `{virtually}`: no hash of its answers would say anything"
    )]
    Clocks {
        /// The profile.
        profile: String,
        /// The case and what of it.
        case: String,
        /// The answer over loopback.
        wall: String,
        /// The answer in memory.
        virtually: String,
    },
}
