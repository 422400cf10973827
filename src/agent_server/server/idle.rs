//! The idle clocks: who writes them decides whether a long stream looks busy.

use std::sync::Mutex;
use std::time::Duration;

use super::clock::Clock;
use super::lock;
use crate::record::SideEffects;
use crate::record::observation::IdleWrites;

/// The process clock behind `/server_info` `idle_time`, which an external runtime reads to reap.
#[derive(Debug)]
pub(crate) struct ProcessClock {
    clock: Clock,
    state: Mutex<(Duration, u64)>,
}

impl ProcessClock {
    pub(super) fn new(clock: &Clock) -> ProcessClock {
        ProcessClock { clock: clock.clone(), state: Mutex::new((clock.uptime(), 0)) }
    }

    /// Something happened.
    pub(super) fn write(&self) {
        let mut state = lock(&self.state);
        *state = (self.clock.uptime(), state.1 + 1);
    }

    /// Time since something happened.
    pub(super) fn idle(&self) -> Duration {
        self.clock.uptime().saturating_sub(lock(&self.state).0)
    }

    pub(super) fn side_effects(&self) -> SideEffects {
        let process = lock(&self.state).1;
        let idle_writes = IdleWrites { process, ..IdleWrites::default() };
        SideEffects { idle_writes, ..SideEffects::default() }
    }
}

/// The clocks of one conversation: `updated_at` in memory, and the eviction clock.
#[derive(Debug, Default)]
pub(super) struct ConversationClocks {
    updated_at: Mutex<(Option<String>, u64)>,
    eviction: Mutex<u64>,
    last_heartbeat: Mutex<Option<Duration>>,
    streamed: Mutex<IdleWrites>,
}

impl ConversationClocks {
    pub(super) fn write_updated_at(&self, now: String) {
        let mut state = lock(&self.updated_at);
        *state = (Some(now), state.1 + 1);
    }

    pub(super) fn touch(&self) {
        *lock(&self.eviction) += 1;
    }

    /// The stream, and nothing else, made these writes.
    pub(super) fn streamed(&self, process: bool, updated_at: bool, eviction: bool) {
        let mut writes = lock(&self.streamed);
        writes.process += u64::from(process);
        writes.updated_at += u64::from(updated_at);
        writes.eviction += u64::from(eviction);
    }

    /// Whether the producer's heartbeat is due: at once for the first delta, then once an interval.
    pub(super) fn heartbeat_due(&self, now: Duration, interval: Duration) -> bool {
        let mut last = lock(&self.last_heartbeat);
        let due = last.is_none_or(|l| now.saturating_sub(l) >= interval);
        if due {
            *last = Some(now);
        }
        due
    }

    pub(super) fn updated_at(&self) -> Option<String> {
        lock(&self.updated_at).0.clone()
    }

    pub(super) fn add_to(&self, all: &mut SideEffects) {
        all.idle_writes.updated_at += lock(&self.updated_at).1;
        all.idle_writes.eviction += *lock(&self.eviction);
        let streamed = lock(&self.streamed);
        all.streamed_writes.process += streamed.process;
        all.streamed_writes.updated_at += streamed.updated_at;
        all.streamed_writes.eviction += streamed.eviction;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heartbeat_is_throttled_and_the_first_is_free() {
        let clocks = ConversationClocks::default();
        let every = Duration::from_secs(30);
        let due: Vec<u64> =
            (0..100).filter(|s| clocks.heartbeat_due(Duration::from_secs(*s), every)).collect();
        assert_eq!(due, [0, 30, 60, 90]);
    }
}
