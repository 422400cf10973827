//! CPU time, and time that a thread would have run and could not.
//!
//! Each figure is of the *calling* thread or of the whole machine; a thread that is to be measured reads its own.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the calling thread since it started (`CLOCK_THREAD_CPUTIME_ID`), user and system. Time that the
/// machine's host took away while it ran is in it.
pub fn thread_cpu() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process (`CLOCK_PROCESS_CPUTIME_ID`).
pub fn process_cpu() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    // A CPU clock counts up from zero, so the conversion cannot fail.
    clock_gettime(clock).try_into().unwrap_or_default()
}

/// Time that the calling thread was ready to run and waited for a core, since it started: the second field of
/// `/proc/thread-self/schedstat`. `None` where the kernel keeps no such count (the file is absent, or all zero).
/// Allocates nothing.
pub fn run_delay() -> Option<Duration> {
    let mut text = [0; 96];
    let length = File::open("/proc/thread-self/schedstat").ok()?.read(&mut text).ok()?;
    delay_in(std::str::from_utf8(text.get(..length)?).ok()?)
}

/// `time on a core, time waiting for one, times put on one`, ns, ns and a count.
fn delay_in(schedstat: &str) -> Option<Duration> {
    let mut fields = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
    let (_ran, waited, turns) = (fields.next()?.ok()?, fields.next()?.ok()?, fields.next()?.ok()?);
    // A thread that reads this has been put on a core; a kernel without the accounting writes zeros.
    (turns > 0).then(|| Duration::from_nanos(waited))
}

/// Cores that this process may use, by its affinity and its cgroup's quota. One where the system does not say.
pub fn cores() -> u32 {
    std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok()).unwrap_or(1)
}

/// Where the machine's time has gone since it booted, in ticks of the kernel, all cores together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineTime {
    stolen: u64,
    total: u64,
}

impl MachineTime {
    /// From `/proc/stat`; `None` where there is none, or none with a figure for stolen time.
    pub fn now() -> Option<MachineTime> {
        MachineTime::in_stat(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn in_stat(stat: &str) -> Option<MachineTime> {
        let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal; guest time, behind them, is in user already.
        let ticks: Vec<u64> =
            line.split_ascii_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let stolen = *ticks.get(7)?;
        Some(MachineTime { stolen, total: ticks.iter().sum() })
    }

    /// Share of the machine's time since `earlier` that its host gave to somebody else, 0 to 1. `None` when no
    /// tick has passed.
    pub fn stolen_since(&self, earlier: &MachineTime) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|t| *t > 0)?;
        #[expect(clippy::cast_precision_loss, reason = "ticks of one run are far below 2^52")]
        Some(self.stolen.saturating_sub(earlier.stolen) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::Instant;

    use super::*;
    use crate::probe::Allocations;

    /// Uses a core for that much CPU time.
    fn burn(cpu: Duration) {
        let start = thread_cpu();
        while thread_cpu().saturating_sub(start) < cpu {
            black_box((0..1000_u64).map(black_box).sum::<u64>());
        }
    }

    #[test]
    fn a_thread_is_billed_its_own_work_alone() {
        let (thread, process) = (thread_cpu(), process_cpu());
        let theirs = std::thread::spawn(|| {
            burn(Duration::from_millis(40));
            thread_cpu()
        });
        let theirs = theirs.join().unwrap();
        let mine = thread_cpu().saturating_sub(thread);
        assert!(theirs >= Duration::from_millis(40), "{theirs:?}");
        assert!(mine < Duration::from_millis(20), "waiting was billed: {mine:?}");
        assert!(process_cpu().saturating_sub(process) >= Duration::from_millis(40));
    }

    #[test]
    fn sleeping_costs_no_cpu() {
        let (cpu, wall) = (thread_cpu(), Instant::now());
        std::thread::sleep(Duration::from_millis(60));
        assert!(wall.elapsed() >= Duration::from_millis(60));
        assert!(thread_cpu().saturating_sub(cpu) < Duration::from_millis(20));
    }

    #[test]
    fn reading_the_run_delay_allocates_nothing_and_never_goes_back() {
        let before = Allocations::here();
        let first = run_delay();
        assert_eq!(Allocations::here().since(&before), Allocations::default());
        burn(Duration::from_millis(5));
        assert!(run_delay() >= first);
    }

    #[test]
    fn a_kernel_that_does_not_count_delays_is_no_kernel_without_delays() {
        assert_eq!(delay_in("53103 45227 12\n"), Some(Duration::from_nanos(45_227)));
        assert_eq!(delay_in("53103 0 12\n"), Some(Duration::ZERO));
        assert_eq!(delay_in("0 0 0\n"), None);
        assert_eq!(delay_in(""), None);
    }

    #[test]
    fn steal_is_a_share_of_what_passed() {
        let at = |text| MachineTime::in_stat(text).unwrap();
        let first = at("cpu  100 0 50 800 10 0 5 35 20 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let then = at("cpu  130 0 50 850 10 0 5 55 50 0\n");
        assert_eq!(then.stolen_since(&first), Some(0.2));
        assert_eq!(first.stolen_since(&first), None);
        assert_eq!(first.stolen_since(&then), None);
        assert_eq!(MachineTime::in_stat("cpu  100 0 50 800\n"), None);
        assert_eq!(MachineTime::in_stat("intr 5\n"), None);
    }

    #[test]
    fn this_machine_answers() {
        assert!(cores() >= 1);
        if let Some(now) = MachineTime::now() {
            assert!(now.total > 0 && now.stolen <= now.total);
        }
    }
}
