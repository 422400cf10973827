//! `/api/conversations`: creating, finding, running and removing them.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::error::ApiError;
use super::{Asked, Reply, events, json_reply, ok, success};
use crate::agent_server::profile::server::AuthFrame;
use crate::agent_server::server::conversation::Conversation;
use crate::agent_server::server::inbound::{self, Inbound};
use crate::agent_server::server::setup::Setup;
use crate::agent_server::server::{Inner, turn};

const POLICIES: [&str; 3] = ["AlwaysConfirm", "ConfirmRisky", "NeverConfirm"];

pub(super) async fn answer(server: &Arc<Inner>, asked: &Asked, rest: &[&str]) -> Result<Reply, ApiError> {
    Ok(match (&asked.method, rest) {
        (&Method::GET, []) => ok(&by_ids(server, asked)?),
        (&Method::POST, []) => create(server, asked).await?,
        (&Method::GET, ["search"]) => {
            let mut found = server.conversations();
            // Newest first, as a list of conversations is shown.
            found.sort_by_key(|c| std::cmp::Reverse(c.number));
            ok(&asked.page(found.iter().map(|c| c.info()).collect())?)
        }
        (&Method::GET, ["count"]) => ok(&json!(server.conversations().len())),
        (_, [id, rest @ ..]) => {
            let found = server.conversation(&canonical(id)?);
            let conversation = found.ok_or_else(|| ApiError::NotFound("no such conversation".into()))?;
            match rest {
                ["events", rest @ ..] => events::answer(server, &conversation, asked, rest)?,
                _ => of_one(server, &conversation, asked, rest).await?,
            }
        }
        _ => return Err(ApiError::NoPath),
    })
}

async fn of_one(
    server: &Arc<Inner>,
    conversation: &Arc<Conversation>,
    asked: &Asked,
    rest: &[&str],
) -> Result<Reply, ApiError> {
    Ok(match (&asked.method, rest) {
        (&Method::GET, []) => ok(&conversation.info()),
        (&Method::PATCH, []) => {
            let request = asked.json()?;
            if let Some(title) = request["title"].as_str() {
                conversation.name(title);
            }
            if request["tags"].is_object() {
                conversation.set("tags", request["tags"].clone());
            }
            success()
        }
        (&Method::DELETE, []) => {
            server.remove(conversation).await;
            success()
        }
        (&Method::POST, ["run"]) => {
            if !turn::run(server, conversation) {
                let detail = "Conversation already running. Wait for completion or pause first.";
                return Err(ApiError::Conflict(detail));
            }
            success()
        }
        (&Method::GET, ["agent_final_response"]) => ok(&json!({"response": conversation.final_response()})),
        // Secrets are for tools, and a script calls none.
        (&Method::POST, ["secrets"]) => {
            if !asked.json()?["secrets"].is_object() {
                return Err(ApiError::unusable("body", "secrets", "an object is expected"));
            }
            success()
        }
        (&Method::POST, ["confirmation_policy"]) => {
            let policy = asked.json()?["policy"].take();
            if !policy["kind"].as_str().is_some_and(|kind| POLICIES.contains(&kind)) {
                return Err(ApiError::unusable(
                    "body",
                    "policy",
                    format!("one of {POLICIES:?} is expected as its kind"),
                ));
            }
            conversation.set("confirmation_policy", policy);
            success()
        }
        (&Method::POST, ["security_analyzer"]) => {
            conversation.set("security_analyzer", asked.json()?["security_analyzer"].take());
            success()
        }
        _ => return Err(ApiError::NoPath),
    })
}

/// A new conversation, or the one that has the id that was asked for. A first message is said and answered.
async fn create(server: &Arc<Inner>, asked: &Asked) -> Result<Reply, ApiError> {
    let request = asked.json()?;
    let setup =
        Setup::read(&request).map_err(|field| ApiError::unusable("body", field, "an object is expected"))?;
    let first = match &request["initial_message"] {
        Value::Null => None,
        message => match inbound::read(&message.to_string(), AuthFrame::Message) {
            Inbound::Message { text, .. } => Some(text),
            _ => {
                return Err(ApiError::unusable(
                    "body",
                    "initial_message",
                    "a message of the user is expected",
                ));
            }
        },
    };
    let id = match &request["conversation_id"] {
        Value::Null => None,
        Value::String(id) => Some(canonical(id)?),
        _ => return Err(ApiError::unusable("body", "conversation_id", "a UUID is expected")),
    };
    if let Some(existing) = id.as_deref().and_then(|id| server.conversation(id)) {
        return Ok(ok(&existing.info()));
    }
    let conversation = server.open_conversation(id, setup).await;
    if let Some(text) = first {
        turn::start(server, &conversation, &text);
    }
    Ok(json_reply(StatusCode::CREATED, &conversation.info()))
}

/// Those that were asked for, in that order, with `null` for what is not there.
fn by_ids(server: &Inner, asked: &Asked) -> Result<Value, ApiError> {
    let ids = asked.parameters("ids");
    if ids.is_empty() {
        return Err(ApiError::unusable("query", "ids", "at least one id is expected"));
    }
    let found = ids.iter().map(|id| Ok(server.conversation(&canonical(id)?).map(|c| c.info())));
    found.collect::<Result<Value, ApiError>>()
}

/// An id with hyphens, whichever way it was written.
fn canonical(id: &str) -> Result<String, ApiError> {
    let read = uuid::Uuid::try_parse(id).map(|id| id.to_string());
    read.map_err(|fault| {
        ApiError::unusable("path", "conversation_id", format!("a UUID is expected, not `{id}`: {fault}"))
    })
}
