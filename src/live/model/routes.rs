//! What can be asked of the model over HTTP.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::dialect::Dialect;
use super::reply::{Failure, Part};
use super::request::{Api, Ask};
use super::state::State;
use super::stream::Stream;
use crate::live::loopback;

type Answer = Response<Either<Full<Bytes>, Stream>>;

/// The paths, with or without `/v1`, for whoever asks for another one.
const PATHS: &str =
    "POST /v1/chat/completions, POST /v1/responses, GET /v1/models, GET /streams, GET /streams/TAG";

pub(super) async fn answer(state: Arc<State>, request: Request<Incoming>) -> Answer {
    let path = request.uri().path().to_owned();
    let path = path.strip_prefix("/v1/").or_else(|| path.strip_prefix('/')).unwrap_or(&path);
    match (request.method(), path) {
        (&Method::POST, "chat/completions") => complete(state, request, Api::Chat).await,
        (&Method::POST, "responses") => complete(state, request, Api::Responses).await,
        (&Method::GET, "models") => plain(
            StatusCode::OK,
            &json!({"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "skewlab"}]}),
        ),
        (&Method::GET, "streams") => plain(StatusCode::OK, &json!(state.book.all())),
        (&Method::GET, path) if path.starts_with("streams/") => {
            let tag = &path["streams/".len()..];
            if let Some(page) = state.book.page(tag) {
                return plain(StatusCode::OK, &json!(page));
            }
            let pages: Vec<String> = state.book.all().into_keys().collect();
            unknown(&format!("nothing was asked for under `{tag}`"), tag, &pages)
        }
        (method, _) => {
            let message = format!("no {method} {}; expected {PATHS}", request.uri().path());
            problem(StatusCode::NOT_FOUND, &message, "unknown_url")
        }
    }
}

async fn complete(state: Arc<State>, request: Request<Incoming>, api: Api) -> Answer {
    let begun = Instant::now();
    let body = match loopback::body(request).await {
        Ok(body) => body,
        Err(message) => return problem(StatusCode::PAYLOAD_TOO_LARGE, &message, "too_large"),
    };
    let ask = match Ask::read(api, &body) {
        Ok(ask) => ask,
        Err(message) => return problem(StatusCode::BAD_REQUEST, &message, "bad_request"),
    };
    let (tag, reply) = match state.reply(&ask) {
        Ok(found) => found,
        Err(Refusal::Unknown { message, tag, known }) => return unknown(&message, &tag, &known),
        Err(Refusal::Order(message)) => return problem(StatusCode::BAD_REQUEST, &message, "bad_order"),
    };
    state.book.note(&tag, |page| {
        page.requests += 1;
        page.api = Some(api);
        page.stream |= ask.stream;
    });
    let failure = match (reply.failure(), reply.parts.first()) {
        (Some(Failure::Status { status, message }), Some(Part::Error(_))) => Some((*status, message)),
        (Some(Failure::InStream(message)), _) if !ask.stream => Some((500, message)),
        _ => None,
    };
    if let Some((status, message)) = failure {
        sleep(reply.first).await;
        state.book.note(&tag, |page| page.refused += 1);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return problem(status, message, "scripted");
    }
    let mut dialect = Dialect::new(&ask, state.next_answer(), &reply);
    if ask.stream {
        return streaming(Stream::new(state, tag, reply, dialect, begun));
    }
    sleep(reply.first).await;
    state.book.note(&tag, |page| {
        page.whole += 1;
        page.finished += 1;
    });
    plain(StatusCode::OK, &dialect.whole(&reply))
}

/// Why a request has no reply.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Nothing is registered under its tag.
    Unknown { message: String, tag: String, known: Vec<String> },
    /// It orders tokens in a way that cannot be read.
    Order(String),
}

fn streaming(stream: Stream) -> Answer {
    let mut answer = Response::new(Either::Right(stream));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

fn plain(status: StatusCode, value: &Value) -> Answer {
    loopback::json(status, value).map(Either::Left)
}

/// An error as the API of `OpenAI` writes one.
fn problem(status: StatusCode, message: &str, code: &str) -> Answer {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    plain(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}

fn unknown(message: &str, tag: &str, known: &[String]) -> Answer {
    let hint = super::error::nearest(tag, known.iter().map(String::as_str));
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    problem(StatusCode::NOT_FOUND, &format!("{message}{hint}; tags: {known}"), "unknown_tag")
}
