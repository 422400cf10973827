//! What a server must hold before a front end lets anybody type: a model, and an answer about telemetry.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::BrowserError;

/// How long one request may take. The servers answer in milliseconds once they are up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What each request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// `POST /api/profiles/default`, say.
    pub request: &'static str,
    /// HTTP status. 404 and 405 are a server from before there was such a thing, and no error.
    pub status: u16,
}

/// Gives the server a model and declines telemetry, so that the front end opens its chat input: without the first it
/// says that there is no model, without the second a question covers the input (both measured on 1.58.2).
///
/// A server that has not the endpoint is left as it is. Any other refusal is an error.
pub async fn prepare(
    upstream: SocketAddr,
    key: &str,
    model_base_url: &str,
    model: &str,
) -> Result<Vec<Prepared>, BrowserError> {
    let llm = json!({"model": model, "api_key": "none", "base_url": model_base_url, "stream": true, "num_retries": 0});
    let consent = json!({"misc_settings_diff": {"app_preferences": {"user_consents_to_analytics": false}}});
    let mut answers = Vec::new();
    for (request, body) in [
        ("POST /api/profiles/default", json!({"llm": llm, "include_secrets": true})),
        ("POST /api/profiles/default/activate", json!({})),
        ("PATCH /api/settings", consent),
    ] {
        let failed = |why: String| BrowserError::Rest { request: request.to_owned(), server: upstream, why };
        let answer = timeout(PATIENCE, send(upstream, key, request, &body)).await;
        let (status, said) = answer
            .map_err(|_| failed(format!("no answer within {PATIENCE:?}")))?
            .map_err(|e| failed(e.to_string()))?;
        if !matches!(status, 200..=299 | 404 | 405) {
            return Err(failed(format!("HTTP {status}: {said}")));
        }
        answers.push(Prepared { request, status });
    }
    Ok(answers)
}

async fn send(
    upstream: SocketAddr,
    key: &str,
    request: &str,
    body: &Value,
) -> Result<(u16, String), Box<dyn std::error::Error + Send + Sync>> {
    let (method, path) = request.split_once(' ').ok_or("a request is a method and a path")?;
    let io = TcpStream::connect(upstream).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(io)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::builder()
        .method(method.parse::<Method>()?)
        .uri(path)
        .header("host", upstream.to_string())
        .header("content-type", "application/json")
        .header("x-session-api-key", key)
        .body(Full::new(Bytes::from(body.to_string())))?;
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let said = response.into_body().collect().await?.to_bytes();
    connection.abort();
    Ok((status, String::from_utf8_lossy(&said).chars().take(500).collect()))
}
