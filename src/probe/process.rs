//! Memory and CPU of another process on this machine, from `/proc`.

use std::time::Duration;

/// `VmRSS` of a process, bytes; `None` when it is gone or the system does not say.
pub fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// CPU that all threads of a process have used since it began, user and system. The kernel counts it in ticks, usually of
/// 10 ms.
pub fn cpu(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = ticks(&stat)?;
    let a_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / a_second.max(1))))
}

/// CPU of the threads that a process has now, to the nanosecond: the first field of each one's `schedstat`. A thread that
/// ends takes its share with it, so compare two readings only where none does. `None` when the process is gone or the
/// kernel keeps no such count.
pub fn threads_cpu(pid: u32) -> Option<Duration> {
    let mut all = 0_u64;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        // A thread that ended since the folder was read is not there any more.
        let Ok(text) = std::fs::read_to_string(task.ok()?.path().join("schedstat")) else { continue };
        all += text.split_ascii_whitespace().next()?.parse::<u64>().ok()?;
    }
    (all > 0).then(|| Duration::from_nanos(all))
}

/// `utime` plus `stime`: fields 14 and 15. The second field is the program's name in parentheses and may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    Some(fields.next()?.ok()? + fields.next()?.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_cpu() {
        let me = std::process::id();
        assert!(resident(me).unwrap() > 1024 * 1024);
        let before = cpu(me).unwrap();
        let mut n = 0u64;
        let until = std::time::Instant::now() + Duration::from_millis(60);
        while std::time::Instant::now() < until {
            n = std::hint::black_box(n.wrapping_mul(3).wrapping_add(1));
        }
        assert!(cpu(me).unwrap() > before, "60 ms of work cost nothing");
    }

    #[test]
    fn the_fine_count_is_near_the_coarse_one() {
        let me = std::process::id();
        let rises = || {
            let before = threads_cpu(me).unwrap();
            let until = std::time::Instant::now() + Duration::from_millis(60);
            let mut n = 0u64;
            while std::time::Instant::now() < until {
                n = std::hint::black_box(n.wrapping_mul(3).wrapping_add(1));
            }
            threads_cpu(me).unwrap() > before + Duration::from_millis(1)
        };
        // Other tests run beside this one: no upper bound holds, and a thread that ends meanwhile takes its time along.
        assert!((0..50).any(|_| rises()));
        assert_eq!(threads_cpu(u32::MAX), None);
    }

    #[test]
    fn a_name_with_a_parenthesis_does_not_shift_the_fields() {
        let line = "7 (a) b) S 1 1 1 0 -1 4194560 100 0 0 0 25 17 0 0 20 0 1 0 100 1 1";
        assert_eq!(ticks(line), Some(42));
    }
}
