//! What a client notes is true: text counts as delivered exactly when it stands on the screen.

use proptest::prelude::*;
use serde_json::json;

use super::{Bench, corpus_frame};
use crate::probe::ledger::{Endpoint, Ledger, Seat};
use crate::probe::trace::class_of;
use crate::probe::{LinkTrace, Origin, ServerTrace};
use crate::record::observation::Piece;
use crate::record::{Class, Hop, Reason};
use crate::unit::Tally;

const CANVASES: [&str; 5] =
    ["browser-1.0.0", "browser-1.4.0", "browser-1.6.1", "browser-1.14.0", "browser-1.20.0"];

fn delta(n: usize, text: &str, reasoning: bool) -> String {
    let field = if reasoning { "reasoning_content" } else { "content" };
    let mut frame = json!({"id": format!("d{n}"), "timestamp": format!("2026-11-30T07:45:00.{n:06}"),
        "source": "agent", "kind": "StreamingDeltaEvent"});
    frame[field] = json!(text);
    frame.to_string()
}

fn text_of<'a>(pieces: impl Iterator<Item = &'a Piece>, class: Class) -> String {
    pieces.filter(|p| p.class == class).map(|p| p.text.as_str()).collect()
}

/// The ledger of a client that read one frame per piece.
fn settle(bench: &Bench, produced: Vec<Piece>) -> Ledger {
    let count = u32::try_from(produced.len()).unwrap();
    let server = ServerTrace { produced, completed: true, ..ServerTrace::default() };
    let link = LinkTrace {
        dispatched: (0..count).collect(),
        sent: (0..count).map(|first| Origin::Delta { first, count: 1 }).collect(),
        ..LinkTrace::default()
    };
    let seat = Seat { endpoint: Endpoint::Events, shows: &[Class::Text, Class::Reasoning], streams: true };
    Ledger::settle(&server, seat, &[link], &bench.trace)
}

proptest! {
    /// Whenever the animation frames fall: what was noted as delivered is what stands in the bubbles, and
    /// the ledger balances.
    #[test]
    fn delivered_text_is_text_on_the_screen(
        tokens in proptest::collection::vec(("[a-zé😀 \n]{0,4}", any::<bool>(), any::<bool>()), 0..30),
    ) {
        for name in CANVASES {
            let mut bench = Bench::of(name);
            for (n, (text, reasoning, frame)) in tokens.iter().enumerate() {
                bench.take(&delta(n, text, *reasoning));
                if *frame {
                    bench.tick();
                }
            }
            bench.client.finish(&mut bench.trace);
            let produced: Vec<Piece> = tokens
                .iter()
                .map(|(text, reasoning, _)| Piece { class: class_of(text, *reasoning), text: text.clone() })
                .collect();
            for class in [Class::Text, Class::Reasoning] {
                let want = text_of(produced.iter(), class);
                prop_assert_eq!(text_of(bench.trace.delivered.iter(), class), want, "{}", name);
            }
            prop_assert_eq!(bench.trace.view.clone().unwrap(), text_of(produced.iter(), Class::Text));
            let ledger = settle(&bench, produced);
            prop_assert_eq!(ledger.faults, Vec::<String>::new());
        }
    }
}

#[test]
fn a_queue_that_is_never_drawn_claims_nothing() {
    let mut bench = Bench::of("browser-1.20.0");
    bench.take(&delta(0, "seen", false));
    bench.tick();
    bench.take(&delta(1, "lost", false));
    let produced = ["seen", "lost"].map(|t| Piece { class: Class::Text, text: t.to_owned() }).to_vec();
    let ledger = settle(&bench, produced);
    let flow = &ledger.flows[&Class::Text][Hop::Delivered as usize];
    assert_eq!(flow.left, Tally::of("seen"));
    assert_eq!(flow.dropped[&Reason::new("never_drawn")], Tally::of("lost"));
}

#[test]
fn a_delta_flushed_by_a_durable_event_is_seen_before_it() {
    let mut bench = Bench::of("browser-1.20.0");
    bench.take(&delta(0, "Hel", false));
    assert!(bench.trace.delivered.is_empty());
    assert_eq!(bench.client.next_tick().map(|d| d.as_millis()), Some(16));
    bench.take(&corpus_frame("message_agent"));
    assert_eq!(text_of(bench.trace.delivered.iter(), Class::Text), "Hel");
    assert_eq!(bench.client.next_tick(), None);
}

#[test]
fn text_inside_a_think_block_can_be_read_in_the_fold_and_is_not_lost() {
    let mut bench = Bench::of("browser-1.14.0");
    for (n, text) in ["<think>", "why", "</think>", "Hel", "lo"].into_iter().enumerate() {
        bench.take(&delta(n, text, false));
    }
    assert_eq!(text_of(bench.trace.delivered.iter(), Class::Text), "<think>why</think>Hello");
    bench.client.finish(&mut bench.trace);
    let view = bench.trace.view.as_deref();
    assert_eq!(view, Some("<think>why</think>Hello"), "the bubble alone is not what the person was given");
}

#[test]
fn the_error_page_shows_nothing_until_a_merge_repairs_it() {
    let mut bench = Bench::of("browser-1.14.0");
    bench.take(&delta(0, "Hel", false).replace("\"Hel\"", "7"));
    assert!(bench.trace.delivered.is_empty() && bench.trace.surfaced[0].starts_with("error page"));
    bench.take(&delta(1, "b", false));
    assert_eq!(text_of(bench.trace.delivered.iter(), Class::Text), "7b");
}

#[test]
fn text_stays_twice_where_the_release_leaves_it_twice() {
    let view = |name: &str| {
        let mut bench = Bench::of(name);
        for (n, text) in ["Hel", "!"].into_iter().enumerate() {
            bench.take(&delta(n, text, false));
        }
        bench.take(&corpus_frame("message_agent"));
        bench.client.finish(&mut bench.trace);
        bench.trace.view.unwrap()
    };
    assert_eq!(view("browser-1.4.0"), "Hel!Hello");
    assert_eq!(view("browser-1.6.1"), "Hello");
    assert_eq!(view("browser-1.0.0-alpha.10"), "Hello");
}
