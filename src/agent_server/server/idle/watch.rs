//! Watching the idle clocks of a server, and the sweep that evicts by one of them.

use std::time::Duration;

use tokio::time::sleep;

use super::Watched;
use crate::agent_server::server::Server;

/// The eviction sweep is never faster than this (`max(60.0, ttl / 2)`, 1.37.1 to 1.58.2).
const SHORTEST_SWEEP: Duration = Duration::from_mins(1);

/// What the three idle clocks of a conversation saw while they were watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleClocks {
    /// The one behind `/server_info`.
    pub process: Watched,
    /// `updated_at`.
    pub updated_at: Watched,
    /// The eviction clock, where the era has one.
    pub eviction: Option<Watched>,
    /// When the conversation was evicted, from the beginning of the watch on.
    pub evicted: Option<Duration>,
}

impl Server {
    /// What `/server_info` shows as `idle_time`, before it is cut to whole seconds.
    pub fn idle_time(&self) -> Duration {
        self.0.process.idle()
    }

    /// Begins to watch the idle clocks, for the moment in which the process clock shows `limit`.
    pub fn watch_idle(&self, limit: Duration) {
        self.0.process.watch(limit);
        for conversation in self.0.conversations() {
            conversation.clocks.watch();
        }
    }

    /// What the idle clocks saw since somebody began to watch; `None` when there is no such conversation.
    pub fn watched(&self, conversation: &str) -> Option<IdleClocks> {
        let conversation = self.0.conversation(conversation)?;
        let process = self.0.process.watched();
        let (updated_at, eviction, evicted) = conversation.clocks.watched();
        let eviction = self.0.traits.idle.eviction.then_some(eviction);
        Some(IdleClocks { process, updated_at, eviction, evicted })
    }

    /// Sweeps for idle conversations, as the real server does from its start to its end: never returns, unless the
    /// era has no eviction. Evictions are noted, and nothing is closed.
    pub async fn sweep(&self) {
        let idle = &self.0.traits.idle;
        if !idle.eviction || idle.evict_after_s.is_zero() {
            return;
        }
        let every = (idle.evict_after_s.duration() / 2).max(SHORTEST_SWEEP);
        loop {
            sleep(every).await;
            for conversation in self.0.conversations() {
                conversation.sweep(&self.0);
            }
        }
    }
}
