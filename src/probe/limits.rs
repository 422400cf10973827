//! How many descriptors this process may open, and raising that.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More descriptors are not to be had. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The kernel gives no process that many.
    #[error(
        "{wanted} descriptors are needed and `fs.nr_open` allows a process {nr_open}; \
         lift it with `sysctl -w fs.nr_open={wanted}` as root"
    )]
    Kernel {
        /// What was asked for.
        wanted: u64,
        /// `/proc/sys/fs/nr_open`.
        nr_open: u64,
    },
    /// The hard limit is lower, and only root may raise it.
    #[error(
        "{wanted} descriptors are needed and the hard limit is {hard} (soft {soft}); \
         lift it with `ulimit -n {wanted}` in a shell of root, or start fewer subscribers"
    )]
    Hard {
        /// What was asked for.
        wanted: u64,
        /// The soft limit.
        soft: u64,
        /// The hard limit.
        hard: u64,
    },
    /// The hard limit allows it and the system still does not raise the soft limit: a sandbox, say.
    #[error(
        "{wanted} descriptors are needed and the soft limit is {soft} (hard {hard}), which the system does not raise: \
         {error}; lift it with `ulimit -n {wanted}` before the start"
    )]
    Soft {
        /// What was asked for.
        wanted: u64,
        /// The soft limit.
        soft: u64,
        /// The hard limit.
        hard: u64,
        /// The operating system's words.
        error: std::io::ErrorKind,
    },
}

/// The soft and the hard limit of open descriptors of this process; `u64::MAX` where there is none.
pub fn descriptors() -> (u64, u64) {
    numbers(getrlimit(Resource::Nofile))
}

/// Raises the soft limit to `wanted`, and the hard one where that is needed and allowed. Never lowers one. Returns the
/// soft limit that holds now.
///
/// `wanted` is for the whole process: its files, and both ends of every loopback connection.
pub fn raise_descriptors(wanted: u64) -> Result<u64, LimitError> {
    let nr_open = std::fs::read_to_string("/proc/sys/fs/nr_open").ok().and_then(|n| n.trim().parse().ok());
    raise(wanted, getrlimit(Resource::Nofile), nr_open, |limit| {
        setrlimit(Resource::Nofile, limit).map_err(rustix::io::Errno::kind)
    })
}

fn numbers(limit: Rlimit) -> (u64, u64) {
    (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX))
}

fn raise(
    wanted: u64,
    now: Rlimit,
    nr_open: Option<u64>,
    mut set: impl FnMut(Rlimit) -> Result<(), std::io::ErrorKind>,
) -> Result<u64, LimitError> {
    let (soft, hard) = numbers(now);
    if wanted <= soft {
        return Ok(soft);
    }
    if wanted <= hard {
        set(Rlimit { current: Some(wanted), maximum: now.maximum }).map_err(|error| LimitError::Soft {
            wanted,
            soft,
            hard,
            error,
        })?;
        return Ok(wanted);
    }
    // Root may raise the hard limit too, up to this; past it the kernel's answer to root would read like a missing right.
    if let Some(nr_open) = nr_open.filter(|n| wanted > *n) {
        return Err(LimitError::Kernel { wanted, nr_open });
    }
    set(Rlimit { current: Some(wanted), maximum: Some(wanted) }).map_err(|_| LimitError::Hard {
        wanted,
        soft,
        hard,
    })?;
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind::PermissionDenied;

    use super::*;

    const NOW: Rlimit = Rlimit { current: Some(1024), maximum: Some(4096) };

    /// What was set, and the answer.
    fn try_raise(wanted: u64, allowed: bool) -> (Vec<(u64, u64)>, Result<u64, LimitError>) {
        let mut set = Vec::new();
        let answer = raise(wanted, NOW, Some(1_048_576), |limit| {
            set.push(numbers(limit));
            if allowed { Ok(()) } else { Err(PermissionDenied) }
        });
        (set, answer)
    }

    #[test]
    fn what_is_enough_is_left_alone() {
        assert_eq!(try_raise(1000, true), (vec![], Ok(1024)));
        assert_eq!(try_raise(1024, false), (vec![], Ok(1024)));
    }

    #[test]
    fn the_soft_limit_is_raised_first_and_the_hard_one_only_for_need() {
        assert_eq!(try_raise(4096, true), (vec![(4096, 4096)], Ok(4096)));
        assert_eq!(try_raise(2000, true), (vec![(2000, 4096)], Ok(2000)));
        assert_eq!(try_raise(20_500, true), (vec![(20_500, 20_500)], Ok(20_500)));
    }

    #[test]
    fn the_error_names_the_limit_that_stops_it_and_the_command() {
        let told = |wanted, allowed| try_raise(wanted, allowed).1.unwrap_err().to_string();
        assert_eq!(
            told(20_500, false),
            "20500 descriptors are needed and the hard limit is 4096 (soft 1024); lift it with `ulimit -n 20500` in \
             a shell of root, or start fewer subscribers"
        );
        assert_eq!(
            told(2_000_000, true),
            "2000000 descriptors are needed and `fs.nr_open` allows a process 1048576; lift it with \
             `sysctl -w fs.nr_open=2000000` as root"
        );
        assert_eq!(
            told(2000, false),
            "2000 descriptors are needed and the soft limit is 1024 (hard 4096), which the system does not raise: \
             permission denied; lift it with `ulimit -n 2000` before the start"
        );
    }

    #[test]
    fn no_limit_is_more_than_any_number() {
        let unlimited = Rlimit { current: None, maximum: None };
        assert_eq!(raise(1 << 40, unlimited, Some(1024), |_| Err(PermissionDenied)), Ok(u64::MAX));
    }

    #[test]
    fn this_process_can_be_asked_and_raised() {
        let (soft, hard) = descriptors();
        assert!(soft > 0 && soft <= hard);
        assert_eq!(raise_descriptors(soft), Ok(soft));
        if soft < hard && hard < u64::MAX {
            assert_eq!(raise_descriptors(soft + 1), Ok(soft + 1));
            assert_eq!(descriptors(), (soft + 1, hard));
        }
    }
}
