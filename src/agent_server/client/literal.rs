//! The TypeScript application: it looks at the literal kind of any JSON value and appends the content.

use std::collections::HashSet;

use serde_json::Value;

use super::delivery::Delivery;
use super::js;
use crate::probe::trace::class_of;
use crate::probe::{ClientTrace, Fate};
use crate::record::Reason;
use crate::record::observation::Piece;

/// A delta that reached the callback, whatever its fields hold.
pub(super) fn delta(event: &Value, delivery: &mut Delivery, trace: &mut ClientTrace) -> Fate {
    let piece = |key: &str, reasoning: bool| {
        let value = event.get(key).filter(|v| !v.is_null())?;
        let text = js::string(value);
        Some(Piece { class: class_of(&text, reasoning), text })
    };
    let pieces = [piece("reasoning_content", true), piece("content", false)].into_iter().flatten().collect();
    delivery.hand_over(pieces, Reason::new("text_missing"), trace)
}

/// Kinds that an application of these releases knows.
const KNOWN: [&str; 6] = [
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "SystemPromptEvent",
    "ConversationStateUpdateEvent",
    "ConversationErrorEvent",
];

/// Whether the application knows what the value is.
pub(super) fn known(event: &Value) -> bool {
    event.get("kind").and_then(Value::as_str).is_some_and(|kind| KNOWN.contains(&kind))
}

/// A value that nobody knows, shown as it is.
pub(super) fn raw(value: &Value, delivery: &mut Delivery, trace: &mut ClientTrace) -> Fate {
    let text = value.to_string();
    delivery.hand_over(
        vec![Piece { class: class_of(&text, false), text }],
        Reason::new("text_missing"),
        trace,
    )
}

/// `RemoteEventsList`: the first value of each id, with all values that have none under one id (run on 1.39.0).
#[derive(Debug, Default)]
pub(super) struct Cache {
    ids: HashSet<Option<String>>,
}

impl Cache {
    /// Whether the value was kept; an error if its id cannot be read.
    pub(super) fn keep(&mut self, value: &Value) -> Result<bool, NoProperties> {
        if value.is_null() {
            return Err(NoProperties);
        }
        // Ids compare by value and type, which their JSON text shows.
        Ok(self.ids.insert(value.get("id").map(Value::to_string)))
    }

    /// How many values it keeps.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// `null` has no properties.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoProperties;
