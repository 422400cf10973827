//! Every bit flipped, and every cut: a log is refused with a position, or what comes back is a prefix of the true events.

use std::rc::Rc;

use super::super::super::event::Event;
use super::super::load::{LoadError, Mend, Position};
use super::super::{Loaded, load_lines};
use super::{session, written};

type Events = Vec<Rc<Event>>;

/// Small, with a turn that ended, an open one behind it, and batches on both sides.
fn small() -> (Events, Vec<u8>, u64) {
    let end = |events: &Events| events.iter().position(|event| event.body.kind() == "turn/end").unwrap() + 1;
    let events = (0..100).map(|seed| session(seed, 400)).min_by_key(end).unwrap();
    let (end, all) = (end(&events), end(&events) + 12);
    let store = written(
        &[&events[..end / 2], &events[end / 2..end], &events[end..end + 6], &events[end + 6..all]],
        true,
    );
    (events[..all].to_vec(), store.medium().durable().to_vec(), end as u64)
}

/// What came back must be a prefix, and whatever is missing or added must be said.
fn check(what: &str, true_events: &Events, result: Result<Loaded, LoadError>) -> Option<usize> {
    match result {
        Err(LoadError::Refused { at, .. }) => {
            assert!(matches!(at, Position::Line { .. } | Position::File), "{what}");
            None
        }
        Err(error) => panic!("{what}: {error}"),
        Ok(loaded) => {
            let stored = loaded.stored_events();
            assert!(true_events.starts_with(stored), "{what}: not a prefix");
            let dropped = usize::from(matches!(loaded.mends.first(), Some(Mend::Dropped(_))));
            assert_eq!(loaded.mends.len(), dropped + loaded.added().len(), "{what}: every repair is said");
            Some(stored.len())
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_or_costs_the_last_batch_and_never_changes_an_event() {
    let (events, bytes, end) = small();
    let whole = load_lines(&bytes).unwrap();
    assert_eq!(whole.stored_events(), events);
    let (mut refused, mut dropped) = (0, 0);
    // Where the last batch begins: what is before it must be refused, and what is in it is dropped.
    let last = bytes.windows(9).rposition(|w| w == b"{\"frame\":").unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match check(&format!("bit {bit}"), &events, load_lines(&flipped)) {
            None => {
                assert!(bit / 8 < last, "bit {bit} is behind the last turn end and in the last batch");
                refused += 1;
            }
            Some(kept) => {
                assert!(bit / 8 >= last, "bit {bit} is not in the last batch");
                assert_eq!(kept as u64, end + 6, "bit {bit}");
                dropped += 1;
            }
        }
    }
    assert_eq!((refused, dropped), (last * 8, (bytes.len() - last) * 8));
}

#[test]
fn every_flipped_bit_of_a_log_that_ends_with_its_turn_is_refused() {
    let (events, bytes, end) = small();
    let frames: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i..].starts_with(b"{\"frame\":")).collect();
    let bytes = &bytes[..frames[2]];
    assert_eq!(load_lines(bytes).unwrap().stored.events, end);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(check(&format!("bit {bit}"), &events, load_lines(&flipped)), None, "bit {bit}");
    }
}

#[test]
fn every_cut_gives_the_batches_that_are_whole() {
    let (events, bytes, _) = small();
    let frames: Vec<usize> =
        (0..=bytes.len()).filter(|i| bytes[*i..].starts_with(b"{\"frame\":") || *i == bytes.len()).collect();
    let mut lengths = std::collections::BTreeSet::new();
    for cut in 0..=bytes.len() {
        let kept = check(&format!("cut at {cut}"), &events, load_lines(&bytes[..cut]));
        assert_eq!(kept.is_some(), cut >= frames[0], "cut at {cut}: only the header cannot be cut");
        if let Some(kept) = kept {
            let whole = frames.iter().filter(|f| **f <= cut).count() - 1;
            lengths.insert((whole, kept));
        }
    }
    // As many events for as many whole frames, whatever else of the next one is there.
    assert_eq!(lengths.len(), frames.len());
    assert_eq!(lengths.last().unwrap().1, events.len());
}

#[test]
fn a_batch_with_the_end_of_a_turn_is_left_out_when_it_was_cut_and_refused_when_it_was_changed() {
    let (_, bytes, end) = small();
    let frames: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i..].starts_with(b"{\"frame\":")).collect();
    let ends = &bytes[..frames[2]];
    let cut = load_lines(&ends[..ends.len() - 1]).unwrap();
    assert!(cut.stored.events < end && matches!(cut.mends[0], Mend::Dropped(_)), "{:?}", cut.mends);
    let mut changed = ends.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    assert!(matches!(load_lines(&changed), Err(LoadError::Refused { .. })));
}
