//! The webhook poster: buffer, flush delay, retries, and the bounds of its queue.
//!
//! The sink is a model in the rig: how long it takes and which posts it refuses. What is judged is what
//! would leave the process, and when.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;

use super::bus::Published;
use super::lock;
use crate::agent_server::profile::server::WebhookTraits;
use crate::record::observation::WebhookCount;
use crate::wire::Dialect;

/// How a sink behaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SinkModel {
    /// Time that it takes to answer.
    pub latency: Duration,
    /// How many posts it refuses before it accepts any.
    pub refuse_first: u64,
}

#[derive(Debug, Clone, Copy)]
struct Queued {
    bytes: usize,
    delta: bool,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Queued>,
    queued_bytes: usize,
    timer: bool,
    count: WebhookCount,
    attempts: u64,
}

/// The poster of one conversation to one sink.
#[derive(Debug)]
pub struct Webhook {
    traits: WebhookTraits,
    dialect: Dialect,
    sink: SinkModel,
    state: Mutex<State>,
    in_flight: tokio::sync::Mutex<()>,
}

impl Webhook {
    pub(super) fn new(traits: &WebhookTraits, dialect: Dialect, sink: SinkModel) -> Webhook {
        let (state, in_flight) = (Mutex::default(), tokio::sync::Mutex::default());
        Webhook { traits: traits.clone(), dialect, sink, state, in_flight }
    }

    /// What the sink got so far.
    pub fn count(&self) -> WebhookCount {
        lock(&self.state).count.clone()
    }

    /// Queues the event, and posts when the buffer is full: the caller waits for that post.
    pub(super) async fn deliver(self: Arc<Self>, published: &Published) {
        let bytes = published.event.encode(self.dialect).len();
        let full = {
            let mut state = lock(&self.state);
            state.queue.push_back(Queued { bytes, delta: published.event.is_delta() });
            state.queued_bytes += bytes;
            self.bound(&mut state);
            state.queue.len() >= self.traits.event_buffer_size
        };
        if full {
            self.post().await;
        } else {
            self.start_timer();
        }
    }

    /// One post of what is queued, with retries; what could not be posted is queued again.
    async fn post(self: &Arc<Self>) {
        let _one = if self.traits.one_in_flight { Some(self.in_flight.lock().await) } else { None };
        loop {
            // What is queued now goes out, in as many bodies as the byte bound makes of it.
            let mut due = lock(&self.state).queue.len();
            while due > 0 {
                let batch = self.take_batch(due);
                due -= batch.len().min(due);
                if batch.is_empty() {
                    break;
                }
                if !self.attempt(&batch).await {
                    self.requeue(batch);
                    self.start_timer();
                    return;
                }
            }
            if lock(&self.state).queue.len() < self.traits.event_buffer_size {
                break;
            }
        }
        if !lock(&self.state).queue.is_empty() {
            self.start_timer();
        }
    }

    async fn attempt(&self, batch: &[Queued]) -> bool {
        for retry in 0..=self.traits.num_retries {
            if retry > 0 {
                sleep(Duration::from_secs_f64(self.traits.retry_delay_s)).await;
            }
            if !self.sink.latency.is_zero() {
                sleep(self.sink.latency).await;
            }
            let mut state = lock(&self.state);
            state.attempts += 1;
            if state.attempts > self.sink.refuse_first {
                state.count.posts += 1;
                state.count.events += batch.len() as u64;
                state.count.deltas += batch.iter().filter(|q| q.delta).count() as u64;
                return true;
            }
            state.count.failed_posts += 1;
        }
        false
    }

    /// The oldest events, at most `due` and as many as one body may hold.
    fn take_batch(&self, due: usize) -> Vec<Queued> {
        let mut state = lock(&self.state);
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(next) = state.queue.front().copied().filter(|_| batch.len() < due) {
            let full = self.traits.max_batch_bytes > 0 && bytes + next.bytes > self.traits.max_batch_bytes;
            if full && !batch.is_empty() {
                break;
            }
            bytes += next.bytes;
            state.queued_bytes -= next.bytes;
            batch.extend(state.queue.pop_front());
        }
        batch
    }

