//! What a client asks by REST: that a message of the user starts everything, and before that which server it is.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use super::link::Target;

/// The server did not take the message.
#[derive(Debug, thiserror::Error)]
pub enum RestError {
    /// No connection, or one that broke.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    /// An answer that is not success.
    #[error("the server answered HTTP {status}: {body}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// What it said.
        body: String,
    },
}

/// Sends a user message; with `run` the server starts a turn.
pub async fn post_message(target: &Target, text: &str, run: bool) -> Result<(), RestError> {
    let body = json!({"role": "user", "content": [{"type": "text", "text": text}], "run": run});
    let path = format!("/api/conversations/{}/events", target.conversation);
    exchange(target, Method::POST, &path, Bytes::from(body.to_string())).await.map(drop)
}

/// What the server says of itself, `GET /server_info`; `null` for an answer that is no JSON.
pub async fn server_info(target: &Target) -> Result<Value, RestError> {
    let body = exchange(target, Method::GET, "/server_info", Bytes::new()).await?;
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}

/// The durable events of the conversation, `GET …/events/search`, page after page.
pub async fn events(target: &Target) -> Result<Vec<Value>, RestError> {
    let path = format!("/api/conversations/{}/events/search?limit=100", target.conversation);
    let (mut events, mut page) = (Vec::new(), String::new());
    loop {
        let body = exchange(target, Method::GET, &format!("{path}{page}"), Bytes::new()).await?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        events.extend(answer["items"].as_array().into_iter().flatten().cloned());
        match answer["next_page_id"].as_str() {
            Some(next) => page = format!("&page_id={next}"),
            None => return Ok(events),
        }
    }
}

/// The status of the conversation's last run, `GET` of the conversation; none where the answer has none.
pub async fn status(target: &Target) -> Result<Option<String>, RestError> {
    let path = format!("/api/conversations/{}", target.conversation);
    let body = exchange(target, Method::GET, &path, Bytes::new()).await?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    Ok(answer["execution_status"].as_str().map(str::to_owned))
}

/// What the server advertises, `GET` of `path`, as text.
pub async fn document(target: &Target, path: &str) -> Result<String, RestError> {
    let body = exchange(target, Method::GET, path, Bytes::new()).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// One request on a connection of its own; the body of an answer that is success.
async fn exchange(target: &Target, method: Method, path: &str, body: Bytes) -> Result<Bytes, RestError> {
    let broken = |e: &dyn std::fmt::Display| RestError::Unreachable(e.to_string());
    let (io, _) = target.dialer.direct().await.map_err(|e| broken(&e))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(io)).await.map_err(|e| broken(&e))?;
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", target.dialer.authority())
        .header("content-type", "application/json");
    if let Some(key) = &target.key {
        request = request.header("x-session-api-key", key);
    }
    let request = request.body(Full::new(body)).map_err(|e| broken(&e))?;
    let response = sender.send_request(request).await.map_err(|e| broken(&e))?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|e| broken(&e))?.to_bytes();
    if status.is_success() {
        return Ok(body);
    }
    Err(RestError::Refused { status: status.as_u16(), body: String::from_utf8_lossy(&body).into_owned() })
}
