//! One turn: the user's message, the streamed reply, and the durable end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::burden::burden;
use super::bus::Published;
use super::conversation::Conversation;
use super::script::{Chunk, Feed, Finish, Script};
use super::{Inner, lock};
use crate::agent_server::profile::server::{DeltaClass, EmptyPieces, SessionEndpoint};
use crate::probe::trace::{Origin, PieceIndex};
use crate::record::{Class, Reason};
use crate::wire::event::{Action, Message, Observation};
use crate::wire::session::SessionDelta;
use crate::wire::{Event, EventBody, SessionFrame, Source};

/// How long the end of a run waits for durable events to be published.
const DURABLE_WAIT: Duration = Duration::from_secs(30);

/// How long a run takes that has nothing to answer (5 to 15 ms between request and state, measured on 1.58.2).
const IDLE_RUN: Duration = Duration::from_millis(15);

/// Takes a message without running the agent: it is persisted and published, and that is all.
pub(super) fn message_only(server: &Arc<Inner>, conversation: &Arc<Conversation>, text: &str) {
    Turn::new(server, conversation).opening(text.to_owned());
}

/// Starts a turn unless one is running; `text` is what the person said.
pub(super) fn start(server: &Arc<Inner>, conversation: &Arc<Conversation>, text: &str) {
    // A message to a running conversation is taken, and the turn that is running is the answer to it too.
    if conversation.running.swap(true, Ordering::SeqCst) {
        message_only(server, conversation, text);
        return;
    }
    let mut turn = Turn::new(server, conversation);
    // At once: the next message must not overtake this one.
    turn.opening(text.to_owned());
    tokio::spawn(turn.run());
}

/// Starts a turn without a message (`POST …/run`): the answer to what was said before. False while one is running.
pub(super) fn run(server: &Arc<Inner>, conversation: &Arc<Conversation>) -> bool {
    if conversation.running.swap(true, Ordering::SeqCst) {
        return false;
    }
    let mut turn = Turn::new(server, conversation);
    if conversation.status() == "finished" {
        // Nothing was said since: the run ends at once, and the log does not grow (measured on 1.58.2).
        tokio::spawn(turn.nothing());
    } else {
        turn.greet();
        tokio::spawn(turn.run());
    }
    true
}

struct Turn {
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    response_id: String,
    /// Minted when the stream opens; the durable reply carries it where the era has progress frames.
    item_id: String,
    pending: Vec<JoinHandle<()>>,
    order: u32,
    /// Whether the model has sent a chunk.
    begun: bool,
}

impl Turn {
    fn new(server: &Arc<Inner>, conversation: &Arc<Conversation>) -> Turn {
        Turn {
            server: server.clone(),
            conversation: conversation.clone(),
            response_id: format!("chatcmpl-{}", &server.next_id()[..8]),
            item_id: server.next_id(),
            pending: Vec::new(),
            order: 0,
            begun: false,
        }
    }

    async fn run(mut self) {
        let _ending = Ending(self.conversation.clone());
        assert!(!self.server.traits.mutant.panic, "mutant: panic when a turn starts");
        self.status("running");
        let script = self.server.script(&self.conversation);
        match script.feed.as_ref().and_then(Feed::take) {
            Some(mut chunks) => {
                while let Some(chunk) = chunks.recv().await {
                    self.chunk(&chunk);
                }
            }
            None => self.paced(&script).await,
        }
        if self.server.traits.mutant.hang {
            std::future::pending::<()>().await;
        }
        self.reply(script.reply(), script.reasoning(), script.finish);
        self.status("finished");
        self.state("stats", json!({"usage_to_metrics": {}}));
        let pending = std::mem::take(&mut self.pending);
        let all = async {
            for task in pending {
                // A publish that panicked is that subscriber's fault and was reported where it happened.
                let _ = task.await;
            }
        };
        let _ = timeout(DURABLE_WAIT, all).await;
        self.conclude().await;
        let mut notes = self.server.notes();
        notes.server.reply = script.reply();
        notes.server.completed = true;
        if !self.server.config.keeps_notes {
            *notes = super::Notes::default();
        }
    }

    /// A run that has nothing to answer. A client that takes the state for the end does so only once it has the answer
    /// to its request, so an end that came at once would be missed.
    async fn nothing(self) {
        let _ending = Ending(self.conversation.clone());
        sleep(IDLE_RUN).await;
        self.conclude().await;
    }

    /// The state that ends every run: the Python client takes it for the end.
    async fn conclude(&self) {
        let full_state = self.conversation.snapshot(&self.server);
        self.conversation.bus.publish(&full_state).await;
    }

    /// The whole script at its own pace.
    async fn paced(&mut self, script: &Script) {
        let started = Instant::now();
        for (place, (n, chunk)) in (0_u32..).zip(&script.chunks).enumerate() {
            sleep_until(started + script.gap * n + script.stalled(place)).await;
            self.chunk(chunk);
        }
        let end = script.gap * u32::try_from(script.chunks.len()).unwrap_or(u32::MAX)
            + script.stalled(script.chunks.len())
            + script.tail;
        sleep_until(started + end).await;
    }

