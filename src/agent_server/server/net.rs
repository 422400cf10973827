//! How a client reaches the server: over loopback, or over a pipe in memory under the same code.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::Server;
use super::error::ServerError;
use super::stage::Stage;
use crate::agent_server::fault::{Conditioned, Conditions};

/// A byte stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A byte stream of any kind. The two that matter are not behind a pointer: a fan-out to a thousand sockets is bound by
/// how many lines of memory it touches for each.
pub enum Io {
    /// A loopback socket.
    Tcp(TcpStream),
    /// A pipe in memory.
    Memory(DuplexStream),
    /// Something of a test or a bench.
    Other(Box<dyn Duplex>),
}

impl fmt::Debug for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Io::Tcp(_) => "Io::Tcp",
            Io::Memory(_) => "Io::Memory",
            Io::Other(_) => "Io::Other",
        })
    }
}

macro_rules! each {
    ($self:ident, $io:ident => $does:expr) => {
        match $self.get_mut() {
            Io::Tcp($io) => $does,
            Io::Memory($io) => $does,
            Io::Other($io) => $does,
        }
    };
}

impl AsyncRead for Io {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self, io => Pin::new(io).poll_read(cx, buf))
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self, io => Pin::new(io).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, io => Pin::new(io).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, io => Pin::new(io).poll_shutdown(cx))
    }
}

/// Names a connection in the server's notes: the client's port, or a number of its own in memory.
pub type PeerId = u64;

/// Bytes that a pipe in memory holds in each direction before the writer waits.
const PIPE_BYTES: usize = 256 * 1024;

/// Opens connections to one server.
#[derive(Debug, Clone)]
pub enum Dialer {
    /// Pipes in memory, served by tasks on the caller's runtime.
    Memory {
        /// Who answers.
        stage: Stage,
        /// The next connection's name.
        next: Arc<AtomicU64>,
    },
    /// Loopback sockets.
    Tcp(SocketAddr),
    /// Sockets of a server that was named in a URL.
    Named {
        /// Its address.
        addr: SocketAddr,
        /// Host and port as the URL has them.
        authority: String,
    },
    /// The same, on a way with conditions of its own.
    Through {
        /// Where it leads.
        to: Box<Dialer>,
        /// The conditions of every connection on that way.
        conditions: Arc<Conditions>,
    },
}

impl Dialer {
    /// A dialer that needs no sockets.
    pub fn memory(server: &Server) -> Dialer {
        Dialer::on(&Stage::of(server))
    }

    /// The same, to whoever is on that stage.
    pub fn on(stage: &Stage) -> Dialer {
        Dialer::Memory { stage: stage.clone(), next: Arc::new(AtomicU64::new(1)) }
    }

    /// The same way under those conditions.
    #[must_use]
    pub fn through(&self, conditions: &Arc<Conditions>) -> Dialer {
        Dialer::Through { to: Box::new(self.clone()), conditions: conditions.clone() }
    }

    /// Whether pongs come on that way.
    pub fn pongs_come(&self) -> bool {
        match self {
            Dialer::Through { conditions, .. } => conditions.pongs_come(),
            _ => true,
        }
    }

    /// Why nothing is read on that way now, if it is for its conditions.
    pub fn why_unread(&self) -> Option<&'static str> {
        match self {
            Dialer::Through { conditions, .. } => conditions.why_unread(),
            _ => None,
        }
    }

    /// What a request's `Host` is.
    pub fn authority(&self) -> &str {
        match self {
            Dialer::Memory { .. } | Dialer::Tcp(_) => "127.0.0.1",
            Dialer::Named { authority, .. } => authority,
            Dialer::Through { to, .. } => to.authority(),
        }
    }

    /// Opens a connection, under the conditions of the way if it has some.
    pub async fn dial(&self) -> std::io::Result<(Io, PeerId)> {
        let (io, peer) = self.direct().await?;
        Ok(match self {
            Dialer::Through { conditions, .. } => {
                conditions.names(peer);
                (Io::Other(Box::new(Conditioned::new(io, conditions))), peer)
            }
            _ => (io, peer),
        })
    }

    /// Opens a connection beside all conditions.
    pub async fn direct(&self) -> std::io::Result<(Io, PeerId)> {
        match self {
            Dialer::Through { to, .. } => Box::pin(to.direct()).await,
            Dialer::Memory { stage, next } => {
                let Some(server) = stage.server() else {
                    return Err(std::io::ErrorKind::ConnectionRefused.into());
                };
                let peer = next.fetch_add(1, Ordering::Relaxed);
                let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
                tokio::spawn(async move { server.serve(Io::Memory(theirs), peer).await });
                Ok((Io::Memory(ours), peer))
            }
            Dialer::Tcp(addr) | Dialer::Named { addr, .. } => {
                let stream = TcpStream::connect(addr).await?;
                stream.set_nodelay(true)?;
                let peer = u64::from(stream.local_addr()?.port());
                Ok((Io::Tcp(stream), peer))
            }
        }
    }
}

/// A server that listens on loopback.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    stage: Stage,
}

impl Listening {
    /// Binds; port 0 takes a free one. Refuses every address that is not loopback.
    pub async fn bind(server: &Server, addr: SocketAddr) -> Result<Listening, ServerError> {
        Listening::on(&Stage::of(server), addr).await
    }

    /// The same for whoever is on that stage; while nobody is, a connection ends at once.
    pub async fn on(stage: &Stage, addr: SocketAddr) -> Result<Listening, ServerError> {
        if !addr.ip().is_loopback() {
            return Err(ServerError::NotLoopback { addr });
        }
        let listener = TcpListener::bind(addr).await.map_err(|error| ServerError::Bind { addr, error })?;
        Ok(Listening { listener, stage: stage.clone() })
    }

    /// Where it listens.
    pub fn addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves connections until the task is dropped.
    pub async fn run(self) {
        loop {
            // Running out of descriptors ends an accept, not the server; the next one may succeed.
            let Ok((stream, from)) = self.listener.accept().await else {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                continue;
            };
            // Nagle would add up to 40 ms to small frames; a failure here only costs that.
            let _ = stream.set_nodelay(true);
            let Some(server) = self.stage.server() else { continue };
            let peer = u64::from(from.port());
            tokio::spawn(async move { server.serve(Io::Tcp(stream), peer).await });
        }
    }
}
