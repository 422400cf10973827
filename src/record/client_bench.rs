//! What many subscribers at one server saw: the plain data of `bench client`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::Quantiles;

/// Schema name and version.
pub const CLIENT_BENCH_SCHEMA: &str = "skewlab.bench-client/1";

/// One run of many sockets against one server. A figure that was not measured is absent, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientBench {
    /// [`CLIENT_BENCH_SCHEMA`].
    pub schema: String,
    /// Version of skewlab.
    pub skewlab: String,
    /// The server's address; neither the path nor a key.
    pub server: String,
    /// What was made of the bytes.
    pub reading: ReadAs,
    /// Whether it ran for as long as was asked.
    pub complete: bool,
    /// Sockets that were asked for.
    pub sockets: u64,
    /// That got their first frame.
    pub ready: u64,
    /// That did not, by reason.
    pub refused: BTreeMap<String, u64>,
    /// That had been ready and closed, by reason.
    pub closed: BTreeMap<String, u64>,
    /// Open sockets with bytes that nobody read, or half a frame, at the end.
    pub unread: u64,
    /// Seconds that were measured; opening the connections is not in them.
    pub seconds: f64,
    /// Bytes read in them.
    pub bytes: u64,
    /// Messages read in them; absent in `raw`, like all that follows from reading frames.
    pub messages: Option<u64>,
    /// CPU of the reading thread, µs per message.
    pub cpu_us_per_message: Option<f64>,
    /// CPU of the reading thread, µs per KiB; absent when nothing came.
    pub cpu_us_per_kib: Option<f64>,
    /// Share of a core that the reading thread used; absent when no socket got ready.
    pub cpu_share: Option<f64>,
    /// Heap allocations of the reading thread per message.
    pub allocations_per_message: Option<f64>,
    /// Heap bytes per socket.
    pub heap_bytes_per_socket: Option<f64>,
    /// Heap bytes that all sockets share: read buffer and distributions.
    pub heap_bytes_shared: u64,
    /// Resident memory of the process, bytes.
    pub rss_bytes: Option<u64>,
    /// Messages that are no JSON object.
    pub unreadable: Option<u64>,
    /// What was got and what was missed since the sockets were ready.
    pub counts: Option<Counts>,
    /// Durable ends that were due to all sockets together, where this run started the turns.
    pub replies_due: Option<u64>,
    /// Between two delta frames of one reply at one socket.
    pub frame_gap: Option<Quantiles>,
}

impl ClientBench {
    /// Durable ends that were due and did not come.
    pub fn ends_missing(&self) -> u64 {
        let came = self.counts.map_or(0, |counts| counts.replies);
        self.replies_due.unwrap_or_default().saturating_sub(came)
    }
}

/// What was made of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadAs {
    /// Every frame was read and held against the others.
    Full,
    /// Bytes were counted and nothing else.
    Raw,
}

impl ReadAs {
    /// The word of it.
    pub fn as_str(self) -> &'static str {
        match self {
            ReadAs::Full => "full",
            ReadAs::Raw => "raw",
        }
    }
}

/// Counts over all sockets of a group. None needs to be told a total: what is missing follows from the numbers in the
/// text, from the order on the session socket, or from the durable reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Frames with a piece of a reply.
    pub deltas: u64,
    /// Durable ends of replies.
    pub replies: u64,
    /// Of them, those that may have begun before the socket joined; their text is not compared.
    pub unjudged: u64,
    /// Replies whose durable end did not come before the next block or the end of the connection.
    pub unfinished: u64,
    /// Chunks that did not come, by the numbers in the text.
    pub missing: u64,
    /// Chunks that came again.
    pub duplicated: u64,
    /// Chunks that came after a later one.
    pub reordered: u64,
    /// Of them, those that came after their reply's durable end.
    pub after_end: u64,
    /// Chunks with a number so old that it cannot be said whether they came already.
    pub unplaced: u64,
    /// Places that were skipped in the `order` of the session socket.
    pub order_missing: u64,
    /// Places in that order that came again or too late.
    pub order_repeated: u64,
    /// Replies of which fewer characters had streamed than the durable end holds.
    pub short_replies: u64,
    /// Those characters, text and reasoning.
    pub short_chars: u64,
    /// Characters that had streamed beyond what the durable end holds.
    pub extra_chars: u64,
    /// Replies that streamed as many characters as the durable end holds, but other ones or in another order.
    pub altered: u64,
}

impl Counts {
    /// Whether a subscriber missed any text, by whichever of the ways it was noticed.
    pub fn lost(&self) -> bool {
        self.missing + self.order_missing + self.short_replies > 0
    }

    /// Whether a subscriber got text that its reply does not hold, or not in that order.
    pub fn wrong(&self) -> bool {
        self.duplicated + self.order_repeated + self.reordered + self.extra_chars + self.altered > 0
    }

    /// What was added since an earlier reading. A chunk that had been missing then and came since makes `missing`
    /// smaller; that is shown as none.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            deltas: self.deltas.saturating_sub(earlier.deltas),
            replies: self.replies.saturating_sub(earlier.replies),
            unjudged: self.unjudged.saturating_sub(earlier.unjudged),
            unfinished: self.unfinished.saturating_sub(earlier.unfinished),
            missing: self.missing.saturating_sub(earlier.missing),
            duplicated: self.duplicated.saturating_sub(earlier.duplicated),
            reordered: self.reordered.saturating_sub(earlier.reordered),
            after_end: self.after_end.saturating_sub(earlier.after_end),
            unplaced: self.unplaced.saturating_sub(earlier.unplaced),
            order_missing: self.order_missing.saturating_sub(earlier.order_missing),
            order_repeated: self.order_repeated.saturating_sub(earlier.order_repeated),
            short_replies: self.short_replies.saturating_sub(earlier.short_replies),
            short_chars: self.short_chars.saturating_sub(earlier.short_chars),
            extra_chars: self.extra_chars.saturating_sub(earlier.extra_chars),
            altered: self.altered.saturating_sub(earlier.altered),
        }
    }
}
