//! Why a bench could not be run, or not to its end.

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
    /// The subscribers could not be connected or read.
    #[error("the subscribers failed: {0}")]
    Swarm(String),
    /// The reference writer failed.
    #[error("the reference writer failed: {0}")]
    Reference(std::io::Error),
    /// Too few descriptors.
    #[error("{0}")]
    Limit(String),
}
