//! The bus of a conversation: who is subscribed, and how a publish calls them.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;

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
}

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
    taken: Vec<(SubscriptionId, Arc<Subscriber>)>,
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
        state.taken.push((id, subscriber));
        Ok(id)
    }

    pub(super) fn unsubscribe(&self, id: SubscriptionId) {
        lock(&self.subscribers).taken.retain(|(i, _)| *i != id);
    }

    fn carries_deltas_to(&self, kind: SubscriberKind) -> bool {
        match self.traits.kind {
            // The session socket leaves out events that are deltas, whatever the bus does.
            BusKind::Shared | BusKind::Widened => kind != SubscriberKind::SessionSocket,
            BusKind::OptIn | BusKind::Split => self.traits.deltas_to.contains(&kind),
        }
    }

    /// Calls every subscriber that gets this event, and ends when the slowest has ended.
    pub(super) async fn publish(&self, published: &Published) {
        let delta = published.event.is_delta();
        let wanted = |kind: SubscriberKind| !delta || self.carries_deltas_to(kind);
        let snapshot: Vec<Arc<Subscriber>> = {
            let state = lock(&self.subscribers);
            state.taken.iter().filter(|(_, s)| wanted(s.kind())).map(|(_, s)| s.clone()).collect()
        };
        if delta {
            self.costs.published();
            self.costs.invoked(snapshot.len());
        }
        match self.traits.fan_out {
            FanOut::Sequential => {
                for subscriber in snapshot {
                    subscriber.deliver(published).await;
                }
            }
            FanOut::Gather => {
                join_all(snapshot.iter().map(|s| s.deliver(published))).await;
            }
        }
    }
}
