//! What can go wrong with the emulated server itself.

/// The server could not do its work; never a behaviour of an era.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address could not be bound.
    #[error("cannot listen on {addr}: {error}")]
    Bind {
        /// The address.
        addr: std::net::SocketAddr,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// An address that is reachable from other machines, without leave.
    #[error("{addr} is not a loopback address; emulated servers are for this machine only")]
    NotLoopback {
        /// The address.
        addr: std::net::SocketAddr,
    },
}
