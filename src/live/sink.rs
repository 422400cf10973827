//! A webhook sink: takes every post of a real server and counts what it was about.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::loopback::{self, Loopback, LoopbackError};
use crate::record::observation::WebhookCount;
use crate::wire::DELTA_KIND;

/// A sink that listens on 127.0.0.1. A clone is the same sink; with the last one it stops.
#[derive(Debug, Clone)]
pub struct Sink {
    state: Arc<State>,
    listening: Arc<Loopback>,
}

/// One post, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Post {
    /// When its body had been read: time since the sink started.
    pub at: Duration,
    /// When it was answered; `None` while it is not, and for good when the server gave it up.
    pub answered_at: Option<Duration>,
    /// Size of its body.
    pub bytes: usize,
    /// `kind` of each event, in order.
    pub kinds: Vec<String>,
    /// What is wrong with the body, if it is no list of events that have a kind.
    pub fault: Option<String>,
}

impl Post {
    /// How many of its events are token deltas.
    pub fn deltas(&self) -> usize {
        self.kinds.iter().filter(|kind| *kind == DELTA_KIND).count()
    }
}

#[derive(Debug)]
struct State {
    latency: Duration,
    epoch: Instant,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    /// By conversation, as 32 hexadecimal digits.
    events: BTreeMap<String, Vec<Post>>,
    /// Posts to any other path.
    elsewhere: BTreeMap<String, u64>,
}

impl Sink {
    /// Starts it on the caller's runtime, on a free port. Every post is answered with success after `latency`.
    pub async fn start(latency: Duration) -> Result<Sink, LoopbackError> {
        let state = Arc::new(State { latency, epoch: Instant::now(), books: Mutex::default() });
        let shared = state.clone();
        let handler = move |request| take(shared.clone(), request);
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listening = Arc::new(Loopback::serve("the webhook sink", addr, handler).await?);
        Ok(Sink { state, listening })
    }

    /// What a server takes as the webhook's `base_url`. It posts events to `/events/ID` below it, with the id as
    /// hexadecimal digits (read in agent-server 1.58.2, `conversation_service.py`).
    pub fn base_url(&self) -> String {
        format!("http://{}", self.listening.addr())
    }

    /// The moment from which [`Post`] counts.
    pub fn epoch(&self) -> std::time::Instant {
        self.state.epoch.into_std()
    }

    /// The posts of a conversation, in order of arrival. The id may have hyphens.
    pub fn posts(&self, conversation: &str) -> Vec<Post> {
        self.state.books().events.get(&digits(conversation)).cloned().unwrap_or_default()
    }

    /// The same in numbers. `failed_posts` are those that are not answered: under way, or given up by the server.
    /// What a server drops before it posts is not seen from here, so `dropped` is 0.
    pub fn counts(&self, conversation: &str) -> WebhookCount {
        let mut count = WebhookCount::default();
        for post in self.posts(conversation) {
            if post.answered_at.is_some() {
                count.posts += 1;
                count.events += post.kinds.len() as u64;
                count.deltas += post.deltas() as u64;
            } else {
                count.failed_posts += 1;
            }
        }
        count
    }

    /// Posts to any path that is not about events (`/conversations`, for one), by path.
    pub fn elsewhere(&self) -> BTreeMap<String, u64> {
        self.state.books().elsewhere.clone()
    }
}

impl State {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id as its hexadecimal digits, where it is one.
fn digits(id: &str) -> String {
    uuid::Uuid::try_parse(id).map_or_else(|_| id.to_owned(), |id| id.simple().to_string())
}

async fn take(state: Arc<State>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    if request.method() != Method::POST {
        let detail = format!("no {} {path}; a sink takes POST alone", request.method());
        return loopback::json(StatusCode::METHOD_NOT_ALLOWED, &json!({"detail": detail}));
    }
    let body = match loopback::body(request).await {
        Ok(body) => body,
        Err(detail) => return loopback::json(StatusCode::PAYLOAD_TOO_LARGE, &json!({"detail": detail})),
    };
    let post = if let Some(id) = path.strip_prefix("/events/") {
        let (kinds, fault) = kinds(&body);
        let post = Post { at: state.epoch.elapsed(), answered_at: None, bytes: body.len(), kinds, fault };
        let mut books = state.books();
        let posts = books.events.entry(digits(id)).or_default();
        posts.push(post);
        Some((digits(id), posts.len() - 1))
    } else {
        *state.books().elsewhere.entry(path).or_default() += 1;
        None
    };
    // A server that gives up closes the connection, and this is dropped here: the post stays unanswered.
    sleep(state.latency).await;
    if let Some((id, index)) = post
        && let Some(post) = state.books().events.get_mut(&id).and_then(|posts| posts.get_mut(index))
    {
        post.answered_at = Some(state.epoch.elapsed());
    }
    loopback::json(StatusCode::OK, &json!({}))
}

/// The kinds of the events of a body, and what is wrong with it. An event without a kind counts as `?`.
fn kinds(body: &[u8]) -> (Vec<String>, Option<String>) {
    let events: Vec<Value> = match serde_json::from_slice(body) {
        Ok(events) => events,
        Err(error) => return (Vec::new(), Some(format!("no list of events: {error}"))),
    };
    let kind = |event: &Value| event["kind"].as_str().unwrap_or("?").to_owned();
    let kinds: Vec<String> = events.iter().map(kind).collect();
    let fault = kinds.iter().position(|kind| kind == "?").map(|at| format!("event {at} has no kind"));
    (kinds, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_list_of_events_with_kinds() {
        let body = br#"[{"kind":"StreamingDeltaEvent"},{"id":"x"},{"kind":"MessageEvent"}]"#;
        let (kinds, fault) = kinds(body);
        assert_eq!(kinds, ["StreamingDeltaEvent", "?", "MessageEvent"]);
        assert_eq!(fault.unwrap(), "event 1 has no kind");
        assert!(super::kinds(b"{}").1.unwrap().starts_with("no list of events"));
    }

    #[test]
    fn an_id_is_known_with_and_without_hyphens() {
        let plain = "0123456789abcdef0123456789abcdef";
        assert_eq!(digits("01234567-89ab-cdef-0123-456789abcdef"), plain);
        assert_eq!((digits(plain).as_str(), digits("x").as_str()), (plain, "x"));
    }
}
