//! The other member of the family: an agent-server's deltas are transient, so what its log holds behaves like the variant
//! `transient-only` of the session feed (`session-feed.md`, rows 14, 17 and 19, and section 4).

use std::time::{Duration, Instant};

use futures_util::SinkExt;
use serde_json::Value;
use skewlab::record::Figure;
use skewlab::session_feed::chunk::{Block, BlockKind};
use skewlab::session_feed::consumer::scripts;
use skewlab::session_feed::event::{Body, Event, Message as Committed, Place};
use skewlab::session_feed::store::FlushPolicy;
use skewlab::session_feed::{Consumer, Listeners, Plan, Played, Script, Variants, play};
use tokio_tungstenite::tungstenite::Message;

use crate::serve::{Served, until};

const WORDS: usize = 40;

/// The same text for both subjects, forty tokens at twenty a second.
fn words() -> Vec<String> {
    (0..WORDS).map(|n| format!("w{n} ")).collect()
}

fn scenario(dir: &std::path::Path) -> String {
    let tokens: Vec<String> = words().iter().map(|word| format!("{{ text = {word:?} }}")).collect();
    let text = format!(
        "question = \"q\"\nservers = [\"1.58.2\"]\nclients = [\"python@same\"]\nworkloads = [\"w\"]\n\
         [workload.w]\nrate = 20\ntokens = [{}]\n",
        tokens.join(", ")
    );
    let path = dir.join("second.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// What the server has persisted of its conversation, as a restart would find it, in the words of the session feed.
fn persisted(served: &Served) -> Vec<Event> {
    let (status, page) =
        served.http("GET", &format!("/api/conversations/{}/events/search", served.conversation), "", "");
    assert_eq!(status, 200, "{page}");
    let items = page["items"].as_array().unwrap();
    let kind = |event: &Value| event["kind"].as_str().unwrap_or_default().to_owned();
    assert!(items.iter().all(|e| kind(e) != "StreamingDeltaEvent"), "{page}");
    let spoken = items.iter().filter(|e| kind(e) == "MessageEvent");
    let bodies = spoken.map(|event| {
        let text = event["llm_message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        match event["source"].as_str() {
            Some("agent") => {
                let blocks = vec![Block { kind: BlockKind::Text, text }];
                let (usage, interrupted, stream) = (None, false, None);
                Body::Message(Box::new(Committed { turn: 1, step: 1, blocks, usage, interrupted, stream }))
            }
            _ => Body::UserMessage(Place { turn: 1, step: 0 }, text.into()),
        }
    });
    (0..).zip(bodies).map(|(seq, body)| Event { seq, time: 0, body, cites: None }).collect()
}

fn transient_only(fault: &str) -> Played {
    let variant = Variants::embedded().unwrap().get("transient-only").unwrap();
    let words = words();
    let pieces: Vec<(BlockKind, &str)> = words.iter().map(|w| (BlockKind::Text, w.as_str())).collect();
    let script = Script::of("hi", &pieces, 20.0);
    play(&Plan {
        variant: &variant,
        consumer: Consumer::SnapshotReplay,
        script: &script,
        fault: fault.parse().unwrap(),
        policy: FlushPolicy::EveryEvent,
        packed: false,
        listeners: Listeners::default(),
        sessions: 1,
    })
}

fn messages(events: &[Event]) -> u64 {
    events.iter().filter(|e| matches!(e.body, Body::Message(_))).count() as u64
}

#[tokio::test]
async fn a_server_that_streams_transient_deltas_keeps_what_transient_only_keeps() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::start(&["--server", "1.58.2", "--script", &scenario(dir.path())]);
    let mut socket = served.socket(&served.events(), None).await.unwrap();
    let hi = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#;
    socket.send(Message::text(hi)).await.unwrap();

    // Rows 14 and 17: in mid-stream, whatever ends the stream now, the log has no chunk and no message of it.
    until(&mut socket, |frame| frame["content"] == "w11 ").await.unwrap();
    let (now, killed) = (persisted(&served), transient_only("kill@12"));
    let failed = transient_only("provider-error@12");
    for of in [&killed, &failed] {
        assert_eq!(of.figures.get(&Figure::DurableChunks).copied().unwrap_or(0), 0);
        assert_eq!(of.figures[&Figure::Messages], messages(&now));
    }
    assert!(!now.is_empty(), "the person's message is there");

    // Row 19: once it is over, the message is there and no script can be derived of it.
    let began = Instant::now();
    let log = loop {
        let log = persisted(&served);
        if messages(&log) > 0 {
            break log;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "the reply never came");
        std::thread::sleep(Duration::from_millis(20));
    };
    let (ours, whole) = (scripts(&log), transient_only("none"));
    assert_eq!((ours.derived.len() as u64, ours.failed.len() as u64), (0, 1));
    assert_eq!(whole.figures[&Figure::ScriptsDerived], 0);
    assert_eq!(whole.figures[&Figure::ScriptsFailed], 1);
    let Some(Body::Message(message)) = log.iter().map(|e| &e.body).find(|b| matches!(b, Body::Message(_)))
    else {
        panic!("no message")
    };
    assert_eq!(message.blocks[0].text, whole.reply, "both committed the same text");
}
