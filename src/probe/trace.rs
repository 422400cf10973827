//! What each end of a connection notes while it runs. The two never see each other's notes; the ledger
//! joins them afterwards, by the order of frames on the connection.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::record::evidence::Queue;
use crate::record::flow::{Class, Hop, Reason};
use crate::record::observation::{CutShort, Piece, Signal};

/// Index into the pieces that the model produced.
pub type PieceIndex = u32;

/// What a frame on a socket carries, as its sender knows it (a mutation may hide it from the receiver).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Pieces `first .. first + count` of the produced text: two when a chunk holds reasoning and text.
    Delta {
        /// First piece.
        first: PieceIndex,
        /// How many.
        count: u32,
    },
    /// A persisted event of the turn.
    Durable {
        /// Whether it is the reply itself.
        reply: bool,
        /// Which one of its server it is, from 1, so that one that is sent twice counts once; 0 where nobody numbered it.
        #[serde(default)]
        number: u64,
    },
    /// Snapshots, session bookkeeping, errors.
    Other,
}

/// A piece that stopped on the server's side of one connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Which.
    pub piece: PieceIndex,
    /// Where.
    pub hop: Hop,
    /// Why.
    pub reason: Reason,
}

/// The server's notes on one connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkTrace {
    /// Pieces that a bus handed to this connection's subscriber, one entry per hand-over.
    pub dispatched: Vec<PieceIndex>,
    /// Frames written, in order.
    pub sent: Vec<Origin>,
    /// Pieces that stopped after dispatch, or that this endpoint never carries.
    pub stopped: Vec<Stopped>,
    /// Durable events that had been published before this connection subscribed; `None` if it never did.
    pub joined_after: Option<u64>,
    /// Pieces that had been produced when it subscribed, or when it asked to be let in and was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_at: Option<PieceIndex>,
    /// Why this connection gets no deltas at all, when it gets none.
    pub carries_no_deltas: Option<Reason>,
    /// HTTP status, when the upgrade was refused.
    pub refused: Option<u16>,
    /// Close code and reason that the server sent.
    pub closed: Option<(u16, String)>,
    /// What waited for this connection.
    #[serde(default, skip_serializing_if = "Queue::is_empty")]
    pub queue: Queue,
    /// Turns that stopped with their server after this connection had subscribed, whether or not it was still there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turns_killed: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl LinkTrace {
    /// Turns of a client that stopped with their server: its first connection knows of them all.
    pub fn killed_turns(links: &[LinkTrace]) -> u32 {
        links.iter().map(|link| link.turns_killed).max().unwrap_or(0)
    }

    /// Why not a single frame was written to this connection, if none was.
    pub fn unattended(&self) -> Option<Reason> {
        let why = match (self.refused, &self.closed) {
            (Some(status), _) => Reason::from(format!("http_{status}")),
            (None, Some((code, _))) => Reason::from(format!("closed_{code}")),
            (None, None) => Reason::new("not_subscribed"),
        };
        self.sent.is_empty().then_some(why)
    }

    /// Why not a single frame was written on any of a client's connections, if none was.
    pub fn none_attended(links: &[LinkTrace]) -> Option<Reason> {
        match links {
            [] => LinkTrace::default().unattended(),
            _ => links.iter().map(LinkTrace::unattended).try_fold(None, |_, why| why.map(Some)).flatten(),
        }
    }

    /// What waited for a client, on that of its connections on which most did; closed as that one was, or else as a later one.
    /// None where nothing waited and the server closed none of them.
    pub fn queue(links: &[LinkTrace]) -> Option<Queue> {
        let closed = |link: &LinkTrace| {
            link.closed.as_ref().map(|(code, reason)| format!("{code} {reason}").trim_end().to_owned())
        };
        let longest = links.iter().max_by_key(|link| link.queue.peak_bytes)?;
        let closed = closed(longest).or_else(|| links.iter().rev().find_map(closed));
        (longest.queue.peak_frames > 0 || closed.is_some()).then(|| Queue { closed, ..longest.queue.clone() })
    }
}

