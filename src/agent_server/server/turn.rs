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
use super::stream::Strikes;
use super::{Inner, Notes, lock};
use crate::agent_server::fault::{Kind, Lane};
use crate::agent_server::profile::server::{DeltaClass, EmptyPieces, SessionEndpoint};
use crate::probe::trace::{Origin, PieceIndex};
use crate::record::observation::Piece;
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
    conversation.runs_as(tokio::spawn(turn.run()).abort_handle());
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
        conversation.runs_as(tokio::spawn(turn.run()).abort_handle());
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
    attempt: u32,
    /// Whether the model has sent a chunk.
    begun: bool,
    started: Instant,
    /// Text of the answer since the last tool call, and its reasoning.
    said: (String, String),
    /// A delta that goes behind the next one, and those that go behind the reply.
    behind: Vec<(usize, Delta)>,
    late: Vec<Delta>,
    /// What ended the turn before its answer was complete.
    broken: Option<Broken>,
}

/// A chunk with its place among what was produced, and the numbers that its progress frames carry.
struct Delta {
    chunk: Chunk,
    first: PieceIndex,
    pieces: Vec<Piece>,
    orders: Vec<u32>,
}

/// Why a turn ends without its reply.
enum Broken {
    /// An exception: its class and its text.
    Failed(&'static str, String),
    /// The person cancelled it.
    Cancelled,
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
            attempt: 1,
            begun: false,
            started: Instant::now(),
            said: (String::new(), String::new()),
            behind: Vec::new(),
            late: Vec::new(),
            broken: None,
        }
    }

    async fn run(mut self) {
        let _ending = Ending(self.server.clone(), self.conversation.clone());
        assert!(!self.server.traits.mutant.panic, "mutant: panic when a turn starts");
        self.server.note(Notes::begins);
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
        for (_, delta) in std::mem::take(&mut self.behind) {
            self.emit(delta);
        }
        if self.broken.is_none() {
            self.answer(script.finish);
        }
        let completed = self.broken.is_none();
        match self.broken.take() {
            None => self.status("finished"),
            Some(broken) => self.give_up(broken),
        }
        self.state("stats", json!({"usage_to_metrics": {}}));
        let pending = std::mem::take(&mut self.pending);
        let all = async {
            for task in pending {
                // A publish that panicked is that subscriber's fault and was reported where it happened.
                let _ = task.await;
            }
        };
        let _ = timeout(DURABLE_WAIT, all).await;
        for delta in std::mem::take(&mut self.late) {
            self.emit(delta);
        }
        self.conclude().await;
        let mut notes = self.server.notes();
        notes.server.completed = completed;
        if !self.server.config.keeps_notes {
            *notes = Notes::default();
        }
    }

    /// The durable end of an answer that is complete.
    fn answer(&mut self, finish: Finish) {
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
    fn give_up(&mut self, broken: Broken) {
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
    fn abort_item(&mut self, reason: &str) {
        if self.order == 0 {
            return;
        }
        let (item_id, attempt) = (self.item_id.clone(), self.attempt);
        let aborted = SessionFrame::ItemAborted { item_id, attempt, reason: reason.to_owned() };
        for socket in lock(&self.conversation.progress).clone() {
            socket.send(&aborted, Origin::Other);
        }
    }

    /// A run that has nothing to answer. A client that takes the state for the end does so only once it has the answer
    /// to its request, so an end that came at once would be missed.
    async fn nothing(self) {
        let _ending = Ending(self.server.clone(), self.conversation.clone());
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
        let mut started = self.started;
        'attempts: loop {
            let attempt = self.attempt;
            for (place, (n, chunk)) in (0_u32..).zip(&script.chunks).enumerate() {
                sleep_until(started + script.gap * n + script.stalled(place)).await;
                self.chunk(chunk);
                if self.broken.is_some() {
                    return;
                }
                if self.attempt > attempt {
                    // The provider is asked again, and answers from the beginning.
                    started = Instant::now() + script.gap;
                    continue 'attempts;
                }
            }
            break;
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
        self.said.0.push_str(chunk.text.as_deref().unwrap_or_default());
        self.said.1.push_str(chunk.reasoning.as_deref().unwrap_or_default());
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        let (mut first, now) = (0, Instant::now());
        self.server.note(|notes| {
            first = u32::try_from(notes.server.produced.len()).unwrap_or(u32::MAX);
            notes.server.produced.extend(pieces.iter().cloned());
            notes.produced_at.extend(pieces.iter().map(|_| now));
        });
        let first_of_reply = !std::mem::replace(&mut self.begun, true);
        let empty = pieces.iter().all(|piece| piece.class == Class::Empty);
        let strikes = self.strikes(now);
        if empty && !first_of_reply && self.server.traits.delta.empty == EmptyPieces::First {
            // The agent never sees it, so it is no sign of life either.
            self.server.note(|notes| {
                let withheld = || (first..first + count).map(|piece| (piece, Reason::EMPTY_WITHHELD));
                notes.server.unpublished_legacy.extend(withheld());
                notes.server.unpublished_session.extend(withheld());
            });
        } else {
            let orders = self.orders(&pieces);
            self.place(Delta { chunk: chunk.clone(), first, pieces, orders }, &strikes);
        }
        for (number, kind) in strikes.then {
            // What has ended the turn is not ended again, and nothing follows it.
            if self.broken.is_none() {
                self.server.faults.came(number);
                self.meets(kind);
            }
        }
        self.server.pulse.send_if_modified(|pulse| {
            pulse.chunks += 1;
            self.server.config.keeps_notes
        });
    }

    /// What goes wrong with the chunk that comes now.
    fn strikes(&self, now: Instant) -> Strikes {
        let n = self.server.pulse.borrow().chunks + 1;
        self.server.faults.on_chunk(n, now.duration_since(self.started))
    }

    /// The numbers of its progress frames. They are given when the model emits, whatever becomes of the frames.
    fn orders(&mut self, pieces: &[Piece]) -> Vec<u32> {
        let mut orders = Vec::with_capacity(pieces.len());
        for piece in pieces {
            orders.push(self.order);
            self.order += u32::from(piece.class != Class::Empty);
        }
        orders
    }

    /// Emits a delta in its place, or keeps it for another one.
    fn place(&mut self, delta: Delta, strikes: &Strikes) {
        let mut all: Vec<Delta> = (0..strikes.copies).map(|_| delta.again()).collect();
        all.push(delta);
        if strikes.late {
            self.late.append(&mut all);
        } else if let (Some(number), true) = (strikes.behind, self.behind.is_empty()) {
            self.behind = all.into_iter().map(|delta| (number, delta)).collect();
        } else {
            for delta in all {
                self.emit(delta);
            }
            for (number, held) in std::mem::take(&mut self.behind) {
                self.server.faults.came(number);
                self.emit(held);
            }
        }
        self.conversation.heartbeat(&self.server);
    }

    /// Hands a delta to both buses.
    fn emit(&self, delta: Delta) {
        let count = u32::try_from(delta.pieces.len()).unwrap_or(u32::MAX);
        let after = self.delay(Lane::Deltas);
        self.legacy_delta(&delta.chunk, Origin::Delta { first: delta.first, count }, after);
        self.progress_delta(delta, after);
    }

    fn delay(&self, lane: Lane) -> Duration {
        let chunks = self.server.pulse.borrow().chunks + 1;
        self.server.faults.delay(lane, chunks, self.started.elapsed())
    }

    /// Something happens in the middle of the stream.
    fn meets(&mut self, kind: Kind) {
        match kind {
            Kind::Tool { name } => self.calls(&name),
            Kind::ProviderError { message } => {
                self.broken = Some(Broken::Failed("APIConnectionError", message));
            }
            Kind::Cancel => self.broken = Some(Broken::Cancelled),
            Kind::Retry => {
                self.server.note(Notes::superseded);
                self.attempt += 1;
                self.order = 0;
                self.begun = false;
                self.said = (String::new(), String::new());
                self.response_id = format!("chatcmpl-{}", &self.server.next_id()[..8]);
            }
            _ => {}
        }
    }

    /// The model calls a tool: what it said becomes the call's thought, and the answer goes on in a response of its own.
    fn calls(&mut self, tool: &str) {
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

    /// Publishes the delta without waiting for it and without keeping track, as every release does.
    fn legacy_delta(&self, chunk: &Chunk, origin: Origin, after: Duration) {
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
            self.conversation.persist(event, origin)
        } else {
            Published::new(Arc::new(event), origin, None)
        };
        if let Some((_, most)) = self.server.faults.kept() {
            self.conversation.keep(&published, most);
        }
        let (conversation, server) = (self.conversation.clone(), self.server.clone());
        // The runtime would make a task that writes to more than 128 sockets wait in between, and the rest of its
        // subscribers with it. The real server's event loop does no such thing.
        tokio::spawn(unconstrained(async move {
            if !after.is_zero() {
                sleep(after).await;
            }
            let bus = conversation.delta_bus.as_ref().unwrap_or(&conversation.bus);
            bus.publish(&published).await;
            server.pulse.send_if_modified(|pulse| {
                pulse.deltas += 1;
                server.config.keeps_notes
            });
        }));
    }

    /// The same pieces as progress frames for session sockets (1.47.0); empty ones never get there.
    fn progress_delta(&self, delta: Delta, after: Duration) {
        let mut frames = Vec::new();
        for ((index, piece), order) in (delta.first..).zip(&delta.pieces).zip(delta.orders) {
            match (self.server.traits.session.endpoint, piece.class) {
                (SessionEndpoint::Full, Class::Empty) => {
                    let withheld = (index, Reason::EMPTY_WITHHELD);
                    self.server.note(|notes| notes.server.unpublished_session.push(withheld));
                }
                (SessionEndpoint::Full, class) => frames.push((index, order, class, piece.text.clone())),
                // No bus feeds the session socket with deltas; each connection notes that for itself.
                _ => {}
            }
        }
        let progress = Progress {
            server: self.server.clone(),
            conversation: self.conversation.clone(),
            item_id: self.item_id.clone(),
            response_id: self.response_id.clone(),
            attempt: self.attempt,
        };
        if after.is_zero() {
            progress.send(frames);
        } else if !frames.is_empty() {
            tokio::spawn(async move {
                sleep(after).await;
                progress.send(frames);
            });
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
        if reply {
            return self.durable_item(source, body, true);
        }
        let event = self.linked(source, body);
        self.store(event, false)
    }

    /// The same for the event that ends what streamed: it carries the item's id where the era has progress frames.
    fn durable_item(&mut self, source: Source, body: EventBody, reply: bool) -> String {
        let mut event = self.linked(source, body);
        if self.server.traits.session.endpoint == SessionEndpoint::Full {
            event.id.clone_from(&self.item_id);
        }
        self.store(event, reply)
    }

    fn linked(&self, source: Source, body: EventBody) -> Event {
        let parent = lock(&self.conversation.leaf).clone();
        self.event(source, parent, body)
    }

    fn store(&mut self, event: Event, reply: bool) -> String {
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
    fn publish(&mut self, published: Published, reply: bool) {
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

    fn event(&self, source: Source, parent_id: Option<String>, body: EventBody) -> Event {
        let (id, timestamp) = (self.server.next_id(), self.server.clock.timestamp());
        Event { id, timestamp, source, parent_id, body }
    }
}

impl Delta {
    fn again(&self) -> Delta {
        let (chunk, pieces, orders) = (self.chunk.clone(), self.pieces.clone(), self.orders.clone());
        Delta { chunk, first: self.first, pieces, orders }
    }
}

/// What progress frames need when they go out.
struct Progress {
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    item_id: String,
    response_id: String,
    attempt: u32,
}

impl Progress {
    /// Sends pieces with their numbers, behind the frame that opens the item where it is the first.
    fn send(&self, frames: Vec<(PieceIndex, u32, Class, String)>) {
        let sockets = lock(&self.conversation.progress).clone();
        for (index, order, class, content) in frames {
            if order == 0 {
                let started = SessionFrame::ItemStarted {
                    item_id: self.item_id.clone(),
                    attempt: self.attempt,
                    anchor_seq: self.conversation.through_seq(),
                };
                for socket in &sockets {
                    socket.send(&started, Origin::Other);
                }
            }
            let delta = SessionFrame::Delta(SessionDelta {
                item_id: self.item_id.clone(),
                attempt: self.attempt,
                order,
                reasoning: class == Class::Reasoning,
                content,
                chunk: Some((self.response_id.clone(), 0)),
            });
            self.server.costs.invoked(sockets.len());
            for socket in &sockets {
                socket.send(&delta, Origin::Delta { first: index, count: 1 });
            }
        }
    }
}

/// Marks the turn as over however it ends, a panic included.
struct Ending(Arc<Inner>, Arc<Conversation>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.1.end_turn();
        self.0.pulse.send_modify(|pulse| pulse.turns += 1);
    }
}
