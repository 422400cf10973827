//! Why clients could not be attached. What the server does to them is a result and no error.

use crate::agent_server::profile::ProfileError;
use crate::probe::limits::LimitError;

/// An attachment that came to nothing. No text holds the key.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// Nobody listens there.
    #[error("cannot reach {server}: {why}")]
    Unreachable {
        /// Host and port.
        server: String,
        /// The operating system's words.
        why: String,
    },
    /// The message that starts a turn was not taken.
    #[error("--say: {server}: {why}")]
    Say {
        /// Host and port.
        server: String,
        /// What went wrong.
        why: String,
    },
    /// The profile cannot be a client.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// Too few descriptors.
    #[error("--clients {clients}: {error}")]
    Limit {
        /// Clients that were asked for.
        clients: u32,
        /// What is missing.
        error: LimitError,
    },
    /// The machine gives no event loop.
    #[error("cannot start: {0}")]
    Start(std::io::Error),
}
