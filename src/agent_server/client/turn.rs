//! Telling the end of a turn from the state updates that a client accepts.

use serde_json::Value;

use crate::wire::DELTA_KIND;

const STATE_KIND: &str = "ConversationStateUpdateEvent";
const ENDED: [&str; 3] = ["finished", "error", "stuck"];
const FAILED: [&str; 2] = ["error", "stuck"];

/// Whether an accepted event is a state update.
pub(super) fn is_state(event: &Value) -> bool {
    event.get("kind").and_then(Value::as_str) == Some(STATE_KIND)
}

/// Whether a decoded frame is a delta, of either socket.
pub(super) fn is_delta(frame: &Value) -> bool {
    let is = |key: &str, what: &str| frame.get(key).and_then(Value::as_str) == Some(what);
    is("kind", DELTA_KIND) || is("type", "delta")
}

/// Whether an accepted event says that a run begins.
pub(super) fn begins(event: &Value) -> bool {
    status(event) == Some("running")
}

/// Whether an accepted event says that the run has ended.
pub(super) fn ends(event: &Value) -> bool {
    status(event).is_some_and(|s| ENDED.contains(&s))
}

/// Whether a run with that status has failed.
pub(super) fn failed(status: &str) -> bool {
    FAILED.contains(&status)
}

/// The run's status, as far as the event says one.
pub(super) fn status(event: &Value) -> Option<&str> {
    if !is_state(event) {
        return None;
    }
    let value = event.get("value");
    let status = match event.get("key").and_then(Value::as_str) {
        Some("execution_status") => value,
        Some("full_state") => value.and_then(|v| v.get("execution_status")),
        _ => None,
    };
    status.and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_spellings_of_the_end_count_and_nothing_else() {
        let state = |key: &str, value: Value| json!({"kind": STATE_KIND, "key": key, "value": value});
        assert!(ends(&state("execution_status", json!("finished"))));
        assert!(ends(&state("full_state", json!({"execution_status": "error"}))));
        assert!(!ends(&state("execution_status", json!("running"))));
        assert!(!ends(&state("full_state", json!(null))));
        assert!(!ends(&state("stats", json!("finished"))));
        assert!(!ends(&json!({"kind": "MessageEvent", "key": "execution_status", "value": "finished"})));
    }
}
