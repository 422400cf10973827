//! A client's connection: dialling, authenticating, reading frames into the client until told to stop.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::client::{Client, Incoming, Unfit, minimum};
use super::profile::client::{Auth, ClientTraits, ConnectTraits, Resend, SocketSupport};
use super::rest::{self, RestError};
use super::server::{Dialer, Io, PeerId};
use crate::probe::ledger::Endpoint;
use crate::probe::trace::ClientTrace;
use crate::record::Reason;

/// Where a client connects to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The server.
    pub dialer: Dialer,
    /// The conversation.
    pub conversation: String,
    /// The session API key, if the server wants one.
    pub key: Option<String>,
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not ready yet.
    Connecting,
    /// Subscribed, and ready by the client's own rule.
    Ready,
    /// It will not get ready: refused, closed, or timed out.
    Failed,
}

/// What became of a client that attended a conversation.
#[derive(Debug)]
pub struct Attended {
    /// Its notes.
    pub trace: ClientTrace,
    /// Its connection's name in the server's notes; `None` when nothing was dialled.
    pub peer: Option<PeerId>,
}

/// Somebody who looks on while a client attends: told of everything before the client is.
pub trait Onlooker: Send {
    /// The connection stands and nothing was written yet. What is returned is used instead of it.
    fn connected(&mut self, io: Io) -> Io {
        io
    }

    /// The server took the upgrade, with this `Sec-WebSocket-Extensions` if it sent one.
    fn opened(&mut self, _extensions: Option<&str>) {}

    /// It did not: the HTTP status, or 0 where there was no answer, and the reason in words without a key.
    fn refused(&mut self, _status: u16, _why: &str) {}

    /// A frame was read. Each of these calls leaves one receipt in the client's trace, in the same order.
    fn frame(&mut self, _frame: Incoming<'_>) {}

    /// The client counts itself as connected.
    fn ready(&mut self) {}

    /// The connection ended, and this client did not end it by leaving.
    fn closed(&mut self, _code: u16, _reason: &str) {}
}

/// Nobody looks on.
impl Onlooker for () {}

/// How long a polite close may take.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// How long the first frame may take for a client that has no ready timeout of its own.
const FIRST_FRAME_WAIT: Duration = Duration::from_secs(30);

/// How long a client with a minimum waits for `/server_info` (5000 ms in the front ends).
const INFO_WAIT: Duration = Duration::from_secs(5);

/// Connects and reads until `stop` turns true or the connection ends. Reconnecting is left to the caller.
pub async fn attend(
    target: &Target,
    traits: &ClientTraits,
    client: Client,
    phase: &watch::Sender<Phase>,
    stop: watch::Receiver<bool>,
) -> Attended {
    attend_before(target, traits, client, phase, stop, &mut ()).await
}

/// The same with somebody who looks on.
pub async fn attend_before(
    target: &Target,
    traits: &ClientTraits,
    mut client: Client,
    phase: &watch::Sender<Phase>,
    mut stop: watch::Receiver<bool>,
    onlooker: &mut impl Onlooker,
) -> Attended {
    let mut trace = ClientTrace::default();
    let (peer, socket) = match traits.connect.socket {
        SocketSupport::Unavailable => {
            onlooker.refused(0, "this client opens no socket");
            client.without_socket(&mut trace);
            (None, None)
        }
        SocketSupport::Available => match fits(target, &traits.connect).await {
            Err(why) => {
                onlooker.refused(0, &why.to_string());
                client.declines(&why, &mut trace);
                (None, None)
            }
            Ok(()) => match open(target, &traits.connect, onlooker).await {
                Ok((peer, socket)) => (Some(peer), Some(socket)),
                Err(Refused { peer, status, why }) => {
                    onlooker.refused(status, &why);
                    client.refused(status, &mut trace);
                    (peer, None)
                }
            },
        },
    };
    let started = Instant::now();
    if let Some(mut socket) = socket {
        let mut seat = Seat { client: &mut client, trace: &mut trace, onlooker };
        read(&mut socket, &traits.connect, &mut seat, phase, &mut stop).await;
        let _ = timeout(CLOSE_WAIT, leave(&mut socket)).await;
    }
    // Whoever waits for this client to get ready waits its whole time, and is then told.
    if *phase.borrow() == Phase::Connecting {
        if !traits.connect.ready_timeout_s.is_zero() {
            let limit = started + traits.connect.ready_timeout_s.duration();
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                () = sleep_until(limit) => client.not_ready(&mut trace),
            }
        }
        phase.send_replace(Phase::Failed);
    }
    client.finish(&mut trace);
    Attended { trace, peer }
}

