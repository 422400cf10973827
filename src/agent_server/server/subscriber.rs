//! Who may sit on a bus.

use std::sync::{Arc, Mutex};

use super::bus::{Published, Unfinished};
use super::idle::{Cause, ConversationClocks};
use super::legacy::LegacySocket;
use super::session::SessionSocket;
use super::webhook::Webhook;
use super::{Inner, lock};
use crate::agent_server::profile::server::SubscriberKind;
use crate::record::observation::ConsumerCount;
use crate::wire::{EventBody, Source};

/// A subscriber of either bus.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "sockets are the many, and one pointer to each is what a fan-out pays for"
)]
pub(super) enum Subscriber {
    /// Keeps the idle clocks.
    Idle(IdleSubscriber),
    /// Names the conversation after its first user message.
    AutoTitle(Arc<Mutex<Option<String>>>),
    /// Counts events.
    Telemetry(Arc<Mutex<ConsumerCount>>),
    /// Posts events to a sink.
    Webhook(Arc<Webhook>),
    /// A client on `/sockets/events`.
    Legacy(LegacySocket),
    /// A client on `/sockets/session`.
    Session(Arc<SessionSocket>),
}

impl Subscriber {
    pub(super) fn kind(&self) -> SubscriberKind {
        match self {
            Subscriber::Idle(_) => SubscriberKind::Idle,
            Subscriber::AutoTitle(_) => SubscriberKind::AutoTitle,
            Subscriber::Telemetry(_) => SubscriberKind::Telemetry,
            Subscriber::Webhook(_) => SubscriberKind::Webhook,
            Subscriber::Legacy(_) => SubscriberKind::Websocket,
            Subscriber::Session(_) => SubscriberKind::SessionSocket,
        }
    }

    /// Takes an event. What cannot be finished at once comes back as a future, and begins when it is polled.
    pub(super) fn deliver<'a>(&'a self, published: &'a Published) -> Option<Unfinished<'a>> {
        match self {
            Subscriber::Idle(idle) => idle.deliver(published),
            Subscriber::AutoTitle(title) => {
                if let (EventBody::Message(m), Source::User) = (&published.event.body, published.event.source)
                {
                    lock(title).get_or_insert_with(|| m.text.chars().take(50).collect());
                }
            }
            Subscriber::Telemetry(count) => {
                let mut count = lock(count);
                count.events += 1;
                count.deltas += u64::from(published.event.is_delta());
            }
            Subscriber::Webhook(webhook) => return Some(Box::pin(webhook.clone().deliver(published))),
            Subscriber::Legacy(socket) => return socket.deliver(published),
            Subscriber::Session(socket) => socket.deliver(published),
        }
        None
    }
}

/// The subscriber behind the idle clocks (1.12.0 on): every event touches the eviction clock, and all but
/// state updates write the other two.
#[derive(Debug)]
pub(super) struct IdleSubscriber {
    pub(super) server: std::sync::Weak<Inner>,
    pub(super) clocks: Arc<ConversationClocks>,
    pub(super) deltas: Arc<Mutex<u64>>,
}

impl IdleSubscriber {
    fn deliver(&self, published: &Published) {
        let Some(server) = self.server.upgrade() else { return };
        let (idle, delta) = (&server.traits.idle, published.event.is_delta());
        let cause = Cause::of_delta(delta);
        *lock(&self.deltas) += u64::from(delta);
        if idle.eviction {
            self.clocks.touch(cause);
        }
        let state = matches!(published.event.body, EventBody::StateUpdate { .. });
        if !state && self.clocks.subscriber_writes(idle, delta) {
            self.clocks.write_updated_at(cause);
            server.process.write(cause);
        }
    }
}
