//! What a swarm tells: plain data.

use std::collections::BTreeMap;
use std::time::Duration;

use super::closed::Closed;
use super::refused::Refused;
use crate::probe::Delays;
use crate::record::client_bench::Counts;

/// How opening the connections went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectReport {
    /// Sockets that got their first frame.
    pub ready: u64,
    /// The others, by reason.
    pub refused: BTreeMap<Refused, u64>,
    /// From the first connection to the last answer.
    pub took: Duration,
}

/// A snapshot of all groups and of the thread that reads for them.
#[derive(Debug, Clone)]
pub struct Report {
    /// One per group, in their order.
    pub groups: Vec<GroupReport>,
    /// CPU time of the reading thread since it began.
    pub cpu: Duration,
    /// Times the thread woke up.
    pub wakeups: u64,
    /// Heap allocations of the thread since it began, without those for reports.
    pub allocations: u64,
    /// What it holds in memory.
    pub memory: Memory,
}

/// What one group got.
#[derive(Debug, Clone)]
pub struct GroupReport {
    /// Sockets that are open.
    pub open: u64,
    /// Sockets with bytes that were never read, or with half a frame; known only when the swarm is stopped.
    pub unread: u64,
    /// Bytes read, of all that a server sends: handshakes, frames and their headers.
    pub bytes: u64,
    /// Whole messages.
    pub messages: u64,
    /// Of them, those that are no JSON object, or no text.
    pub unreadable: u64,
    /// What was got and what was missed, over all blocks.
    pub counts: Counts,
    /// Sockets that had been open and are closed, by reason.
    pub closed: BTreeMap<Closed, u64>,
    /// Distributions over all blocks.
    pub times: Times,
    /// One per block; the last one may still run.
    pub blocks: Vec<BlockReport>,
}

/// Four times, defined on [`crate::record::bench::Delivery`].
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// From the intended emission of a chunk to its arrival; numbered text within a block only.
    pub delay: Delays,
    /// From the intended emission of a block's first chunk to the first delta at each socket.
    pub first_delta: Delays,
    /// Between two successive delta frames of one reply at one socket. Two frames of one read have none.
    pub frame_gap: Delays,
    /// The same, divided among the tokens of the later frame, one entry a token.
    pub token_gap: Delays,
}

/// What came of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockReport {
    /// Counts from 1.
    pub number: u64,
    /// Bytes read since it began.
    pub bytes: u64,
    /// Counts since it began.
    pub counts: Counts,
    /// Open sockets that got no delta of it.
    pub without_delta: u64,
    /// Open sockets that did not get its durable end.
    pub without_end: u64,
}

/// Heap bytes that the reading thread holds, as it asked for them from the allocator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Sockets, open or closed.
    pub sockets: u64,
    /// Bytes since the first of them: the table, and what each reserved beside it.
    pub socket_bytes: u64,
    /// Bytes that were there before: the read buffer and the distributions of the groups.
    pub shared_bytes: u64,
}

/// How far a group is, read without disturbing the thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Deltas got.
    pub deltas: u64,
    /// Durable ends got.
    pub replies: u64,
    /// Bytes read.
    pub bytes: u64,
}
