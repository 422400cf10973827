//! `skewlab attach` at a server that no profile describes: one that treats its subscribers differently.

use std::process::{Command, Stdio};
use std::time::Duration;

use futures_util::SinkExt;
use serde_json::{Value, json};
use skewlab::record::attach::AttachReport;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::runs::{ended, skewlab};

/// Deltas of the one reply.
const DELTAS: usize = 10;
/// Clients that are there before it streams.
const CLIENTS: usize = 4;

/// What the server does to one subscriber.
#[derive(Clone, Copy, PartialEq)]
enum Treats {
    Well,
    /// Keeps this delta from it.
    Without(usize),
    /// Keeps the durable end from it.
    WithoutEnd,
    /// Says something else in this delta.
    Otherwise(usize),
    /// The same to two, half of all.
    HalfOtherwise(usize),
    /// Ends its connection after this delta, and repeats its key.
    CloseAfter(usize),
}

fn delta(n: usize, text: &str) -> String {
    let stamp = "2026-11-30T07:45:00.000001";
    json!({"id": format!("d{n}"), "timestamp": stamp, "source": "agent", "content": text, "kind": "StreamingDeltaEvent"})
        .to_string()
}

fn state() -> String {
    let value = json!({"execution_status": "idle"});
    json!({"id": "s", "timestamp": "2026-11-30T07:45:00", "source": "environment", "key": "full_state", "value": value,
        "kind": "ConversationStateUpdateEvent"})
    .to_string()
}

fn end(text: &str) -> String {
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
    json!({"id": "m", "timestamp": "2026-11-30T07:45:01", "source": "agent", "llm_message": message, "kind": "MessageEvent"})
        .to_string()
}

/// Starts it; it streams once `CLIENTS` have come. `lacks` is a delta that nobody gets.
fn start(treats: Treats, lacks: Option<usize>) -> String {
    let (told, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap().to_string()).unwrap();
            let (come, all) = watch::channel(0);
            let treated = if matches!(treats, Treats::HalfOtherwise(_)) { CLIENTS / 2 } else { 1 };
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // The first connection only asks whether somebody listens.
                let Ok(socket) = accept_async(stream).await else { continue };
                let treats = if *come.borrow() < treated { treats } else { Treats::Well };
                come.send_modify(|n| *n += 1);
                tokio::spawn(serve(socket, treats, lacks, all.clone()));
            }
        });
    });
    address.recv().unwrap()
}

async fn serve(
    mut socket: WebSocketStream<TcpStream>,
    treats: Treats,
    lacks: Option<usize>,
    mut all: watch::Receiver<usize>,
) {
    socket.send(Message::text(state())).await.unwrap();
    all.wait_for(|n| *n == CLIENTS).await.unwrap();
    sleep(Duration::from_secs(3)).await;
    for n in (0..DELTAS).filter(|n| Some(*n) != lacks && treats != Treats::Without(*n)) {
        let otherwise = [Treats::Otherwise(n), Treats::HalfOtherwise(n)].contains(&treats);
        let text = if otherwise { "xok0 ".to_owned() } else { format!("tok{n} ") };
        socket.send(Message::text(delta(n, &text))).await.unwrap();
        sleep(Duration::from_millis(10)).await;
        if treats == Treats::CloseAfter(n) {
            let frame = CloseFrame { code: 1011.into(), reason: "your key s3cret-key is tired".into() };
            socket.close(Some(frame)).await.unwrap();
            return;
        }
    }
    if treats != Treats::WithoutEnd {
        let texts: Vec<String> = (0..DELTAS).map(|n| format!("tok{n} ")).collect();
        let text = texts.concat();
        socket.send(Message::text(end(&text))).await.unwrap();
    }
    sleep(Duration::from_mins(1)).await;
}

fn args(address: &str) -> Vec<String> {
    let clients = CLIENTS.to_string();
    let url = format!("http://{address}");
    ["attach", &url, "--conversation", "c", "--clients", &clients, "--format", "json"]
        .map(str::to_owned)
        .to_vec()
}

