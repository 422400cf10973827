//! A conversation: its event log, its buses, and the subscribers that every conversation has.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::bus::{Bus, Full, Published, SubscriptionId};
use super::idle::{Cause, ConversationClocks};
use super::script::Script;
use super::session::SessionSocket;
use super::setup::Setup;
use super::subscriber::{IdleSubscriber, Subscriber};
use super::webhook::{Post, Webhook};
use super::{Inner, lock, snapshot};
use crate::agent_server::profile::server::BusKind;
use crate::probe::trace::Origin;
use crate::record::SideEffects;
use crate::record::observation::ConsumerCount;
use crate::wire::{Event, EventBody, Source};

/// One conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Its id, hyphenated.
    pub id: String,
    /// Which one of its server it is, in the order of creation.
    pub(super) number: usize,
    /// When it was created, as events carry it.
    pub(super) created: String,
    setup: Mutex<Setup>,
    /// Scripts of its turns to come, before the server's own.
    scripts: Mutex<VecDeque<Script>>,
    pub(super) bus: Bus,
    /// The deltas' own bus (stage B); without stage B they travel on `bus`.
    pub(super) delta_bus: Option<Bus>,
    /// Session sockets that get progress frames (1.47.0).
    pub(super) progress: Mutex<Vec<Arc<SessionSocket>>>,
    pub(super) clocks: Arc<ConversationClocks>,
    /// Each event with what it is to the ledger.
    log: Mutex<Vec<(Arc<Event>, Origin)>>,
    /// Events of the log that an earlier server wrote.
    inherited: AtomicUsize,
    status: Mutex<&'static str>,
    pub(super) leaf: Mutex<Option<String>>,
    pub(super) running: AtomicBool,
    over: Notify,
    /// What stops its turn.
    turn: Mutex<Option<AbortHandle>>,
    /// The last deltas of the turn that runs, where somebody may get them again.
    recent: Mutex<VecDeque<Published>>,
    /// Sockets on the durable bus; the internal subscribers are none.
    watchers: AtomicUsize,
    idle_deltas: Arc<Mutex<u64>>,
    telemetry: Arc<Mutex<ConsumerCount>>,
    title: Arc<Mutex<Option<String>>>,
    webhooks: Vec<Arc<Webhook>>,
}

/// A socket's places on the buses.
#[derive(Debug)]
pub(super) struct Subscriptions {
    durable: SubscriptionId,
    deltas: Option<SubscriptionId>,
}

impl Conversation {
    /// A new conversation with its internal subscribers, in the order of the real registration.
    pub(super) async fn open(
        server: &Arc<Inner>,
        id: String,
        number: usize,
        setup: Setup,
    ) -> Arc<Conversation> {
        let traits = &server.traits;
        let split = traits.bus.kind == BusKind::Split;
        let sink = |model: &super::SinkModel| {
            Arc::new(Webhook::new(&traits.webhook, traits.wire.webhook(), model.clone(), server.around()))
        };
        let conversation = Arc::new(Conversation {
            id,
            number,
            created: server.clock.timestamp(),
            setup: Mutex::new(setup),
            scripts: Mutex::default(),
            bus: Bus::new(&traits.bus, &server.costs),
            delta_bus: split.then(|| Bus::new(&traits.bus, &server.costs)),
            progress: Mutex::default(),
            clocks: Arc::new(ConversationClocks::new(&server.clock)),
            log: Mutex::default(),
            inherited: AtomicUsize::new(0),
            status: Mutex::new("idle"),
            leaf: Mutex::default(),
            running: AtomicBool::new(false),
            over: Notify::new(),
            turn: Mutex::default(),
            recent: Mutex::default(),
            watchers: AtomicUsize::new(0),
            idle_deltas: Arc::default(),
            telemetry: Arc::default(),
            title: Arc::default(),
            webhooks: server.config.sinks.iter().map(sink).collect(),
        });
        conversation.clocks.write_updated_at(Cause::Event);
        let idle = IdleSubscriber {
            server: Arc::downgrade(server),
            clocks: conversation.clocks.clone(),
            deltas: conversation.idle_deltas.clone(),
        };
        let mut internal = vec![Subscriber::Idle(idle)];
        if server.config.auto_title {
            internal.push(Subscriber::AutoTitle(conversation.title.clone()));
        }
        if traits.telemetry.present && server.config.telemetry {
            internal.push(Subscriber::Telemetry(conversation.telemetry.clone()));
        }
        internal.extend(conversation.webhooks.iter().cloned().map(Subscriber::Webhook));
        for subscriber in internal {
            let subscriber = Arc::new(subscriber);
            // Internal subscribers come first and are few; the cap never refuses them.
            let _ = conversation.subscribe(subscriber.clone());
            let snapshot = conversation.snapshot(server);
            if let Some(rest) = subscriber.deliver(&snapshot) {
                rest.await;
            }
        }
        conversation
    }

