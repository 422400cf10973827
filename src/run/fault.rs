//! Why a cell has no observation.

/// The cell produced no evidence about the subject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CellFault {
    /// A party or the rig panicked.
    #[error("panicked: {0}")]
    Panicked(String),
    /// The turn did not end in time.
    #[error("the turn did not end within {0} s")]
    Deadline(u64),
    /// A released party said nothing for too long, and was killed.
    #[error("{0}")]
    Hung(String),
    /// The run was stopped before this cell.
    #[error("the run was stopped before this cell")]
    Interrupted,
    /// What was to go wrong never did, so that there is nothing to judge.
    #[error("the fault `{0}` never came: nothing was streamed, emitted or stored that it could happen to")]
    NeverFired(String),
    /// The parties could not be set up.
    #[error("{0}")]
    Setup(String),
}