fn found(treats: Treats, lacks: Option<usize>) -> (i32, AttachReport) {
    let mut args = args(&start(treats, lacks));
    args.extend(["--for", "7s", "--key-env", "SKEWLAB_TEST_KEY"].map(str::to_owned));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, out, err) = ended(skewlab(&args).env("SKEWLAB_TEST_KEY", "s3cret-key"));
    assert!(!format!("{out}{err}").contains("s3cret"), "{out}{err}");
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}")))
}

fn verdicts(report: &AttachReport) -> Vec<(&str, u64)> {
    report.findings.iter().map(|finding| (finding.verdict.as_str(), finding.clients)).collect()
}

#[test]
fn a_server_that_treats_all_alike_is_healthy() {
    let (code, report) = found(Treats::Well, None);
    assert_eq!((code, verdicts(&report)), (0, vec![("delivered", 4)]), "{report:#?}");
    assert_eq!((report.seen.deltas, report.seen.said, report.seen.first_delta), (10, false, None));
}

#[test]
fn a_delta_that_one_client_lacks_is_missing_there_alone() {
    let (code, report) = found(Treats::Without(4), None);
    assert_eq!((code, verdicts(&report)), (10, vec![("silent_loss", 1), ("delivered", 3)]), "{report:#?}");
    let wire: Vec<_> = report.seen.clients.iter().map(|client| client.wire.missing()).collect();
    assert_eq!(wire.iter().sum::<u64>(), 1);
    assert_eq!(report.findings[0].amount.chars, 5);
    assert!(report.findings[0].note.contains("another client got"), "{report:#?}");
}

#[test]
fn a_number_that_nobody_got_is_missing_for_all() {
    let (code, report) = found(Treats::Well, Some(6));
    assert_eq!((code, verdicts(&report)), (10, vec![("silent_loss", 4)]), "{report:#?}");
    assert_eq!((report.seen.missing_everywhere, report.seen.clients[0].replies.short_chars), (1, 5));
}

#[test]
fn a_lost_end_and_another_text_have_words_of_their_own() {
    for (treats, verdict) in [(Treats::WithoutEnd, "durable_loss"), (Treats::Otherwise(3), "corrupted")] {
        let (code, report) = found(treats, None);
        assert_eq!((code, verdicts(&report)), (10, vec![(verdict, 1), ("delivered", 3)]), "{report:#?}");
    }
}

/// The durable end says more than the clients do of each other, and each client is told both.
#[test]
fn two_texts_at_as_many_clients_leave_nobody_right() {
    let (code, report) = found(Treats::HalfOtherwise(3), None);
    assert_eq!((code, verdicts(&report)), (10, vec![("corrupted", 2); 2]), "{report:#?}");
    assert!(report.findings.iter().all(|finding| finding.note.contains("no text has a majority")));
    let beside_the_end = report.findings.iter().filter(|finding| finding.note.contains("durable end"));
    assert_eq!(beside_the_end.count(), 1, "{report:#?}");
    assert_eq!(report.seen.missing_everywhere, 0, "a number that may be wrong leaves no gap");
}

#[test]
fn a_client_that_is_closed_is_judged_until_then_and_its_key_is_not_repeated() {
    let (code, report) = found(Treats::CloseAfter(3), None);
    let mut verdicts = verdicts(&report);
    verdicts.sort_unstable();
    assert_eq!((code, verdicts), (13, vec![("delivered", 1), ("delivered", 3)]), "{report:#?}");
    let closed = report.seen.clients.iter().find(|client| client.closed.is_some()).unwrap();
    assert_eq!((closed.wire.due, closed.wire.got), (4, 4));
    assert_eq!(closed.closed.as_ref().unwrap().reason, "your key [key] is tired");
}

#[test]
fn an_interrupted_run_says_so() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skewlab"));
    command.args(args(&start(Treats::Well, None))).args(["--for", "60s"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(5));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &report["seen"]["complete"]), (Some(13), &json!(false)));
    assert_eq!(report["seen"]["deltas"], 10, "what was seen until then is told");
}
