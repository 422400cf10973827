//! The idle clocks: who writes them decides whether a long stream looks busy.

mod meter;
mod watch;

use std::sync::Mutex;
use std::time::Duration;

pub(super) use meter::Cause;
pub use meter::Watched;
pub use watch::IdleClocks;

use self::meter::Meter;
use super::clock::Clock;
use super::lock;
use crate::agent_server::profile::server::IdleTraits;
use crate::record::SideEffects;
use crate::record::observation::IdleWrites;

/// The process clock behind `/server_info` `idle_time`, which an external runtime reads to reap.
#[derive(Debug)]
pub(crate) struct ProcessClock {
    clock: Clock,
    meter: Mutex<Meter>,
}

impl ProcessClock {
    pub(super) fn new(clock: &Clock) -> ProcessClock {
        ProcessClock { clock: clock.clone(), meter: Mutex::new(Meter::starting(clock.uptime())) }
    }

    /// Something happened.
    pub(super) fn write(&self, cause: Cause) {
        lock(&self.meter).write(self.clock.uptime(), cause);
    }

    /// Time since something happened.
    pub(super) fn idle(&self) -> Duration {
        self.clock.uptime().saturating_sub(lock(&self.meter).last)
    }

    /// Begins to watch, for the moment in which the clock shows `limit`.
    pub(super) fn watch(&self, limit: Duration) {
        lock(&self.meter).watch(self.clock.uptime(), Some(limit));
    }

    pub(super) fn watched(&self) -> Watched {
        lock(&self.meter).watched(self.clock.uptime())
    }

    pub(super) fn side_effects(&self) -> SideEffects {
        let meter = lock(&self.meter);
        let writes = |process| IdleWrites { process, ..IdleWrites::default() };
        let (idle_writes, streamed_writes) = (writes(meter.writes), writes(meter.streamed));
        SideEffects { idle_writes, streamed_writes, ..SideEffects::default() }
    }
}

/// The clocks of one conversation: `updated_at` in memory, and the eviction clock.
#[derive(Debug)]
pub(super) struct ConversationClocks {
    clock: Clock,
    updated_at: Mutex<Meter>,
    eviction: Mutex<Meter>,
    evicted: Mutex<Option<Duration>>,
    last_heartbeat: Mutex<Option<Duration>>,
    last_delta: Mutex<Option<Duration>>,
}

impl ConversationClocks {
    pub(super) fn new(clock: &Clock) -> ConversationClocks {
        let meter = || Mutex::new(Meter::starting(clock.uptime()));
        ConversationClocks {
            clock: clock.clone(),
            updated_at: meter(),
            eviction: meter(),
            evicted: Mutex::default(),
            last_heartbeat: Mutex::default(),
            last_delta: Mutex::default(),
        }
    }

    pub(super) fn write_updated_at(&self, cause: Cause) {
        lock(&self.updated_at).write(self.clock.uptime(), cause);
    }

    pub(super) fn touch(&self, cause: Cause) {
        lock(&self.eviction).write(self.clock.uptime(), cause);
    }

    /// What the producer of deltas has to write for one of them: the process clock only (1.45.0, #4790). Throttled
    /// it writes at once for the first delta of a conversation, then once an interval.
    pub(super) fn producer_writes(&self, traits: &IdleTraits) -> bool {
        traits.token_writes || {
            let every = traits.heartbeat_s;
            !every.is_zero() && due(&self.last_heartbeat, self.clock.uptime(), every.duration())
        }
    }

    /// Whether the subscriber behind the clocks writes the shared ones for an event: for each one up to 1.45.0, for
    /// a delta at most once an interval in the shape of #4706.
    pub(super) fn subscriber_writes(&self, traits: &IdleTraits, delta: bool) -> bool {
        let every = traits.delta_throttle_s;
        !delta || every.is_zero() || due(&self.last_delta, self.clock.uptime(), every.duration())
    }

    /// When it was last written, as the REST answer shows it.
    pub(super) fn updated_at(&self) -> String {
        self.clock.timestamp_at(lock(&self.updated_at).last)
    }

    /// What the eviction clock shows.
    pub(super) fn idle(&self) -> Duration {
        self.clock.uptime().saturating_sub(lock(&self.eviction).last)
    }

    /// Notes an eviction. Nothing is closed: what would have come after it is part of the question.
    pub(super) fn evict(&self) {
        lock(&self.evicted).get_or_insert(self.clock.uptime());
    }

    pub(super) fn watch(&self) {
        let now = self.clock.uptime();
        lock(&self.updated_at).watch(now, None);
        lock(&self.eviction).watch(now, None);
        *lock(&self.evicted) = None;
    }

    /// What `updated_at` and the eviction clock saw, and when the conversation was evicted.
    pub(super) fn watched(&self) -> (Watched, Watched, Option<Duration>) {
        let now = self.clock.uptime();
        let mut updated_at = lock(&self.updated_at);
        let evicted = lock(&self.evicted).map(|at| at.saturating_sub(updated_at.from));
        (updated_at.watched(now), lock(&self.eviction).watched(now), evicted)
    }

    pub(super) fn add_to(&self, all: &mut SideEffects) {
        let (updated_at, eviction) = (lock(&self.updated_at), lock(&self.eviction));
        all.idle_writes.updated_at += updated_at.writes;
        all.idle_writes.eviction += eviction.writes;
        all.streamed_writes.updated_at += updated_at.streamed;
        all.streamed_writes.eviction += eviction.streamed;
    }
}

/// Whether an interval has passed since it was last due; the first time is free.
fn due(last: &Mutex<Option<Duration>>, now: Duration, interval: Duration) -> bool {
    let mut last = lock(last);
    let due = last.is_none_or(|l| now.saturating_sub(l) >= interval);
    if due {
        *last = Some(now);
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_throttle_lets_the_first_pass_and_then_one_an_interval() {
        let last = Mutex::default();
        let passed: Vec<u64> = (0..100).filter(|n| due(&last, s(*n), s(30))).collect();
        assert_eq!(passed, [0, 30, 60, 90]);
    }
}
