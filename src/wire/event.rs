//! The events of the agent-server and their wire form.
//!
//! Field order is the declaration order of the real classes, with the discriminator `kind` last, because
//! it is a computed field there.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::DELTA_KIND;
use super::dialect::{Dialect, Fields, ParentId};

/// Who an event speaks for. Any other word on the wire is refused by strict clients and guards alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The model's side.
    Agent,
    /// The person.
    User,
    /// Tools and the server itself.
    Environment,
    /// A user-supplied hook.
    Hook,
}

impl Source {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Agent => "agent",
            Source::User => "user",
            Source::Environment => "environment",
            Source::Hook => "hook",
        }
    }
}

/// One event: the head that all share, and a body by kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// A version-4 UUID; fresh for each delta.
    pub id: String,
    /// Naive local ISO 8601 with microseconds.
    pub timestamp: String,
    /// Who it speaks for.
    pub source: Source,
    /// The event that it follows; exists from 1.31.0 on and stays empty on deltas.
    pub parent_id: Option<String>,
    /// What it says.
    pub body: EventBody,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq)]
pub enum EventBody {
    /// A piece of a streaming reply (first in 1.18.1). Transient: never persisted, never replayed.
    StreamingDelta {
        /// Text; the empty string is published too.
        content: Option<String>,
        /// Reasoning text.
        reasoning_content: Option<String>,
    },
    /// A whole message of the user or the agent.
    Message(Message),
    /// A tool call by the agent.
    Action(Action),
    /// What a tool answered.
    Observation(Observation),
    /// The system prompt, once a conversation.
    SystemPrompt {
        /// The prompt's text.
        text: String,
    },
    /// A changed field of the conversation, or all of them (`full_state`).
    StateUpdate {
        /// Field name, or `full_state`.
        key: String,
        /// The new value.
        value: Value,
    },
    /// The server could not use what a client sent (first in 1.16.0).
    ServerError {
        /// Exception class name.
        code: String,
        /// Exception text.
        detail: String,
    },
    /// A run that failed.
    ConversationError {
        /// Exception class name.
        code: String,
        /// Exception text.
        detail: String,
    },
}

/// The body of a `MessageEvent`.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// Its text.
    pub text: String,
    /// Reasoning that came with it.
    pub reasoning_content: Option<String>,
    /// The model's response id; agent messages only.
    pub llm_response_id: Option<String>,
}

/// The body of an `ActionEvent`.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Text that came before the call.
    pub thought: Option<String>,
    /// Reasoning that came with it.
    pub reasoning_content: Option<String>,
    /// The action, `kind` included (`FinishAction`, …).
    pub action: Value,
    /// Registered tool name.
    pub tool_name: String,
    /// Call id.
    pub tool_call_id: String,
    /// The raw arguments, JSON in a string.
    pub arguments: String,
    /// The model's response id.
    pub llm_response_id: String,
}

/// The body of an `ObservationEvent`.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Registered tool name.
    pub tool_name: String,
    /// Call id.
    pub tool_call_id: String,
    /// Text of the answer.
    pub text: String,
    /// `FinishObservation`, …
    pub kind: String,
    /// The `ActionEvent` that it answers.
    pub action_id: String,
}

impl Event {
    /// The discriminator on the wire: the real class name.
    pub fn kind(&self) -> &'static str {
        match &self.body {
            EventBody::StreamingDelta { .. } => DELTA_KIND,
            EventBody::Message(_) => "MessageEvent",
            EventBody::Action(_) => "ActionEvent",
            EventBody::Observation(_) => "ObservationEvent",
            EventBody::SystemPrompt { .. } => "SystemPromptEvent",
            EventBody::StateUpdate { .. } => "ConversationStateUpdateEvent",
            EventBody::ServerError { .. } => "ServerErrorEvent",
            EventBody::ConversationError { .. } => "ConversationErrorEvent",
        }
    }

    /// Whether it is a transient token delta.
    pub fn is_delta(&self) -> bool {
        matches!(self.body, EventBody::StreamingDelta { .. })
    }

    /// The object that goes on the wire, fields in order.
    pub fn to_object(&self, dialect: Dialect) -> Map<String, Value> {
        let mut f = Fields::new(dialect);
        f.put("id", self.id.as_str()).put("timestamp", self.timestamp.as_str());
        f.put("source", self.source.as_str());
        if dialect.parent_id == ParentId::Sent {
            f.opt("parent_id", self.parent_id.as_deref());
        }
        self.body.write(&mut f, dialect);
        f.put("kind", self.kind());
        f.done()
    }

    /// The exact text of the frame.
    pub fn encode(&self, dialect: Dialect) -> String {
        Value::Object(self.to_object(dialect)).to_string()
    }
}

