//! What a swarm is asked for: sockets, their faults, and the blocks of text that are due to them.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// One socket.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketSpec {
    /// Where the server listens.
    pub addr: SocketAddr,
    /// `/sockets/events/ID` or `/sockets/session/ID`, with a query or without. Without a replay: history never
    /// streamed, so it would count as missing.
    pub path_and_query: String,
    /// The first message, where a server asks for one: `{"type":"auth","session_api_key":…}`.
    pub auth_frame: Option<String>,
    /// The group that it is counted in; a group is one server under test.
    pub group: usize,
    /// Whether it reads as a healthy client does.
    pub conduct: Conduct,
}

/// How a client reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Conduct {
    /// All that comes, at once.
    #[default]
    Healthy,
    /// Nothing after its first frame. Its receive buffer is small, so that its server notices soon.
    Stalled,
    /// So many bytes a second; the same small buffer.
    Slow(u32),
    /// All that comes, until this many deltas; then the connection is dropped without a close frame.
    DiesAfter(u64),
}

impl Conduct {
    /// Whether it takes less than it is sent.
    pub(super) fn holds_back(self) -> bool {
        matches!(self, Conduct::Stalled | Conduct::Slow(_))
    }
}

/// How connections are opened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Connections that are under way at once; at least one.
    pub in_flight: usize,
    /// Connections that are begun in a second; absent for as many as `in_flight` lets.
    pub per_second: Option<f64>,
    /// How long one may take to get ready.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { in_flight: 256, per_second: None, patience: Duration::from_secs(10) }
    }
}

/// One block: a reply of numbered chunks ([`crate::wire::numbered`]) that every socket of a group is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The intended emission of the first chunk.
    pub start: Instant,
    /// Between the intended emissions of two chunks; zero when all are due at `start`.
    pub gap: Duration,
    /// The number of the first chunk.
    pub first: u64,
    /// Tokens of the model in a chunk, which divide a frame gap into token gaps; at least one.
    pub batch: u32,
}

impl Block {
    /// When chunk `n` was meant to be emitted: `start + gap · (n − first)`.
    pub fn intended(&self, n: u64) -> Instant {
        let chunks = u32::try_from(n.saturating_sub(self.first)).unwrap_or(u32::MAX);
        self.start + self.gap.saturating_mul(chunks).min(FARTHEST)
    }
}

/// No block is planned for longer; keeps a wild number in a frame from overflowing the clock.
const FARTHEST: Duration = Duration::from_hours(8760);

/// What is done with the bytes that come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading {
    /// Frames, JSON, ledger and times.
    #[default]
    Full,
    /// Bytes are counted and thrown away: the reference that [`Reading::Full`] is measured against. Same sockets, same
    /// poll, same buffer.
    Raw,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_due_by_its_number() {
        let start = Instant::now();
        let block = Block { start, gap: Duration::from_millis(10), first: 500, batch: 1 };
        assert_eq!(block.intended(500), start);
        assert_eq!(block.intended(507), start + Duration::from_millis(70));
        assert_eq!(block.intended(3), start, "a number from before the block");
        assert!(block.intended(u64::MAX) > start, "a wild number");
        assert_eq!(Block { gap: Duration::ZERO, ..block }.intended(9_999), start);
    }
}
