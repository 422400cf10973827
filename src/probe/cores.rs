//! A core for the party that is measured, and the others for all the rest.
//!
//! Where the kernel puts two threads decides what waking one from the other costs, and it leaves them there for
//! seconds: two servers that are the same then differ by a factor of two in every block.

#[cfg(target_os = "linux")]
use std::sync::Arc;

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that the calling thread may use, split in two.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone)]
pub struct Cores(Arc<Sets>);

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Sets {
    all: CpuSet,
    one: CpuSet,
    rest: CpuSet,
}

#[cfg(target_os = "linux")]
impl Cores {
    /// The last core, and the rest; `None` with fewer than two, or where the system does not say.
    pub fn split() -> Option<Cores> {
        let all = sched_getaffinity(None).ok()?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|core| all.is_set(*core)).filter(|_| all.count() > 1)?;
        let (mut one, mut rest) = (CpuSet::new(), all);
        one.set(last);
        rest.unset(last);
        Some(Cores(Arc::new(Sets { all, one, rest })))
    }

    /// Moves the calling thread to the one core; whether the system let it.
    pub fn take_one(&self) -> bool {
        sched_setaffinity(None, &self.0.one).is_ok()
    }

    /// Moves the calling thread to the rest, and with it every thread that it starts, until the guard is dropped.
    pub fn take_rest(&self) -> Option<Rest> {
        sched_setaffinity(None, &self.0.rest).is_ok().then(|| Rest(self.clone()))
    }
}

/// While it lives, its thread keeps off the one core.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct Rest(Cores);

#[cfg(target_os = "linux")]
impl Drop for Rest {
    fn drop(&mut self) {
        // If it fails the thread stays where it is, which is no worse than before.
        let _ = sched_setaffinity(None, &self.0.0.all);
    }
}

/// Elsewhere nobody is moved.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Clone)]
pub struct Cores;

#[cfg(not(target_os = "linux"))]
impl Cores {
    /// None.
    pub fn split() -> Option<Cores> {
        None
    }

    /// No.
    pub fn take_one(&self) -> bool {
        false
    }

    /// None.
    pub fn take_rest(&self) -> Option<Rest> {
        None
    }
}

/// Nothing to keep.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct Rest;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn one_thread_has_a_core_that_the_others_keep_off() {
        let here = || sched_getaffinity(None).unwrap();
        let before = here();
        let Some(cores) = Cores::split() else { return };
        let rest = cores.take_rest().unwrap();
        let others = here();
        let one = std::thread::spawn(move || (cores.take_one(), here())).join().unwrap();
        assert!(one.0 && one.1.count() == 1);
        assert!((0..CpuSet::MAX_CPU).all(|core| !(others.is_set(core) && one.1.is_set(core))));
        assert_eq!(others.count() + 1, before.count());
        drop(rest);
        assert_eq!(here(), before);
    }
}
