//! The emulated agent-server: one implementation whose behaviour is chosen by [`ServerTraits`].
//!
//! A delta's way: `turn` takes a chunk from the [`script`] and hands it to the conversation's delta
//! [`bus`], the bus calls its `subscriber`s, and a socket subscriber writes the frame. Durable events go
//! through the event log first. What happens is noted in `notes`, per connection.

pub mod bus;
mod clock;
pub mod conversation;
mod costs;
mod error;
mod http;
mod idle;
mod inbound;
mod legacy;
pub mod net;
mod notes;
mod query;
pub mod script;
mod session;
mod snapshot;
mod subscriber;
mod turn;
mod upgrade;
pub mod webhook;

pub use clock::Clock;
pub use error::ServerError;
pub use idle::Watched;
pub use net::{Dialer, Io, PeerId};
pub use notes::Notes;
pub use script::{Chunk, Feed, Finish, Script};
pub use webhook::{Post, PostedEvent, SinkModel};

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use conversation::Conversation;
use tokio::time::sleep;

use super::profile::{Profile, ServerTraits};
use crate::record::SideEffects;
use crate::seed::{Ids, Seed};
use crate::wire::Mutation;

/// What a server is started with, beside its profile.
#[derive(Debug, Clone)]
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
}

/// The eviction sweep is never faster than this (`max(60.0, ttl / 2)`, 1.37.1 to 1.58.2).
const SHORTEST_SWEEP: Duration = Duration::from_mins(1);

/// What the three idle clocks of a conversation saw while they were watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleClocks {
    /// The one behind `/server_info`.
    pub process: Watched,
    /// `updated_at`.
    pub updated_at: Watched,
    /// The eviction clock, where the era has one.
    pub eviction: Option<Watched>,
    /// When the conversation was evicted, from the beginning of the watch on.
    pub evicted: Option<Duration>,
}

/// A running emulated server. Cheap to clone; all clones are one server.
#[derive(Debug, Clone)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) traits: ServerTraits,
    pub(crate) version: String,
    pub(crate) config: ServerConfig,
    pub(crate) clock: Clock,
    pub(crate) process: idle::ProcessClock,
    costs: Arc<costs::CostCounters>,
    ids: Mutex<Ids>,
    conversations: Mutex<BTreeMap<String, Arc<Conversation>>>,
    notes: Mutex<Notes>,
    /// Scripts of the turns to come, where they are not the configured one.
    scripts: Mutex<VecDeque<Script>>,
}

impl Server {
    /// A server of that profile, with no conversation yet.
    pub fn new(profile: &Profile<ServerTraits>, config: ServerConfig, clock: Clock) -> Server {
        Server(Arc::new(Inner {
            traits: profile.traits.clone(),
            version: profile.release_name.clone(),
            ids: Mutex::new(Ids::new(config.seed.derive("ids"))),
            process: idle::ProcessClock::new(&clock),
            costs: Arc::default(),
            config,
            clock,
            conversations: Mutex::default(),
            notes: Mutex::default(),
            scripts: Mutex::default(),
        }))
    }

    /// Opens a conversation with its internal subscribers and returns its id.
    pub async fn create_conversation(&self) -> String {
        self.0.create_conversation().await
    }

    /// Serves one connection until it ends. `peer` is the name under which it appears in the notes.
    pub async fn serve(&self, io: Io, peer: PeerId) {
        http::serve(self.0.clone(), io, peer).await;
    }

    /// What was noted so far.
    pub fn notes(&self) -> Notes {
        self.0.notes().clone()
    }

    /// What the turns caused beside the sockets so far.
    pub fn side_effects(&self) -> SideEffects {
        let mut all = self.0.process.side_effects();
        all.costs = self.0.costs.read();
        for conversation in lock(&self.0.conversations).values() {
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

    /// Every post of events to a webhook sink so far, conversation by conversation, in the order of arrival.
    /// Empty for a server that keeps no notes.
    pub fn posts(&self) -> Vec<Post> {
        self.0.conversations().iter().flat_map(|c| c.posts()).collect()
    }

    /// What `/server_info` shows as `idle_time`, before it is cut to whole seconds.
    pub fn idle_time(&self) -> Duration {
        self.0.process.idle()
    }

    /// Begins to watch the idle clocks, for the moment in which the process clock shows `limit`.
    pub fn watch_idle(&self, limit: Duration) {
        self.0.process.watch(limit);
        for conversation in self.0.conversations() {
            conversation.clocks.watch();
        }
    }

    /// What the idle clocks saw since somebody began to watch; `None` when there is no such conversation.
    pub fn watched(&self, conversation: &str) -> Option<IdleClocks> {
        let conversation = self.0.conversation(conversation)?;
        let process = self.0.process.watched();
        let (updated_at, eviction, evicted) = conversation.clocks.watched();
        let eviction = self.0.traits.idle.eviction.then_some(eviction);
        Some(IdleClocks { process, updated_at, eviction, evicted })
    }

    /// Sweeps for idle conversations, as the real server does from its start to its end: never returns, unless the
    /// era has no eviction. Evictions are noted, and nothing is closed.
    pub async fn sweep(&self) {
        let idle = &self.0.traits.idle;
        if !idle.eviction || idle.evict_after_s.is_zero() {
            return;
        }
        let every = (idle.evict_after_s.duration() / 2).max(SHORTEST_SWEEP);
        loop {
            sleep(every).await;
            for conversation in self.0.conversations() {
                conversation.sweep(&self.0);
            }
        }
    }

    /// Waits until no turn is running.
    pub async fn idle(&self) {
        for conversation in self.0.conversations() {
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

    pub(crate) async fn create_conversation(self: &Arc<Self>) -> String {
        let id = self.next_id();
        let conversation = Conversation::open(self, id.clone()).await;
        lock(&self.conversations).insert(id.clone(), conversation);
        id
    }

    /// What the turn that starts now streams.
    fn script(&self) -> Script {
        lock(&self.scripts).pop_front().unwrap_or_else(|| self.config.script.clone())
    }

    /// What a webhook poster shares with its server.
    fn around(&self) -> webhook::Surroundings {
        let (clock, costs) = (self.clock.clone(), self.costs.clone());
        webhook::Surroundings { clock, costs, keeps_posts: self.config.keeps_notes }
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
