//! What an event is to the canvas: it looks at shapes (`type-guards.ts`) and hardly ever at `kind`.

use serde_json::Value;

use super::super::js;

fn str_of<'a>(event: &'a Value, key: &str) -> Option<&'a str> {
    event.get(key).and_then(Value::as_str)
}

pub(super) fn kind(event: &Value) -> Option<&str> {
    str_of(event, "kind")
}

/// `isMessageEvent`: the kind is not looked at.
pub(super) fn is_message(event: &Value) -> bool {
    event.get("llm_message").is_some_and(|m| m.get("role").is_some() && m.get("content").is_some())
}

/// A message that starts a turn: by its source, whatever its role.
pub(super) fn is_user_turn(event: &Value) -> bool {
    is_message(event) && str_of(event, "source") == Some("user")
}

/// The agent's final message: by its source, whatever its role.
pub(super) fn is_agent_message(event: &Value) -> bool {
    is_message(event) && str_of(event, "source") == Some("agent")
}

/// The action's kind, if the event is an action.
pub(super) fn action_kind(event: &Value) -> Option<&Value> {
    if str_of(event, "source") != Some("agent") {
        return None;
    }
    str_of(event, "tool_name")?;
    str_of(event, "tool_call_id")?;
    event.get("action")?.get("kind")
}

pub(super) fn is_action_of(event: &Value, kind: &str) -> bool {
    action_kind(event).and_then(Value::as_str) == Some(kind)
}

/// The observation's kind, if the event is an observation.
pub(super) fn observation_kind(event: &Value) -> Option<&Value> {
    if str_of(event, "source") != Some("environment") {
        return None;
    }
    event.get("action_id")?;
    event.get("observation")?.get("kind")
}

pub(super) fn is_agent_error(event: &Value) -> bool {
    let keys = ["tool_name", "tool_call_id", "error"];
    str_of(event, "source") == Some("agent") && keys.iter().all(|k| str_of(event, k).is_some())
}

/// An error that shows as a banner above the input.
pub(super) fn is_banner_error(event: &Value) -> bool {
    matches!(kind(event), Some("ConversationErrorEvent" | "ServerErrorEvent"))
}

/// Whether the canvas knows what the event is, by shape or by kind.
pub(in super::super) fn is_known(event: &Value) -> bool {
    is_message(event)
        || action_kind(event).is_some()
        || observation_kind(event).is_some()
        || is_agent_error(event)
        || is_banner_error(event)
        || matches!(
            kind(event),
            Some("ConversationStateUpdateEvent" | "HookExecutionEvent" | "ACPToolCallEvent")
        )
}

/// An exception inside the canvas, with JavaScript's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Threw(pub(super) String);

impl Threw {
    pub(super) fn new(words: &str) -> Threw {
        Threw(format!("TypeError: {words}"))
    }
}

/// The texts of the text blocks. Anything but an array, and a null block, throws.
pub(super) fn text_blocks(blocks: Option<&Value>) -> Result<Vec<String>, Threw> {
    let Some(Value::Array(blocks)) = blocks else {
        return Err(Threw::new("blocks.filter is not a function"));
    };
    let mut texts = Vec::new();
    for block in blocks {
        if block.is_null() {
            return Err(Threw::new("Cannot read properties of null (reading 'type')"));
        }
        if str_of(block, "type") == Some("text") {
            // `join` writes nothing for an absent or null text.
            texts.push(block.get("text").filter(|t| !t.is_null()).map(js::string).unwrap_or_default());
        }
    }
    Ok(texts)
}

/// `getReasoningContent` of an action.
pub(super) fn reasoning(action: &Value) -> Result<String, Threw> {
    match action.get("reasoning_content") {
        Some(Value::String(s)) if !s.is_empty() => return Ok(s.clone()),
        Some(other) if js::truthy(other) => {
            return Err(Threw::new("getReasoningContent(...).trim is not a function"));
        }
        _ => {}
    }
    let Some(Value::Array(blocks)) = action.get("thinking_blocks") else { return Ok(String::new()) };
    let thinking = blocks.iter().filter(|b| str_of(b, "type") == Some("thinking"));
    Ok(thinking.map(|b| str_of(b, "thinking").unwrap_or_default()).collect::<Vec<_>>().join("\n\n"))
}
