//! The Responses API, as litellm 1.105 reads it (run with agent-server 1.58.2).
//!
//! Reasoning goes as a reasoning item with a summary, beside the message item; both stay open to the end, so that a
//! reply may change between them at every part.
//!
//! **Reasoning and empty text do not pass this API.** litellm 1.105.7 has no type for
//! `response.reasoning_summary_text.delta`, and the SDK of 1.58.2 skips what has none: of 7 reasoning and 20 text
//! parts 20 deltas arrived on either socket, all text (measured). The SDK also skips a delta without a character
//! (read in `llm.py`). A workload that is about either class belongs on the chat API.

use serde_json::{Value, json};

use super::dialect::Header;
use super::reply::{Failure, Part, Reply};

/// Writes one answer.
#[derive(Debug)]
pub(super) struct Responses {
    header: Header,
    sequence: u64,
    items: Vec<Item>,
}

/// An item of the output; its place in the list is its `output_index`.
#[derive(Debug)]
struct Item {
    id: String,
    what: Kind,
    /// What was added to it so far.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Reasoning,
    Message,
    Call { name: String },
}

impl Item {
    /// The item as an event shows it. In progress it is empty.
    fn shown(&self, done: bool) -> Value {
        let status = if done { "completed" } else { "in_progress" };
        let Item { id, what, text } = self;
        match what {
            Kind::Reasoning if done => {
                json!({"id": id, "type": "reasoning", "summary": [{"type": "summary_text", "text": text}]})
            }
            Kind::Reasoning => json!({"id": id, "type": "reasoning", "summary": []}),
            Kind::Message => {
                let content = if done { json!([output_text(text)]) } else { json!([]) };
                json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": content})
            }
            Kind::Call { name } => {
                let arguments = if done { text } else { "" };
                json!({"id": id, "type": "function_call", "call_id": format!("call-{id}"), "name": name,
                    "arguments": arguments, "status": status})
            }
        }
    }
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

impl Responses {
    pub(super) fn new(header: Header) -> Responses {
        Responses { header, sequence: 0, items: Vec::new() }
    }

    /// One event; the number in sequence is added.
    fn event(&mut self, mut value: Value) -> Vec<u8> {
        value["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        let kind = value["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {value}\n\n").into_bytes()
    }

    fn response(&self, done: bool) -> Value {
        let Header { id, created, model, prompt, completion } = &self.header;
        let output: Vec<Value> = self.items.iter().filter(|_| done).map(|item| item.shown(true)).collect();
        let thought = self.items.iter().filter(|i| i.what == Kind::Reasoning);
        let usage = json!({"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": thought.map(|i| i.text.split_whitespace().count()).sum::<usize>()}});
        json!({"id": format!("resp-{id}"), "object": "response", "created_at": created, "model": model,
            "status": if done { "completed" } else { "in_progress" }, "output": output,
            "usage": if done { usage } else { Value::Null }, "parallel_tool_calls": true, "tool_choice": "auto",
            "tools": [], "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
            "temperature": 1.0, "top_p": 1.0})
    }

    pub(super) fn open(&mut self) -> Vec<u8> {
        let response = self.response(false);
        self.event(json!({"type": "response.created", "response": response}))
    }

    /// Begins an item of that kind, at the end of the output.
    fn begin(&mut self, what: Kind, to: &mut Vec<u8>) -> usize {
        let index = self.items.len();
        let prefix = match what {
            Kind::Reasoning => "rs",
            Kind::Message => "msg",
            Kind::Call { .. } => "fc",
        };
        let item = Item { id: format!("{prefix}-{}-{index}", self.header.id), what, text: String::new() };
        let (id, shown) = (item.id.clone(), item.shown(false));
        to.extend(
            self.event(json!({"type": "response.output_item.added", "output_index": index, "item": shown})),
        );
        let part = match item.what {
            Kind::Reasoning => Some(json!({"type": "response.reasoning_summary_part.added", "item_id": id,
                "output_index": index, "summary_index": 0, "part": {"type": "summary_text", "text": ""}})),
            Kind::Message => Some(json!({"type": "response.content_part.added", "item_id": id,
                "output_index": index, "content_index": 0, "part": output_text("")})),
            Kind::Call { .. } => None,
        };
        if let Some(part) = part {
            to.extend(self.event(part));
        }
        self.items.push(item);
        index
    }

