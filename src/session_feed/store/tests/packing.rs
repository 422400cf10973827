//! Packed and unpacked logs are one log.

use std::rc::Rc;

use proptest::prelude::*;

use super::super::super::chunk::{BlockKind, Chunk};
use super::super::super::event::tests::one_of_each;
use super::super::super::event::{Body, Event, Place};
use super::super::{PACKED_BYTES, PACKED_EVENTS, Store as _};
use super::{loaded, session, written};

fn delta(seq: u64, time: u64, place: Place, kind: BlockKind, index: u32, text: &str) -> Rc<Event> {
    Rc::new(Event { seq, time, body: Body::Chunk(place, Chunk::of(kind, index, text)), cites: None })
}

fn alike(n: u64, text: &str) -> Vec<Rc<Event>> {
    let place = Place { turn: 1, step: 1 };
    (0..n).map(|seq| delta(seq, seq, place, BlockKind::Text, 0, text)).collect()
}

/// Rows and packed rows of one batch.
fn rows(batch: &[Rc<Event>]) -> (u64, u64) {
    let store = written(&[batch], true);
    assert_eq!(loaded(&store).stored_events(), batch);
    (store.written().rows, store.written().packed_rows)
}

#[test]
fn three_alike_are_packed_and_two_are_not() {
    assert_eq!(rows(&alike(2, "x")), (2, 0));
    assert_eq!(rows(&alike(3, "x")), (1, 1));
    assert_eq!(written(&[&alike(3, "x")], false).written().packed_rows, 0);
    let two = alike(6, "x");
    let split = written(&[&two[..2], &two[2..4], &two[4..]], true);
    assert_eq!(split.written().packed_rows, 0, "a run lies within one batch");
}

#[test]
fn a_run_ends_where_turn_step_block_or_kind_changes() {
    let place = Place { turn: 1, step: 1 };
    let others = [
        (Place { turn: 2, step: 1 }, BlockKind::Text, 0),
        (Place { turn: 1, step: 2 }, BlockKind::Text, 0),
        (place, BlockKind::Reasoning, 0),
        (place, BlockKind::Text, 1),
    ];
    for (place, kind, index) in others {
        let mut batch = alike(5, "x");
        batch[2] = delta(2, 2, place, kind, index, "x");
        assert_eq!(rows(&batch), (5, 0), "{kind:?} {index} {place:?}");
    }
    let mut cited = alike(5, "x");
    Rc::make_mut(&mut cited[2]).cites = Some([0].into());
    assert_eq!(rows(&cited), (5, 0), "a citation has no place in a packed row");
}

#[test]
fn a_packed_row_is_bounded_in_events_and_in_bytes() {
    let most = PACKED_EVENTS as u64;
    assert_eq!(rows(&alike(most, "x")), (1, 1));
    assert_eq!(rows(&alike(most + 1, "x")), (2, 1));
    assert_eq!(rows(&alike(most + 3, "x")), (2, 2));
    let quarter = "x".repeat(PACKED_BYTES / 4);
    assert_eq!(rows(&alike(4, &quarter)), (1, 1));
    assert_eq!(rows(&alike(5, &quarter)), (2, 1));
    assert_eq!(rows(&alike(3, &"x".repeat(PACKED_BYTES))), (3, 0));
}

#[test]
fn every_kind_of_event_is_read_back() {
    // Not a session that a load would take: only the rows are asked for, so its citation is left out.
    let events: Vec<Rc<Event>> =
        one_of_each().into_iter().map(|event| Rc::new(Event { cites: None, ..event })).collect();
    for packed in [false, true] {
        let store = written(&[&events], packed);
        let loaded = loaded(&store);
        assert_eq!(loaded.events, events);
        assert_eq!(loaded.stored, store.written());
        assert_eq!(loaded.stored.chunks, 3, "one event, one in the message, one in the attempt");
    }
}

/// Deltas that are often alike and sometimes not, with any times.
fn events() -> impl Strategy<Value = Vec<Rc<Event>>> {
    let kind = prop_oneof![Just(BlockKind::Text), Just(BlockKind::Text), Just(BlockKind::ToolCall)];
    let one = (kind, 0..2_u32, 0..2_u32, prop_oneof![0..5_u64, any::<u64>()], ".{0,3}");
    proptest::collection::vec(one, 0..40).prop_map(|all| {
        let event = |(seq, (kind, index, step, time, text)): (u64, (_, u32, u32, u64, String))| {
            let index = index.min(1) * u32::from(seq % 7 == 0);
            delta(seq, time, Place { turn: 1, step: 1 + step * u32::from(seq % 5 == 0) }, kind, index, &text)
        };
        (0..).zip(all).map(event).collect()
    })
}

proptest! {
    #[test]
    fn packed_or_not_and_however_it_is_split_the_same_events_come_back(
        own in events(), seed in 0..50_u64, cuts in proptest::collection::btree_set(0..120_usize, 0..8),
    ) {
        for events in [own, session(seed, 120)] {
            let mut batches = Vec::new();
            let mut from = 0;
            for cut in cuts.iter().copied().chain([events.len()]) {
                let to = cut.min(events.len());
                batches.push(&events[from..to]);
                from = to;
            }
            for packed in [false, true] {
                let store = written(&batches, packed);
                if store.medium().durable().is_empty() {
                    prop_assert!(events.is_empty());
                    continue;
                }
                let loaded = loaded(&store);
                prop_assert_eq!(loaded.stored_events(), &events[..]);
                prop_assert_eq!(loaded.stored, store.written());
                prop_assert_eq!(store.written().bytes, store.medium().durable().len() as u64);
                prop_assert_eq!(packed || store.written().packed_rows == 0, true);
            }
        }
    }
}