/// Whether the client opens a conversation there at all. One without a minimum does not ask.
async fn fits(target: &Target, connect: &ConnectTraits) -> Result<(), Unfit> {
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

struct Refused {
    peer: Option<PeerId>,
    status: u16,
    why: String,
}

/// A client, its notes and who looks on.
struct Seat<'a, O> {
    client: &'a mut Client,
    trace: &'a mut ClientTrace,
    onlooker: &'a mut O,
}

impl<O: Onlooker> Seat<'_, O> {
    fn receive(&mut self, frame: Incoming<'_>) {
        self.onlooker.frame(frame);
        self.client.receive(frame, self.trace);
    }
}

async fn open(
    target: &Target,
    connect: &ConnectTraits,
    onlooker: &mut impl Onlooker,
) -> Result<(PeerId, WebSocketStream<Io>), Refused> {
    // Status 0 stands for a connection that never got as far as an answer.
    let none = |peer, why: &str| Refused { peer, status: 0, why: why.to_owned() };
    let (io, peer) = target.dialer.dial().await.map_err(|e| none(None, &e.kind().to_string()))?;
    let io = onlooker.connected(io);
    let url = format!("ws://{}{}", target.dialer.authority(), path(target, connect));
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
            Ok((peer, socket))
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
fn path(target: &Target, connect: &ConnectTraits) -> String {
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
            if connect.resend == Resend::All {
                query.push("after_seq=-1".to_owned());
            }
            "session"
        }
    };
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/sockets/{socket}/{}{mark}{}", target.conversation, query.join("&"))
}

async fn read(
    socket: &mut WebSocketStream<Io>,
    connect: &ConnectTraits,
    seat: &mut Seat<'_, impl Onlooker>,
    phase: &watch::Sender<Phase>,
    stop: &mut watch::Receiver<bool>,
) {
    let own_timeout = !connect.ready_timeout_s.is_zero();
    let wait = if own_timeout { connect.ready_timeout_s.duration() } else { FIRST_FRAME_WAIT };
    let ready_by = Instant::now() + wait;
    let mut waiting = true;
    let mut tick_at: Option<Instant> = None;
    loop {
        let due = tick_at.unwrap_or(ready_by);
        let timed = tick_at.is_some() || waiting;
        tokio::select! {
            biased;
            message = socket.next() => {
                if !take(message, socket, seat).await {
                    if !waiting {
                        phase.send_replace(Phase::Failed);
                    }
                    return;
                }
                tick_at = seat.client.next_tick().map(|wait| tick_at.unwrap_or_else(|| Instant::now() + wait));
                if waiting && seat.client.is_ready() {
                    waiting = false;
                    seat.onlooker.ready();
                    phase.send_replace(Phase::Ready);
                }
            }
            () = sleep_until(due), if timed => {
                if tick_at.take().is_some() {
                    seat.client.tick(seat.trace);
                } else {
                    waiting = false;
                    if own_timeout {
                        seat.client.not_ready(seat.trace);
                    }
                    phase.send_replace(Phase::Failed);
                }
            }
            changed = stop.changed() => {
                if changed.is_err() || *stop.borrow() {
                    seat.trace.unread = Some(Reason::CLIENT_LEFT);
                    return;
                }
            }
        }
    }
}

/// Hands one message to the client; false when the connection is over.
async fn take(
    message: Option<Result<Message, WsError>>,
    socket: &mut WebSocketStream<Io>,
    seat: &mut Seat<'_, impl Onlooker>,
) -> bool {
    let (code, why, unread) = match message {
        Some(Ok(Message::Text(text))) => {
            seat.receive(Incoming::Text(&text));
            return true;
        }
        Some(Ok(Message::Binary(bytes))) => {
            seat.receive(Incoming::Binary(&bytes));
            return true;
        }
        Some(Ok(Message::Close(frame))) => {
            let (code, why) = frame.map_or((1005, String::new()), |f| (f.code.into(), f.reason.to_string()));
            (code, why, "connection_closed")
        }
        Some(Ok(_)) => return true,
        // The client's own limit: it closes with 1009 and never sees the frame.
        Some(Err(WsError::Capacity(_))) => {
            let frame = CloseFrame { code: CloseCode::Size, reason: "message too big".into() };
            let _ = socket.send(Message::Close(Some(frame))).await;
            (1009, "message too big".to_owned(), "frame_too_large")
        }
        Some(Err(_)) | None => (1006, String::new(), "connection_lost"),
    };
    seat.trace.unread = Some(Reason::new(unread));
    seat.onlooker.closed(code, &why);
    seat.client.closed(code, &why, seat.trace);
    false
}

async fn leave(socket: &mut WebSocketStream<Io>) {
    let _ = socket.close(None).await;
    while socket.next().await.is_some_and(|m| m.is_ok()) {}
}
