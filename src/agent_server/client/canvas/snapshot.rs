//! The state of a chat in the form in which the released code's state was recorded.

use serde_json::{Value, json};

use super::Canvas;
use super::entry::Entry;
use super::view::{self, Speaker};

/// A chat at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Snapshot {
    /// `[who, text]` top to bottom; null when the error page is up.
    pub(in super::super) seen: Value,
    /// `[kind, end of id, text]`.
    pub(in super::super) events: Value,
    /// `[kind, end of id, text, reasoning]`.
    pub(in super::super) ui: Value,
    /// Known ids.
    pub(in super::super) ids: usize,
    /// Whether a delta is in the list and would be drawn.
    pub(in super::super) as_delta: bool,
}

impl Canvas {
    pub(in super::super) fn snapshot(&self) -> Snapshot {
        let who = |speaker| match speaker {
            Speaker::Agent => "agent",
            Speaker::Thinking => "thinking",
            Speaker::User => "user",
            Speaker::Other => "other",
        };
        let seen = view::visible(&self.store).map_or(Value::Null, |seen| {
            seen.iter().map(|(speaker, text)| json!([who(*speaker), text])).collect()
        });
        let drawn = |e: &Entry| {
            e.delta().is_some_and(|p| p.content != Some(Value::Null) || p.reasoning != Some(Value::Null))
        };
        Snapshot {
            seen,
            events: self.store.events.iter().map(|e| row(e, false)).collect(),
            ui: self.store.ui.iter().map(|e| row(e, true)).collect(),
            ids: self.store.ids.len(),
            as_delta: self.store.ui.iter().any(drawn),
        }
    }
}

fn row(entry: &Entry, ui: bool) -> Value {
    let id = &entry.id;
    let end = if id.starts_with("d-") { id.as_str() } else { &id[id.len().saturating_sub(3)..] };
    let (kind, text, reasoning) = match (entry.delta(), entry.event()) {
        (Some(p), _) => (json!("StreamingDeltaEvent"), p.content.clone(), p.reasoning.clone()),
        (None, Some(e)) => (
            e.get("kind").cloned().unwrap_or_default(),
            match e.get("llm_message").and_then(|m| m.get("content")) {
                Some(content) => Some(content.pointer("/0/text").unwrap_or(content).clone()),
                None => e.get("content").cloned(),
            },
            e.get("reasoning_content").cloned(),
        ),
        (None, None) => (Value::Null, None, None),
    };
    let mut row = vec![kind, json!(end), text.unwrap_or_default()];
    if ui {
        row.push(reasoning.unwrap_or_default());
    }
    Value::Array(row)
}
