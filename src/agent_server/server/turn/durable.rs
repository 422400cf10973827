//! What a turn writes down: messages, actions, states, and the end of the answer.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Broken, Turn};
use crate::agent_server::fault::Lane;
use crate::agent_server::profile::server::SessionEndpoint;
use crate::agent_server::server::bus::Published;
use crate::agent_server::server::lock;
use crate::agent_server::server::script::Finish;
use crate::probe::trace::Origin;
use crate::wire::event::{Action, Message, Observation};
use crate::wire::{Event, EventBody, SessionFrame, Source};

impl Turn {
    /// The durable end of an answer that is complete.
    pub(super) fn answer(&mut self, finish: Finish) {
        let (text, reasoning) = std::mem::take(&mut self.said);
        let text = self.server.faults.reply(text);
        if self.server.config.keeps_notes {
            let mut notes = self.server.notes();
            notes.server.reply.push_str(&text);
            notes.covers();
        }
        self.reply(text, (!reasoning.is_empty()).then_some(reasoning), finish);
    }

    /// The end of a turn that has no answer: the item that streamed is aborted, and the state says why.
    pub(super) fn give_up(&mut self, broken: Broken) {
        let (reason, status) = match &broken {
            Broken::Failed(class, _) => (*class, "error"),
            Broken::Cancelled => ("cancelled", "paused"),
        };
        self.abort_item(reason);
        if let Broken::Failed(class, detail) = broken {
            let body = EventBody::ConversationError { code: class.to_owned(), detail };
            self.durable(Source::Environment, body, false);
        }
        self.status(status);
    }

    /// Tells session sockets that what streamed will have no durable event.
    pub(super) fn abort_item(&mut self, reason: &str) {
        if self.order == 0 {
            return;
        }
        let (item_id, attempt) = (self.item_id.clone(), self.attempt);
        let aborted = SessionFrame::ItemAborted { item_id, attempt, reason: reason.to_owned() };
        for socket in lock(&self.conversation.progress).clone() {
            socket.send(&aborted, Origin::Other);
        }
    }

    /// The state that ends every run: the Python client takes it for the end.
    pub(super) async fn conclude(&self) {
        let full_state = self.conversation.snapshot(&self.server);
        self.conversation.bus.publish(&full_state).await;
    }

    pub(super) fn opening(&mut self, text: String) {
        // A message to a finished conversation resets it (measured on 1.43.1 and 1.44.1).
        if self.conversation.status() == "finished" {
            self.status("idle");
        }
        self.greet();
        let message = Message { role: "user".into(), text, reasoning_content: None, llm_response_id: None };
        let id = self.durable(Source::User, EventBody::Message(message), false);
        self.state("last_user_message_id", id.into());
    }

    /// The system prompt, once a conversation.
    pub(super) fn greet(&mut self) {
        if self.conversation.through_seq().is_none() {
            self.durable(Source::Agent, EventBody::SystemPrompt { text: "You stream.".into() }, false);
        }
    }

    /// The model calls a tool: what it said becomes the call's thought, and the answer goes on in a response of its own.
    pub(super) fn calls(&mut self, tool: &str) {
        let (text, reasoning) = std::mem::take(&mut self.said);
        if self.server.config.keeps_notes {
            let mut notes = self.server.notes();
            notes.server.reply.push_str(&text);
            notes.covers();
        }
        let call = format!("call_{}", &self.item_id[..8]);
        let action = Action {
            thought: (!text.is_empty()).then_some(text),
            reasoning_content: (!reasoning.is_empty()).then_some(reasoning),
            action: json!({"data": {}, "kind": "MCPToolAction"}),
            tool_name: tool.to_owned(),
            tool_call_id: call.clone(),
            arguments: "{}".to_owned(),
            llm_response_id: self.response_id.clone(),
        };
        let action_id = self.durable_item(Source::Agent, EventBody::Action(action), false);
        let observation = Observation {
            tool_name: tool.to_owned(),
            tool_call_id: call,
            text: "done".to_owned(),
            kind: "MCPToolObservation".into(),
            action_id,
        };
        self.durable(Source::Environment, EventBody::Observation(observation), false);
        self.response_id = format!("chatcmpl-{}", &self.server.next_id()[..8]);
        self.item_id = self.server.next_id();
        (self.order, self.attempt, self.begun) = (0, 1, false);
    }

