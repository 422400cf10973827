//! Why a live bench could not be run at all.

use crate::live::drivers::DriverError;
use crate::live::model::ModelError;
use crate::live::rest::RestError;
use crate::live::server::ServerError;
use crate::run::CellFault;
use crate::swarm::SwarmError;

/// Nothing was measured, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum LiveBenchError {
    /// The folder, the runtime or the warden.
    #[error("cannot start: {0}")]
    Start(String),
    /// The fake model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The programs for foreign processes.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A server did not come up.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A server did not answer.
    #[error("server `{server}`: {error}")]
    Rest {
        /// The server.
        server: String,
        /// What happened.
        error: RestError,
    },
    /// A server's process is gone.
    #[error("server `{server}` is gone: its CPU cannot be read")]
    Gone {
        /// The server.
        server: String,
    },
    /// A turn did not end.
    #[error("server `{server}`: a turn of {tokens} tokens did not end within {within} s")]
    Turn {
        /// The server.
        server: String,
        /// Tokens of the turn.
        tokens: u32,
        /// How long it was given, seconds.
        within: u64,
    },
    /// An answer has not the field that it is asked for.
    #[error("server `{server}`: {place} has no usable `{field}`: {said}")]
    Lacks {
        /// The server.
        server: String,
        /// What was asked.
        place: String,
        /// The field.
        field: &'static str,
        /// The first of what it said.
        said: String,
    },
    /// The subscribers.
    #[error(transparent)]
    Swarm(#[from] SwarmError),
    /// The emulation that a server is held against.
    #[error("the emulation of `{server}`: {fault}")]
    Emulation {
        /// The server.
        server: String,
        /// Why.
        fault: CellFault,
    },
    /// Ctrl-C.
    #[error("stopped before anything was measured to its end")]
    Interrupted,
}
