//! What the server noted while it ran: the sender's half of every ledger.

use std::collections::BTreeMap;
use std::ops::Range;

use tokio::time::Instant;

use super::net::PeerId;
use crate::probe::trace::{LinkTrace, Origin, PieceIndex, ServerTrace, Stopped};
use crate::record::{Class, CutShort, Hop, Reason};

/// The notes of one server.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// What concerns all connections.
    pub server: ServerTrace,
    /// When each piece of it was produced.
    pub produced_at: Vec<Instant>,
    /// Text of turns that ended without a reply.
    pub abandoned: String,
    /// Pieces of attempts that a later attempt says again.
    pub superseded: Vec<Range<usize>>,
    /// Pieces that a reply, a tool call or an abandoned turn accounts for.
    covered: usize,
    /// Durable events that were announced and are in no log: the text of their frames.
    pub phantoms: Vec<String>,
    /// Each connection's own.
    pub links: BTreeMap<PeerId, LinkTrace>,
}

impl Notes {
    pub(super) fn link(&mut self, peer: PeerId) -> &mut LinkTrace {
        self.links.entry(peer).or_default()
    }

    /// A bus handed these pieces to that connection.
    pub(super) fn dispatched(&mut self, peer: PeerId, origin: Origin) {
        let link = self.link(peer);
        match origin {
            Origin::Delta { first, count } => link.dispatched.extend(first..first + count),
            Origin::Durable { .. } | Origin::Other => {}
        }
    }

    /// A durable event is published; returns its number. Its id is kept for a ledger only.
    pub(super) fn durable(&mut self, id: &str, reply: bool, kept: bool) -> u64 {
        self.server.durables += 1;
        let number = self.server.durables;
        if kept {
            self.server.durable_ids.push(id.to_owned());
        }
        if reply {
            self.server.replied_at = number;
            if kept {
                let produced = self.produced();
                self.server.replies.push(number);
                self.server.replied_after.push(produced);
            }
        }
        number
    }

    /// A reply or a tool call holds everything that was produced so far.
    pub(super) fn covers(&mut self) {
        self.covered = self.server.produced.len();
    }

    /// The provider is asked again: what it said so far is said once more.
    pub(super) fn superseded(&mut self) {
        let from = self.covered.max(self.superseded.last().map_or(0, |range| range.end));
        self.superseded.push(from..self.server.produced.len());
    }

    /// A turn stops where it is, because its server does: whoever has subscribed by now waits for a reply that nobody makes.
    pub(super) fn killed(&mut self) {
        for link in self.links.values_mut().filter(|link| link.joined_after.is_some()) {
            link.turns_killed += 1;
        }
    }

    /// A turn ended: as *finished*, or as said.
    pub(super) fn ends(&mut self, cut: Option<CutShort>) {
        (self.server.completed, self.server.cut) = (cut.is_none(), cut);
    }

    /// A turn begins: what is in no reply by now will be in none, and until it ends it has not.
    pub(super) fn begins(&mut self) {
        self.ends(Some(CutShort::Unended));
        let left = self.server.produced[self.covered..].iter().filter(|piece| piece.class == Class::Text);
        let left: String = left.map(|piece| piece.text.as_str()).collect();
        self.abandoned.push_str(&left);
        self.covers();
    }

    /// How many pieces were produced so far.
    fn produced(&self) -> PieceIndex {
        PieceIndex::try_from(self.server.produced.len()).unwrap_or(PieceIndex::MAX)
    }

    /// That connection asks to be let in.
    pub(super) fn came(&mut self, peer: PeerId) {
        let produced = self.produced();
        self.link(peer).came_at = Some(produced);
    }

    /// That connection has its place on the bus.
    pub(super) fn joined(&mut self, peer: PeerId) {
        self.link(peer).joined_after = Some(self.server.durables);
        self.came(peer);
    }

    /// A frame was written to that connection.
    pub(super) fn sent(&mut self, peer: PeerId, origin: Origin) {
        self.link(peer).sent.push(origin);
    }

    /// So many frames wait for that connection now; at `limit` bytes it is given up.
    pub(super) fn waits(&mut self, peer: PeerId, (frames, bytes): (u64, u64), limit: Option<u64>) {
        let queue = &mut self.link(peer).queue;
        queue.waits(frames, bytes);
        queue.limit_bytes = limit;
    }

    /// That connection is over, and so many frames still wait for it.
    pub(super) fn left(&mut self, peer: PeerId, (frames, bytes): (u64, u64)) {
        self.link(peer).queue.ended(frames, bytes);
    }

    /// Pieces stopped on the way to that connection.
    pub(super) fn stopped(&mut self, peer: PeerId, origin: Origin, hop: Hop, reason: &Reason) {
        if let Origin::Delta { first, count } = origin {
            let stop = |piece: PieceIndex| Stopped { piece, hop, reason: reason.clone() };
            self.link(peer).stopped.extend((first..first + count).map(stop));
        }
    }
}
