use std::borrow::Cow;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::wire::numbered;

/// A ledger with its counts, and what it is fed.
struct Desk {
    ledger: Ledger,
    counts: Counts,
}

impl Desk {
    fn new() -> Desk {
        Desk { ledger: Ledger::new(), counts: Counts::default() }
    }

    /// One whose next reply begins with that chunk.
    fn block(first: u64) -> Desk {
        let mut desk = Desk::new();
        desk.ledger.begin(first, &mut desk.counts);
        desk
    }

    fn say(&mut self, text: &str, reasoning: &str) -> Option<u64> {
        let (text, reasoning) = (Cow::Borrowed(text), Cow::Borrowed(reasoning));
        self.ledger.delta(&Delta { text, reasoning, place: None }, &mut self.counts)
    }

    fn place(&mut self, item: &str, attempt: u64, order: u64) {
        let (text, reasoning) = (Cow::Borrowed("x"), Cow::Borrowed(""));
        let place = Some(Place { item: Cow::Borrowed(item), attempt, order });
        self.ledger.delta(&Delta { text, reasoning, place }, &mut self.counts);
    }

    fn tokens(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for n in numbers {
            assert_eq!(self.say(&numbered::text(n, 12), ""), Some(n));
        }
    }

    fn end(&mut self, text: &str, reasoning: Option<&str>) {
        let reply = Reply { text: vec![Cow::Borrowed(text)], reasoning: reasoning.map(Cow::Borrowed) };
        self.ledger.reply(&reply, &mut self.counts);
    }

    fn ended(mut self, text: &str) -> Counts {
        self.end(text, None);
        self.counts
    }
}

fn whole(numbers: std::ops::Range<u64>) -> String {
    numbers.map(|n| numbered::text(n, 12)).collect()
}

#[test]
fn a_whole_reply_is_nobodys_loss() {
    let mut desk = Desk::block(0);
    desk.tokens(0..500);
    let counts = desk.ended(&whole(0..500));
    assert_eq!(counts, Counts { deltas: 500, replies: 1, ..Counts::default() });
    assert!(!counts.lost());
}

#[test]
fn one_chunk_withheld_anywhere_is_noticed_without_a_total() {
    for gone in 0..40 {
        let mut desk = Desk::block(0);
        desk.tokens((0..40).filter(|n| *n != gone));
        let counts = desk.ended(&whole(0..40));
        assert_eq!((counts.missing, counts.short_replies, counts.short_chars), (1, 1, 12), "chunk {gone}");
        assert!(counts.lost());
    }
}

#[test]
fn a_withheld_tail_is_noticed_by_its_number_and_without_numbers_by_its_characters() {
    let mut desk = Desk::block(0);
    desk.tokens(0..35);
    let counts = desk.ended(&whole(0..40));
    assert_eq!((counts.missing, counts.short_chars), (5, 5 * 12));
    let mut desk = Desk::block(0);
    for word in ["The ", "quick ", "brown "] {
        assert_eq!(desk.say(word, ""), None);
    }
    let counts = desk.ended("The quick brown fox");
    assert_eq!((counts.missing, counts.short_replies, counts.short_chars), (0, 1, 3));
}

#[test]
fn a_class_that_never_came_is_noticed() {
    let mut desk = Desk::block(0);
    desk.tokens(0..5);
    desk.end(&whole(0..5), Some("because"));
    assert_eq!((desk.counts.missing, desk.counts.short_replies, desk.counts.short_chars), (0, 1, 7));
    let mut desk = Desk::block(0);
    desk.say("tok0 ", "because");
    desk.end("tok0 ", Some("because"));
    assert_eq!(desk.counts.short_replies, 0);
}

#[test]
fn a_reply_of_which_nothing_streamed_is_short_by_all_of_it() {
    let counts = Desk::block(0).ended(&whole(0..10));
    assert_eq!((counts.missing, counts.short_chars), (10, 120));
}

#[test]
fn other_text_of_the_same_length_is_altered() {
    let mut desk = Desk::block(0);
    desk.say("hello ", "");
    desk.say("wurld", "");
    let counts = desk.ended("hello world");
    assert_eq!((counts.altered, counts.short_chars, counts.extra_chars), (1, 0, 0));
    let mut desk = Desk::block(0);
    desk.tokens([0, 1, 1]);
    let counts = desk.ended(&whole(0..2));
    assert_eq!((counts.duplicated, counts.extra_chars, counts.altered), (1, 12, 0));
}

#[test]
fn blocks_follow_each_other_with_the_same_or_with_running_numbers() {
    for step in [0, 500] {
        let mut desk = Desk::new();
        for block in 0..4 {
            let first = block * step;
            desk.ledger.begin(first, &mut desk.counts);
            desk.tokens(first..first + 500);
            desk.end(&whole(first..first + 500), None);
        }
        assert_eq!(desk.counts, Counts { deltas: 2000, replies: 4, ..Counts::default() });
    }
}

#[test]
fn a_chunk_that_comes_after_the_end_is_late_and_not_missing() {
    let mut desk = Desk::block(0);
    desk.tokens(0..9);
    desk.end(&whole(0..10), None);
    assert_eq!(desk.counts.missing, 1);
    desk.tokens([9]);
    let counts = desk.counts;
    assert_eq!((counts.missing, counts.reordered, counts.after_end, counts.short_replies), (0, 1, 1, 1));
    // The same number again begins the next reply, whose first nine did not come.
    desk.tokens([9]);
    assert_eq!((desk.counts.missing, desk.counts.after_end), (9, 1));
}

