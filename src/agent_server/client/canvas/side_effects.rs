//! What the socket handler does with an event beside storing it: banners, and the exceptions that end in
//! the same log line as a frame that is no JSON (run on 1.0.0-alpha.10 to 1.20.0).

use serde_json::Value;

use super::super::desk::Desk;
use super::shape;

/// Runs the side effects of a stored event.
pub(super) fn run(event: &Value, desk: &mut Desk<'_>) {
    if shape::is_banner_error(event) {
        // Without a detail there is nothing to put on the banner.
        if let Some(detail) = event.get("detail").and_then(Value::as_str).filter(|d| !d.is_empty()) {
            desk.note(|f| &f.error_frame, detail);
        }
        return;
    }
    let message = event.get("llm_message");
    if message.and_then(|m| m.get("role")).and_then(Value::as_str) == Some("user")
        && shape::text_blocks(message.and_then(|m| m.get("content"))).is_err()
    {
        desk.note(|f| &f.handler, "content.filter is not a function");
    }
    if shape::kind(event) == Some("ConversationStateUpdateEvent") {
        let key = event.get("key").and_then(Value::as_str);
        let read = matches!(key, Some("full_state" | "stats"));
        if read && event.get("value").is_none_or(Value::is_null) {
            desk.note(|f| &f.handler, "Cannot read properties of null");
        }
    }
}
