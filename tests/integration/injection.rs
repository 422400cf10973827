//! What a test puts into a running server: frames between its own, each as it is, in order, carrying nothing; and scripts
//! for the turns to come.

use std::time::Duration;

use futures_util::StreamExt;
use skewlab::agent_server::server::{Chunk, Dialer, Io, Script, Server};
use skewlab::probe::ledger::Endpoint;
use skewlab::probe::trace::Origin;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::fixtures::{KEY, captured_script, connect, server};

const UNKNOWN: &str = "11111111-1111-4111-8111-111111111111";

type Socket = WebSocketStream<Io>;

async fn legacy(dialer: &Dialer, id: &str) -> Socket {
    connect(dialer, &format!("/sockets/events/{id}"), Some(KEY)).await.unwrap()
}

/// Texts until nothing comes for eleven seconds of virtual time.
async fn texts(socket: &mut Socket) -> Vec<String> {
    let mut texts = Vec::new();
    while let Ok(Some(Ok(message))) = timeout(Duration::from_secs(11), socket.next()).await {
        if let Message::Text(text) = message {
            texts.push(text.to_string());
        }
    }
    texts
}

async fn settled(server: &Server) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.idle().await;
}

#[tokio::test(start_paused = true)]
async fn every_legacy_socket_of_the_conversation_gets_the_text_as_it_is() {
    let (server, dialer, id) = server("1.58.2").await;
    let other = server.create_conversation().await;
    let (mut first, mut second) = (legacy(&dialer, &id).await, legacy(&dialer, &id).await);
    let mut elsewhere = legacy(&dialer, &other).await;
    let mut session = connect(&dialer, &format!("/sockets/session/{id}"), Some(KEY)).await.unwrap();
    settled(&server).await;
    let odd = ["not json", "", "null", r#"{ "kind":"StreamingDeltaEvent", "content": "\ud800" }"#, "漢字😀"];
    for frame in odd {
        assert_eq!(server.inject(&id, Endpoint::Events, frame).await, Some(2));
    }
    for socket in [&mut first, &mut second] {
        assert_eq!(texts(socket).await[1..], odd, "behind the snapshot, in order");
    }
    assert_eq!(texts(&mut elsewhere).await.len(), 1, "the snapshot alone");
    assert_eq!(texts(&mut session).await.len(), 2, "sync and snapshot alone");
    assert_eq!(server.inject(UNKNOWN, Endpoint::Events, "x").await, None);
    let sent = server.notes().links;
    assert!(sent.values().flat_map(|l| &l.sent).all(|o| *o == Origin::Other), "{sent:?}");
    assert_eq!(sent.values().map(|l| l.sent.len()).sum::<usize>(), 2 * 6 + 1 + 2);
}

#[tokio::test(start_paused = true)]
async fn an_injected_frame_keeps_its_place_between_deltas() {
    // One era that calls its subscribers one after the other, the shared bus, and the bus of the deltas' own.
    for release in ["1.22.0", "1.43.1", "1.58.2+AB"] {
        let (server, dialer, id) = server(release).await;
        let mut socket = legacy(&dialer, &id).await;
        settled(&server).await;
        server.say(&id, "go");
        // Fifteen chunks, one each 50 ms: at 225 ms five are out.
        tokio::time::sleep(Duration::from_millis(225)).await;
        assert_eq!(server.inject(&id, Endpoint::Events, "between").await, Some(1));
        let texts = texts(&mut socket).await;
        let at = texts.iter().position(|t| t == "between").unwrap();
        let deltas = |texts: &[String]| texts.iter().filter(|t| t.contains("StreamingDeltaEvent")).count();
        assert_eq!((deltas(&texts[..at]), deltas(&texts[at..])), (5, 10), "{release}");
        // The ledger joins frames by their order: the note is where the frame is.
        let notes = server.notes();
        let link = notes.links.values().find(|l| !l.sent.is_empty()).unwrap();
        assert_eq!((link.sent.len(), link.sent[at]), (texts.len(), Origin::Other), "{release}");
        let counted = |sent: &[Origin]| sent.iter().filter(|o| matches!(o, Origin::Delta { .. })).count();
        assert_eq!(counted(&link.sent[..at]), 5, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_socket_takes_a_frame_within_its_budget() {
    let (server, dialer, id) = server("1.58.2").await;
    let mut socket = connect(&dialer, &format!("/sockets/session/{id}"), Some(KEY)).await.unwrap();
    settled(&server).await;
    assert_eq!(server.inject(&id, Endpoint::Session, r#"{"type":"later"}"#).await, Some(1));
    let read = texts(&mut socket).await;
    assert_eq!(read.last().unwrap(), r#"{"type":"later"}"#);
    let huge = "x".repeat(4 * 1024 * 1024 + 1);
    assert_eq!(server.inject(&id, Endpoint::Session, &huge).await, Some(0), "larger than any frame may be");
    settled(&server).await;
    let notes = server.notes();
    let closed = notes.links.values().find_map(|l| l.closed.clone());
    assert_eq!(closed, Some((1013, "frame_too_large".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_slow_peer_gets_it_behind_what_it_has_not_read() {
    let (server, dialer, id) = server("1.58.2").await;
    let mut socket = legacy(&dialer, &id).await;
    settled(&server).await;
    // More than the pipe holds: the first stays unfinished until the peer reads, and the second waits behind it.
    let large = "a".repeat(600 * 1024);
    let both = async {
        let (first, second) = tokio::join!(
            server.inject(&id, Endpoint::Events, &large),
            server.inject(&id, Endpoint::Events, "after")
        );
        assert_eq!((first, second), (Some(1), Some(1)));
    };
    let (read, ()) = tokio::join!(texts(&mut socket), both);
    assert_eq!((read[1].len(), read[2].as_str(), read.len()), (large.len(), "after", 3));
}

#[tokio::test(start_paused = true)]
async fn each_conversation_has_scripts_of_its_own() {
    let (server, dialer, first) = server("1.58.2").await;
    let second = server.create_conversation().await;
    let script = |text: &str| {
        let chunks = vec![Chunk { text: Some(text.to_owned()), reasoning: None }];
        Script { chunks, ..captured_script() }
    };
    server.next_turn(script("anybody"));
    assert!(server.next_turn_in(&second, script("second")));
    assert!(server.next_turn_in(&second, script("second again")));
    assert!(!server.next_turn_in(UNKNOWN, script("nobody")));
    let mut said = Vec::new();
    for id in [&second, &first, &second, &second] {
        let mut socket = legacy(&dialer, id).await;
        settled(&server).await;
        server.say(id, "go");
        let texts = texts(&mut socket).await;
        let delta = texts.iter().find(|t| t.contains("StreamingDeltaEvent")).unwrap();
        said.push(serde_json::from_str::<serde_json::Value>(delta).unwrap()["content"].clone());
    }
    // The conversation's own come first, then what was meant for anybody, then the configured one.
    assert_eq!(said, ["second", "anybody", "second again", ""]);
}
