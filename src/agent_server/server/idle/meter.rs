//! One clock, read at every write and never sampled: the longest time between two writes is exact.

use std::time::Duration;

/// Why a clock is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent_server::server) enum Cause {
    /// A token: a delta that a subscriber saw, or the producer's sign of life.
    Token,
    /// Everything else.
    Event,
}

impl Cause {
    pub(in crate::agent_server::server) fn of_delta(delta: bool) -> Cause {
        if delta { Cause::Token } else { Cause::Event }
    }
}

/// What one clock saw since its watch began. Times are from that moment on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Watched {
    /// Writes that tokens caused.
    pub token_writes: u64,
    /// Other writes.
    pub other_writes: u64,
    /// The longest time that the clock showed: from a write to the next one, or to the end of the watch.
    pub peak: Duration,
    /// The first write that a token caused.
    pub first_token_write: Option<Duration>,
    /// When the clock first showed the limit that was asked about.
    pub reached: Option<Duration>,
}

/// A clock that remembers its last write, and what happened since somebody began to watch.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) last: Duration,
    pub(super) writes: u64,
    /// Those of them that tokens caused.
    pub(super) streamed: u64,
    pub(super) from: Duration,
    limit: Option<Duration>,
    watched: Watched,
}

impl Meter {
    pub(super) fn starting(now: Duration) -> Meter {
        Meter { last: now, from: now, ..Meter::default() }
    }

    pub(super) fn write(&mut self, now: Duration, cause: Cause) {
        self.look(now);
        self.last = now;
        self.writes += 1;
        match cause {
            Cause::Token => {
                self.streamed += 1;
                self.watched.token_writes += 1;
                let first = now.saturating_sub(self.from);
                self.watched.first_token_write.get_or_insert(first);
            }
            Cause::Event => self.watched.other_writes += 1,
        }
    }

    /// Takes note of what the clock shows now.
    fn look(&mut self, now: Duration) {
        let shows = now.saturating_sub(self.last);
        self.watched.peak = self.watched.peak.max(shows);
        if let Some(limit) = self.limit.filter(|limit| shows >= *limit) {
            let reached = (self.last + limit).saturating_sub(self.from);
            self.watched.reached.get_or_insert(reached);
        }
    }

    pub(super) fn watch(&mut self, now: Duration, limit: Option<Duration>) {
        (self.from, self.limit, self.watched) = (now, limit, Watched::default());
    }

    pub(super) fn watched(&mut self, now: Duration) -> Watched {
        self.look(now);
        self.watched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_peak_is_the_longest_gap_and_the_one_at_the_end_counts() {
        let mut meter = Meter::starting(s(0));
        meter.write(s(100), Cause::Event);
        meter.watch(s(100), Some(s(20)));
        for (at, cause) in [(101, Cause::Event), (113, Cause::Token), (120, Cause::Token)] {
            meter.write(s(at), cause);
        }
        let so_far = meter.watched(s(121));
        assert_eq!((so_far.peak, so_far.reached), (s(12), None));
        assert_eq!((so_far.token_writes, so_far.other_writes), (2, 1));
        assert_eq!(so_far.first_token_write, Some(s(13)));
        let later = meter.watched(s(145));
        assert_eq!((later.peak, later.reached), (s(25), Some(s(40))), "20 s after the write at 120");
        meter.write(s(200), Cause::Event);
        assert_eq!(meter.watched(s(200)).reached, Some(s(40)), "the first time is what counts");
    }
    #[test]
    fn the_longest_gap_counts_wherever_it_is() {
        for longest in 0..6 {
            let (mut meter, mut now) = (Meter::starting(s(0)), 0);
            for gap in 0..6 {
                now += if gap == longest { 9 } else { 4 };
                meter.write(s(now), Cause::Token);
            }
            assert_eq!(meter.watched(s(now)).peak, s(9), "gap {longest}");
        }
    }
}
