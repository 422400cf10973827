//! One line of the store: a delta, which merges with its neighbours, or any other event, kept as it came.

use std::sync::Arc;

use serde_json::Value;

use super::super::js;
use crate::wire::DELTA_KIND;

/// An event in the store.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) timestamp: String,
    /// Set for the planning agent's socket; a key of that name on the wire is honoured too.
    pub(super) planning: bool,
    /// Whether its kind is the delta's, even where the store knows no deltas.
    pub(super) literal_delta: bool,
    pub(super) body: Body,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Delta(Payload),
    Event(Arc<Value>),
}

impl Entry {
    /// The entry of an event that passed the guard. `deltas` says whether the store knows what a delta is.
    pub(super) fn new(event: Value, deltas: bool) -> Entry {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, timestamp) = (text("id"), text("timestamp"));
        let planning = event.get("isFromPlanningAgent").is_some_and(js::truthy);
        let literal_delta = event.get("kind").and_then(Value::as_str) == Some(DELTA_KIND);
        let body = if deltas && literal_delta {
            Body::Delta(Payload::of(&event))
        } else {
            Body::Event(Arc::new(event))
        };
        Entry { id, timestamp, planning, literal_delta, body }
    }

    pub(super) fn delta(&self) -> Option<&Payload> {
        match &self.body {
            Body::Delta(payload) => Some(payload),
            Body::Event(_) => None,
        }
    }

    pub(super) fn event(&self) -> Option<&Value> {
        match &self.body {
            Body::Delta(_) => None,
            Body::Event(event) => Some(event),
        }
    }
}

/// The two fields of a delta. Absent and null differ, and a delta that was never merged keeps raw types.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Payload {
    pub(super) content: Option<Value>,
    pub(super) reasoning: Option<Value>,
}

impl Payload {
    pub(super) fn of(event: &Value) -> Payload {
        Payload { content: event.get("content").cloned(), reasoning: event.get("reasoning_content").cloned() }
    }

    /// `mergeStreamingDeltaEvent`: both fields become strings, and null when empty.
    pub(super) fn merge(&mut self, incoming: &Payload) {
        append(&mut self.content, incoming.content.as_ref());
        append(&mut self.reasoning, incoming.reasoning.as_ref());
    }

    /// The only delta that the reducer skips: both fields present, both null.
    pub(super) fn is_null_pair(&self) -> bool {
        self.content == Some(Value::Null) && self.reasoning == Some(Value::Null)
    }

    /// `(content?.length ?? 0) > 0`: strings and arrays have a length, numbers have none.
    pub(super) fn has_content(&self) -> bool {
        match &self.content {
            Some(Value::String(s)) => !s.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            _ => false,
        }
    }

    pub(super) fn has_reasoning(&self) -> bool {
        self.reasoning.as_ref().is_some_and(js::truthy)
    }

    /// Whether both fields are text or missing, so that drawing them is drawing their text.
    pub(super) fn is_text(&self) -> bool {
        [&self.content, &self.reasoning]
            .into_iter()
            .all(|f| matches!(f, None | Some(Value::Null | Value::String(_))))
    }
}

/// Appends to a field in place, so that a long reply does not cost the square of its length.
pub(super) fn append(field: &mut Option<Value>, incoming: Option<&Value>) {
    let mut text = match field.take() {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(s)) => s,
        Some(other) => js::string(&other),
    };
    match incoming {
        None | Some(Value::Null) => {}
        Some(Value::String(s)) => text.push_str(s),
        Some(other) => text.push_str(&js::string(other)),
    }
    *field = Some(if text.is_empty() { Value::Null } else { Value::String(text) });
}
