//! The ledger of one client: every produced piece is accounted for at every hop, or the cell is invalid.

mod books;
mod durables;
mod stops;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::books::Books;
use self::durables::Taken;
use self::stops::Stops;
use super::trace::{ClientTrace, LinkTrace, Origin, PieceIndex, ServerTrace};
use crate::record::flow::{Class, HopFlow};
use crate::record::observation::{Durables, Piece, Signal};

/// Which socket the client is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Endpoint {
    /// `/sockets/events/{id}`.
    Events,
    /// `/sockets/session/{id}`.
    Session,
}

/// Where a client sits and what its application shows.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'a> {
    /// The socket that it is on.
    pub endpoint: Endpoint,
    /// The classes of text that its application shows; the rest stops at the last hop by design.
    pub shows: &'a [Class],
    /// Whether its profile says that it streams; if so, nothing is withheld because it does not.
    pub streams: bool,
}

/// The settled accounts of one client.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Every hop, per class.
    pub flows: BTreeMap<Class, Vec<HopFlow>>,
    /// The durable events.
    pub durables: Durables,
    /// The loudest thing to notice of the deltas, the connection included.
    pub signal: Signal,
    /// The same of the durable events.
    pub durable_signal: Signal,
    /// What does not add up: faults of the rig, never of the subject.
    pub faults: Vec<String>,
}

impl Ledger {
    /// Joins the notes of both ends: `links` are the client's connections, in order. The k-th frame that the client read on
    /// one of them is the k-th frame that the server wrote there.
    pub fn settle(server: &ServerTrace, seat: Seat<'_>, links: &[LinkTrace], client: &ClientTrace) -> Ledger {
        let mut books = Books::open();
        let stopped = Stops::of(server, seat.endpoint, links, client);
        for (index, piece) in server.produced.iter().enumerate() {
            // A reply of four billion tokens does not happen; saturating keeps the arithmetic total.
            books.server_side(u32::try_from(index).unwrap_or(u32::MAX), piece, &stopped);
        }
        let mut durables = Taken::since(links);
        let (mut signal, mut durable_signal) = (client.signal, client.signal);
        let mut faults = Vec::new();
        for (link, (read, unread)) in links.iter().zip(client.connections()) {
            let receipts = client.receipts.get(read).unwrap_or_default();
            for (k, origin) in link.sent.iter().enumerate() {
                let receipt = receipts.get(k);
                let noticed = receipt.map_or(Signal::None, |r| r.signal);
                match origin {
                    Origin::Delta { .. } => signal = signal.max(noticed),
                    Origin::Durable { .. } => durable_signal = durable_signal.max(noticed),
                    Origin::Other => {}
                }
                let fate = receipt.map(|r| &r.fate);
                match origin {
                    Origin::Delta { first, count } => {
                        for piece in pieces(server, *first, *count) {
                            books.client_side(piece, seat, fate, unread);
                        }
                        books.arrive_elsewhere(pieces(server, *first, *count), fate);
                    }
                    Origin::Durable { reply, number } => durables.frame(*reply, *number, fate),
                    Origin::Other => {}
                }
            }
            if receipts.len() > link.sent.len() {
                let (read, written) = (receipts.len(), link.sent.len());
                faults.push(format!("the client read {read} frames and the server wrote {written}"));
            }
        }
        for (index, reason) in &stopped.cut_off {
            if let Some(piece) = server.produced.get(*index as usize) {
                books.client_side(piece, seat, None, Some(reason));
            }
        }
        durables.recovered(server, &client.recovered);
        let durables = durables.settled(server, links, client);
        let mut all = books.faults();
        all.append(&mut faults);
        Ledger { flows: books.flows, durables, signal, durable_signal, faults: all }
    }

    /// All classes together, over the hops of the client's path.
    pub fn total(flows: &BTreeMap<Class, Vec<HopFlow>>) -> Vec<HopFlow> {
        let path = flows.values().next().into_iter().flatten();
        let mut total: Vec<HopFlow> = path.map(|flow| HopFlow::new(flow.hop)).collect();
        for hops in flows.values() {
            for (sum, flow) in total.iter_mut().zip(hops) {
                sum.merge(flow);
            }
        }
        total
    }
}

/// Pieces `first .. first + count` of what the model produced.
fn pieces(server: &ServerTrace, first: PieceIndex, count: u32) -> impl Iterator<Item = &Piece> {
    server.produced.iter().skip(first as usize).take(count as usize)
}
