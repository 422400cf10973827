//! The HTTP side: who may ask what, and the upgrade to either socket. What is under `/api` has a module of its own.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderMap, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::Inner;
use super::api::{self, Reply, empty, json_reply, no_such_path, problem};
use super::net::{Io, PeerId};
use super::query::SocketQuery;
use super::upgrade::{Admission, take_over};
use crate::agent_server::advertised;
use crate::agent_server::profile::server::SessionEndpoint;
use crate::probe::ledger::Endpoint;

const KEY_HEADER: &str = "x-session-api-key";

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
        (&Method::GET, ["openapi.json"]) => openapi(&server),
        (&Method::GET, ["health" | "alive"]) => json_reply(StatusCode::OK, &json!({"status": "ok"})),
        (&Method::GET, ["ready"]) => json_reply(StatusCode::OK, &json!({"status": "ready"})),
        (_, ["api", ..]) if !authorised(&server, request.headers()) => {
            problem(StatusCode::UNAUTHORIZED, "a session API key is needed")
        }
        (_, ["api", rest @ ..]) => api::answer(&server, request, rest).await,
        _ => no_such_path(),
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
    let refusal = server.faults.refusal().or_else(|| admission.is_none().then_some(StatusCode::FORBIDDEN));
    let (Some(admission), None) = (admission, refusal) else {
        let status = refusal.unwrap_or(StatusCode::FORBIDDEN);
        let mut notes = server.notes();
        notes.came(peer);
        notes.link(peer).refused = Some(status.as_u16());
        return empty(status);
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

/// The document, which the real server shows to everybody, whatever keys it has.
fn openapi(server: &Inner) -> Reply {
    match server.release.as_ref().map(|release| advertised::of(release, &server.traits)) {
        Some(Ok(document)) => json_reply(StatusCode::OK, &document),
        Some(Err(error)) => problem(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        None => {
            problem(StatusCode::NOT_FOUND, "this profile is built on no release, so its events are not known")
        }
    }
}

fn server_info(server: &Inner) -> Value {
    json!({
        "uptime": server.clock.uptime().as_secs_f64(),
        "idle_time": server.process.idle().as_secs(),
        "title": "agent-server, emulated by skewlab",
        "version": server.version,
    })
}
