//! Where pieces stopped on the server's side of one connection, looked up by piece.

use std::collections::BTreeMap;

use super::Endpoint;
use crate::probe::trace::{ClientTrace, LinkTrace, Origin, PieceIndex, ServerTrace, Stopped};
use crate::record::flow::{Hop, Reason};

/// Why a connection ended before the client wanted to leave, if it did.
pub(super) fn ended_early(unread: Option<&Reason>) -> Option<&Reason> {
    unread.filter(|r| **r != Reason::CLIENT_LEFT)
}

/// Where pieces stopped on the server's side of one client, looked up by piece.
pub(super) struct Stops {
    pub(super) published: BTreeMap<PieceIndex, Reason>,
    pub(super) dispatched: BTreeMap<PieceIndex, Reason>,
    pub(super) sent: BTreeMap<PieceIndex, Vec<Reason>>,
    pub(super) handed: BTreeMap<PieceIndex, u64>,
    pub(super) written: BTreeMap<PieceIndex, u64>,
    /// Pieces whose frame the client cut off by its own limit: written as far as it let them.
    pub(super) cut_off: Vec<(PieceIndex, Reason)>,
    /// From which piece on the client was away, and why: before its first connection, and after each of them.
    away: Vec<(PieceIndex, Reason)>,
}

impl Stops {
    pub(super) fn of(
        server: &ServerTrace,
        endpoint: Endpoint,
        links: &[LinkTrace],
        client: &ClientTrace,
    ) -> Stops {
        let unpublished = match endpoint {
            Endpoint::Events => &server.unpublished_legacy,
            Endpoint::Session => &server.unpublished_session,
        };
        let mut stops = Stops {
            published: unpublished.iter().cloned().collect(),
            dispatched: BTreeMap::new(),
            sent: BTreeMap::new(),
            handed: BTreeMap::new(),
            written: BTreeMap::new(),
            cut_off: Vec::new(),
            away: Vec::new(),
        };
        for (link, (_, unread)) in links.iter().zip(client.connections()) {
            stops.link(link, unread);
        }
        stops
    }

    fn link(&mut self, link: &LinkTrace, unread: Option<&Reason>) {
        if let Some(reason) = unread.filter(|reason| **reason == Reason::FRAME_TOO_LARGE) {
            self.cut(link, reason);
        } else {
            for stop in &link.stopped {
                self.stop(stop);
            }
        }
        for piece in &link.dispatched {
            *self.handed.entry(*piece).or_default() += 1;
        }
        for origin in &link.sent {
            if let Origin::Delta { first, count } = origin {
                for piece in *first..first.saturating_add(*count) {
                    *self.written.entry(piece).or_default() += 1;
                }
            }
        }
        // A piece that nobody was there for was missed because of the connection that had ended by then.
        let from = link.came_at.unwrap_or(0);
        let reason = link.carries_no_deltas.clone().unwrap_or_else(|| absent(link, ended_early(unread)));
        self.away.push((from, reason));
    }

    /// The server sees a broken pipe; the client knows that it was its own doing.
    fn cut(&mut self, link: &LinkTrace, reason: &Reason) {
        for stop in &link.stopped {
            if stop.reason == Reason::SOCKET_CLOSED {
                *self.written.entry(stop.piece).or_default() += 1;
                self.cut_off.push((stop.piece, reason.clone()));
            } else {
                self.stop(stop);
            }
        }
    }

    fn stop(&mut self, stop: &Stopped) {
        if stop.hop == Hop::Dispatched {
            self.dispatched.insert(stop.piece, stop.reason.clone());
        } else {
            self.sent.entry(stop.piece).or_default().push(stop.reason.clone());
        }
    }

    /// Why nobody was there to be handed that piece: what ended the last connection before it, or that there was none yet.
    pub(super) fn absent(&self, piece: PieceIndex) -> Reason {
        let before = self.away.iter().rev().find(|(from, _)| *from <= piece);
        before.map_or(Reason::new("not_subscribed"), |(_, reason)| reason.clone())
    }
}

/// Why a connection was not there to be handed a piece.
fn absent(link: &LinkTrace, over: Option<&Reason>) -> Reason {
    match (link.refused, &link.closed, over) {
        (Some(status), ..) => Reason::from(format!("http_{status}")),
        (None, Some((code, _)), _) => Reason::from(format!("closed_{code}")),
        (None, None, Some(over)) => over.clone(),
        (None, None, None) => Reason::new("not_subscribed"),
    }
}
