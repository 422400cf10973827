//! What a frame of a foreign server says, as far as clients can compare it.
//!
//! Read leniently and beside the emulated client, whose own reading decides what its application gets.

use serde_json::Value;

use crate::wire::DELTA_KIND;

/// A frame, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A piece of a streaming reply.
    Delta(Delta),
    /// The durable end of a reply, with all of its text.
    Reply(Reply),
    /// A durable end that does not repeat what streamed before it (a tool call), or a reply that was given up. Holds the
    /// item's id.
    Boundary(Option<String>),
    /// The run's state: whether it is running now.
    Running(bool),
    /// Anything else.
    Other,
}

/// A piece of a streaming reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Delta {
    /// The same at every client that gets it; absent where the frame carries none.
    pub(super) key: Option<Key>,
    pub(super) text: String,
    pub(super) reasoning: String,
    /// As the frame has it.
    pub(super) timestamp: Option<String>,
}

/// What identifies a delta.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The event's id: one a delta, whoever reads it (measured on 1.43.1 and 1.58.2).
    Event(String),
    /// Item, attempt and order on the session socket.
    Place(String, u64, u64),
    /// The id of a durable end.
    Durable(String),
}

/// A durable end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) id: Option<String>,
    pub(super) text: String,
    /// Absent where the event says nothing about reasoning.
    pub(super) reasoning: Option<String>,
}

/// Reads a frame; what is no JSON object says nothing.
pub(super) fn hear(frame: &str) -> Heard {
    let Ok(value) = serde_json::from_str::<Value>(frame) else { return Heard::Other };
    match value.get("type").and_then(Value::as_str) {
        None => event(&value),
        Some("delta") => Heard::Delta(session_delta(&value)),
        Some("durable" | "transient") => value.get("event").map_or(Heard::Other, event),
        Some("item_aborted") => Heard::Boundary(word(&value, "item_id")),
        Some(_) => Heard::Other,
    }
}

fn word(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn session_delta(frame: &Value) -> Delta {
    let number = |key: &str| frame.get(key).and_then(Value::as_u64);
    let key = match (word(frame, "item_id"), number("order")) {
        (Some(item), Some(order)) => Some(Key::Place(item, number("attempt").unwrap_or_default(), order)),
        _ => None,
    };
    let content = word(frame, "content").unwrap_or_default();
    let reasoning = frame.get("kind").and_then(Value::as_str) == Some("reasoning");
    let (text, reasoning) = if reasoning { (String::new(), content) } else { (content, String::new()) };
    Delta { key, text, reasoning, timestamp: None }
}

fn event(event: &Value) -> Heard {
    let kind = event.get("kind").and_then(Value::as_str).unwrap_or_default();
    let by_agent = event.get("source").and_then(Value::as_str) == Some("agent");
    match kind {
        DELTA_KIND => Heard::Delta(Delta {
            key: word(event, "id").map(Key::Event),
            text: word(event, "content").unwrap_or_default(),
            reasoning: word(event, "reasoning_content").unwrap_or_default(),
            timestamp: word(event, "timestamp"),
        }),
        "MessageEvent" if by_agent => {
            let message = &event["llm_message"];
            let parts = message["content"].as_array();
            let text = parts.into_iter().flatten().filter_map(|part| part["text"].as_str()).collect();
            Heard::Reply(Reply { id: word(event, "id"), text, reasoning: word(message, "reasoning_content") })
        }
        "ActionEvent" => Heard::Boundary(word(event, "id")),
        "ConversationStateUpdateEvent" => {
            let value = &event["value"];
            let status = match event["key"].as_str() {
                Some("execution_status") => value.as_str(),
                Some("full_state") => value["execution_status"].as_str(),
                _ => None,
            };
            status.map_or(Heard::Other, |status| Heard::Running(status == "running"))
        }
        _ => Heard::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_delta_has_the_same_key_wherever_it_is_read() {
        let frame =
            json!({"id": "e1", "timestamp": "t", "source": "agent", "content": "Hi", "kind": DELTA_KIND});
        let Heard::Delta(delta) = hear(&frame.to_string()) else { panic!("no delta") };
        assert_eq!((delta.key, delta.text.as_str()), (Some(Key::Event("e1".into())), "Hi"));
        let frame = json!({"type": "delta", "item_id": "i", "attempt": 2, "order": 7, "kind": "reasoning", "content": "hm"});
        let Heard::Delta(delta) = hear(&frame.to_string()) else { panic!("no delta") };
        assert_eq!((delta.key, delta.reasoning.as_str()), (Some(Key::Place("i".into(), 2, 7)), "hm"));
        let bare = json!({"kind": DELTA_KIND, "content": "x"});
        assert!(matches!(hear(&bare.to_string()), Heard::Delta(Delta { key: None, .. })));
    }

    #[test]
    fn ends_and_states_are_read_on_either_socket() {
        let message = json!({"id": "m", "source": "agent", "kind": "MessageEvent",
            "llm_message": {"content": [{"text": "a"}, {"text": "b"}], "reasoning_content": "r"}});
        let reply =
            Heard::Reply(Reply { id: Some("m".into()), text: "ab".into(), reasoning: Some("r".into()) });
        assert_eq!(hear(&message.to_string()), reply);
        assert_eq!(hear(&json!({"type": "durable", "seq": 1, "event": message}).to_string()), reply);
        let state = json!({"kind": "ConversationStateUpdateEvent", "key": "full_state", "value": {"execution_status": "running"}});
        assert_eq!(hear(&state.to_string()), Heard::Running(true));
        let aborted = json!({"type": "item_aborted", "item_id": "i"});
        assert_eq!(hear(&aborted.to_string()), Heard::Boundary(Some("i".into())));
        assert_eq!(hear("[1"), Heard::Other);
    }
}
