//! A tap on every connection between real parties: bytes go through unchanged, and what they mean is read beside them.
//!
//! Nothing is re-framed, no header is touched, and what the parties negotiate (compression included) is what they would
//! have negotiated without it.

mod head;
mod message;
mod observer;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::clock::RunClock;
use observer::Observer;

/// Bytes of text that are kept for one socket. Beyond them the socket is marked, and its cell is invalid.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Who sent a frame or closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The agent-server.
    Server,
    /// The client.
    Client,
}

/// One message on a socket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireFrame {
    /// When its last byte passed, seconds on the run's clock.
    pub at: f64,
    /// Who sent it.
    pub from: Side,
    /// Its text, after decompression. A binary message is its bytes with replacement characters.
    pub text: String,
}

/// How a connection was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireClose {
    /// Who sent the close frame first.
    pub by: Side,
    /// Its code; 1005 when it had none.
    pub code: u16,
    /// Its reason.
    pub reason: String,
}

/// One WebSocket, as it passed the tap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireSocket {
    /// Path without the query, which may hold a key.
    pub path: String,
    /// Port of the tap's connection to the server: the peer's name in an emulated server's notes.
    pub peer: u16,
    /// Port of the client's connection to the tap: its name to an emulated client. 0 in captures that do not say.
    #[serde(default, skip_serializing_if = "unsaid")]
    pub client: u16,
    /// When the connection was opened, seconds on the run's clock.
    pub opened_at: f64,
    /// HTTP status of the upgrade; 101 when it succeeded, absent without an answer.
    pub status: Option<u16>,
    /// `Sec-WebSocket-Extensions` of the answer.
    pub extensions: Option<String>,
    /// Every message in both directions, in the order in which they passed.
    pub frames: Vec<WireFrame>,
    /// The first close frame.
    pub closed: Option<WireClose>,
    /// Whether the connection has ended.
    pub over: bool,
    /// Bytes from the server, handshake and headers included.
    pub bytes_from_server: u64,
    /// Bytes from the client.
    pub bytes_from_client: u64,
    /// What could not be read: bytes that are no WebSocket frame, or more text than is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn unsaid(port: &u16) -> bool {
    *port == 0
}

impl WireSocket {
    /// The conversation in its path, without hyphens; empty where there is none.
    pub fn conversation(&self) -> String {
        self.path.rsplit('/').next().unwrap_or_default().replace('-', "")
    }
}

/// A running tap. Dropping it ends its connections.
#[derive(Debug)]
pub struct Tap {
    addr: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    clock: RunClock,
    upstream: SocketAddr,
    sockets: Mutex<BTreeMap<u64, WireSocket>>,
}

impl Shared {
    fn sockets(&self) -> MutexGuard<'_, BTreeMap<u64, WireSocket>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap {
    /// Listens on a free loopback port for connections to `upstream`.
    pub async fn start(upstream: SocketAddr, clock: RunClock) -> std::io::Result<Tap> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared { clock, upstream, sockets: Mutex::default() });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Tap { addr, shared, accepting })
    }

    /// Where clients connect.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The sockets of one conversation so far, in the order in which they were opened. Hyphens in the id do not matter.
    pub fn sockets(&self, conversation: &str) -> Vec<WireSocket> {
        let wanted = conversation.replace('-', "");
        self.shared.sockets().values().filter(|socket| socket.conversation() == wanted).cloned().collect()
    }

    /// When a message passed last on a socket of the conversation, and how many have passed.
    pub fn last_activity(&self, conversation: &str) -> Option<(f64, usize)> {
        let wanted = conversation.replace('-', "");
        let sockets = self.shared.sockets();
        let of = sockets.values().filter(|socket| socket.conversation() == wanted);
        let last = of.clone().filter_map(|s| s.frames.last().map(|f| f.at)).reduce(f64::max)?;
        Some((last, of.map(|s| s.frames.len()).sum()))
    }

    /// Forgets the sockets of a conversation that is over, so that a warm server does not grow this process.
    pub fn forget(&self, conversation: &str) {
        let gone = conversation.replace('-', "");
        self.shared.sockets().retain(|_, socket| socket.conversation() != gone || !socket.over);
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// The two ports by which a connection is known: the client's, and the tap's own towards the server.
#[derive(Debug, Clone, Copy)]
struct Ports {
    client: u16,
    peer: u16,
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    for id in 0.. {
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        connections.spawn(pass(id, client, shared.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn pass(id: u64, client: TcpStream, shared: Arc<Shared>) {
    // A server that is not there is the client's to notice: its connection ends without an answer.
    let Ok(server) = TcpStream::connect(shared.upstream).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let port = |addr: std::io::Result<SocketAddr>| addr.map_or(0, |addr| addr.port());
    let ports = Ports { client: port(client.peer_addr()), peer: port(server.local_addr()) };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let observer = Arc::new(Mutex::new(Observer::new(id, ports, shared.clone())));
    tokio::join!(
        copy(from_client, to_server, Side::Client, observer.clone()),
        copy(from_server, to_client, Side::Server, observer.clone()),
    );
    observer.lock().unwrap_or_else(PoisonError::into_inner).over();
}

/// Bytes are noted before they are passed on, so that nobody can answer what has not been noted.
async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, side: Side, observer: Arc<Mutex<Observer>>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n) = from.read(&mut buffer).await {
        if n == 0 {
            break;
        }
        observer.lock().unwrap_or_else(PoisonError::into_inner).bytes(side, &buffer[..n]);
        if to.write_all(&buffer[..n]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}

#[cfg(test)]
mod tests;
