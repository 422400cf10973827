//! Stand-in for the Python event model until the real one is merged: it knows kinds and nothing else.

use serde_json::Value;

use crate::agent_server::profile::ProfileError;
use crate::record::{Hop, Reason};
use crate::unit::Release;
use crate::wire::DELTA_KIND;
use crate::wire::json::{self, Reader};

/// What differs between builds of one release.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether the delta's class is one of the events (before stage A).
    pub delta_is_event: bool,
}

/// A decoded event.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// Its class.
    pub kind: String,
    /// The frame.
    pub value: Value,
}

/// A refused frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// The exception's class.
    pub error: String,
    /// Where it stopped.
    pub hop: Hop,
    /// Why.
    pub reason: Reason,
    /// The single errors.
    pub details: Vec<(&'static str, String)>,
}

/// The event union of one release.
#[derive(Debug, Clone)]
pub struct EventModel {
    options: Options,
}

const KINDS: [&str; 5] =
    ["MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent", "ConversationStateUpdateEvent"];

impl EventModel {
    /// The model of a release.
    pub fn at(_release: &Release, options: Options) -> Result<EventModel, ProfileError> {
        Ok(EventModel { options })
    }

    /// Decodes one frame.
    pub fn decode(&self, text: &str) -> Result<Decoded, Rejection> {
        let refuse = |error: &str, hop, reason| Rejection {
            error: error.to_owned(),
            hop,
            reason: Reason::new(reason),
            details: Vec::new(),
        };
        let value = json::parse(text, Reader::Python)
            .map_err(|_| refuse("JSONDecodeError", Hop::Parsed, "not_json"))?;
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        let known = KINDS.contains(&kind) || (self.options.delta_is_event && kind == DELTA_KIND);
        if !known {
            return Err(refuse("ValidationError", Hop::Decoded, "unknown_kind"));
        }
        Ok(Decoded { kind: kind.to_owned(), value })
    }
}