    fn opening(&mut self, text: String) {
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
    fn greet(&mut self) {
        if self.conversation.through_seq().is_none() {
            self.durable(Source::Agent, EventBody::SystemPrompt { text: "You stream.".into() }, false);
        }
    }

    /// The model emitted a chunk: the token callback.
    fn chunk(&mut self, chunk: &Chunk) {
        let pieces: Vec<_> = chunk.pieces().collect();
        if pieces.is_empty() {
            return;
        }
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        let (mut first, now) = (0, Instant::now());
        self.server.note(|notes| {
            first = u32::try_from(notes.server.produced.len()).unwrap_or(u32::MAX);
            notes.server.produced.extend(pieces.iter().cloned());
            notes.produced_at.extend(pieces.iter().map(|_| now));
        });
        let first_of_reply = !std::mem::replace(&mut self.begun, true);
        let empty = pieces.iter().all(|piece| piece.class == Class::Empty);
        if empty && !first_of_reply && self.server.traits.delta.empty == EmptyPieces::First {
            // The agent never sees it, so it is no sign of life either.
            self.server.note(|notes| {
                let withheld = || (first..first + count).map(|piece| (piece, Reason::EMPTY_WITHHELD));
                notes.server.unpublished_legacy.extend(withheld());
                notes.server.unpublished_session.extend(withheld());
            });
            return;
        }
        self.legacy_delta(chunk, Origin::Delta { first, count });
        for (index, piece) in (first..).zip(&pieces) {
            self.progress_delta(index, &piece.text, piece.class);
        }
        self.conversation.heartbeat(&self.server);
    }

    /// Publishes the delta without waiting for it and without keeping track, as every release does.
    fn legacy_delta(&self, chunk: &Chunk, origin: Origin) {
        if self.server.traits.delta.class == DeltaClass::Withdrawn {
            if let Origin::Delta { first, count } = origin {
                let reason = Reason::new("legacy_delta_withdrawn");
                let pieces = (first..first + count).map(|p| (p, reason.clone()));
                self.server.note(|notes| notes.server.unpublished_legacy.extend(pieces));
            }
            return;
        }
        let body = EventBody::StreamingDelta {
            content: chunk.text.clone(),
            reasoning_content: chunk.reasoning.clone(),
        };
        let event = self.event(Source::Agent, None, body);
        burden(&self.server, &event);
        let published = if self.server.traits.mutant.store_deltas {
            let stored = self.conversation.persist(event, false);
            Published { origin, ..stored }
        } else {
            Published::new(Arc::new(event), origin, None)
        };
        let conversation = self.conversation.clone();
        // The runtime would make a task that writes to more than 128 sockets wait in between, and the rest of its
        // subscribers with it. The real server's event loop does no such thing.
        tokio::spawn(unconstrained(async move {
            let bus = conversation.delta_bus.as_ref().unwrap_or(&conversation.bus);
            bus.publish(&published).await;
        }));
    }

    /// The same piece as progress frames for session sockets (1.47.0); empty ones never get there.
    fn progress_delta(&mut self, index: PieceIndex, text: &str, class: Class) {
        let reason = match (self.server.traits.session.endpoint, class) {
            (SessionEndpoint::Full, Class::Empty) => Reason::EMPTY_WITHHELD,
            (SessionEndpoint::Full, _) => {
                self.progress(index, text, class);
                return;
            }
            // No bus feeds the session socket with deltas; each connection notes that for itself.
            _ => return,
        };
        self.server.note(|notes| notes.server.unpublished_session.push((index, reason)));
    }

    fn progress(&mut self, index: PieceIndex, text: &str, class: Class) {
        let sockets = lock(&self.conversation.progress).clone();
        if self.order == 0 {
            let anchor_seq = self.conversation.through_seq();
            let started = SessionFrame::ItemStarted { item_id: self.item_id.clone(), attempt: 1, anchor_seq };
            for socket in &sockets {
                socket.send(&started, Origin::Other);
            }
        }
        let delta = SessionFrame::Delta(SessionDelta {
            item_id: self.item_id.clone(),
            attempt: 1,
            order: self.order,
            reasoning: class == Class::Reasoning,
            content: text.to_owned(),
            chunk: Some((self.response_id.clone(), 0)),
        });
        self.order += 1;
        self.server.costs.invoked(sockets.len());
        for socket in &sockets {
            socket.send(&delta, Origin::Delta { first: index, count: 1 });
        }
    }

    fn reply(&mut self, text: String, reasoning_content: Option<String>, finish: Finish) {
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

    fn status(&mut self, status: &'static str) {
        self.conversation.set_status(status);
        self.state("execution_status", status.into());
    }

    fn state(&mut self, key: &str, value: Value) {
        self.durable(Source::Environment, EventBody::StateUpdate { key: key.to_owned(), value }, false);
    }

    /// Persists an event, schedules its publication, and returns its id.
    fn durable(&mut self, source: Source, body: EventBody, reply: bool) -> String {
        let parent = lock(&self.conversation.leaf).clone();
        let mut event = self.event(source, parent, body);
        if reply && self.server.traits.session.endpoint == SessionEndpoint::Full {
            event.id.clone_from(&self.item_id);
        }
        let id = event.id.clone();
        if !matches!(event.body, EventBody::StateUpdate { .. }) {
            *lock(&self.conversation.leaf) = Some(id.clone());
        }
        let published = self.conversation.persist(event, reply);
        {
            let mut notes = self.server.notes();
            notes.server.durables += 1;
            if reply {
                notes.server.replied_at = notes.server.durables;
            }
        }
        let conversation = self.conversation.clone();
        self.pending.push(tokio::spawn(async move { conversation.bus.publish(&published).await }));
        id
    }

    fn event(&self, source: Source, parent_id: Option<String>, body: EventBody) -> Event {
        let (id, timestamp) = (self.server.next_id(), self.server.clock.timestamp());
        Event { id, timestamp, source, parent_id, body }
    }
}

/// Marks the turn as over however it ends, a panic included.
struct Ending(Arc<Conversation>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end_turn();
    }
}
