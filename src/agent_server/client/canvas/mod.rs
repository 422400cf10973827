//! The chat of the canvas: a store that deltas merge into and final messages reconcile, and its view.
//!
//! Re-implements the behaviour of `use-event-store.ts`, `handle-event-for-ui.ts` and the chat components of
//! `@openhands/agent-canvas` 1.0.0-alpha.10 to 1.20.0, which were run on 248 frames and 86 scenarios; the
//! tests hold it to what they did.

mod drawn;
mod entry;
mod reconcile;
mod segments;
pub(super) mod shape;
mod side_effects;
#[cfg(test)]
mod snapshot;
mod store;
mod think;
mod view;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

#[cfg(test)]
pub(super) use self::snapshot::Snapshot;

use self::drawn::drawn;
use self::entry::{Body, Entry};
use self::store::{Added, Store};
use super::batcher::{Batcher, Queued};
use super::desk::{Desk, stopped, taken};
use crate::agent_server::profile::client::{Deltas, StoreTraits};
use crate::probe::Fate;
use crate::record::{Hop, Reason};

/// The chat of one conversation.
#[derive(Debug)]
pub(super) struct Canvas {
    store: Store,
    batcher: Batcher<Entry>,
    /// Whether anything ever threw while drawing, so that the page may be gone.
    suspect: bool,
}

impl Canvas {
    pub(super) fn new(traits: &StoreTraits) -> Canvas {
        let batcher = Batcher::new(traits.batch_ms);
        Canvas { store: Store::new(traits.clone()), batcher, suspect: false }
    }

    /// An event that passed the guard.
    pub(super) fn take(&mut self, event: Value, desk: &mut Desk<'_>) {
        let entry = Entry::new(event, self.store.traits.deltas == Deltas::Rendered);
        match &entry.body {
            Body::Delta(_) => {
                let due = self.batcher.push(Queued::note(entry, desk.trace));
                self.draw(&due, desk);
            }
            Body::Event(event) => {
                let event = Arc::clone(event);
                // A durable event must not overtake the text before it.
                self.flush(desk);
                let fate = self.add(entry, &event, desk);
                desk.receipt(fate);
            }
        }
    }

    /// Draws what waits.
    pub(super) fn flush(&mut self, desk: &mut Desk<'_>) {
        let queue = self.batcher.take();
        self.draw(&queue, desk);
    }

    /// How long after its first delta the queue is due.
    pub(super) fn due(&self) -> Option<Duration> {
        self.batcher.due()
    }

    /// The agent's text of this turn as a person sees it: bubble after bubble, before Markdown drops the
    /// white space at each bubble's ends. Empty, if the error page is up.
    pub(super) fn reply(&self) -> String {
        view::reply(&self.store).unwrap_or_default()
    }

    /// Draws a queue as the one delta that it folds into.
    fn draw(&mut self, queue: &[Queued<Entry>], desk: &mut Desk<'_>) {
        let Some((first, rest)) = queue.split_first() else { return };
        let payloads: Vec<_> = queue.iter().filter_map(|q| q.delta.delta()).collect();
        let pieces = drawn(&self.store.traits, self.store.open_bubble(first.delta.planning), &payloads);
        let mut folded = first.delta.clone();
        if let Body::Delta(payload) = &mut folded.body {
            rest.iter().filter_map(|q| q.delta.delta()).for_each(|p| payload.merge(p));
        }
        let null_pair = folded.delta().is_some_and(entry::Payload::is_null_pair);
        // Adding a delta reconciles nothing, so it cannot throw.
        let added = self.store.add(folded).unwrap_or(Added::Stored);
        self.suspect |= pieces.iter().any(Result::is_err) && !null_pair;
        let gone = self.suspect && view::visible(&self.store).is_err();
        for (queued, drawn) in queue.iter().zip(pieces) {
            let fate = match (added, drawn) {
                (Added::Duplicate { .. }, _) => stopped(Hop::Admitted, "duplicate_id"),
                (Added::Stored, _) if null_pair => stopped(Hop::Delivered, "nothing_to_show"),
                (Added::Stored, Ok((pieces, missing))) if !gone => {
                    desk.delivery.hand_over(pieces, missing, desk.trace)
                }
                (Added::Stored, drawn) => {
                    if let Err(threw) = drawn {
                        desk.note(|f| &f.render, &threw.0);
                    }
                    stopped(Hop::Delivered, "render_error")
                }
            };
            queued.settle(fate, desk.trace);
        }
    }

    /// Adds an event that is no delta.
    fn add(&mut self, entry: Entry, event: &Value, desk: &mut Desk<'_>) -> Fate {
        let literal_delta = entry.literal_delta;
        match self.store.add(entry) {
            Err(threw) => {
                desk.note(|f| &f.handler, &threw.0);
                stopped(Hop::Admitted, "handler_threw")
            }
            Ok(Added::Duplicate { of_delta }) => {
                if self.store.traits.replays_side_effects {
                    side_effects::run(event, desk);
                }
                // A repeat of what the store has is no loss; a message swallowed by a delta's id is.
                if of_delta || literal_delta {
                    stopped(Hop::Admitted, "duplicate_id")
                } else {
                    Fate::Reached { pieces: Vec::new(), missing: Reason::new("duplicate_id") }
                }
            }
            Ok(Added::Stored) => {
                side_effects::run(event, desk);
                if literal_delta {
                    return Fate::Stopped { hop: Hop::Delivered, reason: Reason::NOT_STREAMING };
                }
                if let Err(threw) = view::try_event(&self.store, event) {
                    self.suspect = true;
                    desk.note(|f| &f.render, &threw.0);
                    return stopped(Hop::Delivered, "render_error");
                }
                taken()
            }
        }
    }
}
