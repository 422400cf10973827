//! The way of a delta out of its turn: its place among the others, and the two buses.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, sleep};

use super::Turn;
use crate::agent_server::fault::Lane;
use crate::agent_server::profile::server::{DeltaClass, SessionEndpoint};
use crate::agent_server::server::burden::burden;
use crate::agent_server::server::bus::Published;
use crate::agent_server::server::conversation::Conversation;
use crate::agent_server::server::script::Chunk;
use crate::agent_server::server::stream::Strikes;
use crate::agent_server::server::{Inner, lock};
use crate::probe::trace::{Origin, PieceIndex};
use crate::record::observation::Piece;
use crate::record::{Class, Reason};
use crate::wire::session::SessionDelta;
use crate::wire::{EventBody, SessionFrame, Source};

/// A chunk with its place among what was produced, and the numbers that its progress frames carry.
pub(super) struct Delta {
    pub(super) chunk: Chunk,
    pub(super) first: PieceIndex,
    pub(super) pieces: Vec<Piece>,
    pub(super) orders: Vec<u32>,
}

impl Turn {
    /// The numbers of its progress frames. They are given when the model emits, whatever becomes of the frames.
    pub(super) fn orders(&mut self, pieces: &[Piece]) -> Vec<u32> {
        let mut orders = Vec::with_capacity(pieces.len());
        for piece in pieces {
            orders.push(self.order);
            self.order += u32::from(piece.class != Class::Empty);
        }
        orders
    }

    /// Emits a delta in its place, or keeps it for another one.
    pub(super) fn place(&mut self, delta: Delta, strikes: &Strikes) {
        let mut all: Vec<Delta> = (0..strikes.copies).map(|_| delta.again()).collect();
        all.push(delta);
        if strikes.late {
            self.late.append(&mut all);
        } else if let (Some(number), true) = (strikes.behind, self.behind.is_empty()) {
            self.behind = all.into_iter().map(|delta| (number, delta)).collect();
        } else {
            for delta in all {
                self.emit(delta);
            }
            for (number, held) in std::mem::take(&mut self.behind) {
                self.server.faults.came(number);
                self.emit(held);
            }
        }
        self.conversation.heartbeat(&self.server);
    }

    /// Hands a delta to both buses.
    pub(super) fn emit(&self, delta: Delta) {
        let count = u32::try_from(delta.pieces.len()).unwrap_or(u32::MAX);
        let after = self.delay(Lane::Deltas);
        self.legacy_delta(&delta.chunk, Origin::Delta { first: delta.first, count }, after);
        self.progress_delta(delta, after);
    }

    pub(super) fn delay(&self, lane: Lane) -> Duration {
        let chunks = self.server.pulse.borrow().chunks + 1;
        self.server.faults.delay(lane, chunks, Instant::now())
    }

    /// Publishes the delta without waiting for it and without keeping track, as every release does.
    pub(super) fn legacy_delta(&self, chunk: &Chunk, origin: Origin, after: Duration) {
        if self.server.traits.delta.class == DeltaClass::Withdrawn {
            if let Origin::Delta { first, count } = origin {
                let reason = Reason::new("legacy_delta_withdrawn");
                let pieces = (first..first + count).map(|p| (p, reason.clone()));
                self.server.note(|notes| notes.server.unpublished_legacy.extend(pieces));
            }
            return;
        }
        let body = EventBody::StreamingDelta {
            content: chunk.text.clone(),
            reasoning_content: chunk.reasoning.clone(),
        };
        let event = self.event(Source::Agent, None, body);
        burden(&self.server, &event);
        let published = if self.server.traits.mutant.store_deltas {
            self.conversation.persist(event, origin)
        } else {
            Published::new(Arc::new(event), origin, None)
        };
        if let Some((_, most)) = self.server.faults.kept() {
            self.conversation.keep(&published, most);
        }
        let (conversation, server) = (self.conversation.clone(), self.server.clone());
        // The runtime would make a task that writes to more than 128 sockets wait in between, and the rest of its
        // subscribers with it. The real server's event loop does no such thing.
        tokio::spawn(unconstrained(async move {
            if !after.is_zero() {
                sleep(after).await;
            }
            let bus = conversation.delta_bus.as_ref().unwrap_or(&conversation.bus);
            bus.publish(&published).await;
            server.pulse.send_if_modified(|pulse| {
                pulse.deltas += 1;
                server.config.keeps_notes
            });
        }));
    }

    /// The same pieces as progress frames for session sockets (1.47.0); empty ones never get there.
    pub(super) fn progress_delta(&self, delta: Delta, after: Duration) {
        let mut frames = Vec::new();
        for ((index, piece), order) in (delta.first..).zip(&delta.pieces).zip(delta.orders) {
            match (self.server.traits.session.endpoint, piece.class) {
                (SessionEndpoint::Full, Class::Empty) => {
                    let withheld = (index, Reason::EMPTY_WITHHELD);
                    self.server.note(|notes| notes.server.unpublished_session.push(withheld));
                }
                (SessionEndpoint::Full, class) => frames.push((index, order, class, piece.text.clone())),
                // No bus feeds the session socket with deltas; each connection notes that for itself.
                _ => {}
            }
        }
        let progress = Progress {
            server: self.server.clone(),
            conversation: self.conversation.clone(),
            item_id: self.item_id.clone(),
            response_id: self.response_id.clone(),
            attempt: self.attempt,
        };
        if after.is_zero() {
            progress.send(frames);
        } else if !frames.is_empty() {
            tokio::spawn(async move {
                sleep(after).await;
                progress.send(frames);
            });
        }
    }
}

impl Delta {
    fn again(&self) -> Delta {
        let (chunk, pieces, orders) = (self.chunk.clone(), self.pieces.clone(), self.orders.clone());
        Delta { chunk, first: self.first, pieces, orders }
    }
}

/// What progress frames need when they go out.
struct Progress {
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    item_id: String,
    response_id: String,
    attempt: u32,
}

impl Progress {
    /// Sends pieces with their numbers, behind the frame that opens the item where it is the first.
    fn send(&self, frames: Vec<(PieceIndex, u32, Class, String)>) {
        let sockets = lock(&self.conversation.progress).clone();
        for (index, order, class, content) in frames {
            if order == 0 {
                let started = SessionFrame::ItemStarted {
                    item_id: self.item_id.clone(),
                    attempt: self.attempt,
                    anchor_seq: self.conversation.through_seq(),
                };
                for socket in &sockets {
                    socket.send(&started, Origin::Other);
                }
            }
            let delta = SessionFrame::Delta(SessionDelta {
                item_id: self.item_id.clone(),
                attempt: self.attempt,
                order,
                reasoning: class == Class::Reasoning,
                content,
                chunk: Some((self.response_id.clone(), 0)),
            });
            self.server.costs.invoked(sockets.len());
            for socket in &sockets {
                socket.send(&delta, Origin::Delta { first: index, count: 1 });
            }
        }
    }
}
