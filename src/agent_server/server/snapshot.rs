//! The full state that a subscriber gets on connect, and everybody at the end of a run.

use serde_json::{Value, json};

use super::conversation::Conversation;

/// The value of a `full_state` update: the fields that clients read, keys masked as the real server does.
pub(super) fn full_state(conversation: &Conversation) -> Value {
    let mut state = json!({
        "id": conversation.id,
        "agent": {
            "llm": {"model": "skewlab/script", "api_key": "**********", "stream": true, "usage_id": "agent"},
            "tools": [],
            "include_default_tools": ["FinishTool", "ThinkTool"],
            "kind": "Agent",
        },
        "workspace": {"working_dir": "/workspace", "kind": "LocalWorkspace"},
        "max_iterations": 500,
        "stuck_detection": true,
        "execution_status": conversation.status(),
        "confirmation_policy": {"kind": "NeverConfirm"},
        "stats": {"usage_to_metrics": {}},
        "secret_registry": {"secret_sources": {}},
        "tags": {},
        "agent_state": {},
    });
    // Only conversations that ran have a leaf; absent values are left out like everywhere on the wire.
    if let (Some(leaf), Some(map)) = (super::lock(&conversation.leaf).clone(), state.as_object_mut()) {
        map.insert("leaf_event_id".into(), leaf.into());
    }
    state
}
