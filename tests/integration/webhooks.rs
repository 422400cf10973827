//! The posts of a webhook against recordings of the released servers: which events leave, in which bodies, and when.
//!
//! The recordings (`captures/webhook_posts.json`) are of 1.43.1, 1.44.1 and 1.58.2 on loopback with default buffering.
//! Each names its sink and its turns; the model's first chunk is the empty one with the role.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::server::{Chunk, Clock, Finish, Post, Script, Server, ServerConfig, SinkModel};
use skewlab::seed::Seed;
use tokio::time::{Instant, sleep_until};

use crate::fixtures;

#[derive(Debug, Deserialize)]
struct Recording {
    server: String,
    run: String,
    sink: SinkModel,
    turns: Vec<Turn>,
    posts: Vec<Recorded>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Turn {
    at_s: f64,
    tokens: u32,
    rate: u32,
}

/// A post: when it arrived after the model was first asked, whether it was refused, and `kind`, `kind:key` or `kind*n`.
#[derive(Debug, Deserialize)]
struct Recorded {
    at_s: f64,
    #[serde(default)]
    refused: bool,
    events: Vec<String>,
}

/// A post, ours or recorded.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    at_s: f64,
    accepted: bool,
    events: Vec<String>,
}

const DELTA: &str = "StreamingDeltaEvent";

/// How much later a post may be on a real, busy machine. The flush delay is 30 s.
const LATE_S: f64 = 1.5;

fn recordings() -> Vec<Recording> {
    serde_json::from_str(&fixtures::text("captures/webhook_posts.json")).unwrap()
}

fn recorded(posts: &[Recorded]) -> Vec<Seen> {
    settled(posts.iter().map(one_recorded).collect())
}

fn one_recorded(post: &Recorded) -> Seen {
    let each = |name: &String| match name.split_once('*') {
        Some((name, n)) => vec![name.to_owned(); n.parse().unwrap()],
        None => vec![name.clone()],
    };
    Seen { at_s: post.at_s, accepted: !post.refused, events: post.events.iter().flat_map(each).collect() }
}

fn seen(post: &Post) -> Seen {
    let name = |event: &skewlab::agent_server::server::PostedEvent| match &event.key {
        Some(key) => format!("{}:{key}", event.kind),
        None => event.kind.to_owned(),
    };
    Seen {
        at_s: post.at.as_secs_f64(),
        accepted: post.accepted,
        events: post.events.iter().map(name).collect(),
    }
}

fn script(turn: Turn) -> Script {
    let text = |text: String| Chunk { text: Some(text), reasoning: None };
    let chunks = std::iter::once(String::new()).chain((0..turn.tokens).map(|n| format!("tok{n} "))).map(text);
    let gap = Duration::from_secs(1) / turn.rate;
    Script {
        user: "go".into(),
        chunks: chunks.collect(),
        gap,
        finish: Finish::Message,
        feed: None,
        tail: Duration::ZERO,
        stalls: Vec::new(),
    }
}

