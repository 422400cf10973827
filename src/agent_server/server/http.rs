//! The HTTP side: the endpoints that clients of the subject call, and the upgrade to either socket.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderMap, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::Inner;
use super::conversation::Conversation;
use super::inbound::{self, Inbound};
use super::net::{Io, PeerId};
use super::query::{SocketQuery, pairs};
use super::turn;
use super::upgrade::{Admission, take_over};
use crate::agent_server::profile::server::{AuthFrame, SessionEndpoint};
use crate::probe::ledger::Endpoint;

const KEY_HEADER: &str = "x-session-api-key";
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

type Reply = Response<Full<Bytes>>;

/// Serves one connection, keep-alive and upgrade included.
pub(super) async fn serve(server: Arc<Inner>, io: Io, peer: PeerId) {
    let service = service_fn(|request| {
        let server = server.clone();
        async move { Ok::<_, Infallible>(answer(server, request, peer).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades();
    // A peer that leaves in the middle of a request is no fault of the server.
    let _ = connection.await;
}

async fn answer(server: Arc<Inner>, request: Request<Incoming>, peer: PeerId) -> Reply {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    if let ["sockets", socket, id] = parts[..] {
        let endpoint = match socket {
            "events" => Some(Endpoint::Events),
            "session" if server.traits.session.endpoint != SessionEndpoint::Absent => Some(Endpoint::Session),
            _ => None,
        };
        return upgrade(&server, request, endpoint, id, peer);
    }
    match (request.method(), &parts[..]) {
        (&Method::GET, ["server_info"]) => json_reply(StatusCode::OK, &server_info(&server)),
        (&Method::GET, ["health" | "alive" | "ready"]) => json_reply(StatusCode::OK, &json!("OK")),
        (_, ["api", ..]) if !authorised(&server, request.headers()) => {
            problem(StatusCode::UNAUTHORIZED, "a session API key is needed")
        }
        (&Method::GET, ["api", "conversations"]) => json_reply(StatusCode::OK, &by_ids(&server, &request)),
        (&Method::POST, ["api", "conversations"]) => {
            let id = server.create_conversation().await;
            match server.conversation(&id) {
                Some(conversation) => json_reply(StatusCode::CREATED, &conversation.info()),
                None => problem(StatusCode::INTERNAL_SERVER_ERROR, "the conversation vanished"),
            }
        }
        (_, ["api", "conversations", id, rest @ ..]) => match server.conversation(&hyphenated(id)) {
            Some(conversation) => of_conversation(&server, &conversation, request, rest).await,
            None => problem(StatusCode::NOT_FOUND, "no such conversation"),
        },
        _ => problem(StatusCode::NOT_FOUND, "no such path"),
    }
}

async fn of_conversation(
    server: &Arc<Inner>,
    conversation: &Arc<Conversation>,
    request: Request<Incoming>,
    rest: &[&str],
) -> Reply {
    let events = || -> Vec<Value> {
        let log = conversation.log_from(0, usize::MAX).into_iter();
        log.map(|(_, e)| Value::Object(e.to_object(server.traits.wire))).collect()
    };
    let with_id = |id: &str| events().into_iter().find(|e| e["id"] == id);
    match (request.method(), rest) {
        (&Method::GET, []) => json_reply(StatusCode::OK, &conversation.info()),
        (&Method::GET, ["events", "search"]) => {
            json_reply(StatusCode::OK, &page(events(), request.uri().query().unwrap_or_default()))
        }
        (&Method::GET, ["events", "count"]) => json_reply(StatusCode::OK, &json!(events().len())),
        (&Method::GET, ["events"]) => {
            let query = request.uri().query().unwrap_or_default();
            let wanted: Vec<String> =
                pairs(query).filter(|(n, _)| n == "event_ids").map(|(_, v)| v).collect();
            let batch: Value = wanted.iter().map(|id| with_id(id)).collect();
            json_reply(StatusCode::OK, &if wanted.is_empty() { Value::Array(events()) } else { batch })
        }
        (&Method::GET, ["events", id]) => match with_id(id) {
            Some(event) => json_reply(StatusCode::OK, &event),
            None => problem(StatusCode::NOT_FOUND, "no such event"),
        },
        (&Method::POST, ["events"]) => post_event(server, conversation, request).await,
        _ => problem(StatusCode::NOT_FOUND, "no such path"),
    }
}

/// A message of the user: starts a turn unless it says `"run": false`.
async fn post_event(
    server: &Arc<Inner>,
    conversation: &Arc<Conversation>,
    request: Request<Incoming>,
) -> Reply {
    let body = match Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return problem(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
    };
    match inbound::read(&String::from_utf8_lossy(&body), AuthFrame::Message) {
        Inbound::Message { text, run } => {
            if run {
                turn::start(server, conversation, &text);
            } else {
                turn::message_only(server, conversation, &text);
            }
            json_reply(StatusCode::OK, &json!({"success": true}))
        }
        Inbound::Error { detail, .. } => problem(StatusCode::UNPROCESSABLE_ENTITY, &detail),
        Inbound::Ignored => problem(StatusCode::UNPROCESSABLE_ENTITY, "not a message"),
    }
}

/// Checks what can be checked before the upgrade; everything that is wrong then is HTTP 403 (measured).
fn upgrade(
    server: &Arc<Inner>,
    mut request: Request<Incoming>,
    endpoint: Option<Endpoint>,
    id: &str,
    peer: PeerId,
) -> Reply {
    let key = request.headers().get(SEC_WEBSOCKET_KEY).map(|k| derive_accept_key(k.as_bytes()));
    let Some(accept) = key else {
        return problem(StatusCode::NOT_FOUND, "this path is for WebSockets");
    };
    let admission = endpoint.and_then(|endpoint| admit(server, &request, endpoint, id));
    let Some(admission) = admission else {
        server.notes().link(peer).refused = Some(StatusCode::FORBIDDEN.as_u16());
        return empty(StatusCode::FORBIDDEN);
    };
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(take_over(server.clone(), upgrade, admission, peer));
    let response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header(SEC_WEBSOCKET_ACCEPT, accept)
        .body(Full::default());
    response.unwrap_or_else(|_| empty(StatusCode::INTERNAL_SERVER_ERROR))
}

fn admit(server: &Inner, request: &Request<Incoming>, endpoint: Endpoint, id: &str) -> Option<Admission> {
    let query = SocketQuery::parse(request.uri().query().unwrap_or_default()).ok()?;
    let conversation = uuid::Uuid::try_parse(id).ok()?.to_string();
    let header = header_key(request.headers());
    let authenticated = match query.key.as_deref().or(header) {
        Some(key) if !server.accepts(key) => return None,
        Some(_) => true,
        None => server.config.keys.is_empty(),
    };
    Some(Admission { endpoint, conversation, query, authenticated })
}

fn header_key(headers: &HeaderMap) -> Option<&str> {
    headers.get(KEY_HEADER).and_then(|k| k.to_str().ok())
}

fn authorised(server: &Inner, headers: &HeaderMap) -> bool {
    server.config.keys.is_empty() || header_key(headers).is_some_and(|k| server.accepts(k))
}

fn hyphenated(id: &str) -> String {
    uuid::Uuid::try_parse(id).map_or_else(|_| id.to_owned(), |u| u.to_string())
}

fn by_ids(server: &Inner, request: &Request<Incoming>) -> Value {
    let query = request.uri().query().unwrap_or_default();
    let ids: Vec<String> = pairs(query).filter(|(n, _)| n == "ids").map(|(_, v)| hyphenated(&v)).collect();
    let all = server.conversations();
    all.iter().filter(|c| ids.is_empty() || ids.contains(&c.id)).map(|c| c.info()).collect()
}

fn server_info(server: &Inner) -> Value {
    json!({
        "uptime": server.clock.uptime().as_secs_f64(),
        "idle_time": server.process.idle().as_secs(),
        "title": "agent-server, emulated by skewlab",
        "version": server.version,
    })
}

/// A page of events: `limit` of them (100 by default) from index `page_id` on.
fn page(events: Vec<Value>, query: &str) -> Value {
    let number =
        |name: &str| pairs(query).find(|(n, _)| n == name).and_then(|(_, v)| v.parse::<usize>().ok());
    let (from, limit) = (number("page_id").unwrap_or(0), number("limit").unwrap_or(100).clamp(1, 100));
    let total = events.len();
    let items: Vec<Value> = events.into_iter().skip(from).take(limit).collect();
    let next = (from + items.len() < total).then(|| (from + items.len()).to_string());
    json!({"items": items, "next_page_id": next})
}

fn json_reply(status: StatusCode, value: &Value) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(value.to_string())));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    reply
}

fn problem(status: StatusCode, detail: &str) -> Reply {
    json_reply(status, &json!({"detail": detail}))
}

fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}