#[test]
fn replies_without_blocks_are_told_apart_by_their_ends() {
    let mut desk = Desk::new();
    desk.tokens(3..10);
    desk.end(&whole(0..10), None);
    let first = desk.counts;
    assert_eq!((first.missing, first.unjudged), (0, 1), "joined in the middle");
    desk.tokens((0..10).filter(|n| *n != 4));
    desk.end(&whole(0..10), None);
    assert_eq!((desk.counts.missing, desk.counts.short_replies, desk.counts.unjudged), (1, 1, 1));
    let mut desk = Desk::new();
    desk.ledger.asked();
    desk.tokens(1..10);
    let counts = desk.ended(&whole(0..10));
    assert_eq!((counts.missing, counts.unjudged), (1, 0), "seen from the question on");
}

#[test]
fn an_end_that_never_comes_is_noticed() {
    let mut desk = Desk::block(0);
    desk.tokens(0..3);
    desk.ledger.begin(0, &mut desk.counts);
    assert_eq!(desk.counts.unfinished, 1);
    desk.ledger.closed(&mut desk.counts);
    assert_eq!(desk.counts.unfinished, 1, "nothing had begun");
    let mut desk = Desk::block(0);
    desk.tokens(0..3);
    desk.ledger.closed(&mut desk.counts);
    desk.ledger.closed(&mut desk.counts);
    assert_eq!(desk.counts.unfinished, 1);
}

#[test]
fn text_that_is_not_numbered_raises_no_alarm() {
    let mut desk = Desk::block(0);
    for word in ["", "see ", "v7 ", "and ", "v2 "] {
        desk.say(word, "");
    }
    let counts = desk.ended("see v7 and v2 ");
    assert_eq!(counts, Counts { deltas: 5, replies: 1, ..Counts::default() });
}

#[test]
fn the_order_of_the_session_socket_is_held() {
    let mut desk = Desk::block(0);
    for order in [0, 1, 4, 5, 5, 3] {
        desk.place("a", 1, order);
    }
    assert_eq!((desk.counts.order_missing, desk.counts.order_repeated), (2, 2));
    desk.end("xxxxxx", None);
    desk.place("b", 1, 1);
    assert_eq!(desk.counts.order_missing, 3, "the first of the next item is withheld");
    desk.place("b", 2, 0);
    desk.place("b", 2, 1);
    desk.end("xx", None);
    let counts = desk.counts;
    assert_eq!((counts.order_missing, counts.extra_chars, counts.unfinished), (3, 0, 0), "a new attempt");
    desk.place("c", 1, 0);
    desk.place("d", 1, 0);
    assert_eq!(desk.counts.unfinished, 1, "c has no durable end");
    desk.ledger.aborted();
    desk.place("e", 1, 0);
    assert_eq!(desk.counts.unfinished, 1, "d was aborted");
    let mut desk = Desk::new();
    desk.place("a", 1, 7);
    desk.place("a", 1, 8);
    desk.end("xxxxxxxxx", None);
    assert_eq!((desk.counts.order_missing, desk.counts.unjudged), (0, 1), "joined in the middle");
}

#[test]
fn the_last_number_is_found_in_a_whole_reply() {
    for (text, number) in [
        ("tok1 .....tok27 .......", Some(27)),
        ("tok3 ", Some(3)),
        ("tok3", None),
        ("in 1999 ", None),
        ("", None),
        (" ", None),
        ("7 ", None),
    ] {
        assert_eq!(last_number(text), number, "{text:?}");
    }
}

/// What came, by a model that remembers everything.
fn naive(came: &[u64], total: u64) -> (u64, u64, u64) {
    let mut seen = BTreeSet::new();
    let (mut duplicated, mut reordered) = (0, 0);
    for &n in came {
        let largest = seen.last().copied();
        if !seen.insert(n) {
            duplicated += 1;
        } else if largest.is_some_and(|l| n < l) {
            reordered += 1;
        }
    }
    ((0..total).filter(|n| !seen.contains(n)).count() as u64, duplicated, reordered)
}

proptest! {
    #[test]
    fn withheld_repeated_and_late_chunks_are_counted_as_by_a_model_that_remembers_all(
        total in 1_u64..700,
        faults in prop::collection::vec((0_usize..3, any::<prop::sample::Index>(), 1_usize..100), 0..60),
    ) {
        let mut came: Vec<u64> = (0..total).collect();
        for (fault, at, by) in faults {
            if came.is_empty() {
                break;
            }
            let at = at.index(came.len());
            let to = (at + by).min(came.len() - 1);
            match fault {
                0 => drop(came.remove(at)),
                1 => came.insert(to, came[at]),
                _ => {
                    let late = came.remove(at);
                    came.insert(to, late);
                }
            }
        }
        // Beyond the window nothing is promised; the ledger says so in `unplaced`.
        let mut largest = 0;
        prop_assume!(came.iter().all(|&n| {
            largest = largest.max(n);
            largest + 1 - n <= numbers::WINDOW
        }));
        let mut desk = Desk::block(0);
        desk.tokens(came.iter().copied());
        let counts = desk.ended(&whole(0..total));
        let found = (counts.missing, counts.duplicated, counts.reordered);
        prop_assert_eq!(found, naive(&came, total));
        prop_assert_eq!(counts.unplaced, 0);
        let had: u64 = came.iter().map(|&n| numbered::text(n, 12).len() as u64).sum();
        let held: u64 = (0..total).map(|n| numbered::text(n, 12).len() as u64).sum();
        prop_assert_eq!(counts.short_chars, held.saturating_sub(had));
        prop_assert_eq!(counts.extra_chars, had.saturating_sub(held));
        prop_assert_eq!(counts.lost(), counts.missing > 0 || had < held);
    }
}