    /// Adds text to the item of that kind, which is begun where there is none.
    fn add(&mut self, what: &Kind, text: &str, to: &mut Vec<u8>) {
        let open = self.items.iter().position(|i| i.what == *what && !matches!(what, Kind::Call { .. }));
        let index = open.unwrap_or_else(|| self.begin(what.clone(), to));
        self.items[index].text.push_str(text);
        let id = self.items[index].id.clone();
        let event = match what {
            Kind::Reasoning => json!({"type": "response.reasoning_summary_text.delta", "item_id": id,
                "output_index": index, "summary_index": 0, "delta": text}),
            Kind::Message => json!({"type": "response.output_text.delta", "item_id": id,
                "output_index": index, "content_index": 0, "delta": text, "logprobs": []}),
            Kind::Call { .. } => json!({"type": "response.function_call_arguments.delta", "item_id": id,
                "output_index": index, "delta": text}),
        };
        to.extend(self.event(event));
    }

    pub(super) fn part(&mut self, part: &Part) -> Vec<u8> {
        let mut bytes = Vec::new();
        match part {
            Part::Delta { text, reasoning } => {
                if let Some(reasoning) = reasoning {
                    self.add(&Kind::Reasoning, reasoning, &mut bytes);
                }
                if let Some(text) = text {
                    self.add(&Kind::Message, text, &mut bytes);
                }
            }
            Part::ToolCall { name, arguments } => {
                self.add(&Kind::Call { name: name.clone() }, arguments, &mut bytes);
            }
            Part::Error(Failure::InStream(message) | Failure::Status { message, .. }) => {
                bytes = self.event(
                    json!({"type": "error", "code": "server_error", "message": message, "param": null}),
                );
            }
            Part::Stall(_) => {}
        }
        bytes
    }

    pub(super) fn end(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for index in 0..self.items.len() {
            let Item { id, what, text } = &self.items[index];
            let shown = self.items[index].shown(true);
            let done = match what {
                Kind::Reasoning => vec![
                    json!({"type": "response.reasoning_summary_text.done", "item_id": id, "output_index": index,
                        "summary_index": 0, "text": text}),
                    json!({"type": "response.reasoning_summary_part.done", "item_id": id, "output_index": index,
                        "summary_index": 0, "part": {"type": "summary_text", "text": text}}),
                ],
                Kind::Message => vec![
                    json!({"type": "response.output_text.done", "item_id": id, "output_index": index,
                        "content_index": 0, "text": text, "logprobs": []}),
                    json!({"type": "response.content_part.done", "item_id": id, "output_index": index,
                        "content_index": 0, "part": output_text(text)}),
                ],
                Kind::Call { name } => {
                    vec![json!({"type": "response.function_call_arguments.done", "item_id": id,
                    "output_index": index, "name": name, "arguments": text})]
                }
            };
            for event in done {
                bytes.extend(self.event(event));
            }
            bytes.extend(
                self.event(
                    json!({"type": "response.output_item.done", "output_index": index, "item": shown}),
                ),
            );
        }
        let response = self.response(true);
        bytes.extend(self.event(json!({"type": "response.completed", "response": response})));
        bytes
    }

    /// The whole answer of a request that asked for no stream: what the stream would have come to.
    pub(super) fn whole(&mut self, reply: &Reply) -> Value {
        for part in &reply.parts {
            let _ = self.part(part);
        }
        self.response(true)
    }
}
