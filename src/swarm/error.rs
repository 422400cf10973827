//! What a swarm cannot do at all; what happens to single sockets is in its reports.

use std::io;

/// Why a swarm does not work.
#[derive(Debug, thiserror::Error)]
pub enum SwarmError {
    /// Its poll, its waker or its thread could not be made.
    #[error("cannot start the subscribers' thread: {0}")]
    Start(io::Error),
    /// Waiting for sockets failed.
    #[error("the subscribers' thread cannot wait for its sockets: {0}")]
    Poll(io::Error),
    /// A group that was not asked for.
    #[error("there is no group {group}: the swarm was started with {groups}")]
    NoGroup {
        /// The group.
        group: usize,
        /// How many there are.
        groups: usize,
    },
    /// Its thread is gone.
    #[error("the subscribers' thread has ended")]
    Gone,
}
