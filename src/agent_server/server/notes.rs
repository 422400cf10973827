//! What the server noted while it ran: the sender's half of every ledger.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::net::PeerId;
use crate::probe::trace::{LinkTrace, Origin, PieceIndex, ServerTrace, Stopped};
use crate::record::{Hop, Reason};

/// The notes of one server.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// What concerns all connections.
    pub server: ServerTrace,
    /// When each piece of it was produced.
    pub produced_at: Vec<Instant>,
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

    /// That connection has its place on the bus.
    pub(super) fn joined(&mut self, peer: PeerId) {
        self.link(peer).joined_after = Some(self.server.durables);
    }

    /// A frame was written to that connection.
    pub(super) fn sent(&mut self, peer: PeerId, origin: Origin) {
        self.link(peer).sent.push(origin);
    }

    /// Pieces stopped on the way to that connection.
    pub(super) fn stopped(&mut self, peer: PeerId, origin: Origin, hop: Hop, reason: &Reason) {
        if let Origin::Delta { first, count } = origin {
            let stop = |piece: PieceIndex| Stopped { piece, hop, reason: reason.clone() };
            self.link(peer).stopped.extend((first..first + count).map(stop));
        }
    }
}
