//! From a target to an open socket: whether the client goes there at all, the URL that it writes, and who refuses it.

use std::time::Duration;

use futures_util::SinkExt;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::{Onlooker, Target};
use crate::agent_server::client::{Unfit, minimum};
use crate::agent_server::profile::client::{Auth, ConnectTraits, Resend};
use crate::agent_server::rest::{self, RestError};
use crate::agent_server::server::{Io, PeerId};
use crate::probe::ledger::Endpoint;

/// How long a client with a minimum waits for `/server_info` (5000 ms in the front ends).
const INFO_WAIT: Duration = Duration::from_secs(5);

/// A connection that stands.
pub(super) struct Opened {
    pub(super) peer: PeerId,
    pub(super) socket: WebSocketStream<Io>,
}

/// A connection that did not come about.
pub(super) struct Refused {
    pub(super) peer: Option<PeerId>,
    /// HTTP status, 0 where there was no answer.
    pub(super) status: u16,
    pub(super) why: String,
}

/// Whether the client opens a conversation there at all. One without a minimum does not ask.
pub(super) async fn fits(target: &Target, connect: &ConnectTraits) -> Result<(), Unfit> {
    let Some(least) = &connect.min_server else { return Ok(()) };
    let info = match timeout(INFO_WAIT, rest::server_info(target)).await {
        Ok(Ok(info)) => info,
        // What a server says of a refusal may hold anything; its status says enough.
        Ok(Err(RestError::Refused { status, .. })) => {
            return Err(Unfit::Unanswered(format!("HTTP {status}")));
        }
        Ok(Err(error)) => return Err(Unfit::Unanswered(error.to_string())),
        Err(_) => return Err(Unfit::Unanswered(format!("no answer within {} s", INFO_WAIT.as_secs()))),
    };
    minimum::fits(&info, &connect.server_version, least)
}

/// Dials, upgrades and authenticates; `cursor` is where a client of the session socket stands.
pub(super) async fn open(
    target: &Target,
    connect: &ConnectTraits,
    cursor: Option<i64>,
    onlooker: &mut impl Onlooker,
) -> Result<Opened, Refused> {
    // Status 0 stands for a connection that never got as far as an answer.
    let none = |peer, why: &str| Refused { peer, status: 0, why: why.to_owned() };
    let (io, peer) = target.dialer.dial().await.map_err(|e| none(None, &e.kind().to_string()))?;
    let io = onlooker.connected(io);
    let url = format!("ws://{}{}", target.dialer.authority(), path(target, connect, cursor));
    // The error would repeat the URL, and with it the key.
    let request = url.into_client_request().map_err(|_| {
        none(Some(peer), "the URL that this client writes is not one: a blank in its key, say")
    })?;
    let limit = (connect.max_frame_bytes > 0).then_some(connect.max_frame_bytes);
    let config =
        WebSocketConfig::default().max_message_size(limit).max_frame_size(limit).read_buffer_size(8 * 1024);
    match client_async_with_config(request, io, Some(config)).await {
        Ok((mut socket, response)) => {
            let extensions = response.headers().get("sec-websocket-extensions");
            onlooker.opened(extensions.and_then(|value| value.to_str().ok()));
            if let (Auth::FirstFrame, Some(key)) = (connect.auth, &target.key) {
                let frame = serde_json::json!({"type": "auth", "session_api_key": key}).to_string();
                // If the server is gone already, the first read says so.
                let _ = socket.send(Message::text(frame)).await;
            }
            Ok(Opened { peer, socket })
        }
        Err(WsError::Http(response)) => {
            let status = response.status().as_u16();
            Err(Refused { peer: Some(peer), status, why: format!("HTTP {status}") })
        }
        Err(WsError::Io(error)) => Err(none(Some(peer), &error.kind().to_string())),
        Err(_) => Err(none(Some(peer), "the answer to the upgrade is no WebSocket handshake")),
    }
}

/// Path and query as that client writes them.
fn path(target: &Target, connect: &ConnectTraits, cursor: Option<i64>) -> String {
    let mut query = Vec::new();
    match (connect.auth, &target.key) {
        // The key goes in as it is: what must be escaped and is not is that client's fault.
        (Auth::Query, Some(key)) => query.push(format!("session_api_key={key}")),
        (Auth::QueryEncoded, Some(key)) => {
            let key: String = form_urlencoded::byte_serialize(key.as_bytes()).collect();
            query.push(format!("session_api_key={key}"));
        }
        _ => {}
    }
    let socket = match connect.endpoint {
        Endpoint::Events => {
            if connect.resend == Resend::All {
                query.push("resend_mode=all".to_owned());
            }
            "events"
        }
        Endpoint::Session => {
            match (cursor, connect.resend) {
                (Some(seen), _) => query.push(format!("after_seq={seen}")),
                (None, Resend::All) => query.push("after_seq=-1".to_owned()),
                (None, Resend::None) => {}
            }
            "session"
        }
    };
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/sockets/{socket}/{}{mark}{}", target.conversation, query.join("&"))
}