    /// Joins the buses that carry what this subscriber gets.
    pub(super) fn subscribe(&self, subscriber: Arc<Subscriber>) -> Result<Subscriptions, Full> {
        let socket = matches!(*subscriber, Subscriber::Legacy(_) | Subscriber::Session(_));
        let deltas = match &self.delta_bus {
            Some(bus) => Some(bus.subscribe(subscriber.clone())?),
            None => None,
        };
        match self.bus.subscribe(subscriber) {
            Ok(durable) => {
                self.watchers.fetch_add(usize::from(socket), Ordering::SeqCst);
                Ok(Subscriptions { durable, deltas })
            }
            Err(full) => {
                if let (Some(bus), Some(id)) = (&self.delta_bus, deltas) {
                    bus.unsubscribe(id);
                }
                Err(full)
            }
        }
    }

    /// Takes a socket off the buses.
    pub(super) fn unsubscribe(&self, subscriptions: &Subscriptions) {
        self.watchers.fetch_sub(1, Ordering::SeqCst);
        self.bus.unsubscribe(subscriptions.durable);
        if let (Some(bus), Some(id)) = (&self.delta_bus, subscriptions.deltas) {
            bus.unsubscribe(id);
        }
    }

    /// The state event that each new subscriber gets: published to it alone, never persisted.
    pub(super) fn snapshot(&self, server: &Inner) -> Published {
        let value = snapshot::full_state(self);
        let body = EventBody::StateUpdate { key: "full_state".into(), value };
        let event = Event {
            id: server.next_id(),
            timestamp: server.clock.timestamp(),
            source: Source::Environment,
            parent_id: None,
            body,
        };
        Published::new(Arc::new(event), Origin::Other, None)
    }

    /// Writes the event to the log and returns it ready to publish.
    pub(super) fn persist(&self, event: Event, origin: Origin) -> Published {
        let event = Arc::new(event);
        let mut log = lock(&self.log);
        log.push((event.clone(), origin));
        let seq = i64::try_from(log.len()).unwrap_or(i64::MAX) - 1;
        Published::new(event, origin, Some(seq))
    }

    /// At most `most` events of the log from `from` on, with their sequence numbers.
    pub(super) fn log_from(&self, from: usize, most: usize) -> Vec<Published> {
        let log = lock(&self.log);
        let placed = log.iter().enumerate().skip(from).take(most);
        placed
            .map(|(at, (event, origin))| {
                Published::new(event.clone(), *origin, Some(i64::try_from(at).unwrap_or(i64::MAX)))
            })
            .collect()
    }

    pub(super) fn through_seq(&self) -> Option<i64> {
        i64::try_from(lock(&self.log).len()).ok().and_then(|n| n.checked_sub(1)).filter(|n| *n >= 0)
    }