    pub(super) fn reply(&mut self, text: String, reasoning_content: Option<String>, finish: Finish) {
        let llm_response_id = self.response_id.clone();
        match finish {
            Finish::Message => {
                let role = "assistant".into();
                let message =
                    Message { role, text, reasoning_content, llm_response_id: Some(llm_response_id) };
                self.durable(Source::Agent, EventBody::Message(message), true);
            }
            Finish::FinishTool => {
                let call = format!("call_{}", &self.item_id[..8]);
                let action = Action {
                    thought: None,
                    reasoning_content,
                    action: json!({"message": text, "kind": "FinishAction"}),
                    tool_name: "finish".into(),
                    tool_call_id: call.clone(),
                    arguments: json!({"message": text}).to_string(),
                    llm_response_id,
                };
                let action_id = self.durable(Source::Agent, EventBody::Action(action), true);
                let observation = Observation {
                    tool_name: "finish".into(),
                    tool_call_id: call,
                    text,
                    kind: "FinishObservation".into(),
                    action_id,
                };
                self.durable(Source::Environment, EventBody::Observation(observation), false);
            }
        }
    }

    pub(super) fn status(&mut self, status: &'static str) {
        self.conversation.set_status(status);
        self.state("execution_status", status.into());
    }

    pub(super) fn state(&mut self, key: &str, value: Value) {
        self.durable(Source::Environment, EventBody::StateUpdate { key: key.to_owned(), value }, false);
    }

    /// Persists an event, schedules its publication, and returns its id.
    pub(super) fn durable(&mut self, source: Source, body: EventBody, reply: bool) -> String {
        if reply {
            return self.durable_item(source, body, true);
        }
        let event = self.linked(source, body);
        self.store(event, false)
    }

    /// The same for the event that ends what streamed: it carries the item's id where the era has progress frames.
    pub(super) fn durable_item(&mut self, source: Source, body: EventBody, reply: bool) -> String {
        let mut event = self.linked(source, body);
        if self.server.traits.session.endpoint == SessionEndpoint::Full {
            event.id.clone_from(&self.item_id);
        }
        self.store(event, reply)
    }

    pub(super) fn linked(&self, source: Source, body: EventBody) -> Event {
        let parent = lock(&self.conversation.leaf).clone();
        self.event(source, parent, body)
    }

    pub(super) fn store(&mut self, event: Event, reply: bool) -> String {
        let id = event.id.clone();
        if self.broken.is_none() && self.server.faults.append_fails() {
            self.broken = Some(Broken::Failed("OSError", "the event log takes no more".to_owned()));
            // Up to 1.44.1 an event is announced before it is appended (#4680 turned that round).
            if self.server.traits.session.endpoint == SessionEndpoint::Absent {
                self.server.note(|notes| notes.phantoms.push(event.encode(self.server.traits.wire)));
                self.publish(Published::new(Arc::new(event), Origin::Other, None), false);
            }
            return id;
        }
        if !matches!(event.body, EventBody::StateUpdate { .. }) {
            *lock(&self.conversation.leaf) = Some(id.clone());
        }
        let number = self.server.notes().durable(&id, reply, self.server.config.keeps_notes);
        let published = self.conversation.persist(event, Origin::Durable { reply, number });
        self.publish(published, reply);
        id
    }

    /// Schedules the publication of a durable event; the end of the turn waits for it.
    pub(super) fn publish(&mut self, published: Published, reply: bool) {
        let (conversation, server) = (self.conversation.clone(), self.server.clone());
        let after = self.delay(Lane::Durables);
        self.pending.push(tokio::spawn(async move {
            if !after.is_zero() {
                sleep(after).await;
            }
            conversation.bus.publish(&published).await;
            if reply {
                server.pulse.send_modify(|pulse| pulse.replies += 1);
            }
        }));
    }

    pub(super) fn event(&self, source: Source, parent_id: Option<String>, body: EventBody) -> Event {
        let (id, timestamp) = (self.server.next_id(), self.server.clock.timestamp());
        Event { id, timestamp, source, parent_id, body }
    }
}
