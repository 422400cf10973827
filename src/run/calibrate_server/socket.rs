//! A raw socket to either side: opened or refused, read until nothing comes.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::party::{KEY, Party};
use super::{CalibrateServerError, canon};
use crate::agent_server::server::Io;

/// How long the first frame may take on a busy machine.
pub(super) const FIRST: Duration = Duration::from_secs(2);

/// How long nothing comes when all has come.
const QUIET: Duration = Duration::from_millis(250);

/// How long a turn may take: its script is half a second.
const TURN: Duration = Duration::from_mins(1);

/// How long opening may take.
const OPEN: Duration = Duration::from_secs(20);

/// What came of trying to open one.
pub(super) enum Opened {
    /// A socket.
    Open(Box<Socket>),
    /// The HTTP status of a refusal.
    Refused(u16),
}

/// An open socket.
pub(super) struct Socket {
    stream: WebSocketStream<Io>,
    /// The close frame or the end, once it came.
    pub(super) closed: Option<String>,
}

/// Tries to open a socket.
pub(super) async fn open(
    party: &Party,
    path: &str,
    header: Option<&str>,
) -> Result<Opened, CalibrateServerError> {
    let fault = |why: &dyn std::fmt::Display| party.fault(path, why);
    let (io, _) = party.dialer.dial().await.map_err(|e| fault(&e))?;
    let url = format!("ws://{}{path}", party.dialer.authority());
    let mut request = url.into_client_request().map_err(|e| fault(&e))?;
    if let Some(key) = header {
        let value = HeaderValue::from_str(key).map_err(|e| fault(&e))?;
        request.headers_mut().insert("x-session-api-key", value);
    }
    match timeout(OPEN, client_async(request, io)).await {
        Ok(Ok((stream, _))) => Ok(Opened::Open(Box::new(Socket { stream, closed: None }))),
        Ok(Err(WsError::Http(response))) => Ok(Opened::Refused(response.status().as_u16())),
        Ok(Err(other)) => Err(fault(&other)),
        Err(_) => Err(fault(&format!("no answer to the upgrade within {} s", OPEN.as_secs()))),
    }
}

/// Opens a socket with the good key.
pub(super) async fn open_authorised(party: &Party, path: &str) -> Result<Opened, CalibrateServerError> {
    open(party, path, Some(KEY)).await
}

impl Socket {
    pub(super) async fn send(&mut self, text: &str) -> Result<(), String> {
        self.stream.send(Message::text(text)).await.map_err(|e| e.to_string())
    }

    /// The next frame until a moment; `None` when none came, or the socket is closed.
    async fn next(&mut self, until: Instant) -> Option<Value> {
        loop {
            if self.closed.is_some() {
                return None;
            }
            match timeout_at(until, self.stream.next()).await.ok()? {
                Some(Ok(Message::Text(text))) => {
                    // A frame that is no JSON is shown as the text that it is.
                    return Some(serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str())));
                }
                Some(Ok(Message::Close(frame))) => {
                    let why = frame.map(|f| format!("{} {}", u16::from(f.code), f.reason));
                    self.closed = Some(format!("closed {}", why.unwrap_or_else(|| "without a code".into())));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => self.closed = Some("ended without a close frame".to_owned()),
            }
        }
    }

    /// Everything that comes until nothing does; the first of it may take `first`.
    pub(super) async fn all(&mut self, first: Duration) -> Vec<Value> {
        let mut frames = Vec::new();
        let mut until = Instant::now() + first;
        while let Some(frame) = self.next(until).await {
            frames.push(frame);
            until = Instant::now() + QUIET;
        }
        frames
    }

    /// Waits for one frame or the end; how many frames came.
    pub(super) async fn first(&mut self) -> usize {
        usize::from(self.next(Instant::now() + OPEN).await.is_some())
    }

    /// Everything of a turn: up to the state that ends a run, and what comes after it.
    pub(super) async fn turn(&mut self) -> Result<Vec<Value>, String> {
        let deadline = Instant::now() + TURN;
        let (mut frames, mut finished) = (Vec::new(), false);
        loop {
            let Some(frame) = self.next(deadline).await else {
                return Err(format!("the turn did not end; {} frames came", frames.len()));
            };
            let name = canon::name(&frame);
            finished |= name.ends_with("execution_status/finished");
            let over = finished && name.ends_with("full_state");
            frames.push(frame);
            if over {
                frames.extend(self.all(QUIET).await);
                return Ok(frames);
            }
        }
    }

    pub(super) async fn leave(mut self) {
        // The server may be gone first.
        let _ = timeout(Duration::from_secs(1), self.stream.close(None)).await;
    }
}