fn text_content(text: &str) -> Value {
    json!({"cache_prompt": false, "type": "text", "text": text})
}

impl EventBody {
    fn write(&self, f: &mut Fields, dialect: Dialect) {
        match self {
            EventBody::StreamingDelta { content, reasoning_content } => {
                f.opt("content", content.as_deref()).opt("reasoning_content", reasoning_content.as_deref());
            }
            EventBody::Message(m) => m.write(f, dialect),
            EventBody::Action(a) => a.write(f, dialect),
            EventBody::Observation(o) => o.write(f, dialect),
            EventBody::SystemPrompt { text } => {
                f.put("system_prompt", text_content(text)).put("tools", json!([])).unset("dynamic_context");
            }
            EventBody::StateUpdate { key, value } => {
                f.put("key", key.as_str()).put("value", value.clone());
            }
            EventBody::ServerError { code, detail } | EventBody::ConversationError { code, detail } => {
                f.put("code", code.as_str()).put("detail", detail.as_str());
            }
        }
    }
}

impl Message {
    fn write(&self, f: &mut Fields, dialect: Dialect) {
        let mut m = Fields::new(dialect);
        // A message of the user that says nothing has no item of content (measured on 1.43.1 to 1.58.2).
        let silent = self.role == "user" && self.text.is_empty();
        let content = if silent { json!([]) } else { json!([text_content(&self.text)]) };
        m.put("role", self.role.as_str()).put("content", content);
        m.unset("tool_calls").unset("tool_call_id").unset("name");
        m.opt("reasoning_content", self.reasoning_content.as_deref()).put("thinking_blocks", json!([]));
        m.unset("responses_reasoning_item");
        f.put("llm_message", m.done()).opt("llm_response_id", self.llm_response_id.as_deref());
        f.put("activated_skills", json!([])).put("extended_content", json!([]));
        f.unset("sender").unset("critic_result");
    }
}

impl Action {
    fn write(&self, f: &mut Fields, dialect: Dialect) {
        f.put("thought", self.thought.as_deref().map_or_else(|| json!([]), |t| json!([text_content(t)])));
        f.opt("reasoning_content", self.reasoning_content.as_deref()).put("thinking_blocks", json!([]));
        f.unset("responses_reasoning_item");
        f.put("action", self.action.clone()).put("tool_name", self.tool_name.as_str());
        f.put("tool_call_id", self.tool_call_id.as_str());
        let mut call = Fields::new(dialect);
        call.put("id", self.tool_call_id.as_str()).unset("responses_item_id");
        call.put("name", self.tool_name.as_str());
        call.put("arguments", self.arguments.as_str()).put("origin", "completion");
        f.put("tool_call", call.done()).put("llm_response_id", self.llm_response_id.as_str());
        f.put("security_risk", "UNKNOWN").unset("critic_result").unset("summary");
    }
}

impl Observation {
    fn write(&self, f: &mut Fields, dialect: Dialect) {
        f.put("tool_name", self.tool_name.as_str()).put("tool_call_id", self.tool_call_id.as_str());
        let content = json!([text_content(&self.text)]);
        let mut observation = json!({"content": content, "is_error": false, "kind": self.kind});
        if self.kind == "MCPToolObservation" {
            observation["tool_name"] = self.tool_name.as_str().into();
        }
        f.put("observation", observation);
        f.put("action_id", self.action_id.as_str());
        if dialect.observation_extended_content {
            f.put("extended_content", json!([]));
        }
    }
}
