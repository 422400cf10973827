//! Where pieces stopped on the server's side of one connection, looked up by piece.

use std::collections::BTreeMap;

use super::Endpoint;
use crate::probe::trace::{ClientTrace, LinkTrace, Origin, PieceIndex, ServerTrace};
use crate::record::flow::{Hop, Reason};

/// Why the connection ended before the client wanted to leave, if it did.
pub(super) fn ended_early(client: &ClientTrace) -> Option<&Reason> {
    client.unread.as_ref().filter(|r| **r != Reason::CLIENT_LEFT)
}

/// Where pieces stopped on the server's side, looked up by piece.
pub(super) struct Stops {
    pub(super) published: BTreeMap<PieceIndex, Reason>,
    pub(super) dispatched: BTreeMap<PieceIndex, Reason>,
    pub(super) sent: BTreeMap<PieceIndex, Vec<Reason>>,
    pub(super) handed: BTreeMap<PieceIndex, u64>,
    pub(super) written: BTreeMap<PieceIndex, u64>,
    /// Pieces whose frame the client cut off by its own limit: written as far as it let them.
    pub(super) cut_off: Vec<PieceIndex>,
    /// Why pieces that came after the end of the connection were not handed over.
    pub(super) over: Option<Reason>,
}

impl Stops {
    pub(super) fn of(
        server: &ServerTrace,
        endpoint: Endpoint,
        link: &LinkTrace,
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
            over: ended_early(client).cloned(),
        };
        let own_limit = client.unread.as_ref() == Some(&Reason::FRAME_TOO_LARGE);
        for stop in &link.stopped {
            if own_limit && stop.reason == Reason::SOCKET_CLOSED {
                // The server sees a broken pipe; the client knows that it was its own doing.
                *stops.written.entry(stop.piece).or_default() += 1;
                stops.cut_off.push(stop.piece);
            } else if stop.hop == Hop::Dispatched {
                stops.dispatched.insert(stop.piece, stop.reason.clone());
            } else {
                stops.sent.entry(stop.piece).or_default().push(stop.reason.clone());
            }
        }
        for piece in &link.dispatched {
            *stops.handed.entry(*piece).or_default() += 1;
        }
        for origin in &link.sent {
            if let Origin::Delta { first, count } = origin {
                for piece in *first..first.saturating_add(*count) {
                    *stops.written.entry(piece).or_default() += 1;
                }
            }
        }
        stops
    }
}

/// Why a connection was not there to be handed a piece.
pub(super) fn absent(link: &LinkTrace, over: Option<&Reason>) -> Reason {
    match (link.refused, &link.closed, over) {
        (Some(status), ..) => Reason::from(format!("http_{status}")),
        (None, Some((code, _)), _) => Reason::from(format!("closed_{code}")),
        (None, None, Some(over)) => over.clone(),
        (None, None, None) => Reason::new("not_subscribed"),
    }
}