/// The turns on an emulated server, and every post until the buffer has been flushed.
async fn emulated(release: &str, sink: SinkModel, turns: &[Turn]) -> Vec<Seen> {
    let profile = Catalogue::embedded().unwrap().server(release).unwrap();
    let config = ServerConfig {
        keys: Vec::new(),
        script: script(turns[0]),
        mutation: "none".parse().unwrap(),
        seed: Seed(1),
        sinks: vec![sink],
        keeps_notes: true,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let server = Server::new(&profile, config, Clock::fixed());
    let conversation = server.create_conversation().await;
    let start = Instant::now();
    for turn in turns {
        sleep_until(start + Duration::from_secs_f64(turn.at_s)).await;
        server.next_turn(script(*turn));
        assert!(server.say(&conversation, "go"));
        server.idle().await;
    }
    tokio::time::sleep(Duration::from_mins(3)).await;
    settled(server.posts().iter().map(seen).collect())
}

/// The same posts with stats, reply and status in one order where they precede a full state: the recordings differ in
/// it among themselves, and so do two runs of one release.
fn settled(mut posts: Vec<Seen>) -> Vec<Seen> {
    let mut all: Vec<String> = posts.iter().flat_map(|p| p.events.clone()).collect();
    for at in 3..all.len() {
        if all[at].ends_with(":full_state") {
            all[at - 3..at].sort();
        }
    }
    let mut all = all.into_iter();
    for post in &mut posts {
        post.events = all.by_ref().take(post.events.len()).collect();
    }
    posts
}

fn accepted(posts: &[Seen]) -> Vec<&String> {
    posts.iter().filter(|p| p.accepted).flat_map(|p| &p.events).collect()
}

fn bodies(posts: &[Seen]) -> Vec<&[String]> {
    posts.iter().map(|p| p.events.as_slice()).collect()
}

fn deltas(posts: &[Seen]) -> usize {
    accepted(posts).iter().filter(|e| **e == DELTA).count()
}

/// What a server posts from the last turn on: posts, events, deltas, and when the last one arrived, in seconds after
/// that turn's message.
async fn last_turn(release: &str, sink: SinkModel, turns: &[Turn]) -> (usize, usize, usize, f64) {
    let from = turns.last().unwrap().at_s;
    let posts = emulated(release, sink, turns).await;
    let posts: Vec<Seen> = posts.into_iter().filter(|p| p.at_s >= from).collect();
    (posts.len(), accepted(&posts).len(), deltas(&posts), posts.last().map_or(0.0, |p| p.at_s - from))
}

#[tokio::test(start_paused = true)]
async fn every_recorded_event_leaves_in_the_recorded_order() {
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        let Recording { server, run, sink, turns, posts } = &recording;
        let ours = emulated(server, sink.clone(), turns).await;
        let real: Vec<Seen> = recorded(posts);
        assert_eq!(accepted(&ours), accepted(&real), "{server} {run}");
        let refused = |posts: &[Seen]| posts.iter().filter(|p| !p.accepted).count();
        assert_eq!(refused(&ours), refused(&real), "{server} {run}");
        // A body is cut short where a full buffer met a post that was still under way; on a real loopback one takes
        // a few milliseconds, and here none.
        let spare = real.len().checked_sub(ours.len());
        assert!(spare.is_some_and(|spare| spare <= 1), "{server} {run}: {} and {}", ours.len(), real.len());
        // Such a body shifts what is left for the timer; without one the end agrees too. A real post takes up to
        // 30 ms longer than its sink.
        let last = |posts: &[Seen]| posts.last().unwrap().at_s;
        let late = LATE_S + 0.03 * f64::from(u32::try_from(real.len()).unwrap());
        let close = (last(&ours) - last(&real)).abs() < late;
        assert!(spare != Some(0) || close, "{server} {run}: {} and {}", last(&ours), last(&real));
        seen.insert(server.clone());
    }
    assert_eq!(seen.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn every_recorded_body_leaves_when_it_did() {
    let mut compared = 0;
    for recording in recordings().iter().filter(|r| r.server != "1.43.1" || r.run == "refuse") {
        let ours = emulated(&recording.server, recording.sink.clone(), &recording.turns).await;
        let what = format!("{} {}", recording.server, recording.run);
        assert_eq!(ours.len(), recording.posts.len(), "{what}");
        for (ours, real) in ours.iter().zip(recorded(&recording.posts)) {
            assert_eq!((&ours.events, ours.accepted), (&real.events, real.accepted), "{what}");
            assert!((ours.at_s - real.at_s).abs() < LATE_S, "{what}: {} and {}", ours.at_s, real.at_s);
            compared += 1;
        }
    }
    assert!(compared > 30, "only {compared} posts were compared");
}

#[tokio::test(start_paused = true)]
async fn another_era_or_another_delay_is_not_taken_for_the_recorded_one() {
    let recordings = recordings();
    let recording = recordings.iter().find(|r| r.server == "1.44.1" && r.run == "warm").unwrap();
    let real = recorded(&recording.posts);
    let same = emulated("1.44.1", recording.sink.clone(), &recording.turns).await;
    assert_eq!(accepted(&same), accepted(&real));
    let other = emulated("1.43.1", recording.sink.clone(), &recording.turns).await;
    assert_ne!(accepted(&other), accepted(&real));
    let refusing: SinkModel = serde_json::from_str(r#"{"refuse_first": 1}"#).unwrap();
    let refused = emulated("1.44.1", refusing, &recording.turns).await;
    assert_ne!(bodies(&refused), bodies(&real));
    assert_eq!(bodies(&same), bodies(&real));
}

/// The measured table: 500 tokens at 100/s, after a warm-up whose last events are still in the buffer.
///
/// A second turn has 8 events beside its deltas: the status idle that a message to a finished conversation brings, the
/// message, `last_user_message_id`, running, the reply, finished, stats and the full state. A first turn has the
/// snapshot and the system prompt instead of the status idle: 9. With a sink that answers at once every fifth event
/// posts, and the timer posts the rest. So a warm-up of 18 tokens leaves (9 + 19) mod 5 = 3 events in the buffer where
/// deltas are posted, and 9 mod 5 = 4 where they are not; and the second turn makes 3 + 501 + 8 = 512 events in
/// ⌈512 / 5⌉ = 103 posts there, and 4 + 8 = 12 in ⌈12 / 5⌉ = 3 posts here. The post lock does not bite, because a post
/// is over before the next event. Recorded on loopback: 512 in 103; in another run 512 in 105, where two bodies were
/// cut short by a post that was still under way.
#[tokio::test(start_paused = true)]
async fn a_token_costs_a_fifth_of_a_post_until_1_44_1_and_nothing_from_there_on() {
    let turns = [Turn { at_s: 0.0, tokens: 18, rate: 100 }, Turn { at_s: 4.0, tokens: 500, rate: 100 }];
    let (posts, events, deltas, last) = last_turn("1.43.1", SinkModel::default(), &turns).await;
    assert_eq!((posts, events, deltas), (103, 3 + 501 + 8, 501));
    assert!((last - 35.2).abs() < LATE_S, "{last}");
    for release in ["1.44.1", "1.47.0", "1.58.2"] {
        let (posts, events, deltas, _) = last_turn(release, SinkModel::default(), &turns).await;
        assert_eq!((posts, events, deltas), (3, 12, 0), "{release}");
    }
}

/// A conversation that has just been opened has 9 beside the deltas: its snapshot and the system prompt, and no idle
/// status.
#[tokio::test(start_paused = true)]
async fn a_fresh_conversation_posts_nine_events_beside_its_deltas() {
    let turns = [Turn { at_s: 0.0, tokens: 500, rate: 100 }];
    for (release, posts, deltas) in [("1.43.1", 102, 501), ("1.44.1", 2, 0), ("1.58.2", 2, 0)] {
        let got = last_turn(release, SinkModel::default(), &turns).await;
        assert_eq!((got.0, got.1, got.2), (posts, 9 + deltas, deltas), "{release}");
    }
}

/// 250 tokens at 5/s in a conversation whose buffer had been flushed: 251 + 8 events in ⌈259 / 5⌉ posts; without the
/// deltas the timer posts the 4 of the beginning while text streams, and the 4 of the end.
#[tokio::test(start_paused = true)]
async fn a_slow_stream_posts_as_measured() {
    let turns = [Turn { at_s: 0.0, tokens: 20, rate: 100 }, Turn { at_s: 60.0, tokens: 250, rate: 5 }];
    for (release, expected) in
        [("1.43.1", (52, 259, 251)), ("1.44.1", (2, 8, 0)), ("1.47.0", (2, 8, 0)), ("1.58.2", (2, 8, 0))]
    {
        let got = last_turn(release, SinkModel::default(), &turns).await;
        assert_eq!((got.0, got.1, got.2), expected, "{release}");
    }
}

/// 300 tokens in 6 s to a sink that takes 1 s. On 1.43.1 the first posts run while the stream does and empty what had
/// come by then; the buffer fills again behind them, and with no further event only the timer finds it full, 30 s after
/// the first event that met a post under way. From there 51 posts run one after the other. Recorded in a fresh
/// conversation: 63 posts, the last 83.5 s after the message (65 and 78.4 s in another run). 1.58.2 posts no delta.
#[tokio::test(start_paused = true)]
async fn a_slow_sink_keeps_1_43_1_posting_for_over_a_minute() {
    let slow: SinkModel = serde_json::from_str(r#"{"latency_s": 1}"#).unwrap();
    let fresh = [Turn { at_s: 0.0, tokens: 300, rate: 50 }];
    let (posts, events, deltas, last) = last_turn("1.43.1", slow.clone(), &fresh).await;
    assert_eq!((posts, events, deltas), (63, 310, 301));
    assert!((last - 81.5).abs() < LATE_S, "{last}");
    let warm = [Turn { at_s: 0.0, tokens: 20, rate: 100 }, Turn { at_s: 4.0, tokens: 300, rate: 50 }];
    let (posts, _, deltas, last) = last_turn("1.58.2", slow, &warm).await;
    assert_eq!((posts, deltas), (3, 0));
    assert!((last - 37.2).abs() < LATE_S, "{last}");
}
