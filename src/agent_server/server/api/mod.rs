//! The REST side, under `/api`: what clients of the subject call before, during and after a turn.
//!
//! One set of endpoints serves every era: what is here is in every release from 1.30.0 to 1.58.2 (read in their
//! routers), with the answers of 1.58.2 (measured). What a client cannot tell from a scripted turn is not here, and
//! answers 404: forks, goals, plugins, pausing.

mod around;
mod conversations;
mod error;
mod events;
mod settings;

use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::Inner;
use super::query::pairs;
use error::ApiError;

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
const MOST_ITEMS: usize = 100;

/// An answer.
pub(super) type Reply = Response<Full<Bytes>>;

/// What was asked for, beside the path.
pub(super) struct Asked {
    method: Method,
    query: String,
    body: Bytes,
}

impl Asked {
    /// The value of a parameter of the query.
    fn parameter(&self, name: &str) -> Option<String> {
        pairs(&self.query).find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Every value of a parameter that may be repeated.
    fn parameters(&self, name: &str) -> Vec<String> {
        pairs(&self.query).filter(|(n, _)| n == name).map(|(_, value)| value).collect()
    }

    /// The body as JSON; nothing reads as `null`.
    fn json(&self) -> Result<Value, ApiError> {
        if self.body.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_slice(&self.body)?) }
    }

    /// One page of those items: `limit` of them (100 by default, and at most) from index `page_id` on.
    fn page(&self, items: Vec<Value>) -> Result<Value, ApiError> {
        let from = self.number("page_id", 0, 0..=usize::MAX)?;
        let limit = self.number("limit", MOST_ITEMS, 1..=MOST_ITEMS)?;
        let total = items.len();
        let items: Vec<Value> = items.into_iter().skip(from).take(limit).collect();
        let next = (from + items.len() < total).then(|| (from + items.len()).to_string());
        Ok(json!({"items": items, "next_page_id": next}))
    }

    fn number(
        &self,
        name: &'static str,
        default: usize,
        within: RangeInclusive<usize>,
    ) -> Result<usize, ApiError> {
        let Some(text) = self.parameter(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| within.contains(number));
        number.ok_or_else(|| {
            let expected = format!("a number from {} to {} is expected", within.start(), within.end());
            ApiError::unusable("query", name, expected)
        })
    }
}

/// Answers a request under `/api` of somebody who may ask; `path` is what comes after.
pub(super) async fn answer(server: &Arc<Inner>, request: Request<Incoming>, path: &[&str]) -> Reply {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, MAX_BODY_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return problem(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
    };
    let query = head.uri.query().unwrap_or_default().to_owned();
    let asked = Asked { method: head.method, query, body };
    let answered = match path {
        ["conversations", rest @ ..] => conversations::answer(server, &asked, rest).await,
        ["settings" | "profiles" | "agent-profiles" | "auth", ..] => settings::answer(server, &asked, path),
        _ => around::answer(server, &asked, path),
    };
    answered.unwrap_or_else(|refused| refused.reply())
}

/// JSON with that status.
pub(super) fn json_reply(status: StatusCode, value: &Value) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(value.to_string())));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    reply
}

/// A refusal in the real server's shape.
pub(super) fn problem(status: StatusCode, detail: &str) -> Reply {
    json_reply(status, &json!({"detail": detail}))
}

/// No body.
pub(super) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}

/// What nothing here answers.
pub(super) fn no_such_path() -> Reply {
    ApiError::NoPath.reply()
}

fn ok(value: &Value) -> Reply {
    json_reply(StatusCode::OK, value)
}

fn success() -> Reply {
    ok(&json!({"success": true}))
}
