//! The ledger of one client: every produced piece is accounted for at every hop, or the cell is invalid.

use std::collections::BTreeMap;

use super::trace::{ClientTrace, Fate, LinkTrace, Origin, PieceIndex, ServerTrace};
use crate::record::flow::{Class, Hop, HopFlow, Reason};
use crate::record::observation::{Durables, Piece, Signal};
use crate::unit::Tally;

/// Which socket the client is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// Joins the notes of both ends. The k-th frame that the client read is the k-th frame that the server
    /// wrote on that connection.
    pub fn settle(server: &ServerTrace, seat: Seat<'_>, link: &LinkTrace, client: &ClientTrace) -> Ledger {
        let mut books = Books::open();
        let stopped = Stops::of(server, seat.endpoint, link, client);
        for (index, piece) in server.produced.iter().enumerate() {
            // A reply of four billion tokens does not happen; saturating keeps the arithmetic total.
            books.server_side(u32::try_from(index).unwrap_or(u32::MAX), piece, &stopped, link);
        }
        let mut durables = Durables::default();
        let (mut signal, mut durable_signal) = (client.signal, client.signal);
        for (k, origin) in link.sent.iter().enumerate() {
            let noticed = client.receipts.get(k).map_or(Signal::None, |r| r.signal);
            match origin {
                Origin::Delta { .. } => signal = signal.max(noticed),
                Origin::Durable { .. } => durable_signal = durable_signal.max(noticed),
                Origin::Other => {}
            }
            let receipt = client.receipts.get(k).map(|r| &r.fate);
            match origin {
                Origin::Delta { first, count } => {
                    for piece in pieces(server, *first, *count) {
                        books.client_side(piece, seat, receipt, client.unread.as_ref());
                    }
                    books.arrive_elsewhere(pieces(server, *first, *count), receipt);
                }
                Origin::Durable { reply } => durable(&mut durables, *reply, receipt),
                Origin::Other => {}
            }
        }
        for index in &stopped.cut_off {
            if let Some(piece) = server.produced.get(*index as usize) {
                books.client_side(piece, seat, None, client.unread.as_ref());
            }
        }
        // A durable event that was due and never written is a loss like any refused one.
        durables.due = link.joined_after.map_or(0, |before| server.durables.saturating_sub(before));
        durables.reply_due = link.joined_after.is_some_and(|before| server.replied_at > before);
        let unsent = durables.due.saturating_sub(durables.sent);
        if unsent > 0 {
            let reason = ended_early(client).cloned().unwrap_or(Reason::new("not_sent"));
            *durables.rejected.entry(reason).or_default() += unsent;
        }
        let mut faults = books.faults();
        if client.receipts.len() > link.sent.len() {
            let (read, written) = (client.receipts.len(), link.sent.len());
            faults.push(format!("the client read {read} frames and the server wrote {written}"));
        }
        Ledger { flows: books.flows, durables, signal, durable_signal, faults }
    }

    /// All classes together.
    pub fn total(flows: &BTreeMap<Class, Vec<HopFlow>>) -> Vec<HopFlow> {
        let mut total: Vec<HopFlow> = Hop::ALL.into_iter().map(HopFlow::new).collect();
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

/// Why the connection ended before the client wanted to leave, if it did.
fn ended_early(client: &ClientTrace) -> Option<&Reason> {
    client.unread.as_ref().filter(|r| **r != Reason::CLIENT_LEFT)
}

fn durable(durables: &mut Durables, reply: bool, fate: Option<&Fate>) {
    durables.sent += 1;
    match fate {
        Some(Fate::Reached { .. }) => {
            durables.accepted += 1;
            durables.reply |= reply;
        }
        Some(Fate::Stopped { reason, .. }) => *durables.rejected.entry(reason.clone()).or_default() += 1,
        // Written and never read: the connection ended first.
        None => *durables.rejected.entry(Reason::new("unread")).or_default() += 1,
    }
}

/// Where pieces stopped on the server's side, looked up by piece.
struct Stops {
    published: BTreeMap<PieceIndex, Reason>,
    dispatched: BTreeMap<PieceIndex, Reason>,
    sent: BTreeMap<PieceIndex, Vec<Reason>>,
    handed: BTreeMap<PieceIndex, u64>,
    written: BTreeMap<PieceIndex, u64>,
    /// Pieces whose frame the client cut off by its own limit: written as far as it let them.
    cut_off: Vec<PieceIndex>,
    /// Why pieces that came after the end of the connection were not handed over.
    over: Option<Reason>,
}

impl Stops {
    fn of(server: &ServerTrace, endpoint: Endpoint, link: &LinkTrace, client: &ClientTrace) -> Stops {
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
fn absent(link: &LinkTrace, over: Option<&Reason>) -> Reason {
    match (link.refused, over) {
        (Some(status), _) => Reason::from(format!("http_{status}")),
        (None, Some(over)) => over.clone(),
        (None, None) => Reason::new("not_subscribed"),
    }
}

/// The hops inside a client, first to last.
const CLIENT_HOPS: [Hop; 4] = [Hop::Parsed, Hop::Decoded, Hop::Admitted, Hop::Delivered];

/// A class that the application does not show is missing by design, and by nothing else.
fn why_missing(class: Class, shows: &[Class], missing: &Reason) -> Reason {
    match shows.contains(&class) {
        false => Reason::CLASS_NOT_SHOWN,
        true if missing.by_design() => Reason::new("text_missing"),
        true => missing.clone(),
    }
}

struct Books {
    flows: BTreeMap<Class, Vec<HopFlow>>,
}

impl Books {
    fn open() -> Books {
        let hops = || Hop::ALL.into_iter().map(HopFlow::new).collect();
        Books { flows: Class::ALL.into_iter().map(|c| (c, hops())).collect() }
    }

    fn at(&mut self, class: Class, hop: Hop) -> &mut HopFlow {
        // Every class has every hop, in order, from `open` on.
        let hops = self.flows.entry(class).or_default();
        if hops.is_empty() {
            hops.extend(Hop::ALL.into_iter().map(HopFlow::new));
        }
        &mut hops[hop as usize]
    }

    fn server_side(&mut self, index: PieceIndex, piece: &Piece, stops: &Stops, link: &LinkTrace) {
        let class = piece.class;
        let one = Tally::of(&piece.text);
        let times = |n: u64| Tally { frames: one.frames * n, chars: one.chars * n };
        self.pass(class, Hop::Produced, one);

        let published = self.at(class, Hop::Published);
        published.entered += one;
        if let Some(reason) = stops.published.get(&index) {
            *published.dropped.entry(reason.clone()).or_default() += one;
            return;
        }
        published.left += one;

        let handed = stops.handed.get(&index).copied().unwrap_or(0);
        let dispatched = self.at(class, Hop::Dispatched);
        dispatched.entered += one;
        dispatched.left += times(handed);
        if handed == 0 {
            let reason = stops.dispatched.get(&index).or(link.carries_no_deltas.as_ref());
            let reason = reason.cloned().unwrap_or_else(|| absent(link, stops.over.as_ref()));
            *dispatched.dropped.entry(reason).or_default() += one;
            return;
        }
        if handed > 1 {
            *dispatched.added.entry(Reason::new("dispatched_twice")).or_default() += times(handed - 1);
        }

        let written = stops.written.get(&index).copied().unwrap_or(0);
        let stopped = stops.sent.get(&index).map_or(&[][..], Vec::as_slice);
        let sent = self.at(class, Hop::Sent);
        sent.entered += times(handed);
        sent.left += times(written);
        for reason in stopped {
            *sent.dropped.entry(reason.clone()).or_default() += one;
        }
        let ended = written + stopped.len() as u64;
        if ended > handed {
            *sent.added.entry(Reason::new("sent_twice")).or_default() += times(ended - handed);
        }
    }

    fn client_side(&mut self, piece: &Piece, seat: Seat<'_>, fate: Option<&Fate>, unread: Option<&Reason>) {
        let (class, one) = (piece.class, Tally::of(&piece.text));
        let received = self.at(class, Hop::Received);
        received.entered += one;
        let Some(fate) = fate else {
            if let Some(reason) = unread {
                *received.dropped.entry(reason.clone()).or_default() += one;
            }
            return;
        };
        received.left += one;
        match fate {
            Fate::Stopped { hop, reason } => {
                for passed in CLIENT_HOPS.into_iter().take_while(|h| h < hop) {
                    self.pass(class, passed, one);
                }
                let excused = *reason == Reason::NOT_STREAMING && seat.streams;
                let reason = if excused { Reason::new("not_drawn") } else { reason.clone() };
                self.stop(class, *hop, one, reason);
            }
            Fate::Reached { pieces, missing } => {
                for passed in [Hop::Parsed, Hop::Decoded, Hop::Admitted] {
                    self.pass(class, passed, one);
                }
                match pieces.iter().find(|p| p.class == class) {
                    Some(arrived) => self.arrive(class, one, Tally::of(&arrived.text)),
                    None if class == Class::Empty => self.pass(class, Hop::Delivered, one),
                    None => self.stop(class, Hop::Delivered, one, why_missing(class, seat.shows, missing)),
                }
            }
        }
    }

    /// Text that arrived in a class in which the frame carried none: reasoning shown as text, say.
    fn arrive_elsewhere<'a>(&mut self, produced: impl Iterator<Item = &'a Piece>, fate: Option<&Fate>) {
        let Some(Fate::Reached { pieces, .. }) = fate else { return };
        let carried: Vec<Class> = produced.map(|p| p.class).collect();
        for piece in pieces.iter().filter(|p| p.class != Class::Empty && !carried.contains(&p.class)) {
            let chars = Tally { frames: 0, ..Tally::of(&piece.text) };
            let flow = self.at(piece.class, Hop::Delivered);
            flow.left += chars;
            *flow.added.entry(Reason::TEXT_FROM_ELSEWHERE).or_default() += chars;
        }
    }

    fn stop(&mut self, class: Class, hop: Hop, tally: Tally, reason: Reason) {
        let flow = self.at(class, hop);
        flow.entered += tally;
        *flow.dropped.entry(reason).or_default() += tally;
    }

    /// A piece that got there, perhaps shorter or longer than it was.
    fn arrive(&mut self, class: Class, one: Tally, arrived: Tally) {
        let flow = self.at(class, Hop::Delivered);
        flow.entered += one;
        flow.left += arrived;
        let difference = Tally { frames: 0, chars: one.chars.abs_diff(arrived.chars) };
        if !difference.is_zero() {
            let side = if arrived.chars < one.chars { &mut flow.dropped } else { &mut flow.added };
            *side.entry(Reason::TEXT_ALTERED).or_default() += difference;
        }
    }

    fn pass(&mut self, class: Class, hop: Hop, tally: Tally) {
        let flow = self.at(class, hop);
        flow.entered += tally;
        flow.left += tally;
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (class, hops) in &self.flows {
            for (at, flow) in hops.iter().enumerate() {
                let (class, hop) = (class.as_str(), flow.hop);
                if !flow.balances() {
                    faults.push(format!("{class} text does not add up at hop `{hop}`"));
                }
                if let Some(next) = hops.get(at + 1)
                    && flow.left != next.entered
                {
                    let next = next.hop;
                    faults.push(format!("{class} text left hop `{hop}` and did not reach hop `{next}`"));
                }
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::probe::trace::{Receipt, Stopped, class_of};

    fn produced(texts: &[&str]) -> ServerTrace {
        let produced =
            texts.iter().map(|t| Piece { class: class_of(t, false), text: (*t).to_owned() }).collect();
        ServerTrace { produced, completed: true, ..ServerTrace::default() }
    }

    fn delta(first: u32) -> Origin {
        Origin::Delta { first, count: 1 }
    }

    fn receipt(fate: Fate) -> Receipt {
        Receipt { fate, signal: Signal::None }
    }

    fn reached(text: &str) -> Receipt {
        let pieces = vec![Piece { class: Class::Text, text: text.to_owned() }];
        receipt(Fate::Reached { pieces, missing: Reason::new("text_missing") })
    }

    fn seat(endpoint: Endpoint) -> Seat<'static> {
        Seat { endpoint, shows: &[Class::Text, Class::Reasoning], streams: true }
    }

    fn text_at(ledger: &Ledger, hop: Hop) -> &HopFlow {
        &ledger.flows[&Class::Text][hop as usize]
    }

    #[test]
    fn a_healthy_stream_balances() {
        let server = produced(&["a", "bc"]);
        let link = LinkTrace {
            dispatched: vec![0, 1],
            sent: vec![Origin::Other, delta(0), delta(1)],
            ..LinkTrace::default()
        };
        let other = receipt(Fate::Reached { pieces: vec![], missing: Reason::new("x") });
        let client =
            ClientTrace { receipts: vec![other, reached("a"), reached("bc")], ..ClientTrace::default() };
        let ledger = Ledger::settle(&server, seat(Endpoint::Events), &link, &client);
        assert_eq!(ledger.faults, Vec::<String>::new());
        assert_eq!(text_at(&ledger, Hop::Delivered).left, Tally { frames: 2, chars: 3 });
    }

    #[test]
    fn a_frame_that_vanishes_without_a_reason_is_a_rig_fault() {
        let server = produced(&["a"]);
        let link = LinkTrace { dispatched: vec![0], ..LinkTrace::default() };
        let ledger = Ledger::settle(&server, seat(Endpoint::Events), &link, &ClientTrace::default());
        assert!(ledger.faults[0].contains("`sent`"), "{:?}", ledger.faults);
        let sent = LinkTrace { dispatched: vec![0], sent: vec![delta(0)], ..LinkTrace::default() };
        let ledger = Ledger::settle(&server, seat(Endpoint::Events), &sent, &ClientTrace::default());
        assert!(ledger.faults[0].contains("`received`"), "{:?}", ledger.faults);
    }

    #[test]
    fn a_client_that_reads_more_than_was_written_is_a_rig_fault() {
        let client = ClientTrace { receipts: vec![reached("a")], ..ClientTrace::default() };
        let ledger = Ledger::settle(&produced(&[]), seat(Endpoint::Events), &LinkTrace::default(), &client);
        assert!(ledger.faults[0].contains("read 1 frames"));
    }

    #[test]
    fn a_refused_upgrade_is_the_reason() {
        let link = LinkTrace { refused: Some(403), ..LinkTrace::default() };
        let ledger =
            Ledger::settle(&produced(&["a"]), seat(Endpoint::Session), &link, &ClientTrace::default());
        assert_eq!(ledger.faults, Vec::<String>::new());
        assert!(text_at(&ledger, Hop::Dispatched).dropped.contains_key(&Reason::new("http_403")));
    }

    #[test]
    fn a_frame_sent_twice_is_added_not_invented() {
        let link = LinkTrace { dispatched: vec![0], sent: vec![delta(0), delta(0)], ..LinkTrace::default() };
        let client = ClientTrace { receipts: vec![reached("a"), reached("a")], ..ClientTrace::default() };
        let ledger = Ledger::settle(&produced(&["a"]), seat(Endpoint::Events), &link, &client);
        assert_eq!(ledger.faults, Vec::<String>::new());
        assert_eq!(text_at(&ledger, Hop::Sent).added[&Reason::new("sent_twice")].frames, 1);
        assert_eq!(text_at(&ledger, Hop::Delivered).left.frames, 2);
    }

    #[test]
    fn text_that_shrank_or_grew_on_the_way_still_balances() {
        for (shown, dropped, added) in [("ab", 1, 0), ("abcd", 0, 1)] {
            let link = LinkTrace { dispatched: vec![0], sent: vec![delta(0)], ..LinkTrace::default() };
            let client = ClientTrace { receipts: vec![reached(shown)], ..ClientTrace::default() };
            let ledger = Ledger::settle(&produced(&["abc"]), seat(Endpoint::Events), &link, &client);
            assert_eq!(ledger.faults, Vec::<String>::new());
            let flow = text_at(&ledger, Hop::Delivered);
            let chars = |m: &BTreeMap<Reason, Tally>| m.values().map(|t| t.chars).sum::<u64>();
            assert_eq!((chars(&flow.dropped), chars(&flow.added)), (dropped, added));
        }
    }

    #[test]
    fn only_a_class_that_is_not_shown_is_missing_by_design() {
        let link = LinkTrace { dispatched: vec![0], sent: vec![delta(0)], ..LinkTrace::default() };
        let fate = Fate::Reached { pieces: vec![], missing: Reason::CLASS_NOT_SHOWN };
        let client = ClientTrace { receipts: vec![receipt(fate)], ..ClientTrace::default() };
        let reason = |shows: &[Class]| {
            let seat = Seat { endpoint: Endpoint::Events, shows, streams: true };
            let ledger = Ledger::settle(&produced(&["a"]), seat, &link, &client);
            text_at(&ledger, Hop::Delivered).dropped.keys().next().unwrap().clone()
        };
        assert_eq!(reason(&[Class::Text]), Reason::new("text_missing"));
        assert_eq!(reason(&[Class::Reasoning]), Reason::CLASS_NOT_SHOWN);
    }

    /// What may happen to one piece on its way.
    fn fates() -> impl Strategy<Value = Vec<(String, u8, u8)>> {
        proptest::collection::vec(("[a-c]{0,3}", 0..8_u8, 0..3_u8), 0..40)
    }

    proptest! {
        /// Whatever stops wherever, with its reason: the books balance, and what was produced is what was
        /// delivered plus everything dropped.
        #[test]
        fn conservation(pieces in fates()) {
            let texts: Vec<&str> = pieces.iter().map(|p| p.0.as_str()).collect();
            let mut server = produced(&texts);
            let (mut link, mut client) = (LinkTrace::default(), ClientTrace::default());
            for (i, (text, fate, _)) in pieces.iter().enumerate() {
                let i = u32::try_from(i).unwrap();
                let reason = Reason::new("why");
                match fate {
                    0 => { server.unpublished_legacy.push((i, reason)); continue }
                    1 => continue,
                    2 => {
                        link.dispatched.push(i);
                        link.stopped.push(Stopped { piece: i, hop: Hop::Sent, reason });
                        continue;
                    }
                    _ => { link.dispatched.push(i); link.sent.push(delta(i)); }
                }
                let hop = [Hop::Parsed, Hop::Decoded, Hop::Admitted, Hop::Delivered].get(usize::from(*fate) - 3);
                client.receipts.push(match hop {
                    Some(hop) => receipt(Fate::Stopped { hop: *hop, reason }),
                    None => reached(text),
                });
            }
            let ledger = Ledger::settle(&server, seat(Endpoint::Events), &link, &client);
            prop_assert_eq!(&ledger.faults, &Vec::<String>::new());
            let total = Ledger::total(&ledger.flows);
            let dropped: Tally = total.iter().flat_map(|f| f.dropped.values().copied()).sum();
            let mut end = total[Hop::Delivered as usize].left;
            end += dropped;
            prop_assert_eq!(end, total[Hop::Produced as usize].entered);
        }
    }
}
