//! The fake model over real sockets: what is said is what was scripted, and the books agree.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skewlab::live::model::{Api, DEFAULT_TAG, Failure, Model, Part, Reply, Streamed};
use skewlab::record::flow::Class;
use skewlab::record::observation::Piece;
use tokio::time::{sleep, timeout};

use crate::model_http::{ask, chat, events};

const CHAT: &str = "/v1/chat/completions";
const WAIT: Duration = Duration::from_secs(20);

async fn model() -> Model {
    Model::start("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

fn numbered(word: &str, count: usize, rate: f64) -> Reply {
    let parts = (0..count).map(|n| Part::text(format!("{word}{n} "))).collect();
    Reply { parts, rate, ..Reply::default() }
}

/// Text and reasoning of each chunk of a chat stream, in order; `None` for a key that is absent.
fn deltas(events: &[Value]) -> Vec<(Option<&str>, Option<&str>)> {
    events
        .iter()
        .filter(|e| e["choices"][0]["finish_reason"].is_null())
        .map(|e| {
            let delta = &e["choices"][0]["delta"];
            (delta["content"].as_str(), delta["reasoning_content"].as_str())
        })
        .collect()
}

fn piece(class: Class, text: &str) -> Piece {
    Piece { class, text: text.to_owned() }
}

/// Waits until the books of a tag are as `like` wants them.
async fn book(model: &Model, tag: &str, like: impl Fn(&Streamed) -> bool) -> Streamed {
    let wait = async {
        loop {
            match model.streamed(tag) {
                Some(page) if like(&page) => return page,
                _ => sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(WAIT, wait).await.unwrap()
}

#[tokio::test]
async fn a_stream_is_exactly_its_parts_and_so_are_the_books() {
    let model = model().await;
    let both = Part::Delta { text: Some("hé".to_owned()), reasoning: Some("why".to_owned()) };
    let parts = vec![Part::reasoning("hm "), both, Part::text(""), Part::text("ha "), Part::text("ha ")];
    model.register("cell/1", Reply { parts, rate: 1000.0, ..Reply::default() }).unwrap();
    let (_, text) = ask(model.addr(), "POST", CHAT, &chat("hi [[skewlab:cell/1]]")).await.rest().await;
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    let events = events(&text);
    let said = [
        (Some(""), None),
        (None, Some("hm ")),
        (Some("hé"), Some("why")),
        (Some(""), None),
        (Some("ha "), None),
        (Some("ha "), None),
    ];
    assert_eq!(deltas(&events), said);
    let page = model.streamed("cell/1").unwrap();
    let produced = [
        piece(Class::Empty, ""),
        piece(Class::Reasoning, "hm "),
        piece(Class::Reasoning, "why"),
        piece(Class::Text, "hé"),
        piece(Class::Empty, ""),
        piece(Class::Text, "ha "),
        piece(Class::Text, "ha "),
    ];
    assert_eq!(page.produced, produced);
    let indices: Vec<Option<usize>> = page.parts.iter().map(|p| p.index).collect();
    assert_eq!(indices, [None, Some(0), Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!(page.parts.iter().map(|p| p.pieces).sum::<usize>(), page.produced.len());
    assert_eq!((page.requests, page.finished, page.aborted_at), (1, 1, None));
    assert_eq!((page.api, page.stream), (Some(Api::Chat), true));
}

#[tokio::test]
async fn parts_leave_by_the_clock_and_the_end_waits_for_the_tail() {
    let model = model().await;
    let reply = Reply {
        first: Duration::from_millis(50),
        tail: Duration::from_millis(200),
        ..numbered("t", 5, 100.0)
    };
    model.set_default(reply).unwrap();
    let begun = Instant::now();
    ask(model.addr(), "POST", CHAT, &chat("hi")).await.rest().await;
    assert!(begun.elapsed() >= Duration::from_millis(50 + 40 + 200), "{:?}", begun.elapsed());
    let page = model.streamed(DEFAULT_TAG).unwrap();
    let from = page.parts[0].intended_at;
    let intended: Vec<u128> =
        page.parts.iter().map(|p| p.intended_at.saturating_sub(from).as_millis()).collect();
    assert_eq!(intended, [0, 0, 10, 20, 30, 40]);
    assert!(page.parts.iter().all(|p| p.at >= p.intended_at), "{:?}", page.parts);
}

#[tokio::test]
async fn a_stream_is_cut_inside_events_and_characters() {
    let model = model().await;
    let parts = vec![Part::text("日本語"), Part::text("🦀🦀")];
    for size in [1, 3, 50] {
        let chunk_bytes = NonZeroUsize::new(size);
        model
            .set_default(Reply { parts: parts.clone(), chunk_bytes, rate: 1e6, ..Reply::default() })
            .unwrap();
        let (sizes, text) = ask(model.addr(), "POST", CHAT, &chat("hi")).await.rest().await;
        assert!(
            sizes.iter().all(|s| *s <= size) && sizes.iter().filter(|s| **s == size).count() > 5,
            "{sizes:?}"
        );
        let events = events(&text);
        assert_eq!(deltas(&events), [(Some(""), None), (Some("日本語"), None), (Some("🦀🦀"), None)]);
    }
}

#[tokio::test]
async fn a_caller_that_leaves_is_noticed() {
    let model = model().await;
    model.register("long", numbered("t", 10_000, 100.0)).unwrap();
    let mut answer = ask(model.addr(), "POST", CHAT, &chat("[[skewlab:long]]")).await;
    for _ in 0..5 {
        answer.write().await.unwrap();
    }
    drop(answer);
    let page = book(&model, "long", |page| page.aborted_at.is_some()).await;
    assert_eq!((page.finished, page.requests), (0, 1));
    let sent = page.aborted_at.unwrap();
    assert!((4..1000).contains(&sent) && page.parts.len() == sent + 1, "{sent}");

    // In a silence too, when nothing is written that could fail.
    let parts = vec![Part::text("a"), Part::Stall(Duration::from_hours(1)), Part::text("b")];
    model.register("silent", Reply { parts, role_chunk: false, ..Reply::default() }).unwrap();
    let mut answer = ask(model.addr(), "POST", CHAT, &chat("[[skewlab:silent]]")).await;
    answer.write().await.unwrap();
    drop(answer);
    let page = book(&model, "silent", |page| page.aborted_at.is_some()).await;
    assert_eq!((page.aborted_at, page.produced.as_slice()), (Some(1), &[piece(Class::Text, "a")][..]));
}

#[tokio::test]
async fn conversations_at_once_do_not_mix() {
    let model = model().await;
    let words = ["a", "b", "c", "d"];
    let streams = words.map(|word| {
        model.register(word, numbered(word, 50, 500.0)).unwrap();
        let (addr, request) = (model.addr(), chat(&format!("go {}", Model::marker(word))));
        tokio::spawn(async move { ask(addr, "POST", "/chat/completions", &request).await.rest().await.1 })
    });
    for (word, stream) in words.into_iter().zip(streams) {
        let all: String = deltas(&events(&stream.await.unwrap())).iter().filter_map(|d| d.0).collect();
        let expected = numbered(word, 50, 1.0).text();
        assert_eq!(all, expected);
        let page = model.streamed(word).unwrap();
        assert_eq!(page.produced.iter().map(|p| p.text.as_str()).collect::<String>(), expected);
    }
}

#[tokio::test]
async fn an_unknown_tag_is_an_error_that_names_the_nearest() {
    let model = model().await;
    let none = ask(model.addr(), "POST", CHAT, &chat("hi")).await;
    assert_eq!(none.status, 404);
    assert!(none.json().await["error"]["message"].as_str().unwrap().contains("no default reply"));
    model.register("chat-plain", Reply::short("x")).unwrap();
    let unknown = ask(model.addr(), "POST", CHAT, &chat("[[skewlab:chat-plan]]")).await;
    assert_eq!(unknown.status, 404);
    let error = unknown.json().await["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`chat-plan`") && message.contains("did you mean `chat-plain`?"), "{message}");
    assert_eq!(error["code"], "unknown_tag");
    assert!(model.streamed("chat-plan").is_none());
    let bad = model.register("a b", Reply::short("x")).unwrap_err().to_string();
    assert!(bad.contains("`a b` is no tag"), "{bad}");
    let bad = model.register("slow", Reply { rate: 0.0, ..Reply::default() }).unwrap_err().to_string();
    assert!(bad.starts_with("reply `slow`: 0 parts a second"), "{bad}");
}

#[tokio::test]
async fn what_is_not_streamed_is_answered_whole_and_leaves_no_pieces() {
    let model = model().await;
    let parts = vec![Part::reasoning("why"), Part::text("a"), Part::text("b")];
    model.set_default(Reply { parts, ..Reply::default() }).unwrap();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "title?"}]}).to_string();
    let whole = ask(model.addr(), "POST", CHAT, &body).await.json().await;
    let message = json!({"role": "assistant", "content": "ab", "reasoning_content": "why"});
    assert_eq!((&whole["choices"][0]["message"], &whole["object"]), (&message, &json!("chat.completion")));
    let page = model.streamed(DEFAULT_TAG).unwrap();
    assert_eq!((page.whole, page.finished, page.stream, page.produced.len()), (1, 1, false, 0));
    let body = json!({"model": "m", "input": "title?"}).to_string();
    let whole = ask(model.addr(), "POST", "/v1/responses", &body).await.json().await;
    assert_eq!(whole["status"], "completed");
    assert_eq!(whole["output"][1]["content"][0]["text"], "ab");
}

#[tokio::test]
async fn the_responses_api_streams_the_same_parts() {
    let model = model().await;
    let both = Part::Delta { text: Some("a ".to_owned()), reasoning: Some("why ".to_owned()) };
    model
        .set_default(Reply { parts: vec![both, Part::text("b ")], rate: 1000.0, ..Reply::default() })
        .unwrap();
    let body =
        json!({"model": "m", "stream": true, "input": [{"role": "user", "content": "hi"}]}).to_string();
    let (_, text) = ask(model.addr(), "POST", "/v1/responses", &body).await.rest().await;
    let events = events(&text);
    let deltas: Vec<(&str, &str)> = events
        .iter()
        .filter_map(|e| Some((e["type"].as_str()?.strip_prefix("response.")?, e["delta"].as_str()?)))
        .collect();
    let text = "output_text.delta";
    assert_eq!(deltas, [("reasoning_summary_text.delta", "why "), (text, "a "), (text, "b ")]);
    assert_eq!(events.last().unwrap()["response"]["status"], "completed");
    let page = model.streamed(DEFAULT_TAG).unwrap();
    let produced = [piece(Class::Reasoning, "why "), piece(Class::Text, "a "), piece(Class::Text, "b ")];
    assert_eq!((page.produced.as_slice(), page.api), (&produced[..], Some(Api::Responses)));
}

#[tokio::test]
async fn errors_come_as_a_status_or_in_the_stream() {
    let model = model().await;
    let status = Failure::Status { status: 429, message: "slow down".to_owned() };
    model.register("status", Reply { parts: vec![Part::Error(status)], ..Reply::default() }).unwrap();
    let refused = ask(model.addr(), "POST", CHAT, &chat("[[skewlab:status]]")).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json().await["error"]["message"], "slow down");
    assert_eq!(model.streamed("status").unwrap().refused, 1);
    let parts = vec![Part::text("a"), Part::Error(Failure::InStream("broken".to_owned()))];
    model.register("stream", Reply { parts, ..Reply::default() }).unwrap();
    let (_, text) = ask(model.addr(), "POST", CHAT, &chat("[[skewlab:stream]]")).await.rest().await;
    assert_eq!(events(&text).last().unwrap()["error"]["message"], "broken");
    assert!(!text.contains("DONE") && !text.contains("stop"), "{text}");
    let page = book(&model, "stream", |page| page.finished == 1).await;
    assert_eq!((page.aborted_at, page.produced.len()), (None, 2));
}

#[tokio::test]
async fn the_books_models_and_wrong_paths_are_served_over_http() {
    let model = model().await;
    model.register("a/b", numbered("t", 3, 1000.0)).unwrap();
    ask(model.addr(), "POST", CHAT, &chat("[[skewlab:a/b]]")).await.rest().await;
    let page = ask(model.addr(), "GET", "/streams/a/b", "").await.json().await;
    assert_eq!(
        (&page["finished"], &page["produced"][1]["text"], &page["api"]),
        (&json!(1), &json!("t0 "), &json!("chat"))
    );
    assert!(
        page["parts"][3]["intended_at"].as_f64().unwrap() > page["parts"][1]["intended_at"].as_f64().unwrap()
    );
    assert_eq!(ask(model.addr(), "GET", "/streams", "").await.json().await["a/b"], page);
    assert_eq!(ask(model.addr(), "GET", "/streams/a/c", "").await.status, 404);
    assert_eq!(ask(model.addr(), "GET", "/v1/models", "").await.json().await["data"][0]["object"], "model");
    let wrong = ask(model.addr(), "POST", "/v1/completions", "{}").await;
    assert_eq!(wrong.status, 404);
    assert!(wrong.json().await["error"]["message"].as_str().unwrap().contains("/v1/chat/completions"));
    assert_eq!(ask(model.addr(), "POST", CHAT, "{").await.status, 400);
}

#[tokio::test]
async fn a_message_may_order_tokens_where_that_is_allowed() {
    let model = model().await;
    model.set_default(Reply::short("usual")).unwrap();
    let said = async |text: &str| {
        let (_, text) = ask(model.addr(), "POST", CHAT, &chat(text)).await.rest().await;
        events(&text)
            .iter()
            .filter_map(|e| e["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
            .collect::<String>()
    };
    assert_eq!(said("[[n=2 rate=1000]]").await, "usual");
    model.take_orders();
    assert_eq!(said("[[n=2 rate=1000]]").await, "tok0 tok1 ");
    assert_eq!(said("hi").await, "usual");
    assert_eq!(ask(model.addr(), "POST", CHAT, &chat("[[m=2]]")).await.status, 400);
}

#[tokio::test]
async fn a_model_is_for_this_machine_only_and_ends_with_its_last_clone() {
    let far: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let error = Model::start(far).await.unwrap_err().to_string();
    assert!(error.contains("0.0.0.0:0") && error.contains("loopback"), "{error}");
    let model = model().await;
    let (addr, clone) = (model.addr(), model.clone());
    drop(model);
    assert_eq!(ask(addr, "GET", "/v1/models", "").await.status, 200);
    assert_eq!(clone.base_url(), format!("http://{addr}/v1"));
    drop(clone);
    sleep(Duration::from_millis(50)).await;
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}
