//! The emulated agent-server: one implementation whose behaviour is chosen by [`ServerTraits`].
//!
//! A delta's way: `turn` takes a chunk from the [`script`] and hands it to the conversation's delta
//! [`bus`], the bus calls its `subscriber`s, and a socket subscriber writes the frame. Durable events go
//! through the event log first. What happens is noted in `notes`, per connection.

mod api;
mod burden;
pub mod bus;
mod clock;
pub mod conversation;
mod costs;
mod error;
mod frame;
mod http;
mod idle;
mod inbound;
mod inject;
mod legacy;
mod line;
pub mod net;
mod notes;
mod query;
pub mod script;
mod session;
mod settings;
mod setup;
mod snapshot;
pub mod stage;
mod stream;
mod subscriber;
mod succession;
mod turn;
mod upgrade;
pub mod webhook;

pub use clock::Clock;
pub use error::ServerError;
pub use frame::delta_frame;
pub use idle::{IdleClocks, Watched};
pub use net::{Dialer, Io, PeerId};
pub use notes::Notes;
pub use script::{Chunk, Feed, Finish, Script};
pub use stage::Stage;
pub use stream::{Pulse, StreamFault};
pub use webhook::{Post, PostedEvent, SinkModel};

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use conversation::Conversation;
use tokio::sync::watch;

use super::fault::{Conditioned, Conditions};
use super::profile::{Profile, ServerTraits};
use crate::record::SideEffects;
use crate::seed::{Ids, Seed};
use crate::unit::Release;
use crate::wire::Mutation;

/// What a server is started with, beside its profile.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches that a rig sets one by one")]
pub struct ServerConfig {
    /// Session API keys; with none, everybody may connect.
    pub keys: Vec<String>,
    /// What the model streams in every turn.
    pub script: Script,
    /// How delta frames of the legacy socket are bent on their way out.
    pub mutation: Mutation,
    /// Source of every id.
    pub seed: Seed,
    /// Webhook sinks; each gets a subscriber per conversation.
    pub sinks: Vec<SinkModel>,
    /// Whether what happens is kept for a ledger; without it a turn's notes go when the turn is over.
    pub keeps_notes: bool,
    /// Whether telemetry is on, where the era has it.
    pub telemetry: bool,
    /// Whether conversations are named after their first message.
    pub auto_title: bool,
    /// What goes wrong in the stream itself; empty for nothing.
    pub faults: Vec<StreamFault>,
    /// Whether the server can be blocked and taken down: its connections then run under conditions of its own.
    pub mortal: bool,
}

impl ServerConfig {
    /// For a server that is measured: its one turn is fed from outside, nothing is noted for a ledger, and whoever sits on
    /// its bus in a release is there, with a sink that answers at once.
    pub fn measured(feed: Feed, seed: Seed) -> ServerConfig {
        let (chunks, gap, finish) = (Vec::new(), Duration::ZERO, Finish::Message);
        ServerConfig {
            keys: Vec::new(),
            script: Script {
                user: "go".into(),
                chunks,
                gap,
                finish,
                feed: Some(feed),
                tail: Duration::ZERO,
                stalls: Vec::new(),
            },
            mutation: Mutation::default(),
            seed,
            sinks: vec![SinkModel::default()],
            keeps_notes: false,
            telemetry: true,
            auto_title: false,
            faults: Vec::new(),
            mortal: false,
        }
    }
}

/// A running emulated server. Cheap to clone; all clones are one server.
#[derive(Debug, Clone)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) traits: ServerTraits,
    pub(crate) version: String,
    /// The release that it is built on, by which its event classes are known.
    release: Option<Release>,
    pub(crate) config: ServerConfig,
    pub(crate) clock: Clock,
    pub(crate) process: idle::ProcessClock,
    costs: Arc<costs::CostCounters>,
    ids: Mutex<Ids>,
    conversations: Mutex<BTreeMap<String, Arc<Conversation>>>,
    /// Conversations that a client removed: what they caused still counts.
    removed: Mutex<Vec<Arc<Conversation>>>,
    settings: Mutex<settings::Settings>,
    /// Shared with the server that takes its place.
    notes: Arc<Mutex<Notes>>,
    /// How far its turns have come; shared likewise.
    pulse: Arc<watch::Sender<Pulse>>,
    /// What goes wrong in the stream; shared likewise.
    faults: Arc<stream::StreamFaults>,
    /// Conditions of all of its connections.
    gate: Arc<Conditions>,
    /// Scripts of the turns to come, where they are not the configured one.
    scripts: Mutex<VecDeque<Script>>,
    /// The server whose place it took.
    before: Option<Server>,
}

impl Server {
    /// A server of that profile, with no conversation yet.
    pub fn new(profile: &Profile<ServerTraits>, config: ServerConfig, clock: Clock) -> Server {
        Server(Arc::new(Inner {
            traits: profile.traits.clone(),
            version: profile
                .release
                .as_ref()
                .map_or_else(|| profile.release_name.clone(), ToString::to_string),
            release: profile.release.clone(),
            ids: Mutex::new(Ids::new(config.seed.derive("ids"))),
            process: idle::ProcessClock::new(&clock),
            costs: Arc::default(),
            faults: Arc::new(stream::StreamFaults::new(&config.faults)),
            config,
            clock,
            conversations: Mutex::default(),
            removed: Mutex::default(),
            settings: Mutex::default(),
            notes: Arc::default(),
            pulse: Arc::new(watch::Sender::new(Pulse::default())),
            gate: Arc::default(),
            scripts: Mutex::default(),
            before: None,
        }))
    }

