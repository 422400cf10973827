//! Why a bench could not be run, or not to its end.

use crate::swarm::SwarmError;

/// A bench that failed for a reason of its own; a saturated rig is no error but a result that is not valid.
#[derive(Debug, thiserror::Error)]
pub enum FanOutError {
    /// The machine would not start a thread.
    #[error("cannot start the thread of {what}: {error}")]
    Thread {
        /// Whose.
        what: &'static str,
        /// Why.
        error: std::io::Error,
    },
    /// A server did not start, or ended.
    #[error("a server under test failed: {0}")]
    Server(String),
    /// The subscribers could not be read.
    #[error(transparent)]
    Swarm(#[from] SwarmError),
    /// The subscribers could not be connected.
    #[error("{0}")]
    Connect(String),
    /// The reference writer failed.
    #[error("the reference writer failed: {0}")]
    Reference(std::io::Error),
    /// Too few descriptors.
    #[error("{0}")]
    Limit(String),
}
