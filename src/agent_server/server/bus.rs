//! The bus of a conversation: who is subscribed, and how a publish calls them.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;

use futures_util::future::join_all;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::costs::CostCounters;
use super::lock;
use super::subscriber::Subscriber;
use crate::agent_server::profile::server::{BusKind, BusTraits, FanOut, SubscriberKind};
use crate::probe::trace::Origin;
use crate::wire::Event;

/// An event on its way to the subscribers.
#[derive(Debug, Clone)]
pub struct Published {
    /// The event.
    pub event: Arc<Event>,
    /// What it carries, for the ledger.
    pub origin: Origin,
    /// Its place in the log, if it is persisted.
    pub seq: Option<i64>,
    /// The text of its frame, once somebody encoded it for all sockets ([`Encoding::Once`]).
    ///
    /// [`Encoding::Once`]: crate::agent_server::profile::server::Encoding::Once
    pub(super) frame: OnceLock<Utf8Bytes>,
}

impl Published {
    pub(super) fn new(event: Arc<Event>, origin: Origin, seq: Option<i64>) -> Published {
        Published { event, origin, seq, frame: OnceLock::new() }
    }
}

/// The rest of a delivery that could not be finished at once.
pub(super) type Unfinished<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Names a subscription.
pub type SubscriptionId = u64;

/// A bus. Publishing takes a snapshot of the subscribers, so joining or leaving never disturbs a publish
/// that is under way.
#[derive(Debug)]
pub struct Bus {
    traits: BusTraits,
    costs: Arc<CostCounters>,
    subscribers: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    last: SubscriptionId,
    /// Replaced as a whole by whoever joins or leaves: a snapshot is one more reference to it.
    taken: Arc<Vec<(SubscriptionId, Arc<Subscriber>)>>,
}

/// The bus holds as many subscribers as its era allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Bus {
    pub(super) fn new(traits: &BusTraits, costs: &Arc<CostCounters>) -> Bus {
        Bus { traits: traits.clone(), costs: costs.clone(), subscribers: Mutex::default() }
    }

    pub(super) fn subscribe(&self, subscriber: Arc<Subscriber>) -> Result<SubscriptionId, Full> {
        let mut state = lock(&self.subscribers);
        if self.traits.max_subscribers > 0 && state.taken.len() >= self.traits.max_subscribers {
            return Err(Full);
        }
        state.last += 1;
        let id = state.last;
        Arc::make_mut(&mut state.taken).push((id, subscriber));
        Ok(id)
    }

    pub(super) fn unsubscribe(&self, id: SubscriptionId) {
        Arc::make_mut(&mut lock(&self.subscribers).taken).retain(|(i, _)| *i != id);
    }

    /// Who has a place now, in the order of the places.
    pub(super) fn subscribers(&self) -> Arc<Vec<(SubscriptionId, Arc<Subscriber>)>> {
        lock(&self.subscribers).taken.clone()
    }

    fn carries_deltas_to(&self, kind: SubscriberKind) -> bool {
        match self.traits.kind {
            // The session socket leaves out events that are deltas, whatever the bus does.
            BusKind::Shared | BusKind::Widened => kind != SubscriberKind::SessionSocket,
            BusKind::OptIn | BusKind::Split => self.traits.deltas_to.contains(&kind),
        }
    }

    /// Calls every subscriber that gets this event, and ends when the slowest has ended.
    ///
    /// A subscriber that can finish at once does so within its call, without a task or an allocation of its own;
    /// only what has to wait becomes a future.
    pub(super) async fn publish(&self, published: &Published) {
        let delta = published.event.is_delta();
        let snapshot = self.subscribers();
        let wanted = snapshot.iter().map(|(_, s)| s).filter(|s| !delta || self.carries_deltas_to(s.kind()));
        let mut called = 0;
        match self.traits.fan_out {
            FanOut::Sequential => {
                for subscriber in wanted {
                    called += 1;
                    if let Some(rest) = subscriber.deliver(published) {
                        rest.await;
                    }
                }
            }
            FanOut::Gather => {
                let mut unfinished = Vec::new();
                for subscriber in wanted {
                    called += 1;
                    let Some(mut rest) = subscriber.deliver(published) else { continue };
                    // Everybody is called before anybody is waited for, in the order of their places.
                    if poll_fn(|cx| Poll::Ready(rest.as_mut().poll(cx))).await.is_pending() {
                        unfinished.push(rest);
                    }
                }
                if !unfinished.is_empty() {
                    join_all(unfinished).await;
                }
            }
        }
        if delta {
            self.costs.published(called);
        }
    }
}
