//! What a person sees: `shouldRenderEvent`, `groupEvents` and the message components, without Markdown.

use std::collections::HashSet;

use serde_json::Value;

use super::super::js;
use super::entry::{Entry, Payload};
use super::shape::{self, Threw};
use super::store::Store;
use super::think;
use crate::agent_server::profile::client::{NonString, StoreTraits};

/// Whose bubble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Agent,
    /// The fold that holds reasoning.
    Thinking,
    User,
    /// A message of any other source.
    Other,
}

/// One bubble, as its component gets it.
pub(super) type Seen = (Speaker, String);

/// Every bubble, top to bottom; an error if drawing throws, which replaces the whole page.
pub(super) fn visible(store: &Store) -> Result<Vec<Seen>, Threw> {
    bubbles(store, &store.traits)
}

/// All of the agent's text. What stands in the fold because the model wrote it as `<think>` is text all the same, and counts in
/// its place with its tags.
pub(super) fn reply(store: &Store) -> Result<String, Threw> {
    let seen = bubbles(store, &StoreTraits { split_think: false, ..store.traits })?;
    Ok(seen.iter().filter(|(who, _)| *who == Speaker::Agent).map(|(_, text)| text.as_str()).collect())
}

fn bubbles(store: &Store, traits: &StoreTraits) -> Result<Vec<Seen>, Threw> {
    let mut seen = Vec::new();
    let mut hoisted = HashSet::new();
    for entry in &store.ui {
        draw(store, traits, entry, &mut hoisted, &mut seen)?;
    }
    Ok(seen)
}

/// Draws one event that is not a delta, to see whether that throws.
pub(super) fn try_event(store: &Store, event: &Value) -> Result<(), Threw> {
    event_bubbles(store, &store.traits, event, &mut HashSet::new(), &mut Vec::new())
}

/// What a bubble of streamed text shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bubble {
    /// In the thinking fold.
    pub(super) reasoning: String,
    /// In the bubble itself; `None` for no bubble.
    pub(super) message: Option<String>,
}

/// Draws a delta.
pub(super) fn bubble(traits: &StoreTraits, payload: &Payload) -> Result<Bubble, Threw> {
    let field = |f: &Option<Value>| f.clone().filter(|v| !v.is_null());
    let (content, reasoning) = (field(&payload.content), field(&payload.reasoning));
    if traits.non_string == NonString::Ignored {
        // The renderer ignores what is no string; the fold calls a string method on it.
        let reasoning = match reasoning {
            Some(Value::String(s)) => s,
            Some(other) if js::truthy(&other) => return Err(Threw::new("content.trim is not a function")),
            _ => String::new(),
        };
        let message = match content {
            Some(Value::String(s)) => Some(s).filter(|s| !s.is_empty()),
            other => other.filter(js::truthy).map(|_| String::new()),
        };
        return Ok(Bubble { reasoning, message });
    }
    let content = match content {
        None => String::new(),
        Some(Value::String(s)) => s,
        Some(_) => return Err(Threw::new("content.replace is not a function")),
    };
    let split = if traits.split_think {
        think::split(&content, true)
    } else {
        think::Split { reasoning: String::new(), message: content }
    };
    let own = reasoning.filter(js::truthy).map(|v| js::string(&v)).into_iter();
    let parts: Vec<String> = own.chain((!split.reasoning.is_empty()).then_some(split.reasoning)).collect();
    let message = (!split.message.is_empty()).then_some(split.message);
    Ok(Bubble { reasoning: parts.join("\n\n"), message })
}

fn draw(
    store: &Store,
    traits: &StoreTraits,
    entry: &Entry,
    hoisted: &mut HashSet<String>,
    seen: &mut Vec<Seen>,
) -> Result<(), Threw> {
    let Some(payload) = entry.delta() else {
        return entry.event().map_or(Ok(()), |event| event_bubbles(store, traits, event, hoisted, seen));
    };
    if payload.content == Some(Value::Null) && payload.reasoning == Some(Value::Null) {
        return Ok(());
    }
    let bubble = bubble(traits, payload)?;
    fold(bubble.reasoning, seen);
    seen.extend(bubble.message.map(|text| (Speaker::Agent, text)));
    Ok(())
}

