//! `skewlab serve` as a child process, driven by a stock WebSocket client and by HTTP written by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::runs::{ended, skewlab};

const WAIT: Duration = Duration::from_secs(20);
const HI: &str = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#;

/// A server that is killed with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    pub(crate) conversation: String,
}

impl Served {
    pub(crate) fn start(args: &[&str]) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skewlab"))
            .args(["serve", "--port", "0"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.next().unwrap().strip_prefix("http://").unwrap().to_owned();
        let conversation = lines.next().unwrap().strip_prefix("conversation ").unwrap().to_owned();
        assert_eq!(lines.next().unwrap(), format!("ws://{address}/sockets/events/{conversation}"));
        Served { child, address, conversation }
    }

    /// Status and body of a request written by hand.
    pub(crate) fn http(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        let (host, length) = (&self.address, body.len());
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        write!(stream, "{head}Content-Length: {length}\r\n{headers}\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Opens a socket; `Err` is the HTTP status of a refusal.
    pub(crate) async fn socket(
        &self,
        path: &str,
        key: Option<&str>,
    ) -> Result<WebSocketStream<tokio::net::TcpStream>, u16> {
        let url = format!("ws://{}{path}", self.address);
        let mut request = url.into_client_request().unwrap();
        if let Some(key) = key {
            request.headers_mut().insert("x-session-api-key", key.parse().unwrap());
        }
        let stream = tokio::net::TcpStream::connect(&self.address).await.unwrap();
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{path}: {other}"),
        }
    }

    pub(crate) fn events(&self) -> String {
        format!("/sockets/events/{}", self.conversation)
    }

    fn session(&self) -> String {
        format!("/sockets/session/{}?after_seq=-1", self.conversation)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Frames up to and with the first that `last` likes; the close code instead if the server closes.
pub(crate) async fn until(
    socket: &mut WebSocketStream<tokio::net::TcpStream>,
    last: impl Fn(&Value) -> bool,
) -> Result<Vec<Value>, Option<u16>> {
    let mut frames = Vec::new();
    loop {
        match timeout(WAIT, socket.next()).await.unwrap() {
            Some(Ok(Message::Text(text))) => frames.push(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(frame))) => return Err(frame.map(|f| f.code.into())),
            Some(Ok(_)) => continue,
            Some(Err(_)) | None => return Err(None),
        }
        if frames.last().is_some_and(&last) {
            return Ok(frames);
        }
    }
}

fn finished(frame: &Value) -> bool {
    let event = frame.get("event").unwrap_or(frame);
    event["key"] == "execution_status" && event["value"] == "finished"
}

fn texts(frames: &[Value]) -> String {
    let deltas = frames.iter().filter(|f| f["kind"] == "StreamingDeltaEvent");
    deltas.filter_map(|d| d["content"].as_str()).collect()
}

#[tokio::test]
async fn a_stock_client_sees_a_reply_stream_over_tcp() {
    let served = Served::start(&["--server", "1.58.2"]);
    let (status, info) = served.http("GET", "/server_info", "", "");
    assert_eq!((status, &info["version"]), (200, &"1.58.2".into()), "{info}");
    let mut legacy = served.socket(&served.events(), None).await.unwrap();
    let first = until(&mut legacy, |_| true).await.unwrap();
    assert_eq!(
        (&first[0]["kind"], &first[0]["key"]),
        (&"ConversationStateUpdateEvent".into(), &"full_state".into())
    );
    let mut session = served.socket(&served.session(), None).await.unwrap();
    legacy.send(Message::text(HI)).await.unwrap();
    let frames = until(&mut legacy, finished).await.unwrap();
    let deltas = frames.iter().filter(|f| f["kind"] == "StreamingDeltaEvent").count();
    assert_eq!(deltas, 18);
    let reply = frames.iter().rfind(|f| f["kind"] == "MessageEvent" && f["source"] == "agent").unwrap();
    assert_eq!(reply["llm_message"]["content"][0]["text"], texts(&frames), "what streamed is the reply");
    assert!(texts(&frames).contains("漢字😀"));
    let frames = until(&mut session, finished).await.unwrap();
    let kinds: Vec<&str> = frames.iter().map(|f| f["type"].as_str().unwrap()).collect();
    assert_eq!(
        (kinds[0], kinds.iter().filter(|k| **k == "delta").count()),
        ("sync", 17),
        "empty text is withheld"
    );
}

#[tokio::test]
async fn a_turn_can_be_started_and_read_back_over_http() {
    let served = Served::start(&["--server", "1.43.1", "--mutation", "-source"]);
    let mut legacy = served.socket(&served.events(), None).await.unwrap();
    let path = format!("/api/conversations/{}/events", served.conversation);
    let (status, _) = served.http("POST", &path, "Content-Type: application/json\r\n", HI);
    assert_eq!(status, 200);
    let frames = until(&mut legacy, finished).await.unwrap();
    let deltas: Vec<&Value> = frames.iter().filter(|f| f["kind"] == "StreamingDeltaEvent").collect();
    assert!(
        deltas.len() == 18 && deltas.iter().all(|d| d.get("source").is_none()),
        "the mutation is applied"
    );
    let (status, found) = served.http("GET", &format!("{path}/search"), "", "");
    let kinds: Vec<&str> =
        found["items"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!((status, kinds.iter().filter(|k| **k == "MessageEvent").count()), (200, 2), "{kinds:?}");
    assert!(!kinds.contains(&"StreamingDeltaEvent"), "deltas are not persisted");
    assert_eq!(served.socket(&served.session(), None).await.err(), Some(403), "first in 1.45.0");
    assert_eq!(served.http("GET", "/nothing/here", "", "").0, 404);
}

#[tokio::test]
async fn a_key_keeps_strangers_out() {
    let served = Served::start(&["--server", "1.58.2", "--key", "k1", "--key", "k2"]);
    let path = format!("/api/conversations/{}", served.conversation);
    assert_eq!(served.http("GET", &path, "", "").0, 401);
    assert_eq!(served.http("GET", &path, "X-Session-API-Key: k2\r\n", "").0, 200);
    // A wrong key in the handshake is refused there; whoever shows none and says something else first is closed.
    assert_eq!(served.socket(&served.events(), Some("k3")).await.err(), Some(403));
    let mut rude = served.socket(&served.events(), None).await.unwrap();
    rude.send(Message::text(HI)).await.unwrap();
    assert_eq!(until(&mut rude, |_| false).await, Err(Some(4001)));
    let mut right = served.socket(&served.events(), Some("k1")).await.unwrap();
    assert!(until(&mut right, |_| true).await.is_ok());
    let mut unknown =
        served.socket("/sockets/events/00000000-0000-4000-8000-000000000000", Some("k1")).await.unwrap();
    assert_eq!(until(&mut unknown, |_| false).await, Err(Some(4004)));
}

#[test]
fn what_cannot_be_served_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, stdout, stderr) = ended(&mut skewlab(&["serve", "--server", "1.58.2", "--port", &port]));
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{stderr}");
    for (args, said) in [
        (["--server", "1.58.3"], "`1.58.2`"),
        (["--mutation", "source"], "`source` is no frame mutation"),
        (["--script", "release-skew:chatt"], "`chatt`"),
        (["--script", "release-skwe"], "`release-skew`"),
    ] {
        let server = if args[0] == "--server" { &[][..] } else { &["--server", "1.58.2"] };
        let (code, stdout, stderr) = ended(skewlab(&["serve"]).args(server).args(args));
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

#[test]
fn a_workload_that_no_emulated_server_can_play_is_refused_and_red() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/failing-provider.toml");
    let skewlab = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_skewlab")).args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let (code, said) = skewlab(&["serve", "--server", "1.58.2", "--script", &format!("{example}:tool")]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("workload `tool`") && said.contains("no tool call"), "{said}");
    // A silence is played; a tool call and a failing provider are not, and say so.
    for (only, code, word) in
        [("silence", 0, "as expected"), ("tool", 13, "NOT RUN"), ("broken", 13, "NOT RUN")]
    {
        let (ended, said) = skewlab(&["matrix", example, "--only", only]);
        assert_eq!(ended, Some(code), "{only}: {said}");
        assert!(said.contains(word), "{only}: {said}");
    }
}
