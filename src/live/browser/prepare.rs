//! What a server must hold before a front end lets anybody type: a model, and an answer about telemetry.

use std::net::SocketAddr;
use std::time::Duration;

use hyper::Method;
use serde_json::json;
use tokio::time::timeout;

use super::error::BrowserError;
use crate::live::rest::Rest;

/// How long one request may take. The servers answer in milliseconds once they are up.
const PATIENCE: Duration = Duration::from_secs(20);

/// What each request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// `POST /api/profiles/default`, say.
    pub request: String,
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
    let rest = Rest { addr: upstream, key: key.to_owned() };
    let mut answers = Vec::new();
    for (method, path, body) in [
        (Method::POST, "/api/profiles/default", json!({"llm": llm, "include_secrets": true})),
        (Method::POST, "/api/profiles/default/activate", json!({})),
        (Method::PATCH, "/api/settings", consent),
    ] {
        let request = format!("{method} {path}");
        let failed = |why: String| BrowserError::Rest { request: request.clone(), server: upstream, why };
        let answer = timeout(PATIENCE, rest.exchange(&method, path, Some(&body))).await;
        let (status, said) =
            answer.map_err(|_| failed(format!("no answer within {PATIENCE:?}")))?.map_err(&failed)?;
        if !matches!(status, 200..=299 | 404 | 405) {
            let said: String = String::from_utf8_lossy(&said).chars().take(500).collect();
            return Err(failed(format!("HTTP {status}: {said}")));
        }
        answers.push(Prepared { request, status });
    }
    Ok(answers)
}
