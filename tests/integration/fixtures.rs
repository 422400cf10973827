//! Reading the fixtures, and a server to talk to.

use std::path::PathBuf;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::server::{
    Chunk, Clock, Dialer, Finish, Io, Script, Server, ServerConfig, SinkModel,
};
use skewlab::seed::Seed;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

pub(crate) const KEY: &str = "k-test";

pub(crate) fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", name].iter().collect()
}

/// The frames that every client is asked about; part of the binary too.
pub(crate) fn corpus() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "scenarios", "corpus.jsonl"].iter().collect()
}

pub(crate) fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The turn of the captures: one empty chunk, two of reasoning, twelve words.
pub(crate) fn captured_script() -> Script {
    let text = |t: String| Chunk { text: Some(t), reasoning: None };
    let reasoning = |t: &str| Chunk { text: None, reasoning: Some(t.to_owned()) };
    let mut chunks = vec![text(String::new()), reasoning("r0 "), reasoning("r1 ")];
    chunks.extend((0..12).map(|i| text(format!("w{i} "))));
    let gap = std::time::Duration::from_millis(50);
    Script {
        user: "hi".into(),
        chunks,
        gap,
        finish: Finish::Message,
        feed: None,
        tail: std::time::Duration::ZERO,
        stalls: Vec::new(),
    }
}

/// A server of that release in memory, with one conversation.
pub(crate) async fn server(release: &str) -> (Server, Dialer, String) {
    let profile = Catalogue::embedded().unwrap().server(release).unwrap();
    let config = ServerConfig {
        keys: vec![KEY.into()],
        script: captured_script(),
        mutation: "none".parse().unwrap(),
        seed: Seed(1),
        sinks: vec![SinkModel::default()],
        keeps_notes: true,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let server = Server::new(&profile, config, Clock::fixed());
    let conversation = server.create_conversation().await;
    (server.clone(), Dialer::memory(&server), conversation)
}

/// Opens a socket; `Err` is the HTTP status of a refusal.
pub(crate) async fn connect(
    dialer: &Dialer,
    path: &str,
    header: Option<&str>,
) -> Result<WebSocketStream<Io>, u16> {
    let (io, _) = dialer.dial().await.unwrap();
    let mut request = format!("ws://127.0.0.1{path}").into_client_request().unwrap();
    if let Some(key) = header {
        request.headers_mut().insert("x-session-api-key", key.parse().unwrap());
    }
    match tokio_tungstenite::client_async(request, io).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(other) => panic!("{path}: {other}"),
    }
}

pub(crate) async fn send(socket: &mut WebSocketStream<Io>, text: &str) {
    socket.send(Message::text(text)).await.unwrap();
}

/// Reads until nothing comes for a second of virtual time: the frames, and the close code if there was one.
pub(crate) async fn drain(socket: &mut WebSocketStream<Io>) -> (Vec<Value>, Option<u16>) {
    let mut frames = Vec::new();
    loop {
        match tokio::time::timeout(std::time::Duration::from_secs(11), socket.next()).await {
            Ok(Some(Ok(Message::Text(text)))) => frames.push(serde_json::from_str(&text).unwrap()),
            Ok(Some(Ok(Message::Close(frame)))) => return (frames, frame.map(|f| f.code.into())),
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(_)) | None) | Err(_) => return (frames, None),
        }
    }
}
