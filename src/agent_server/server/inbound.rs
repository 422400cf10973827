//! What a client may send on either socket: a user message, or an authentication frame that came late.

use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};

use super::conversation::Conversation;
use super::{Inner, turn};
use crate::agent_server::profile::server::AuthFrame;
use crate::wire::json::{Reader, parse};

/// What an inbound frame amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inbound {
    /// A user message. On a socket it starts a turn, whatever it says; over REST only with `"run": true`.
    Message {
        /// Its text.
        text: String,
        /// Whether it says that it should run.
        run: bool,
    },
    /// An authentication frame after authentication: nothing happens.
    Ignored,
    /// Unusable; the socket stays open and gets an error frame.
    Error {
        /// Exception class name of the real server.
        code: &'static str,
        /// What is wrong.
        detail: String,
    },
}

/// Takes what a client sends, starting turns for its messages, until something cannot be used: that is for the
/// caller to answer. `None` when the client has left.
pub(super) async fn unusable(
    server: &Arc<Inner>,
    conversation: &Arc<Conversation>,
    stream: &mut (impl Stream<Item = Result<Message, WsError>> + Unpin),
) -> Option<(&'static str, String)> {
    loop {
        match next(stream, server.traits.socket.auth_frame).await? {
            Inbound::Message { text, .. } => turn::start(server, conversation, &text),
            Inbound::Ignored => {}
            Inbound::Error { code, detail } => return Some((code, detail)),
        }
    }
}

/// The next frame that amounts to something; `None` when the client has left.
async fn next(
    stream: &mut (impl Stream<Item = Result<Message, WsError>> + Unpin),
    auth_frame: AuthFrame,
) -> Option<Inbound> {
    loop {
        match stream.next().await?.ok()? {
            Message::Text(text) => return Some(read(&text, auth_frame)),
            Message::Binary(bytes) => return Some(read(&String::from_utf8_lossy(&bytes), auth_frame)),
            Message::Close(_) => return None,
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
}

/// Reads one frame.
pub(super) fn read(text: &str, auth_frame: AuthFrame) -> Inbound {
    let error = |code, detail: &str| Inbound::Error { code, detail: detail.to_owned() };
    let value = match parse(text, Reader::Python) {
        Ok(value) => value,
        Err(fault) => return error("JSONDecodeError", &fault.to_string()),
    };
    if is_ignored_auth(&value, auth_frame) {
        return Inbound::Ignored;
    }
    let role = value.get("role").and_then(Value::as_str);
    match (role, message_text(&value)) {
        (Some("user"), Some(text)) => {
            Inbound::Message { text, run: value.get("run") == Some(&Value::Bool(true)) }
        }
        (Some("assistant" | "system" | "tool"), Some(_)) => {
            error("AssertionError", "a client may send messages of the user only")
        }
        _ => error("ValidationError", "a message has a role and a list of content"),
    }
}

fn is_ignored_auth(value: &Value, auth_frame: AuthFrame) -> bool {
    let Some(frame) = value.as_object() else { return false };
    let is_auth = frame.get("type").and_then(Value::as_str) == Some("auth");
    match auth_frame {
        AuthFrame::Message => false,
        AuthFrame::Ignored => is_auth,
        AuthFrame::IgnoredIfExact => {
            is_auth && frame.keys().all(|k| matches!(k.as_str(), "type" | "session_api_key"))
        }
    }
}

/// The text of a message's content: a list of text items, or the bare string that the model also takes.
fn message_text(value: &Value) -> Option<String> {
    let Some(content) = value.get("content") else {
        // The model takes a message without it for one that says nothing (measured on 1.43.1 to 1.58.2).
        return Some(String::new());
    };
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => items
            .iter()
            .map(|i| match i.get("type").and_then(Value::as_str) {
                Some("image") => Some(""),
                _ => i.get("text").and_then(Value::as_str),
            })
            .collect(),
        _ => None,
    }
}

/// The key in a first-message authentication frame; `None` when it is not one.
pub(super) fn auth_key(text: &str) -> Option<String> {
    let value = parse(text, Reader::Python).ok()?;
    (value.get("type")?.as_str()? == "auth").then_some(())?;
    Some(value.get("session_api_key")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: AuthFrame = AuthFrame::IgnoredIfExact;

    fn code(text: &str) -> &'static str {
        match read(text, EXACT) {
            Inbound::Error { code, .. } => code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_user_message_starts_a_turn() {
        let canvas = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#;
        assert_eq!(read(canvas, EXACT), Inbound::Message { text: "hi".into(), run: true });
        let quiet = canvas.replace("true", "false");
        assert_eq!(read(&quiet, EXACT), Inbound::Message { text: "hi".into(), run: false });
    }

    #[test]
    fn the_rest_is_an_error_of_the_measured_class() {
        assert_eq!(code("not json"), "JSONDecodeError");
        assert_eq!(code("[1]"), "ValidationError");
        assert_eq!(code(r#"{"role":"assistant","content":[]}"#), "AssertionError");
    }

    #[test]
    fn late_authentication_is_ignored_as_strictly_as_the_era_does() {
        let (plain, extra) = (r#"{"type":"auth","session_api_key":"k"}"#, r#"{"type":"auth","x":1}"#);
        assert_eq!(read(plain, EXACT), Inbound::Ignored);
        assert_eq!(code(extra), "ValidationError");
        assert_eq!(read(extra, AuthFrame::Ignored), Inbound::Ignored);
        assert!(matches!(read(plain, AuthFrame::Message), Inbound::Error { .. }));
    }
}
