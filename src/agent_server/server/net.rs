//! How a client reaches the server: over loopback, or over a pipe in memory under the same code.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use super::Server;
use super::error::ServerError;

/// A byte stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A byte stream of either kind.
pub type Io = Box<dyn Duplex>;

/// Names a connection in the server's notes: the client's port, or a number of its own in memory.
pub type PeerId = u64;

/// Bytes that a pipe in memory holds in each direction before the writer waits.
const PIPE_BYTES: usize = 256 * 1024;

/// Opens connections to one server.
#[derive(Debug, Clone)]
pub enum Dialer {
    /// Pipes in memory, served by tasks on the caller's runtime.
    Memory {
        /// The server.
        server: Server,
        /// The next connection's name.
        next: Arc<AtomicU64>,
    },
    /// Loopback sockets.
    Tcp(SocketAddr),
}

impl Dialer {
    /// A dialer that needs no sockets.
    pub fn memory(server: &Server) -> Dialer {
        Dialer::Memory { server: server.clone(), next: Arc::new(AtomicU64::new(1)) }
    }

    /// Opens a connection.
    pub async fn dial(&self) -> std::io::Result<(Io, PeerId)> {
        match self {
            Dialer::Memory { server, next } => {
                let peer = next.fetch_add(1, Ordering::Relaxed);
                let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
                let server = server.clone();
                tokio::spawn(async move { server.serve(Box::new(theirs), peer).await });
                Ok((Box::new(ours), peer))
            }
            Dialer::Tcp(addr) => {
                let stream = TcpStream::connect(addr).await?;
                stream.set_nodelay(true)?;
                let peer = u64::from(stream.local_addr()?.port());
                Ok((Box::new(stream), peer))
            }
        }
    }
}

/// A server that listens on loopback.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    server: Server,
}

impl Listening {
    /// Binds; port 0 takes a free one. Refuses every address that is not loopback.
    pub async fn bind(server: &Server, addr: SocketAddr) -> Result<Listening, ServerError> {
        if !addr.ip().is_loopback() {
            return Err(ServerError::NotLoopback { addr });
        }
        let listener = TcpListener::bind(addr).await.map_err(|error| ServerError::Bind { addr, error })?;
        Ok(Listening { listener, server: server.clone() })
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
            let server = self.server.clone();
            let peer = u64::from(from.port());
            tokio::spawn(async move { server.serve(Box::new(stream), peer).await });
        }
    }
}
