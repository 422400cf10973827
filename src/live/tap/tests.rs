use std::io::Write as _;

use flate2::write::DeflateEncoder;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio_tungstenite::tungstenite::Message;

use super::message::{Reader, Said};
use super::*;

/// A server frame: final, unmasked.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        n @ 0..=125 => bytes.push(u8::try_from(n).unwrap()),
        n => {
            bytes.push(126);
            bytes.extend(u16::try_from(n).unwrap().to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

fn message(text: &str) -> Said {
    Said::Message(text.as_bytes().to_vec())
}

#[test]
fn messages_are_read_however_the_bytes_are_cut() {
    let long = "x".repeat(300);
    let bytes = [
        frame(0x81, b"one"),
        frame(0x01, b"tw"),
        frame(0x89, b""),
        frame(0x80, b"o"),
        frame(0x81, long.as_bytes()),
    ]
    .concat();
    for cut in [1, 2, 3, 7, bytes.len()] {
        let mut reader = Reader::new(None, "");
        let said: Vec<Said> = bytes.chunks(cut).flat_map(|part| reader.read(part).unwrap()).collect();
        assert_eq!(said, [message("one"), message("two"), message(&long)], "cut every {cut}");
    }
}

#[test]
fn compressed_messages_share_a_window_unless_it_is_reset() {
    // One stream for all messages, flushed after each: what a sender with context takeover does.
    let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    let texts =
        ["{\"kind\":\"StreamingDeltaEvent\"}".repeat(3), "{\"kind\":\"StreamingDeltaEvent\"}".repeat(40)];
    let mut frames = Vec::new();
    for text in &texts {
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let out = std::mem::take(encoder.get_mut());
        frames.extend(frame(0xc1, out.strip_suffix(&[0, 0, 0xff, 0xff]).unwrap()));
    }
    let agreed = Some("permessage-deflate; client_no_context_takeover");
    let said = Reader::new(agreed, "server_no_context_takeover").read(&frames).unwrap();
    assert_eq!(said, texts.each_ref().map(|text| message(text)));
    // A reader that forgets its window cannot read the second one: the test would notice a reset.
    assert!(
        Reader::new(Some("permessage-deflate; x"), "x")
            .read(&frames)
            .map_or(true, |said| said[1] != message(&texts[1]))
    );
    // Compression that nobody agreed on is no frame.
    assert!(Reader::new(None, "").read(&frames).is_err());
}

#[tokio::test]
async fn a_socket_through_the_tap_is_seen_whole_and_unchanged() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let tap = Tap::start(server.local_addr().unwrap(), RunClock::start()).await.unwrap();
    let serving = tokio::spawn(async move {
        let (stream, _) = server.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        socket.send(Message::text("hello")).await.unwrap();
        let said = socket.next().await.unwrap().unwrap();
        socket.close(None).await.unwrap();
        while socket.next().await.is_some_and(|m| m.is_ok()) {}
        said
    });
    let stream = TcpStream::connect(tap.addr()).await.unwrap();
    let url = "ws://127.0.0.1/sockets/events/0a-0b?session_api_key=secret";
    let (mut client, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    assert_eq!(client.next().await.unwrap().unwrap(), Message::text("hello"));
    client.send(Message::text("go")).await.unwrap();
    while client.next().await.is_some_and(|m| m.is_ok()) {}
    assert_eq!(serving.await.unwrap(), Message::text("go"));
    drop(client);
    let socket = loop {
        let found = tap.sockets("0a0b");
        if found.first().is_some_and(|s| s.over) {
            break found.into_iter().next().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((socket.path.as_str(), socket.status), ("/sockets/events/0a-0b", Some(101)));
    let texts: Vec<_> = socket.frames.iter().map(|f| (f.from, f.text.as_str())).collect();
    assert_eq!(texts, [(Side::Server, "hello"), (Side::Client, "go")]);
    assert_eq!(socket.closed.as_ref().map(|c| c.by), Some(Side::Server));
    assert!(!serde_json::to_string(&socket).unwrap().contains("secret"), "a key in the query is not kept");
    tap.forget("0a-0b");
    assert!(tap.sockets("0a0b").is_empty());
}

#[tokio::test]
async fn a_refused_upgrade_is_seen_with_its_status() {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let tap = Tap::start(server.local_addr().unwrap(), RunClock::start()).await.unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = server.accept().await.unwrap();
        let mut bytes = [0; 1024];
        let _ = stream.read(&mut bytes).await.unwrap();
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    });
    let stream = TcpStream::connect(tap.addr()).await.unwrap();
    let refused = tokio_tungstenite::client_async("ws://127.0.0.1/sockets/session/c1", stream).await;
    assert!(refused.is_err());
    let seen = tap.sockets("c1");
    assert_eq!((seen.len(), seen[0].status, seen[0].frames.len()), (1, Some(403), 0));
}