/// The server's notes that belong to no single connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerTrace {
    /// What the model emitted, in order. A chunk with reasoning and text makes two pieces.
    pub produced: Vec<Piece>,
    /// Pieces that never reached a bus that feeds the legacy socket.
    pub unpublished_legacy: Vec<(PieceIndex, Reason)>,
    /// Pieces that never reached a bus that feeds the session socket.
    pub unpublished_session: Vec<(PieceIndex, Reason)>,
    /// Durable events published so far.
    pub durables: u64,
    /// How many of them had been published when the last reply was, itself included; 0 without a reply.
    pub replied_at: u64,
    /// The reply's text, once the turn ended.
    pub reply: String,
    /// Whether the last turn ended with *finished*.
    pub completed: bool,
    /// How it ended instead, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutShort>,
    /// The ids of the durable events, in the order of their numbers; empty where nobody numbers them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durable_ids: Vec<String>,
    /// The numbers of those that are a reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<u64>,
    /// Pieces that had been produced when each of them was made: those before are of its turn, or of an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replied_after: Vec<PieceIndex>,
}

/// What became of one frame in the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Fate {
    /// It stopped before the application: none of its text arrived.
    Stopped {
        /// Where.
        hop: Hop,
        /// Why.
        reason: Reason,
    },
    /// It reached the application, with this text; classes that are missing were not shown, for the reason.
    Reached {
        /// Text by class, reasoning and text at most once each.
        pieces: Vec<Piece>,
        /// Why a class that the frame carried is not among them.
        missing: Reason,
    },
}

/// The client's note on one frame that it read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// What became of it.
    pub fate: Fate,
    /// The loudest thing that the application could notice of it.
    pub signal: Signal,
}

/// A connection that ended before the client was done, and after which it opened another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Receipts in the trace when it ended; those since the connection before are its own.
    pub receipts: usize,
    /// Why what it had not read stayed unread.
    pub unread: Reason,
}

/// The client's notes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientTrace {
    /// One per frame read, in order.
    pub receipts: Vec<Receipt>,
    /// The connections before the last one, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Ended>,
    /// Frames that were still unread on the last connection when the client stopped, with the reason.
    pub unread: Option<Reason>,
    /// Ids of durable events that it read over REST after a reconnect and had not got from the socket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovered: Vec<String>,
    /// What waited in the client for its application, over all connections.
    #[serde(default, skip_serializing_if = "Queue::is_empty")]
    pub receive_queue: Queue,
    /// The loudest thing that the application could notice and that is about no single frame: a refusal, a
    /// close, a timeout.
    pub signal: Signal,
    /// What was noticed since the last frame or event was accounted for.
    pub noticed: Signal,
    /// What surfaced, each once.
    pub surfaced: Vec<String>,
    /// Log lines by message key.
    pub log: BTreeMap<String, u64>,
    /// The reply as a person sees it at the end, for clients with a view.
    pub view: Option<String>,
    /// What the application got while the reply streamed, in order.
    pub delivered: Vec<Piece>,
}

impl ClientTrace {
    /// Its connections, in order: its receipts on each, and why the rest of each stayed unread.
    pub fn connections(&self) -> impl Iterator<Item = (Range<usize>, Option<&Reason>)> {
        let starts = std::iter::once(0).chain(self.earlier.iter().map(|ended| ended.receipts));
        let ends = self.earlier.iter().map(|ended| (ended.receipts, Some(&ended.unread)));
        let ends = ends.chain(std::iter::once((self.receipts.len(), self.unread.as_ref())));
        starts.zip(ends).map(|(from, (to, unread))| (from..to, unread))
    }

    /// What was noticed since the last call is about the frame with receipt number `at`, or about no frame.
    pub fn attribute(&mut self, at: Option<usize>) {
        let noticed = std::mem::take(&mut self.noticed);
        let about = match at.and_then(|at| self.receipts.get_mut(at)) {
            Some(receipt) => &mut receipt.signal,
            None => &mut self.signal,
        };
        *about = noticed.max(*about);
    }

    /// The loudest thing of all.
    pub fn loudest(&self) -> Signal {
        let frames = self.receipts.iter().map(|receipt| receipt.signal);
        frames.chain([self.signal, self.noticed]).max().unwrap_or_default()
    }

    /// Notes something that the application is told about.
    pub fn surface(&mut self, what: String) {
        self.noticed = self.noticed.max(Signal::Surfaced);
        if !self.surfaced.contains(&what) {
            self.surfaced.push(what);
        }
    }

    /// Notes a line in the client's log.
    pub fn log_line(&mut self, key: &str) {
        self.noticed = self.noticed.max(Signal::Log);
        if let Some(n) = self.log.get_mut(key) {
            *n += 1;
        } else {
            self.log.insert(key.to_owned(), 1);
        }
    }
}

/// The class of a piece of text that is reasoning or not.
pub fn class_of(text: &str, reasoning: bool) -> Class {
    match (text.is_empty(), reasoning) {
        (true, _) => Class::Empty,
        (false, true) => Class::Reasoning,
        (false, false) => Class::Text,
    }
}