    /// Opens a conversation with its internal subscribers and returns its id.
    pub async fn create_conversation(&self) -> String {
        self.0.open_conversation(None, setup::Setup::default()).await.id.clone()
    }

    /// Serves one connection until it ends. `peer` is the name under which it appears in the notes.
    pub async fn serve(&self, io: Io, peer: PeerId) {
        let gated = self.0.config.mortal;
        let io = if gated { Io::Other(Box::new(Conditioned::new(io, &self.0.gate))) } else { io };
        http::serve(self.0.clone(), io, peer).await;
    }

    /// What was noted so far.
    pub fn notes(&self) -> Notes {
        self.0.notes().clone()
    }

    /// What the turns caused beside the sockets so far.
    pub fn side_effects(&self) -> SideEffects {
        let mut all = self.0.process.side_effects();
        for earlier in std::iter::successors(self.0.before.as_ref(), |server| server.0.before.as_ref()) {
            let before = earlier.0.process.side_effects();
            all.idle_writes.process += before.idle_writes.process;
            all.streamed_writes.process += before.streamed_writes.process;
        }
        all.costs = self.0.costs.read();
        for conversation in self.0.all_conversations() {
            conversation.add_side_effects(&mut all);
        }
        all
    }

    /// Starts a turn in that conversation, as a person's message would. False when there is no such conversation.
    pub fn say(&self, conversation: &str, text: &str) -> bool {
        let conversation = self.0.conversation(conversation);
        conversation.as_ref().is_some_and(|c| {
            turn::start(&self.0, c, text);
            true
        })
    }

    /// Waits until that many deltas have been published, each to its last subscriber. One waiter at a time.
    pub async fn published(&self, deltas: u64) {
        self.0.costs.reached(deltas).await;
    }

    /// Deltas that have been published so far. May be asked from any thread, and does not disturb the server.
    pub fn deltas_published(&self) -> u64 {
        self.0.costs.read().published
    }

    /// Lets the next turn stream that script instead of the configured one; several are taken in order.
    pub fn next_turn(&self, script: Script) {
        lock(&self.0.scripts).push_back(script);
    }

    /// The same for the next turn of one conversation: it comes before what [`Server::next_turn`] queued. False when
    /// there is no such conversation.
    pub fn next_turn_in(&self, conversation: &str, script: Script) -> bool {
        let conversation = self.0.conversation(conversation);
        conversation.is_some_and(|c| {
            c.next_turn(script);
            true
        })
    }

    /// Every post of events to a webhook sink so far, conversation by conversation, in the order of arrival.
    /// Empty for a server that keeps no notes.
    pub fn posts(&self) -> Vec<Post> {
        self.0.all_conversations().iter().flat_map(|c| c.posts()).collect()
    }

    /// Waits until no turn is running.
    pub async fn idle(&self) {
        for conversation in self.0.all_conversations() {
            conversation.turn_over().await;
        }
    }

    /// Closes every conversation: webhooks post what they still hold.
    pub async fn close(&self) {
        for conversation in self.0.conversations() {
            conversation.close().await;
        }
    }
}

impl Inner {
    pub(crate) fn next_id(&self) -> String {
        lock(&self.ids).next_id()
    }

    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        lock(&self.notes)
    }

    /// Notes something that only a ledger reads, if this server keeps notes for one.
    pub(crate) fn note(&self, what: impl FnOnce(&mut Notes)) {
        if self.config.keeps_notes {
            what(&mut lock(&self.notes));
        }
    }

    pub(crate) fn conversation(&self, id: &str) -> Option<Arc<Conversation>> {
        lock(&self.conversations).get(id).cloned()
    }

    pub(crate) fn conversations(&self) -> Vec<Arc<Conversation>> {
        lock(&self.conversations).values().cloned().collect()
    }

    /// The conversations that are there and those that were.
    fn all_conversations(&self) -> Vec<Arc<Conversation>> {
        let mut all = self.conversations();
        all.extend(lock(&self.removed).iter().cloned());
        all.extend(self.before.iter().flat_map(|server| server.0.all_conversations()));
        all
    }

    /// Opens a conversation, under that id or a new one.
    async fn open_conversation(
        self: &Arc<Self>,
        id: Option<String>,
        setup: setup::Setup,
    ) -> Arc<Conversation> {
        let id = id.unwrap_or_else(|| self.next_id());
        let number = self.all_conversations().len();
        let conversation = Conversation::open(self, id.clone(), number, setup).await;
        lock(&self.conversations).insert(id, conversation.clone());
        conversation
    }

    /// Takes a conversation away: nobody finds it any more. Its turn, if one runs, is not cut short.
    pub(crate) async fn remove(&self, conversation: &Arc<Conversation>) {
        if let Some(removed) = lock(&self.conversations).remove(&conversation.id) {
            lock(&self.removed).push(removed);
        }
        conversation.close().await;
    }

    /// What the turn that starts now streams.
    fn script(&self, conversation: &Conversation) -> Script {
        let meant = conversation.take_script().or_else(|| lock(&self.scripts).pop_front());
        meant.unwrap_or_else(|| self.config.script.clone())
    }

    /// What a webhook poster shares with its server.
    fn around(&self) -> webhook::Surroundings {
        let (clock, costs, faults) = (self.clock.clone(), self.costs.clone(), self.faults.clone());
        webhook::Surroundings { clock, costs, faults, keeps_posts: self.config.keeps_notes }
    }

    /// Whether a key opens this server. With no keys configured everything does.
    pub(crate) fn accepts(&self, key: &str) -> bool {
        self.config.keys.is_empty() || self.config.keys.iter().any(|k| k == key)
    }
}

/// Locks without poisoning: a panic in one task is that cell's result, and must not turn into others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
