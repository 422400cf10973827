//! The webhook sink over real sockets, and `skewlab model` as a child process.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use skewlab::live::sink::Sink;
use skewlab::record::observation::WebhookCount;
use tokio::time::sleep;

use crate::model_http::{ask, chat, events};

const PLAIN: &str = "0123456789abcdef0123456789abcdef";
const HYPHENS: &str = "01234567-89ab-cdef-0123-456789abcdef";

#[tokio::test]
async fn a_sink_answers_late_and_counts_by_conversation() {
    let latency = Duration::from_millis(150);
    let sink = Sink::start(latency).await.unwrap();
    let addr = sink.base_url().strip_prefix("http://").unwrap().parse().unwrap();
    let path = format!("/events/{PLAIN}");
    let body = json!([{"kind": "StreamingDeltaEvent"}, {"kind": "MessageEvent"}]).to_string();
    let begun = Instant::now();
    let answer = ask(addr, "POST", &path, &body).await;
    assert_eq!((answer.status, answer.json().await), (200, json!({})));
    assert!(begun.elapsed() >= latency, "{:?}", begun.elapsed());
    assert_eq!(ask(addr, "POST", &path, "nonsense").await.status, 200);
    assert_eq!(ask(addr, "POST", "/conversations", "{}").await.status, 200);
    assert_eq!(ask(addr, "GET", &path, "").await.status, 405);

    let count = WebhookCount { posts: 2, events: 2, deltas: 1, ..WebhookCount::default() };
    assert_eq!((sink.counts(HYPHENS), sink.counts(PLAIN)), (count.clone(), count));
    let posts = sink.posts(HYPHENS);
    assert_eq!((posts[0].bytes, posts[0].kinds.len(), posts[0].deltas()), (body.len(), 2, 1));
    assert!(posts[0].answered_at.unwrap() >= posts[0].at + latency && posts[1].fault.is_some());
    assert_eq!(sink.elsewhere().into_iter().collect::<Vec<_>>(), [("/conversations".to_owned(), 1)]);
    assert_eq!(sink.counts("another"), WebhookCount::default());
}

#[tokio::test]
async fn a_post_that_is_given_up_stays_unanswered() {
    let sink = Sink::start(Duration::from_millis(300)).await.unwrap();
    let addr: std::net::SocketAddr = sink.base_url().strip_prefix("http://").unwrap().parse().unwrap();
    let path = format!("/events/{PLAIN}");
    let given_up = tokio::time::timeout(Duration::from_millis(100), ask(addr, "POST", &path, "[]")).await;
    assert!(given_up.is_err());
    sleep(Duration::from_millis(500)).await;
    assert_eq!(sink.counts(PLAIN), WebhookCount { failed_posts: 1, ..WebhookCount::default() });
}

#[tokio::test]
async fn the_command_streams_a_workload_or_what_is_ordered() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skewlab"))
        .args(["model", "--script", "release-skew", "--tail", "1ms", "--chunk-bytes", "64"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let addr = line.trim().strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap().parse().unwrap();
    let said = async |text: &str| {
        let (sizes, text) = ask(addr, "POST", "/v1/chat/completions", &chat(text)).await.rest().await;
        assert!(sizes.iter().all(|s| *s <= 64));
        let delta = |e: &serde_json::Value| e["choices"][0]["delta"]["content"].as_str().map(str::to_owned);
        events(&text).iter().filter_map(delta).collect::<String>()
    };
    let (ordered, usual) = (said("[[n=3 rate=1000]]").await, said("hi").await);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(ordered, "tok0 tok1 tok2 ");
    assert!(!usual.is_empty() && usual != ordered);
}

#[test]
fn the_command_refuses_what_it_cannot_do() {
    let refused = |args: &[&str], words: &str| {
        let out = Command::new(env!("CARGO_BIN_EXE_skewlab")).arg("model").args(args).output().unwrap();
        let text = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(text.contains(words), "{text}");
    };
    refused(&["--script", "release-skew:cha"], "did you mean `chat`?");
    refused(&["--chunk-bytes", "0"], "--chunk-bytes");
    refused(&["--tail", "soon"], "0s, 500ms or 2m");
}
