//! Why a connection did not come to be.

use std::io;

use super::closed::Closed;

/// Why a socket did not get ready. Failures of thousands of sockets are counted by this.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refused {
    /// `EMFILE` or `ENFILE`.
    #[error("no descriptor is left (EMFILE): raise the limit with `ulimit -n`, or ask for fewer sockets")]
    Descriptors,
    /// `EADDRNOTAVAIL` or `EADDRINUSE`: every port of the source address is taken.
    #[error(
        "no port is left at this source address (EADDRNOTAVAIL): widen net.ipv4.ip_local_port_range, or wait \
         until closed connections have left TIME_WAIT"
    )]
    Ports,
    /// `ECONNREFUSED`.
    #[error("connection refused: nothing listens there")]
    Nobody,
    /// An HTTP status other than 101.
    #[error("the server answered the upgrade with HTTP status {0}")]
    Status(u16),
    /// A response that is no upgrade.
    #[error("the handshake failed: {0}")]
    Handshake(String),
    /// The connection ended before its first frame.
    #[error("before the first frame: {0}")]
    Closed(Closed),
    /// It took too long.
    #[error("not ready after {seconds} s: still waiting for {stage}")]
    TimedOut {
        /// What had not come.
        stage: &'static str,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The swarm was stopped before.
    #[error("stopped before it was tried")]
    Stopped,
    /// Any other error of the operating system.
    #[error("{0}")]
    Io(String),
}

impl Refused {
    /// Names an error of the operating system.
    pub(super) fn from_io(error: &io::Error) -> Refused {
        use rustix::io::Errno;
        match Errno::from_io_error(error) {
            Some(Errno::MFILE | Errno::NFILE) => Refused::Descriptors,
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Refused::Ports,
            Some(Errno::CONNREFUSED) => Refused::Nobody,
            _ => Refused::Io(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn the_limits_of_a_machine_are_named() {
        for (errno, said) in [
            (Errno::MFILE, "ulimit -n"),
            (Errno::NFILE, "ulimit -n"),
            (Errno::ADDRNOTAVAIL, "ip_local_port_range"),
            (Errno::CONNREFUSED, "nothing listens"),
            (Errno::NETUNREACH, "unreachable"),
        ] {
            let told = Refused::from_io(&errno.into()).to_string();
            assert!(told.contains(said), "{errno:?}: {told}");
        }
    }
}
