//! The canvas in real Chromium: 40 tokens under each mutation of every delta, counted before and after the
//! final message (n = 1 a cell; token counts are solid).
//!
//! The number of bubbles in the row *pairs swapped* is left out: the proxy held a frame back until the next
//! one came, so where the odd last delta landed depends on its timing.

use serde_json::json;

use super::Bench;
use crate::seed::{Ids, Seed};
use crate::wire::event::Message;
use crate::wire::{Dialect, Event, EventBody, Mutation, Source};

const TOKENS: usize = 40;
const VERSIONS: [&str; 3] = ["browser-1.20.0", "browser-1.14.0", "browser-1.0.0"];

/// The frames of one turn: the user's message, an empty delta, forty tokens, and the final message.
struct Turn {
    user: Event,
    deltas: Vec<Event>,
    last: Event,
}

fn turn() -> Turn {
    let mut ids = Ids::new(Seed(3));
    let mut event = |at: usize, source, body| Event {
        id: ids.next_id(),
        timestamp: format!("2026-11-30T07:45:00.{:06}", at * 1000),
        source,
        parent_id: None,
        body,
    };
    let message = |role: &str, text: String| {
        EventBody::Message(Message {
            role: role.to_owned(),
            text,
            reasoning_content: None,
            llm_response_id: None,
        })
    };
    let texts: Vec<String> =
        std::iter::once(String::new()).chain((0..TOKENS).map(|n| format!("tok{n} "))).collect();
    let user = event(0, Source::User, message("user", "go".to_owned()));
    let delta =
        |text: &String| EventBody::StreamingDelta { content: Some(text.clone()), reasoning_content: None };
    let deltas = texts.iter().enumerate().map(|(n, t)| event(n + 1, Source::Agent, delta(t))).collect();
    let last = event(TOKENS + 2, Source::Agent, message("assistant", texts.concat()));
    Turn { user, deltas, last }
}

/// Plays `deltas` as one turn: tokens on the screen before and after the final message.
fn play(version: &str, deltas: &[String]) -> (usize, usize) {
    let turn = turn();
    let mut bench = Bench::of(version);
    bench.take(&turn.user.encode(Dialect::CURRENT));
    for (n, delta) in deltas.iter().enumerate() {
        bench.take(delta);
        if n % 3 == 0 {
            bench.tick();
        }
    }
    bench.tick();
    let before = tokens(&bench);
    bench.take(&turn.last.encode(Dialect::CURRENT));
    (before, tokens(&bench))
}

fn tokens(bench: &Bench) -> usize {
    let seen = bench.snapshot().seen;
    let agent = seen.as_array().unwrap().iter().filter(|s| s[0] == "agent");
    agent.map(|s| s[1].as_str().unwrap().matches("tok").count()).sum()
}

fn mutated(mutation: &str) -> Vec<String> {
    let mutation: Mutation = mutation.parse().unwrap();
    turn().deltas.iter().map(|d| mutation.apply(d.to_object(Dialect::CURRENT))).collect()
}

#[test]
fn each_field_mutation_counts_as_in_chromium() {
    let rows = [
        ("none", TOKENS),
        ("+reasoning_content=null", TOKENS),
        ("+item_id=x +order=0", TOKENS),
        ("-source", 0),
        ("-id", 0),
        ("-timestamp", 0),
        ("id=null", 0),
        ("timestamp=7", 0),
        ("source=assistant", 0),
        ("source=null", 0),
        ("source=user", TOKENS),
        ("source=environment", TOKENS),
        ("source=hook", TOKENS),
        ("kind=StreamingDelta", 0),
        ("-kind", 0),
        ("-content", 0),
        ("content=null", 0),
        ("content->text", 0),
        (r#"!{"type":"item_delta","content":"tok1 "}"#, 0),
        (r#"!{"type":"event","event":"delta"}"#, 0),
        ("timestamp=2099-01-01T00:00:00", TOKENS),
    ];
    for version in VERSIONS {
        for (mutation, before) in rows {
            assert_eq!(play(version, &mutated(mutation)), (before, TOKENS), "{version} {mutation}");
        }
    }
}

#[test]
fn each_sequence_mutation_counts_as_in_chromium() {
    let plain = mutated("none");
    let session = json!({"type": "item_started", "item_id": "x"}).to_string();
    let announced: Vec<String> = plain.iter().flat_map(|d| [session.clone(), d.clone()]).collect();
    let same_id = mutated("id=one");
    let twice: Vec<String> = plain.iter().flat_map(|d| [d.clone(), d.clone()]).collect();
    let fifth_dropped: Vec<String> =
        plain.iter().enumerate().filter(|(n, _)| n % 5 != 0 || *n == 0).map(|(_, d)| d.clone()).collect();
    let swapped: Vec<String> = plain.chunks(2).flat_map(|pair| pair.iter().rev().cloned()).collect();
    // Before and after the final message, for 1.20.0, 1.14.0 and 1.0.0.
    let rows = [
        ("item_started before each", announced, [(40, 40), (40, 40), (40, 40)]),
        ("same id on all", same_id, [(40, 40), (0, 40), (0, 40)]),
        ("each twice", twice, [(80, 40), (40, 40), (40, 40)]),
        ("every fifth dropped", fifth_dropped, [(32, 40), (32, 40), (32, 72)]),
        ("pairs swapped", swapped, [(40, 40), (40, 40), (40, 80)]),
        ("all dropped", Vec::new(), [(0, 40), (0, 40), (0, 40)]),
    ];
    for (name, deltas, counts) in rows {
        for (version, want) in VERSIONS.into_iter().zip(counts) {
            assert_eq!(play(version, &deltas), want, "{version} {name}");
        }
    }
}

/// Own fake server in front of Chromium: what is no frame of the turn does not disturb it.
#[test]
fn stray_frames_leave_the_stream_alone() {
    for stray in ["not json{", "[]", "null"] {
        let mut deltas = mutated("none");
        deltas.insert(20, stray.to_owned());
        assert_eq!(play("browser-1.20.0", &deltas), (TOKENS, TOKENS), "{stray}");
    }
    let objects = mutated(r#"content={"a":1}"#);
    assert_eq!(play("browser-1.20.0", &objects), (0, TOKENS));
}

/// The alphas on three servers: nothing before the final message.
#[test]
fn an_alpha_shows_the_final_message_only() {
    assert_eq!(play("browser-1.0.0-alpha.10", &mutated("none")), (0, TOKENS));
    assert_eq!(play("browser-1.0.0-alpha.5", &mutated("none")), (0, TOKENS));
}
