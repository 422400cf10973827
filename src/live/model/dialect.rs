//! How a reply is written: the two APIs behind one face.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::chat::Chat;
use super::reply::{Part, Reply, What};
use super::request::{Api, Ask};
use super::responses::Responses;

/// What every object of one answer repeats.
#[derive(Debug, Clone)]
pub(super) struct Header {
    /// Unlike that of any other answer of this model: an agent-server takes a new id for a new attempt.
    pub(super) id: String,
    /// Seconds since 1970.
    pub(super) created: u64,
    pub(super) model: String,
    pub(super) prompt: usize,
    pub(super) completion: usize,
}

/// Writes one answer.
#[derive(Debug)]
pub(super) enum Dialect {
    Chat(Chat),
    Responses(Box<Responses>),
}

impl Dialect {
    /// A writer for the answer number `number` of the model.
    pub(super) fn new(ask: &Ask, number: u64, reply: &Reply) -> Dialect {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let completion = reply.parts.iter().filter(|p| matches!(p, Part::Delta { .. })).count();
        let id = format!("skewlab-{number}");
        let header = Header { id, created, model: ask.model.clone(), prompt: ask.words, completion };
        match ask.api {
            Api::Chat => Dialect::Chat(Chat::new(header, ask.usage)),
            Api::Responses => Dialect::Responses(Box::new(Responses::new(header))),
        }
    }

    /// Whether it knows a chunk with a role alone.
    pub(super) fn has_roles(&self) -> bool {
        matches!(self, Dialect::Chat(_))
    }

    /// The bytes of one step; several events, or none.
    pub(super) fn write(&mut self, what: What, reply: &Reply) -> Vec<u8> {
        match (self, what) {
            (Dialect::Chat(_), What::Open) | (Dialect::Responses(_), What::Role) => Vec::new(),
            (Dialect::Chat(chat), What::Role) => chat.role(),
            (Dialect::Chat(chat), What::Part(index)) => {
                reply.parts.get(index).map_or_else(Vec::new, |part| chat.part(part))
            }
            (Dialect::Chat(chat), What::End) => chat.end(),
            (Dialect::Responses(responses), What::Open) => responses.open(),
            (Dialect::Responses(responses), What::Part(index)) => {
                reply.parts.get(index).map_or_else(Vec::new, |part| responses.part(part))
            }
            (Dialect::Responses(responses), What::End) => responses.end(),
        }
    }

    /// The whole answer of a request that asked for no stream.
    pub(super) fn whole(&mut self, reply: &Reply) -> Value {
        match self {
            Dialect::Chat(chat) => chat.whole(reply),
            Dialect::Responses(responses) => responses.whole(reply),
        }
    }
}

/// One event without a name.
pub(super) fn data(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}
