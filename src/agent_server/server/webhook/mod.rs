//! The webhook poster: buffer, flush delay, retries, and the bounds of its queue.
//!
//! The sink is a model in the rig ([`SinkModel`]). What is judged is what would leave the process, and when.
//!
//! Read in the subscriber of 1.21.0, 1.22.0, 1.40.0, 1.40.1, 1.43.1, 1.55.1, 1.56.0 and 1.58.2, and compared
//! with recordings of 1.43.1 and 1.44.1. One thing is left out: before 1.40.1 a cancelled timer, on its way
//! out, forgets a timer that was started in the same tick of the loop, so that two could run.

mod pace;
mod queue;
mod sink;
#[cfg(test)]
mod tests;

pub(super) use pace::SinkPace;
pub use sink::{NoOutage, Outage, Post, PostedEvent, SinkModel};

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::sleep;

use self::queue::{Queue, Queued};
use super::bus::Published;
use super::clock::Clock;
use super::costs::CostCounters;
use super::lock;
use super::stream::StreamFaults;
use crate::agent_server::profile::server::WebhookTraits;
use crate::record::observation::WebhookCount;
use crate::wire::{Dialect, EventBody};

/// What a poster shares with its server.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) clock: Clock,
    pub(super) costs: Arc<CostCounters>,
    /// What makes sinks slow.
    pub(super) faults: Arc<StreamFaults>,
    /// Whether every post is kept.
    pub(super) keeps_posts: bool,
}

/// A flush timer under way.
#[derive(Debug)]
struct Timer {
    number: u64,
    task: AbortHandle,
}

#[derive(Debug, Default)]
struct State {
    queue: Queue,
    timer: Option<Timer>,
    timers: u64,
    closed: bool,
    count: WebhookCount,
    attempts: u64,
    posts: Vec<Post>,
}

impl State {
    fn bound(&mut self, traits: &WebhookTraits) {
        self.count.dropped += self.queue.bound(traits);
    }

    /// Stops the timer, unless it is `but` that asks. One that is posting is stopped in the middle of it.
    fn cancel_timer(&mut self, but: Option<u64>) {
        if let Some(timer) = self.timer.take()
            && Some(timer.number) != but
        {
            timer.task.abort();
        }
    }
}

/// The poster of one conversation to one sink.
#[derive(Debug)]
pub struct Webhook {
    traits: WebhookTraits,
    dialect: Dialect,
    sink: SinkModel,
    around: Surroundings,
    opened: Duration,
    state: Mutex<State>,
    in_flight: tokio::sync::Mutex<()>,
}

impl Webhook {
    pub(super) fn new(
        traits: &WebhookTraits,
        dialect: Dialect,
        sink: SinkModel,
        around: Surroundings,
    ) -> Webhook {
        let opened = around.clock.uptime();
        let (state, in_flight) = (Mutex::default(), tokio::sync::Mutex::default());
        Webhook { traits: traits.clone(), dialect, sink, around, opened, state, in_flight }
    }

    /// What the sink got so far.
    pub fn count(&self) -> WebhookCount {
        lock(&self.state).count.clone()
    }

    /// Every post so far, in the order of arrival; empty for a server that keeps no notes.
    pub fn posts(&self) -> Vec<Post> {
        lock(&self.state).posts.clone()
    }

    /// Queues the event, and posts when the buffer is full: the caller waits for that post. With one post in
    /// flight at a time, a buffer that fills meanwhile is left to the timer or to the next event.
    pub(super) async fn deliver(self: Arc<Self>, published: &Published) {
        let bytes = published.event.encode(self.dialect).len();
        if published.event.is_delta() {
            self.around.costs.serialised(bytes);
        }
        let full = {
            let mut state = lock(&self.state);
            state.queue.push(Queued { event: published.event.clone(), bytes });
            if self.traits.one_in_flight {
                state.bound(&self.traits);
            }
            if state.queue.is_empty() {
                return;
            }
            state.queue.full(&self.traits)
        };
        let busy = self.traits.one_in_flight && self.in_flight.try_lock().is_err();
        if full && !busy {
            lock(&self.state).cancel_timer(None);
            self.post(None).await;
        } else {
            self.start_timer();
        }
    }

    /// Posts what is left, as the real server does when a conversation is closed. What a timer was posting
    /// at that moment is lost with it (read in every release).
    pub(super) async fn close(self: &Arc<Self>) {
        {
            let mut state = lock(&self.state);
            state.closed = true;
            state.cancel_timer(None);
        }
        self.post(None).await;
    }

