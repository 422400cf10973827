//! `/api/conversations/{id}/events`: the log, and messages of the person.

use std::sync::Arc;

use hyper::Method;
use serde_json::{Value, json};

use super::error::ApiError;
use super::{Asked, Reply, ok, success};
use crate::agent_server::profile::server::AuthFrame;
use crate::agent_server::server::conversation::Conversation;
use crate::agent_server::server::inbound::{self, Inbound};
use crate::agent_server::server::query::timestamp;
use crate::agent_server::server::{Inner, turn};
use crate::wire::Event;

pub(super) fn answer(
    server: &Arc<Inner>,
    conversation: &Arc<Conversation>,
    asked: &Asked,
    rest: &[&str],
) -> Result<Reply, ApiError> {
    let written = |event: &Event| Value::Object(event.to_object(server.traits.wire));
    let log = || conversation.log_from(0, usize::MAX).into_iter().map(|logged| logged.event);
    let with_id = |id: &str| log().find(|e| e.id == id).map(|e| written(&e));
    Ok(match (&asked.method, rest) {
        (&Method::GET, ["search"]) => {
            let wanted = Wanted::read(asked)?;
            let mut found: Vec<Value> = log().filter(|e| wanted.fits(e)).map(|e| written(&e)).collect();
            if wanted.newest_first {
                found.reverse();
            }
            ok(&asked.page(found)?)
        }
        (&Method::GET, ["count"]) => {
            let wanted = Wanted::read(asked)?;
            ok(&json!(log().filter(|e| wanted.fits(e)).count()))
        }
        (&Method::GET, []) => {
            let ids = asked.parameters("event_ids");
            let batch: Value = ids.iter().map(|id| with_id(id)).collect();
            ok(&if ids.is_empty() { log().map(|e| written(&e)).collect() } else { batch })
        }
        (&Method::GET, [id]) => ok(&with_id(id).ok_or_else(|| ApiError::NotFound("no such event".into()))?),
        (&Method::POST, []) => message(server, conversation, asked)?,
        // A script asks for no confirmation, so there is nothing that the answer could let go on.
        (&Method::POST, ["respond_to_confirmation"]) => success(),
        _ => return Err(ApiError::NoPath),
    })
}

/// A message of the user. It starts a turn only if it says so: `run` is false by default, here and not on a socket.
fn message(server: &Arc<Inner>, conversation: &Arc<Conversation>, asked: &Asked) -> Result<Reply, ApiError> {
    match inbound::read(&String::from_utf8_lossy(&asked.body), AuthFrame::Message) {
        Inbound::Message { text, run } => {
            if run {
                turn::start(server, conversation, &text);
            } else {
                turn::message_only(server, conversation, &text);
            }
            Ok(success())
        }
        Inbound::Error { detail, .. } => Err(ApiError::BadMessage(detail)),
        Inbound::Ignored => Err(ApiError::BadMessage("not a message".into())),
    }
}

/// Which events a search is after.
struct Wanted {
    kind: Option<String>,
    source: Option<String>,
    from: Option<chrono::NaiveDateTime>,
    before: Option<chrono::NaiveDateTime>,
    newest_first: bool,
}

impl Wanted {
    fn read(asked: &Asked) -> Result<Wanted, ApiError> {
        let moment = |name: &'static str| match asked.parameter(name) {
            None => Ok(None),
            Some(text) => timestamp(&text)
                .map(Some)
                .ok_or_else(|| ApiError::unusable("query", name, "an ISO 8601 moment is expected")),
        };
        let newest_first = match asked.parameter("sort_order").as_deref() {
            None | Some("TIMESTAMP") => false,
            Some("TIMESTAMP_DESC") => true,
            Some(_) => {
                return Err(ApiError::unusable(
                    "query",
                    "sort_order",
                    "`TIMESTAMP` or `TIMESTAMP_DESC` is expected",
                ));
            }
        };
        Ok(Wanted {
            kind: asked.parameter("kind"),
            source: asked.parameter("source"),
            from: moment("timestamp__gte")?,
            before: moment("timestamp__lt")?,
            newest_first,
        })
    }

    fn fits(&self, event: &Event) -> bool {
        let at = timestamp(&event.timestamp);
        self.kind.as_deref().is_none_or(|kind| kind == event.kind())
            && self.source.as_deref().is_none_or(|source| source == event.source.as_str())
            && self.from.is_none_or(|from| at >= Some(from))
            && self.before.is_none_or(|before| at < Some(before))
    }
}
