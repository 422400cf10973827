//! The canvas in real Chromium: 40 tokens under each mutation of every delta, counted before and after the
//! final message (n = 1 a cell; token counts are solid).
//!
//! In the row *pairs swapped* the number of bubbles is left out on 1.20.0 and 1.14.0 (see [`UNDETERMINED`]).

use serde_json::json;

use super::Bench;
use crate::seed::{Ids, Seed};
use crate::wire::event::Message;
use crate::wire::{Dialect, Event, EventBody, Mutation, Source};

const TOKENS: usize = 40;
const VERSIONS: [&str; 3] = ["browser-1.20.0", "browser-1.14.0", "browser-1.0.0"];

/// What Chromium showed and the frames do not determine: the proxy held every other frame back until the next
/// one came, so whether the odd last delta fell behind a state event, and made a second bubble, was a race.
const UNDETERMINED: [(&str, &str); 2] =
    [("pairs swapped", "browser-1.20.0"), ("pairs swapped", "browser-1.14.0")];

/// What a turn looked like.
#[derive(Debug, PartialEq)]
struct Shown {
    /// Tokens on the screen before the final message.
    before: usize,
    /// Tokens on the screen at the end.
    last: usize,
    /// The most bubbles at any time.
    bubbles: usize,
}

fn shown((before, last, bubbles): (usize, usize, usize)) -> Shown {
    Shown { before, last, bubbles }
}

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

/// Plays `deltas` as one turn.
fn play(version: &str, deltas: &[String]) -> Shown {
    let turn = turn();
    let mut most = 0;
    let mut bench = Bench::of(version);
    bench.take(&turn.user.encode(Dialect::CURRENT));
    for (n, delta) in deltas.iter().enumerate() {
        bench.take(delta);
        if n % 3 == 0 {
            bench.tick();
        }
        most = most.max(on_screen(&bench).1);
    }
    bench.tick();
    let (before, bubbles) = on_screen(&bench);
    most = most.max(bubbles);
    bench.take(&turn.last.encode(Dialect::CURRENT));
    let (last, bubbles) = on_screen(&bench);
    Shown { before, last, bubbles: most.max(bubbles) }
}

/// Tokens and agent bubbles. An error page shows neither.
fn on_screen(bench: &Bench) -> (usize, usize) {
    let seen = bench.snapshot().seen;
    let seen = seen.as_array().cloned().unwrap_or_default();
    let agent: Vec<&str> = seen.iter().filter(|s| s[0] == "agent").map(|s| s[1].as_str().unwrap()).collect();
    (agent.iter().map(|text| text.matches("tok").count()).sum(), agent.len())
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
            assert_eq!(play(version, &mutated(mutation)), shown((before, TOKENS, 1)), "{version} {mutation}");
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
    // Tokens before the final message, tokens at the end, bubbles: for 1.20.0, 1.14.0 and 1.0.0.
    let rows = [
        ("item_started before each", announced, [(40, 40, 1), (40, 40, 1), (40, 40, 1)]),
        ("same id on all", same_id, [(40, 40, 1), (0, 40, 1), (0, 40, 1)]),
        ("each twice", twice, [(80, 40, 1), (40, 40, 1), (40, 40, 1)]),
        ("every fifth dropped", fifth_dropped, [(32, 40, 1), (32, 40, 1), (32, 72, 2)]),
        ("pairs swapped", swapped, [(40, 40, 2), (40, 40, 2), (40, 80, 2)]),
        ("all dropped", Vec::new(), [(0, 40, 1), (0, 40, 1), (0, 40, 1)]),
    ];
    for (name, deltas, counts) in rows {
        for (version, want) in VERSIONS.into_iter().zip(counts) {
            let (mut want, mut got) = (shown(want), play(version, &deltas));
            if UNDETERMINED.contains(&(name, version)) {
                (want.bubbles, got.bubbles) = (0, 0);
            }
            assert_eq!(got, want, "{version} {name}");
        }
    }
}

/// Own fake server in front of Chromium: what is no frame of the turn does not disturb it.
#[test]
fn stray_frames_leave_the_stream_alone() {
    for stray in ["not json{", "[]", "null"] {
        let mut deltas = mutated("none");
        deltas.insert(20, stray.to_owned());
        assert_eq!(play("browser-1.20.0", &deltas), shown((TOKENS, TOKENS, 1)), "{stray}");
    }
    let objects = mutated(r#"content={"a":1}"#);
    let got = play("browser-1.20.0", &objects);
    assert_eq!((got.before, got.last), (0, TOKENS));
}

/// The alphas on three servers: nothing before the final message.
#[test]
fn an_alpha_shows_the_final_message_only() {
    assert_eq!(play("browser-1.0.0-alpha.10", &mutated("none")), shown((0, TOKENS, 1)));
    assert_eq!(play("browser-1.0.0-alpha.5", &mutated("none")), shown((0, TOKENS, 1)));
}

/// Every other version that was driven in Chromium, unmutated.
#[test]
fn each_driven_version_streams() {
    for version in ["1.2.0", "1.4.0", "1.6.1", "1.7.2", "1.15.0", "1.16.0"] {
        let got = play(&format!("browser-{version}"), &mutated("none"));
        assert_eq!(got, shown((TOKENS, TOKENS, 1)), "{version}");
    }
}
