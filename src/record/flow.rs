//! Hops, and what passed or stopped at each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Tally;

/// A place that a delta passes on its way from the model to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hop {
    /// The model emitted it.
    Produced,
    /// The server put it on a bus.
    Published,
    /// The bus handed it to this client's subscriber.
    Dispatched,
    /// It was written to this client's socket.
    Sent,
    /// The client read the frame.
    Received,
    /// The frame was JSON.
    Parsed,
    /// It became one of the types that the client knows.
    Decoded,
    /// It passed the guards on the way into the client's store or dispatcher.
    Admitted,
    /// The application got the text.
    Delivered,
    /// Session feed: the chunk was appended to the session log, in memory.
    Appended,
    /// Session feed: it was handed to the bus under a name that this consumer listens to.
    Emitted,
    /// Session feed: the consumer's listener took it.
    Handled,
    /// Session feed: it was written to the store and synced, or lies in a settlement that was.
    Durable,
    /// Session feed: it came back out of the store.
    Replayed,
}

impl Hop {
    /// All hops of the agent-server subject, first to last.
    pub const ALL: [Hop; 9] = [
        Hop::Produced,
        Hop::Published,
        Hop::Dispatched,
        Hop::Sent,
        Hop::Received,
        Hop::Parsed,
        Hop::Decoded,
        Hop::Admitted,
        Hop::Delivered,
    ];

    /// All hops of the session-feed subject, first to last. A consumer's path is a part of them: who listens never sees
    /// `durable`, and who replays never sees `emitted`.
    pub const FEED: [Hop; 6] =
        [Hop::Produced, Hop::Appended, Hop::Emitted, Hop::Handled, Hop::Durable, Hop::Replayed];

    /// All hops of either subject: those of the agent server, then those that the session feed has beside them.
    pub const EVERY: [Hop; 14] = {
        let mut every = [Hop::Produced; 14];
        let (mut at, mut own) = (0, 1);
        while at < Hop::ALL.len() {
            every[at] = Hop::ALL[at];
            at += 1;
        }
        // The first one is on both paths.
        while own < Hop::FEED.len() {
            every[at] = Hop::FEED[own];
            (at, own) = (at + 1, own + 1);
        }
        every
    };

    /// The word used in reports and in `run.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Hop::Produced => "produced",
            Hop::Published => "published",
            Hop::Dispatched => "dispatched",
            Hop::Sent => "sent",
            Hop::Received => "received",
            Hop::Parsed => "parsed",
            Hop::Decoded => "decoded",
            Hop::Admitted => "admitted",
            Hop::Delivered => "delivered",
            Hop::Appended => "appended",
            Hop::Emitted => "emitted",
            Hop::Handled => "handled",
            Hop::Durable => "durable",
            Hop::Replayed => "replayed",
        }
    }
}

impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a piece of text is. A whole class can vanish while the others flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Text of the reply.
    Text,
    /// The model's reasoning.
    Reasoning,
    /// The empty string: a frame without a character.
    Empty,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 3] = [Class::Text, Class::Reasoning, Class::Empty];

    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Text => "text",
            Class::Reasoning => "reasoning",
            Class::Empty => "empty",
        }
    }
}

/// Why something stopped at a hop, as a short code: `unknown_kind`, `http_403`, `class_not_shown`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Reason(Cow<'static, str>);

impl Reason {
    /// The party's profile says that it does not stream.
    pub const NOT_STREAMING: Reason = Reason::new("not_streaming");
    /// The application does not show this class of text, by its own documentation.
    pub const CLASS_NOT_SHOWN: Reason = Reason::new("class_not_shown");
    /// The server withholds pieces without a character from this endpoint.
    pub const EMPTY_WITHHELD: Reason = Reason::new("empty_withheld");

    /// Text of an attempt that a later one replaced: whoever shows the step again shows the later one.
    pub const SUPERSEDED: Reason = Reason::new("superseded");

    /// The piece arrived with fewer or more characters than it was produced with: wrong rather than lost.
    pub const TEXT_ALTERED: Reason = Reason::new("text_altered");

    /// Text arrived in a class in which its frame carried none.
    pub const TEXT_FROM_ELSEWHERE: Reason = Reason::new("text_from_elsewhere");
    /// The client left of its own will.
    pub const CLIENT_LEFT: Reason = Reason::new("client_left");
    /// A frame beyond a limit: the client's own, or that of the session socket.
    pub const FRAME_TOO_LARGE: Reason = Reason::new("frame_too_large");
    /// The socket was closed when the server wrote.
    pub const SOCKET_CLOSED: Reason = Reason::new("socket_closed");

    /// A reason with a fixed code.
    pub const fn new(code: &'static str) -> Reason {
        Reason(Cow::Borrowed(code))
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether stopping here is what the party is meant to do, and so is no loss.
    pub fn by_design(&self) -> bool {
        let by_design =
            [Reason::NOT_STREAMING, Reason::CLASS_NOT_SHOWN, Reason::EMPTY_WITHHELD, Reason::SUPERSEDED];
        by_design.contains(self)
    }
}

impl From<String> for Reason {
    fn from(code: String) -> Reason {
        Reason(Cow::Owned(code))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What came to a hop, what left it, and what stopped there and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HopFlow {
    /// The hop.
    pub hop: Hop,
    /// What came in.
    #[serde(rename = "in")]
    pub entered: Tally,
    /// What went on.
    #[serde(rename = "out")]
    pub left: Tally,
    /// What stopped, by reason.
    pub dropped: BTreeMap<Reason, Tally>,
    /// What the party made more of (a frame sent twice), by reason; absent in a healthy run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub added: BTreeMap<Reason, Tally>,
    /// Whether nobody could look: a hop inside a released package, at which nothing was seen to stop. Its figures are
    /// zero and say nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

impl HopFlow {
    /// A hop that nothing has passed.
    pub fn new(hop: Hop) -> HopFlow {
        let (entered, left) = (Tally::default(), Tally::default());
        HopFlow { hop, entered, left, dropped: BTreeMap::new(), added: BTreeMap::new(), unseen: false }
    }

    /// Whether `in + added = out + dropped`.
    pub fn balances(&self) -> bool {
        let mut came = self.entered;
        came += self.added.values().copied().sum();
        let mut went = self.left;
        went += self.dropped.values().copied().sum();
        came == went
    }

    /// Adds the counts of the same hop of another class or client.
    pub fn merge(&mut self, other: &HopFlow) {
        self.unseen |= other.unseen;
        self.entered += other.entered;
        self.left += other.left;
        for (reason, tally) in &other.dropped {
            *self.dropped.entry(reason.clone()).or_default() += *tally;
        }
        for (reason, tally) in &other.added {
            *self.added.entry(reason.clone()).or_default() += *tally;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hop_is_there_once() {
        let every: std::collections::BTreeSet<Hop> = Hop::EVERY.into();
        assert_eq!(every.len(), Hop::EVERY.len());
        assert!(Hop::ALL.iter().chain(&Hop::FEED).all(|hop| every.contains(hop)));
    }
}