    /// Posts what is queued now, in bodies that the bounds allow. `timer` is the one that asks, if one does.
    async fn post(self: &Arc<Self>, timer: Option<u64>) {
        if !self.traits.one_in_flight {
            return self.post_unguarded().await;
        }
        let _one = self.in_flight.lock().await;
        let mut due = lock(&self.state).queue.len();
        while due > 0 {
            let batch = lock(&self.state).queue.take_batch(due, &self.traits);
            if batch.is_empty() {
                break;
            }
            let posted = batch.len();
            if let Err(batch) = self.attempt(batch).await {
                {
                    let mut state = lock(&self.state);
                    state.queue.put_back(batch);
                    state.bound(&self.traits);
                }
                if self.traits.rechecks_after_post {
                    self.start_timer();
                }
                return;
            }
            due -= posted.min(due);
            let state = lock(&self.state);
            if due == 0 && self.traits.rechecks_after_post && state.queue.full(&self.traits) {
                due = state.queue.len();
            }
        }
        let mut state = lock(&self.state);
        if self.traits.rechecks_after_post && state.queue.is_empty() {
            state.cancel_timer(timer);
        }
    }

    /// Before 1.40.1: the whole queue in one body, any number of posts at once; what failed goes to the end
    /// of the queue, which is bounded only then.
    async fn post_unguarded(&self) {
        let batch = lock(&self.state).queue.take_all();
        if batch.is_empty() {
            return;
        }
        if let Err(batch) = self.attempt(batch).await {
            let mut state = lock(&self.state);
            for queued in batch {
                state.queue.push(queued);
            }
            state.bound(&self.traits);
        }
    }

    /// Posts one body until the sink takes it or the retries are used up; then the events come back.
    async fn attempt(&self, batch: Vec<Queued>) -> Result<(), Vec<Queued>> {
        let batch = InFlight { webhook: self, events: batch };
        for retry in 0..=self.traits.num_retries {
            if retry > 0 {
                sleep(self.traits.retry_delay_s.duration()).await;
            }
            let sink = self.sink.slowed(self.around.faults.sink_latency());
            let (arrived, accepts) = self.arrives(&batch.events, &sink);
            if !sink.takes().is_zero() {
                sleep(sink.takes()).await;
            }
            let mut state = lock(&self.state);
            if accepts {
                state.count.posts += 1;
                state.count.events += batch.events.len() as u64;
                state.count.deltas += batch.events.iter().filter(|q| q.event.is_delta()).count() as u64;
                if let Some(post) = arrived.and_then(|at| state.posts.get_mut(at)) {
                    post.accepted = true;
                }
                drop(state);
                batch.settle();
                return Ok(());
            }
            state.count.failed_posts += 1;
        }
        Err(batch.settle())
    }

    /// The body is at the sink, which is like that now: its place among the posts that are kept, and whether it will be taken.
    fn arrives(&self, batch: &[Queued], sink: &SinkModel) -> (Option<usize>, bool) {
        let at = self.around.clock.uptime();
        let mut state = lock(&self.state);
        state.attempts += 1;
        let accepts = sink.accepts(state.attempts, at.saturating_sub(self.opened));
        if !self.around.keeps_posts {
            return (None, accepts);
        }
        let events = batch.iter().map(posted).collect();
        state.posts.push(Post { at, accepted: false, events });
        (Some(state.posts.len() - 1), accepts)
    }

    /// The flush timer runs from the first queued event. Later events do not reset it; a post because of a
    /// full buffer cancels it.
    fn start_timer(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.timer.is_some() || (state.closed && self.traits.one_in_flight) {
            return;
        }
        state.timers += 1;
        let number = state.timers;
        let this = self.clone();
        let task = tokio::spawn(async move {
            sleep(this.traits.flush_delay_s.duration()).await;
            this.post(Some(number)).await;
            let again = {
                let mut state = lock(&this.state);
                if state.timer.as_ref().is_some_and(|t| t.number == number) {
                    state.timer = None;
                }
                this.traits.one_in_flight && !state.queue.is_empty()
            };
            if again {
                this.start_timer();
            }
        });
        state.timer = Some(Timer { number, task: task.abort_handle() });
    }
}

fn posted(queued: &Queued) -> PostedEvent {
    let key = match &queued.event.body {
        EventBody::StateUpdate { key, .. } => Some(key.clone()),
        _ => None,
    };
    PostedEvent { id: queued.event.id.clone(), kind: queued.event.kind(), key }
}

/// Events that are being posted. A post that is broken off takes them with it: they left the queue already,
/// and nothing puts them back.
struct InFlight<'a> {
    webhook: &'a Webhook,
    events: Vec<Queued>,
}

impl InFlight<'_> {
    fn settle(mut self) -> Vec<Queued> {
        std::mem::take(&mut self.events)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.events.is_empty() {
            lock(&self.webhook.state).count.dropped += self.events.len() as u64;
        }
    }
}
