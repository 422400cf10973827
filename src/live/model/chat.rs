//! The chat completions API, as litellm 1.105 reads it (run with agent-server 1.58.2).

use serde_json::{Map, Value, json};

use super::dialect::{Header, data};
use super::reply::{Failure, Part, Reply};

/// Writes one answer.
#[derive(Debug)]
pub(super) struct Chat {
    header: Header,
    usage: bool,
    begun: bool,
    calls: usize,
}

impl Chat {
    pub(super) fn new(header: Header, usage: bool) -> Chat {
        Chat { header, usage, begun: false, calls: 0 }
    }

    fn envelope(&self, object: &str, choices: &Value) -> Value {
        let Header { id, created, model, .. } = &self.header;
        json!({"id": format!("chatcmpl-{id}"), "object": object, "created": created, "model": model,
            "choices": choices})
    }

    /// A chunk; the first one of a stream carries the role.
    fn chunk(&mut self, mut delta: Map<String, Value>, finish: Option<&str>) -> Vec<u8> {
        if !std::mem::replace(&mut self.begun, true) {
            delta.insert("role".to_owned(), "assistant".into());
        }
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        data(&self.envelope("chat.completion.chunk", &choices))
    }

    /// The role alone, with an empty text.
    pub(super) fn role(&mut self) -> Vec<u8> {
        self.chunk(Map::from_iter([("content".to_owned(), Value::from(""))]), None)
    }

    pub(super) fn part(&mut self, part: &Part) -> Vec<u8> {
        match part {
            Part::Delta { text, reasoning } => {
                let mut delta = Map::new();
                if let Some(text) = text {
                    delta.insert("content".to_owned(), text.as_str().into());
                }
                if let Some(reasoning) = reasoning {
                    delta.insert("reasoning_content".to_owned(), reasoning.as_str().into());
                }
                self.chunk(delta, None)
            }
            Part::ToolCall { name, arguments } => {
                // As OpenAI does it: the name first, the arguments after it.
                let index = self.calls;
                self.calls += 1;
                let id = call_id(&self.header, index);
                let head = json!([{"index": index, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}}]);
                let rest = json!([{"index": index, "function": {"arguments": arguments}}]);
                let of = |calls| Map::from_iter([("tool_calls".to_owned(), calls)]);
                let mut bytes = self.chunk(of(head), None);
                bytes.extend(self.chunk(of(rest), None));
                bytes
            }
            Part::Error(Failure::InStream(message) | Failure::Status { message, .. }) => data(
                &json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}}),
            ),
            Part::Stall(_) => Vec::new(),
        }
    }

    pub(super) fn end(&mut self) -> Vec<u8> {
        let finish = if self.calls > 0 { "tool_calls" } else { "stop" };
        let mut bytes = self.chunk(Map::new(), Some(finish));
        if self.usage {
            let mut last = self.envelope("chat.completion.chunk", &json!([]));
            last["usage"] = self.counts();
            bytes.extend(data(&last));
        }
        bytes.extend(b"data: [DONE]\n\n");
        bytes
    }

    fn counts(&self) -> Value {
        let (prompt, completion) = (self.header.prompt, self.header.completion);
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
    }

    /// The whole answer of a request that asked for no stream.
    pub(super) fn whole(&self, reply: &Reply) -> Value {
        let calls = reply.parts.iter().filter_map(|part| match part {
            Part::ToolCall { name, arguments } => Some((name, arguments)),
            _ => None,
        });
        let calls: Vec<Value> = calls
            .enumerate()
            .map(|(index, (name, arguments))| {
                json!({"id": call_id(&self.header, index), "type": "function",
                    "function": {"name": name, "arguments": arguments}})
            })
            .collect();
        let mut message = json!({"role": "assistant", "content": reply.text()});
        let reasoning = reply.reasoning();
        if !reasoning.is_empty() {
            message["reasoning_content"] = reasoning.into();
        }
        let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let choices = json!([{"index": 0, "message": message, "finish_reason": finish}]);
        let mut answer = self.envelope("chat.completion", &choices);
        answer["usage"] = self.counts();
        answer
    }
}

fn call_id(header: &Header, index: usize) -> String {
    format!("call-{}-{index}", header.id)
}
