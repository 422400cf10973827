//! One of the two sides: how to reach it, and the calls that are no question but prepare one.

use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::CalibrateServerError;
use crate::agent_server::server::{Dialer, Server};
use crate::live::rest::exchange;
use crate::live::sink::Sink;

/// Session API key of both sides.
pub(super) const KEY: &str = "rig";

/// The name of the model; litellm takes it as one that speaks chat completions.
const MODEL: &str = "openai/fake";

/// How long one call may take. The first call to a cold server imports half of it.
const DEADLINE: Duration = Duration::from_secs(30);

/// Where what a webhook got is known.
#[derive(Debug)]
pub(super) enum Hook {
    /// Of the released server: a sink.
    Sink(Sink),
    /// Of the emulation: it says so itself.
    Server(Server),
}

/// A side that is asked.
#[derive(Debug)]
pub(super) struct Party {
    /// What it is, for messages.
    pub(super) side: String,
    pub(super) dialer: Dialer,
    pub(super) hook: Hook,
    /// Base URL of the model; an emulation has its own and does not ask.
    pub(super) model: String,
    /// Where conversations may work.
    pub(super) workspace: String,
    /// What the person says to start a turn.
    pub(super) says: String,
}

/// What a webhook got.
#[derive(Debug, Default)]
pub(super) struct Hooked {
    /// Events of each post.
    pub(super) posts: Vec<usize>,
    pub(super) kinds: Vec<String>,
}

impl Party {
    pub(super) fn fault(&self, case: &str, problem: impl std::fmt::Display) -> CalibrateServerError {
        CalibrateServerError::Side {
            side: self.side.clone(),
            case: case.to_owned(),
            problem: problem.to_string(),
        }
    }

    /// Opens a conversation.
    pub(super) async fn open(&self) -> Result<String, CalibrateServerError> {
        let llm = json!({
            "usage_id": "agent", "model": MODEL, "api_key": "sk-rig", "base_url": self.model,
            "stream": true, "num_retries": 0,
        });
        let body = json!({
            "agent": {"kind": "Agent", "llm": llm, "tools": [], "include_default_tools": []},
            "workspace": {"kind": "LocalWorkspace", "working_dir": self.workspace},
            "stuck_detection": false, "max_iterations": 5, "autotitle": false,
        });
        let what = "opening a conversation";
        let (status, made) = self.call(Method::POST, "/api/conversations", Some(&body)).await?;
        match made["id"].as_str() {
            Some(id) if status == 201 => Ok(id.to_owned()),
            _ => Err(self.fault(what, format!("HTTP {status}: {made}"))),
        }
    }

    /// Starts a turn.
    pub(super) async fn say(&self, conversation: &str) -> Result<(), CalibrateServerError> {
        let body = json!({"role": "user", "content": [{"type": "text", "text": self.says}], "run": true});
        let path = format!("/api/conversations/{conversation}/events");
        let (status, said) = self.call(Method::POST, &path, Some(&body)).await?;
        if (200..300).contains(&status) {
            return Ok(());
        }
        Err(self.fault("starting a turn", format!("HTTP {status}: {said}")))
    }

    /// What the webhook got of a conversation. An emulation tells it of all conversations together.
    pub(super) fn hooked(&self, conversation: &str) -> Hooked {
        match &self.hook {
            Hook::Sink(sink) => {
                let posts = sink.posts(conversation);
                let sizes = posts.iter().map(|p| p.kinds.len()).collect();
                Hooked { posts: sizes, kinds: posts.into_iter().flat_map(|p| p.kinds).collect() }
            }
            Hook::Server(server) => {
                let posts = server.posts();
                let kinds = posts.iter().flat_map(|p| p.events.iter().map(|e| e.kind.to_owned()));
                Hooked { posts: posts.iter().map(|p| p.events.len()).collect(), kinds: kinds.collect() }
            }
        }
    }

    /// Waits until the webhook gets nothing more.
    pub(super) async fn hook_is_quiet(&self, conversation: &str) {
        let (mut before, mut still) = (self.hooked(conversation).posts.len(), 0);
        while still < 5 {
            sleep(Duration::from_millis(100)).await;
            let now = self.hooked(conversation).posts.len();
            still = if now == before { still + 1 } else { 0 };
            before = now;
        }
    }

    /// One REST call: status and JSON, `null` for what is none.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Value), CalibrateServerError> {
        let what = format!("{method} {path}");
        let exchanged = async {
            let (io, _) = self.dialer.dial().await.map_err(|e| e.to_string())?;
            exchange(io, self.dialer.authority(), KEY, &method, path, body).await
        };
        match timeout(DEADLINE, exchanged).await {
            Ok(Ok((status, bytes))) => Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))),
            Ok(Err(why)) => Err(self.fault(&what, why)),
            Err(_) => Err(self.fault(&what, format!("no answer within {} s", DEADLINE.as_secs()))),
        }
    }
}