    pub(super) fn status(&self) -> &'static str {
        *lock(&self.status)
    }

    pub(super) fn set_status(&self, status: &'static str) {
        *lock(&self.status) = status;
    }

    /// What stops the turn that runs now.
    pub(super) fn runs_as(&self, turn: AbortHandle) {
        *lock(&self.turn) = Some(turn);
    }

    /// Its turn stops where it is, and nothing is said of it.
    pub(super) fn kill_turn(&self) {
        if let Some(turn) = lock(&self.turn).take() {
            turn.abort();
        }
    }

    /// Keeps a delta for whoever connects while its turn runs, `most` of them.
    pub(super) fn keep(&self, published: &Published, most: usize) {
        let mut recent = lock(&self.recent);
        recent.push_back(published.clone());
        while recent.len() > most {
            recent.pop_front();
        }
    }

    /// The deltas that were kept, if the turn still runs.
    pub(super) fn kept(&self) -> Vec<Published> {
        if self.running.load(Ordering::SeqCst) {
            lock(&self.recent).iter().cloned().collect()
        } else {
            Vec::new()
        }
    }

    /// Takes over what an earlier one has on disk: its log, its title and what it was created with.
    pub(super) fn inherit(&self, earlier: &Conversation) {
        lock(&self.log).clone_from(&lock(&earlier.log));
        self.inherited.store(lock(&self.log).len(), Ordering::SeqCst);
        lock(&self.title).clone_from(&lock(&earlier.title));
        lock(&self.leaf).clone_from(&lock(&earlier.leaf));
        lock(&self.setup).clone_from(&lock(&earlier.setup));
        if earlier.status() == "finished" {
            self.set_status("finished");
        }
    }

    pub(super) fn end_turn(&self) {
        self.running.store(false, Ordering::SeqCst);
        lock(&self.recent).clear();
        self.over.notify_waiters();
    }

    /// Waits until no turn is running.
    pub(super) async fn turn_over(&self) {
        loop {
            let over = self.over.notified();
            if !self.running.load(Ordering::SeqCst) {
                return;
            }
            over.await;
        }
    }

    /// Lets the subscribers finish what they hold back.
    pub(super) async fn close(&self) {
        for webhook in &self.webhooks {
            webhook.close().await;
        }
    }

    /// What `GET /api/conversations/{id}` answers.
    pub(super) fn info(&self) -> Value {
        snapshot::info(self)
    }

    /// The state that it was created with and that its endpoints change, with `mask` in place of secrets.
    pub(super) fn setup(&self, mask: &Value) -> Map<String, Value> {
        lock(&self.setup).shown(mask)
    }

    pub(super) fn set(&self, field: &str, value: Value) {
        lock(&self.setup).set(field, value);
    }

    pub(super) fn title(&self) -> Option<String> {
        lock(&self.title).clone()
    }

    pub(super) fn name(&self, title: &str) {
        *lock(&self.title) = Some(title.to_owned());
    }

    /// The text of the last reply; empty while there is none.
    pub(super) fn final_response(&self) -> String {
        let replied = |(event, _): &(Arc<Event>, Origin)| match (&event.body, event.source) {
            (EventBody::Message(message), Source::Agent) => Some(message.text.clone()),
            (EventBody::Action(action), _) => action.action["message"].as_str().map(str::to_owned),
            _ => None,
        };
        lock(&self.log).iter().rev().find_map(replied).unwrap_or_default()
    }

    /// Lets its next turn stream that script; several are taken in order.
    pub(super) fn next_turn(&self, script: Script) {
        lock(&self.scripts).push_back(script);
    }

    /// The script that was meant for its next turn, if one was.
    pub(super) fn take_script(&self) -> Option<Script> {
        lock(&self.scripts).pop_front()
    }

    /// Every post of every sink so far, in the order of arrival.
    pub(super) fn posts(&self) -> Vec<Post> {
        let mut posts: Vec<Post> = self.webhooks.iter().flat_map(|w| w.posts()).collect();
        posts.sort_by_key(|p| p.at);
        posts
    }

    pub(super) fn add_side_effects(&self, all: &mut SideEffects) {
        for webhook in &self.webhooks {
            let count = webhook.count();
            all.webhook.posts += count.posts;
            all.webhook.events += count.events;
            all.webhook.deltas += count.deltas;
            all.webhook.failed_posts += count.failed_posts;
            all.webhook.dropped += count.dropped;
        }
        let telemetry = lock(&self.telemetry);
        all.telemetry.events += telemetry.events;
        all.telemetry.deltas += telemetry.deltas;
        all.idle_deltas += *lock(&self.idle_deltas);
        let inherited = self.inherited.load(Ordering::SeqCst);
        all.stored_deltas +=
            lock(&self.log).iter().skip(inherited).filter(|(e, _)| e.is_delta()).count() as u64;
        self.clocks.add_to(all);
    }

    /// The producer's sign of life, where the era has one.
    pub(super) fn heartbeat(&self, server: &Inner) {
        if self.clocks.producer_writes(&server.traits.idle) {
            server.process.write(Cause::Token);
        }
    }

    /// What the eviction sweep does with this conversation: nothing before its time is up, and nothing while its
    /// turn runs or a client watches (`is_idle_evictable`, 1.37.1).
    pub(super) fn sweep(&self, server: &Inner) {
        let spared = self.running.load(Ordering::SeqCst) || self.watchers.load(Ordering::SeqCst) > 0;
        let idle = self.clocks.idle() >= server.traits.idle.evict_after_s.duration();
        if idle && (!spared || server.traits.mutant.evict_busy) {
            self.clocks.evict();
        }
    }
}
