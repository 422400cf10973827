//! What waits for the next post, and the bounds of it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::agent_server::profile::server::WebhookTraits;
use crate::wire::Event;

/// The brackets of a JSON array.
const BRACKETS: usize = 2;

/// An event on its way to a sink.
#[derive(Debug, Clone)]
pub(super) struct Queued {
    pub(super) event: Arc<Event>,
    pub(super) bytes: usize,
}

/// Events in order, with their bytes added up.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: VecDeque<Queued>,
    bytes: usize,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn push(&mut self, queued: Queued) {
        self.bytes += queued.bytes;
        self.events.push_back(queued);
    }

    /// Puts back what could not be posted, before everything that came since (1.40.1).
    pub(super) fn put_back(&mut self, batch: Vec<Queued>) {
        for queued in batch.into_iter().rev() {
            self.bytes += queued.bytes;
            self.events.push_front(queued);
        }
    }

    /// Whether there is enough for a post.
    pub(super) fn full(&self, traits: &WebhookTraits) -> bool {
        let most = traits.max_batch_bytes;
        self.len() >= traits.event_buffer_size.get() || (most > 0 && self.bytes >= most)
    }

    /// Everything, in order.
    pub(super) fn take_all(&mut self) -> Vec<Queued> {
        self.bytes = 0;
        self.events.drain(..).collect()
    }

    /// The oldest events: at most `due`, a buffer's worth, and as many bytes as one body may hold. One event
    /// alone goes whatever it weighs.
    pub(super) fn take_batch(&mut self, due: usize, traits: &WebhookTraits) -> Vec<Queued> {
        let (mut batch, mut bytes) = (Vec::new(), BRACKETS);
        let most = due.min(traits.event_buffer_size.get());
        while let Some(next) = self.events.front().map(|q| q.bytes).filter(|_| batch.len() < most) {
            let larger = bytes + next + usize::from(!batch.is_empty());
            let over = traits.max_batch_bytes > 0 && larger > traits.max_batch_bytes;
            if over && !batch.is_empty() {
                break;
            }
            bytes = larger;
            self.bytes -= next;
            batch.extend(self.events.pop_front());
        }
        batch
    }

    /// Drops the oldest events beyond the bounds of the era and says how many.
    pub(super) fn bound(&mut self, traits: &WebhookTraits) -> u64 {
        let mut dropped = 0;
        while !self.is_empty() && self.over(traits) {
            self.bytes -= self.events.pop_front().map_or(0, |q| q.bytes);
            dropped += 1;
        }
        dropped
    }

    fn over(&self, traits: &WebhookTraits) -> bool {
        (traits.max_queue_size > 0 && self.len() > traits.max_queue_size)
            || (traits.max_queue_bytes > 0 && self.bytes > traits.max_queue_bytes)
    }
}
