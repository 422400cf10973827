//! Books that balance, and those that must not.

use proptest::prelude::*;

use super::*;
use crate::probe::trace::{Fate, Receipt, Stopped, class_of};
use crate::record::flow::{Hop, Reason};
use crate::unit::Tally;

fn produced(texts: &[&str]) -> ServerTrace {
    let produced = texts.iter().map(|t| Piece { class: class_of(t, false), text: (*t).to_owned() }).collect();
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
    let client = ClientTrace { receipts: vec![other, reached("a"), reached("bc")], ..ClientTrace::default() };
    let ledger = Ledger::settle(&server, seat(Endpoint::Events), std::slice::from_ref(&link), &client);
    assert_eq!(ledger.faults, Vec::<String>::new());
    assert_eq!(text_at(&ledger, Hop::Delivered).left, Tally { frames: 2, chars: 3 });
}

#[test]
fn a_frame_that_vanishes_without_a_reason_is_a_rig_fault() {
    let server = produced(&["a"]);
    let link = LinkTrace { dispatched: vec![0], ..LinkTrace::default() };
    let ledger =
        Ledger::settle(&server, seat(Endpoint::Events), std::slice::from_ref(&link), &ClientTrace::default());
    assert!(ledger.faults[0].contains("`sent`"), "{:?}", ledger.faults);
    let sent = LinkTrace { dispatched: vec![0], sent: vec![delta(0)], ..LinkTrace::default() };
    let ledger = Ledger::settle(&server, seat(Endpoint::Events), &[sent], &ClientTrace::default());
    assert!(ledger.faults[0].contains("`received`"), "{:?}", ledger.faults);
}

#[test]
fn a_client_that_reads_more_than_was_written_is_a_rig_fault() {
    let client = ClientTrace { receipts: vec![reached("a")], ..ClientTrace::default() };
    let ledger = Ledger::settle(&produced(&[]), seat(Endpoint::Events), &[LinkTrace::default()], &client);
    assert!(ledger.faults[0].contains("read 1 frames"));
}

#[test]
fn a_refused_upgrade_is_the_reason() {
    let link = LinkTrace { refused: Some(403), ..LinkTrace::default() };
    let ledger = Ledger::settle(
        &produced(&["a"]),
        seat(Endpoint::Session),
        std::slice::from_ref(&link),
        &ClientTrace::default(),
    );
    assert_eq!(ledger.faults, Vec::<String>::new());
    assert!(text_at(&ledger, Hop::Dispatched).dropped.contains_key(&Reason::new("http_403")));
}

#[test]
fn a_frame_sent_twice_is_added_not_invented() {
    let link = LinkTrace { dispatched: vec![0], sent: vec![delta(0), delta(0)], ..LinkTrace::default() };
    let client = ClientTrace { receipts: vec![reached("a"), reached("a")], ..ClientTrace::default() };
    let ledger =
        Ledger::settle(&produced(&["a"]), seat(Endpoint::Events), std::slice::from_ref(&link), &client);
    assert_eq!(ledger.faults, Vec::<String>::new());
    assert_eq!(text_at(&ledger, Hop::Sent).added[&Reason::new("sent_twice")].frames, 1);
    assert_eq!(text_at(&ledger, Hop::Delivered).left.frames, 2);
}

#[test]
fn text_that_shrank_or_grew_on_the_way_still_balances() {
    for (shown, dropped, added) in [("ab", 1, 0), ("abcd", 0, 1)] {
        let link = LinkTrace { dispatched: vec![0], sent: vec![delta(0)], ..LinkTrace::default() };
        let client = ClientTrace { receipts: vec![reached(shown)], ..ClientTrace::default() };
        let ledger =
            Ledger::settle(&produced(&["abc"]), seat(Endpoint::Events), std::slice::from_ref(&link), &client);
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
        let ledger = Ledger::settle(&produced(&["a"]), seat, std::slice::from_ref(&link), &client);
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
        let ledger = Ledger::settle(&server, seat(Endpoint::Events), std::slice::from_ref(&link), &client);
        prop_assert_eq!(&ledger.faults, &Vec::<String>::new());
        let total = Ledger::total(&ledger.flows);
        let dropped: Tally = total.iter().flat_map(|f| f.dropped.values().copied()).sum();
        let mut end = total[Hop::Delivered as usize].left;
        end += dropped;
        prop_assert_eq!(end, total[Hop::Produced as usize].entered);
    }
}
