//! Sinks that are slower than their model says, for a while or from then on.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::agent_server::server::lock;

/// How slow the sinks of a server are, and of those that take its place. May change while posts are under way: what has arrived
/// keeps the answer that it was to get.
#[derive(Debug, Default)]
pub(in crate::agent_server::server) struct SinkPace(Mutex<Vec<Slow>>);

#[derive(Debug)]
struct Slow {
    by: usize,
    latency: Duration,
    until: Option<Instant>,
}

impl SinkPace {
    /// From now on a post is answered that late, by the fault with the number `by`.
    pub(in crate::agent_server::server) fn slow(
        &self,
        by: usize,
        latency: Duration,
        lasts: Option<Duration>,
    ) {
        let until = lasts.map(|lasts| Instant::now() + lasts);
        lock(&self.0).push(Slow { by, latency, until });
    }

    /// How late a post is answered that arrives now, and by which fault: of several the last one that is not over.
    pub(in crate::agent_server::server) fn now(&self) -> Option<(usize, Duration)> {
        let now = Instant::now();
        let all = lock(&self.0);
        let holds = |slow: &&Slow| slow.until.is_none_or(|until| now < until);
        all.iter().rev().find(holds).map(|slow| (slow.by, slow.latency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_that_is_not_over_counts() {
        let (pace, s) = (SinkPace::default(), Duration::from_secs);
        assert_eq!(pace.now(), None);
        pace.slow(0, s(2), None);
        pace.slow(1, s(10), Some(s(60)));
        assert_eq!(pace.now(), Some((1, s(10))));
        tokio::time::advance(s(60)).await;
        assert_eq!(pace.now(), Some((0, s(2))), "the one before is there again");
    }
}
