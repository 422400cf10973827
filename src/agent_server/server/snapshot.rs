//! The state of a conversation as clients get it: on their socket, and over REST.

use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use super::lock;
use crate::wire::{EventBody, Source};

/// The value of a `full_state` update, which a subscriber gets on connect and everybody at the end of a run: the fields
/// that clients read, keys masked as the real server does.
pub(super) fn full_state(conversation: &Conversation) -> Value {
    Value::Object(state(conversation, &"**********".into()))
}

/// What REST says of a conversation. A key reads as `null` there (measured on 1.58.2).
pub(super) fn info(conversation: &Conversation) -> Value {
    let mut state = state(conversation, &Value::Null);
    let log = conversation.log_from(0, usize::MAX);
    let said = log
        .iter()
        .rev()
        .map(|logged| &logged.event)
        .find(|e| matches!(e.body, EventBody::Message(_)) && e.source == Source::User);
    state.insert("last_user_message_id".into(), said.map(|e| e.id.clone()).into());
    state.entry("leaf_event_id").or_insert(Value::Null);
    state.insert("title".into(), conversation.title().into());
    state.insert("created_at".into(), (conversation.created.clone() + "Z").into());
    state.insert("updated_at".into(), (conversation.clocks.updated_at() + "Z").into());
    state.insert("sub_conversation_ids".into(), json!([]));
    Value::Object(state)
}

fn state(conversation: &Conversation, mask: &Value) -> Map<String, Value> {
    let mut state = Map::new();
    state.insert("id".into(), conversation.id.clone().into());
    state.extend(conversation.setup(mask));
    state.insert("execution_status".into(), conversation.status().into());
    state.insert("stats".into(), json!({"usage_to_metrics": {}}));
    state.insert("secret_registry".into(), json!({"secret_sources": {}}));
    state.insert("agent_state".into(), json!({}));
    // Only conversations that ran have a leaf; absent values are left out like everywhere on the wire.
    if let Some(leaf) = lock(&conversation.leaf).clone() {
        state.insert("leaf_event_id".into(), leaf.into());
    }
    state
}
