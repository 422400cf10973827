//! `isBaseEvent`, the browser's only check: one text from 1.0.0-alpha.10 to 1.20.0 (run on all of them).

use serde_json::Value;

use crate::agent_server::profile::client::Guard;
use crate::record::Reason;

const SOURCES: [&str; 4] = ["agent", "user", "environment", "hook"];

/// Whether a value passes, or the first check that it fails.
pub(super) fn admit(guard: Guard, value: &Value) -> Result<(), Reason> {
    match guard {
        Guard::None => Ok(()),
        Guard::BaseEvent => base_event(value),
    }
}

fn base_event(value: &Value) -> Result<(), Reason> {
    let Value::Object(event) = value else {
        // An array passes `typeof value === "object"` and then lacks the keys.
        return Err(Reason::new(if value.is_array() { "guard_id" } else { "guard_not_an_object" }));
    };
    let text = |key: &str| event.get(key).and_then(Value::as_str).filter(|s| !s.is_empty());
    if text("id").is_none() {
        return Err(Reason::new("guard_id"));
    }
    if text("timestamp").is_none() {
        return Err(Reason::new("guard_timestamp"));
    }
    match text("source") {
        Some(source) if SOURCES.contains(&source) => Ok(()),
        _ => Err(Reason::new("guard_source")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_failing_check_is_the_reason() {
        let cases = [
            (json!("hello"), "guard_not_an_object"),
            (json!(null), "guard_not_an_object"),
            (json!([]), "guard_id"),
            (json!({"id": 7}), "guard_id"),
            (json!({"id": "a", "timestamp": ""}), "guard_timestamp"),
            (json!({"id": "a", "timestamp": " ", "source": "assistant"}), "guard_source"),
        ];
        for (value, reason) in cases {
            assert_eq!(admit(Guard::BaseEvent, &value), Err(Reason::new(reason)));
            assert_eq!(admit(Guard::None, &value), Ok(()));
        }
        let good = json!({"id": "a", "timestamp": "t", "source": "hook", "kind": 5, "more": []});
        assert_eq!(admit(Guard::BaseEvent, &good), Ok(()));
    }
}
