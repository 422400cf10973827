//! The seven frames of `/sockets/session/{id}` (1.45.0 on): the URL is the protocol version, so there is
//! no handshake and no acknowledgement, and a client must ignore a `type` that it does not know.

use serde_json::{Map, Value};

use super::dialect::{Dialect, Fields};
use super::event::Event;

/// One frame of the session socket. Absent values are left out, never written as `null`.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionFrame {
    /// Exactly one, first: where the replay starts and what the log holds.
    Sync {
        /// Echo of the client's `after_seq`.
        from_seq: Option<i64>,
        /// Highest sequence number on disk; absent for an empty log.
        through_seq: Option<i64>,
    },
    /// A persisted event.
    Durable {
        /// Its index in the event log.
        seq: i64,
        /// The event.
        event: Event,
    },
    /// An event that was published and not persisted; the cursor does not move.
    Transient {
        /// The event.
        event: Event,
    },
    /// A reply began to stream; its durable event will have this id.
    ItemStarted {
        /// Id that the durable event will carry.
        item_id: String,
        /// Counts from 1; a retry of the model raises it.
        attempt: u32,
        /// Last sequence number when the item opened.
        anchor_seq: Option<i64>,
    },
    /// A piece of a streaming reply (sent from 1.47.0 on).
    Delta(SessionDelta),
    /// A reply that will have no durable event.
    ItemAborted {
        /// The item.
        item_id: String,
        /// The attempt.
        attempt: u32,
        /// `cancelled`, `no_durable_event`, or an exception class name.
        reason: String,
    },
    /// What the client sent could not be used; the socket stays open.
    Error {
        /// Exception class name.
        code: String,
        /// Exception text.
        detail: String,
    },
}

/// A piece of a streaming reply on the session socket.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionDelta {
    /// The item that it belongs to.
    pub item_id: String,
    /// The attempt.
    pub attempt: u32,
    /// Counts from 0 within item and attempt, text and reasoning together.
    pub order: u32,
    /// Whether it is reasoning rather than text.
    pub reasoning: bool,
    /// Never empty: the server drops empty pieces before this socket.
    pub content: String,
    /// The model's chunk id and choice index; absent for ACP agents.
    pub chunk: Option<(String, u32)>,
}

impl SessionFrame {
    /// The `type` on the wire.
    pub fn type_name(&self) -> &'static str {
        match self {
            SessionFrame::Sync { .. } => "sync",
            SessionFrame::Durable { .. } => "durable",
            SessionFrame::Transient { .. } => "transient",
            SessionFrame::ItemStarted { .. } => "item_started",
            SessionFrame::Delta(_) => "delta",
            SessionFrame::ItemAborted { .. } => "item_aborted",
            SessionFrame::Error { .. } => "error",
        }
    }

    /// The object that goes on the wire, fields in order.
    pub fn to_object(&self) -> Map<String, Value> {
        let mut f = Fields::new(Dialect::CURRENT);
        f.put("type", self.type_name());
        match self {
            SessionFrame::Sync { from_seq, through_seq } => {
                f.opt("from_seq", *from_seq).opt("through_seq", *through_seq);
            }
            SessionFrame::Durable { seq, event } => {
                f.put("seq", *seq).put("event", event.to_object(Dialect::CURRENT));
            }
            SessionFrame::Transient { event } => {
                f.put("event", event.to_object(Dialect::CURRENT));
            }
            SessionFrame::ItemStarted { item_id, attempt, anchor_seq } => {
                f.put("item_id", item_id.as_str()).put("attempt", *attempt).opt("anchor_seq", *anchor_seq);
            }
            SessionFrame::Delta(d) => {
                f.put("item_id", d.item_id.as_str()).put("attempt", d.attempt).put("order", d.order);
                f.put("kind", if d.reasoning { "reasoning" } else { "text" })
                    .put("content", d.content.as_str());
                if let Some((id, choice)) = &d.chunk {
                    f.put("chunk_id", id.as_str()).put("choice_index", *choice);
                }
            }
            SessionFrame::ItemAborted { item_id, attempt, reason } => {
                f.put("item_id", item_id.as_str()).put("attempt", *attempt).put("reason", reason.as_str());
            }
            SessionFrame::Error { code, detail } => {
                f.put("code", code.as_str()).put("detail", detail.as_str());
            }
        }
        f.done()
    }

    /// The exact text of the frame.
    pub fn encode(&self) -> String {
        Value::Object(self.to_object()).to_string()
    }
}
