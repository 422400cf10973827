//! Why a package could not be asked.

use crate::agent_server::profile::ProfileError;
use crate::agent_server::server::ServerError;
use crate::live::driver::DriverError;
use crate::run::CellFault;

/// A calibration that did not come to its end. What differs between the two sides is no error.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The profile does not exist or contradicts itself.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The corpus in the binary does not read.
    #[error("scenarios/corpus.jsonl:{line}: {problem}")]
    Corpus {
        /// Line, from one.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The package's driver could not be started, hung or ended.
    #[error("{profile}: {error}")]
    Driver {
        /// The profile.
        profile: String,
        /// What happened.
        error: DriverError,
    },
    /// The emulated server in front of both could not be started.
    #[error("{profile}: {error}")]
    Server {
        /// The profile.
        profile: String,
        /// What happened.
        error: ServerError,
    },
    /// The rig could not be set up.
    #[error("{profile}: {fault}")]
    Rig {
        /// The profile.
        profile: String,
        /// What happened.
        fault: CellFault,
    },
    /// The package answered something that is no answer, or did not take part.
    #[error("{profile}: {problem}")]
    Unasked {
        /// The profile.
        profile: String,
        /// What happened.
        problem: String,
    },
}