    fn requeue(&self, batch: Vec<Queued>) {
        let mut state = lock(&self.state);
        for queued in batch.into_iter().rev() {
            state.queued_bytes += queued.bytes;
            state.queue.push_front(queued);
        }
        self.bound(&mut state);
    }

    /// Drops the oldest events beyond the bounds of the era.
    fn bound(&self, state: &mut State) {
        let over = |state: &State| {
            let held = state.queue.len();
            (self.traits.max_queue_size > 0 && held > self.traits.max_queue_size)
                || (self.traits.max_queue_bytes > 0
                    && state.queued_bytes > self.traits.max_queue_bytes
                    && held > 1)
        };
        while over(state) {
            state.queued_bytes -= state.queue.pop_front().map_or(0, |q| q.bytes);
            state.count.dropped += 1;
        }
    }

    /// The flush timer runs from the first queued event and is not reset by later ones.
    fn start_timer(self: &Arc<Self>) {
        if std::mem::replace(&mut lock(&self.state).timer, true) {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            sleep(Duration::from_secs_f64(this.traits.flush_delay_s)).await;
            lock(&this.state).timer = false;
            this.post().await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::trace::Origin;
    use crate::wire::{Event, EventBody, Source};

    fn traits() -> WebhookTraits {
        WebhookTraits {
            event_buffer_size: 5,
            flush_delay_s: 30.0,
            num_retries: 3,
            retry_delay_s: 5.0,
            max_queue_size: 1000,
            max_batch_bytes: 5 << 20,
            max_queue_bytes: 50 << 20,
            one_in_flight: true,
        }
    }

    fn delta(text: &str) -> Published {
        let body = EventBody::StreamingDelta { content: Some(text.to_owned()), reasoning_content: None };
        let event = Event {
            id: String::new(),
            timestamp: String::new(),
            source: Source::Agent,
            parent_id: None,
            body,
        };
        Published { event: Arc::new(event), origin: Origin::Other, seq: None }
    }

    async fn after(traits: WebhookTraits, sink: SinkModel, events: usize, wait: u64) -> WebhookCount {
        let webhook = Arc::new(Webhook::new(&traits, Dialect::CURRENT.webhook(), sink));
        for _ in 0..events {
            tokio::spawn({
                let webhook = webhook.clone();
                async move { webhook.deliver(&delta("x")).await }
            });
        }
        sleep(Duration::from_secs(wait)).await;
        webhook.count()
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_buffer_posts_and_the_rest_waits_for_the_timer() {
        let early = after(traits(), SinkModel::default(), 12, 29).await;
        assert_eq!((early.posts, early.events), (2, 10));
        let late = after(traits(), SinkModel::default(), 12, 31).await;
        assert_eq!((late.posts, late.events, late.deltas), (3, 12, 12));
    }

    #[tokio::test(start_paused = true)]
    async fn posts_coalesce_while_one_is_in_flight() {
        let slow = SinkModel { latency: Duration::from_secs(1), refuse_first: 0 };
        let count = after(traits(), slow, 50, 60).await;
        assert_eq!(count.events, 50);
        assert!(count.posts < 10, "{count:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusing_sink_is_tried_again_and_nothing_is_lost_within_the_bounds() {
        let refusing = SinkModel { latency: Duration::ZERO, refuse_first: 6 };
        let count = after(traits(), refusing, 5, 300).await;
        assert_eq!((count.failed_posts, count.posts, count.events, count.dropped), (6, 1, 5, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_drops_its_oldest_beyond_its_bounds() {
        let dead = SinkModel { latency: Duration::ZERO, refuse_first: u64::MAX };
        let small = WebhookTraits { max_queue_size: 8, ..traits() };
        assert_eq!(after(small, dead.clone(), 20, 40).await.dropped, 12);
        let bytes = WebhookTraits { max_queue_bytes: 1, ..traits() };
        assert_eq!(after(bytes, dead, 20, 40).await.dropped, 19);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_holds_no_more_bytes_than_it_may() {
        let tiny = WebhookTraits { max_batch_bytes: 1, ..traits() };
        assert_eq!(after(tiny, SinkModel::default(), 5, 40).await.posts, 5);
    }
}
