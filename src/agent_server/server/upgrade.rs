//! From an HTTP upgrade to an authenticated socket: the three ways to authenticate, and the refusals.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Sink, SinkExt, StreamExt};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use super::net::{Io, PeerId};
use super::query::SocketQuery;
use super::{Inner, inbound, legacy, session};
use crate::probe::ledger::Endpoint;

/// Bytes of a connection's read buffer. Clients send an authentication frame and now and then a message; one that is
/// longer makes the buffer grow.
const READ_BUFFER: usize = 1024;

/// The server's end of a WebSocket.
pub(super) type Socket = WebSocketStream<Io>;

/// What a connection asked for, checked as far as it can be before the upgrade.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) endpoint: Endpoint,
    pub(super) conversation: String,
    pub(super) query: SocketQuery,
    /// Whether the key in the query or the header already opened the server.
    pub(super) authenticated: bool,
}

/// Takes the connection over once the response is out.
pub(super) async fn take_over(server: Arc<Inner>, upgrade: OnUpgrade, admission: Admission, peer: PeerId) {
    let Ok(upgraded) = upgrade.await else { return };
    // The connection as it came in: what HTTP put around it has done its work.
    let Ok(parts) = upgraded.downcast::<TokioIo<Io>>() else { return };
    let limit = server.traits.socket.max_inbound_bytes;
    let config = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .read_buffer_size(READ_BUFFER);
    let (io, read) = (parts.io.into_inner(), parts.read_buf.to_vec());
    // It shares the memory of HTTP's own buffer, which would stay as long as this connection.
    drop(parts.read_buf);
    let mut socket = WebSocketStream::from_partially_read(io, read, Role::Server, Some(config)).await;
    let codes = server.traits.socket.close;
    if !admission.authenticated && !first_message(&server, &mut socket).await {
        refuse(&server, &mut socket, peer, codes.unauthenticated, "Authentication failed").await;
        return;
    }
    let Some(conversation) = server.conversation(&admission.conversation) else {
        refuse(&server, &mut socket, peer, codes.unknown_conversation, "Conversation not found").await;
        return;
    };
    match admission.endpoint {
        Endpoint::Events => legacy::run(server, conversation, socket, peer, admission.query).await,
        Endpoint::Session => session::run(server, conversation, socket, peer, admission.query).await,
    }
}

/// Waits for the authentication frame. Success is not acknowledged.
async fn first_message(server: &Inner, socket: &mut Socket) -> bool {
    let wait = server.traits.socket.auth_timeout_s.duration();
    let Ok(Some(Ok(Message::Text(text)))) = timeout(wait, socket.next()).await else { return false };
    inbound::auth_key(&text).is_some_and(|key| server.accepts(&key))
}

async fn refuse(server: &Inner, socket: &mut Socket, peer: PeerId, code: u16, reason: &str) {
    server.notes().came(peer);
    server.notes().link(peer).closed = Some((code, reason.to_owned()));
    close(socket, code, reason).await;
    // The peer's own close frame ends the connection; without reading it the close might never arrive.
    let _ =
        timeout(Duration::from_secs(1), async { while socket.next().await.is_some_and(|m| m.is_ok()) {} })
            .await;
}

/// Sends a close frame. The peer may be gone already, which is as good.
pub(super) async fn close<S: Sink<Message> + Unpin>(sink: &mut S, code: u16, reason: &str) {
    let _ = sink.send(close_frame(code, reason)).await;
}

pub(super) fn close_frame(code: u16, reason: &str) -> Message {
    Message::Close(Some(CloseFrame { code: CloseCode::from(code), reason: reason.to_owned().into() }))
}