/// The fold shows nothing for blank reasoning.
fn fold(reasoning: String, seen: &mut Vec<Seen>) {
    if !js::trim(&reasoning).is_empty() {
        seen.push((Speaker::Thinking, reasoning));
    }
}

fn event_bubbles(
    store: &Store,
    traits: &StoreTraits,
    event: &Value,
    hoisted: &mut HashSet<String>,
    seen: &mut Vec<Seen>,
) -> Result<(), Threw> {
    if shape::kind(event) == Some("ConversationStateUpdateEvent") {
        let goal = event.get("key").and_then(Value::as_str) == Some("goal");
        if traits.shows_goal && goal && event.get("value").is_none_or(Value::is_null) {
            return Err(Threw::new("Cannot read properties of null (reading 'active')"));
        }
        return Ok(());
    }
    if let Some(kind) = shape::action_kind(event) {
        return action(event, kind, hoisted, seen);
    }
    if shape::observation_kind(event).is_some() {
        let of = |e: &&Value| event.get("action_id").is_some_and(|id| e.get("id") == Some(id));
        let source = store
            .events
            .iter()
            .filter_map(Entry::event)
            .find(|e| of(e) && shape::action_kind(e).is_some() && !shape::is_action_of(e, "ThinkAction"));
        return source.map_or(Ok(()), |action| thought(action, hoisted, seen));
    }
    if shape::is_message(event) {
        return message(traits, event, seen);
    }
    Ok(())
}

fn action(
    event: &Value,
    kind: &Value,
    hoisted: &mut HashSet<String>,
    seen: &mut Vec<Seen>,
) -> Result<(), Threw> {
    let field = |key: &str| event.get("action").and_then(|a| a.get(key));
    match kind.as_str() {
        Some("FinishAction") => {
            seen.push((Speaker::Agent, field("message").map(js::string).unwrap_or_default()));
        }
        Some("ThinkAction") => fold(field("thought").map(js::string).unwrap_or_default(), seen),
        Some("PlanningFileEditorAction" | "SwitchLLMAction" | "") | None => {}
        Some(_) => {
            thought(event, hoisted, seen)?;
            fold(shape::reasoning(event)?, seen);
        }
    }
    Ok(())
}

/// An action's thought is drawn once, by the action or by the observation that took its place.
fn thought(action: &Value, hoisted: &mut HashSet<String>, seen: &mut Vec<Seen>) -> Result<(), Threw> {
    let text = shape::text_blocks(action.get("thought"))?.join("\n");
    let id = action.get("id").map(Value::to_string).unwrap_or_default();
    if !js::trim(&text).is_empty() && hoisted.insert(id) {
        seen.push((Speaker::Agent, text));
    }
    Ok(())
}

fn message(traits: &StoreTraits, event: &Value, seen: &mut Vec<Seen>) -> Result<(), Threw> {
    let content = event.get("llm_message").and_then(|m| m.get("content"));
    let text = match content {
        Some(Value::Array(_)) => shape::text_blocks(content)?.join("\n"),
        Some(Value::String(s)) => s.clone(),
        _ => String::new(),
    };
    match event.get("source").and_then(Value::as_str) {
        Some("agent") => {
            let split = if traits.split_think {
                think::split(&text, false)
            } else {
                think::Split { reasoning: String::new(), message: text }
            };
            fold(split.reasoning, seen);
            seen.push((Speaker::Agent, split.message));
        }
        Some("user") => seen.push((Speaker::User, text)),
        _ => seen.push((Speaker::Other, text)),
    }
    Ok(())
}
