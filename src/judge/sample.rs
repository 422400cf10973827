//! Observations for tests: a script of pieces and what becomes of each, with a ledger that adds up.

use std::collections::BTreeMap;

use crate::record::client_bench::{CLIENT_BENCH_SCHEMA, ClientBench, Counts, ReadAs};
use crate::record::observation::Piece;
use crate::record::{Class, Durables, Figures, Hop, HopFlow, Observation, Reason, SideEffects, Signal};
use crate::unit::Tally;

/// What becomes of one piece.
#[derive(Clone, Copy)]
pub(super) enum Fate {
    /// It arrives.
    Arrives,
    /// It stops.
    Stops(Hop, &'static str),
    /// It is sent twice, and arrives twice.
    Twice,
}

pub(super) use Fate::{Arrives, Stops, Twice};

/// A text piece.
pub(super) fn text(text: &str) -> Piece {
    Piece { class: Class::Text, text: text.to_owned() }
}

/// A reasoning piece.
pub(super) fn thought(text: &str) -> Piece {
    Piece { class: Class::Reasoning, text: text.to_owned() }
}

/// A reply with reasoning before it, in twelve and eleven characters.
pub(super) fn reply() -> Vec<Piece> {
    vec![thought("let "), thought("me "), thought("think"), text("Hello"), text(" wor"), text("ld")]
}

/// A client that shows text and reasoning, finished, with every durable event taken.
pub(crate) fn healthy() -> Observation {
    observe(reply(), |_, _| Arrives)
}

/// What such a client sees when pieces fare as told, by index.
pub(super) fn observe(produced: Vec<Piece>, fate: impl Fn(usize, &Piece) -> Fate) -> Observation {
    let hops = || Hop::ALL.into_iter().map(HopFlow::new).collect::<Vec<_>>();
    let mut flows: BTreeMap<Class, Vec<HopFlow>> = Class::ALL.into_iter().map(|c| (c, hops())).collect();
    let mut delivered = Vec::new();
    for (index, piece) in produced.iter().enumerate() {
        let (fate, one) = (fate(index, piece), Tally::of(&piece.text));
        let mut tally = one;
        let mut arrives = true;
        for flow in flows.get_mut(&piece.class).unwrap() {
            flow.entered += tally;
            if matches!(fate, Twice) && flow.hop == Hop::Sent {
                *flow.added.entry(Reason::new("sent_twice")).or_default() += one;
                tally += one;
            }
            if let Stops(hop, reason) = fate
                && hop == flow.hop
            {
                *flow.dropped.entry(Reason::new(reason)).or_default() += tally;
                arrives = false;
                break;
            }
            flow.left += tally;
        }
        let times = if arrives { 1 + usize::from(matches!(fate, Twice)) } else { 0 };
        delivered.extend(std::iter::repeat_n(piece.clone(), times));
    }
    assert!(flows.values().flatten().all(HopFlow::balances));
    let reply: String = produced.iter().filter(|p| p.class == Class::Text).map(|p| p.text.as_str()).collect();
    Observation {
        streams: true,
        shows: vec![Class::Text, Class::Reasoning],
        produced,
        delivered,
        view: Some(reply.clone()),
        reply,
        completed: true,
        cut: None,
        turns_killed: 0,
        unattended: None,
        durables: Durables {
            due: 3,
            sent: 3,
            accepted: 3,
            recovered: 0,
            rejected: BTreeMap::new(),
            reply_due: true,
            reply: true,
        },
        flows,
        signal: Signal::None,
        durable_signal: Signal::None,
        surfaced: Vec::new(),
        log: BTreeMap::new(),
        side_effects: SideEffects::default(),
        cpu_ratio: None,
        figures: Figures::new(),
        lost_pieces: Vec::new(),
        sources: Vec::new(),
        subscribed: None,
        first_frame: None,
        times: None,
        baseline: None,
        superseded: Tally::default(),
        late: Vec::new(),
        queue: None,
        receive_queue: None,
        reaped: None,
        rig_faults: Vec::new(),
    }
}

/// Ten subscribers that read everything, with these counts.
pub(crate) fn client_bench(counts: Counts) -> ClientBench {
    ClientBench {
        schema: CLIENT_BENCH_SCHEMA.to_owned(),
        skewlab: "0".to_owned(),
        server: "127.0.0.1:9".to_owned(),
        reading: ReadAs::Full,
        complete: true,
        sockets: 10,
        ready: 10,
        refused: BTreeMap::new(),
        closed: BTreeMap::new(),
        unread: 0,
        seconds: 1.0,
        bytes: 2048,
        messages: Some(10),
        cpu_us_per_message: Some(1.0),
        cpu_us_per_kib: Some(5.0),
        cpu_share: Some(0.1),
        allocations_per_message: Some(0.0),
        heap_bytes_per_socket: Some(500.0),
        heap_bytes_shared: 1024,
        rss_bytes: None,
        unreadable: Some(0),
        counts: Some(counts),
        replies_due: None,
        frame_gap: None,
    }
}
