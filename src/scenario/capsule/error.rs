//! Why a file cannot be replayed.

use super::head::CAPSULE_SCHEMA;
use crate::agent_server::profile::ProfileError;
use crate::scenario::ScenarioError;

/// A capsule that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CapsuleError {
    /// The file cannot be read at all.
    #[error("cannot read {path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// It is no capsule.
    #[error("{path}: this is no capsule: {why}")]
    None {
        /// The file.
        path: String,
        /// What speaks against it, and what to do.
        why: String,
    },
    /// It was written for a reader of another version.
    #[error(
        "{path}: the capsule has schema `{found}`, and skewlab {} replays `{CAPSULE_SCHEMA}` only: {why}",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The file.
        path: String,
        /// Its schema.
        found: String,
        /// What to do.
        why: &'static str,
    },
    /// Its end is missing.
    #[error(
        "{path}:{line}:1: the capsule ends here, without the sums at its end: it was cut off while it was written or copied"
    )]
    CutOff {
        /// The file.
        path: String,
        /// Its last line, from 1.
        line: usize,
    },
    /// It is not as it was written; the place, shown.
    #[error("{shown}")]
    Damaged {
        /// The error, the line with a caret, and help.
        shown: String,
    },
    /// One place of it contradicts another: it was changed, and summed up anew.
    #[error("{shown}")]
    Contradicts {
        /// The error, the line with a caret, and help.
        shown: String,
    },
    /// The profiles that it brings cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The scenario in it cannot be used.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}
