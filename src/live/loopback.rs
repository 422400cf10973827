//! A small HTTP server on this machine alone: what the fake model and the webhook sink stand on.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// The longest body that is read. A conversation of a long session has some megabytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A server that could not listen.
#[derive(Debug, thiserror::Error)]
pub enum LoopbackError {
    /// The address could not be bound.
    #[error("{what} cannot listen on {addr}: {error}")]
    Bind {
        /// What wanted to listen.
        what: &'static str,
        /// The address.
        addr: SocketAddr,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// An address that is reachable from other machines.
    #[error("{what} cannot listen on {addr}: not a loopback address, and it is for this machine only")]
    NotLoopback {
        /// What wanted to listen.
        what: &'static str,
        /// The address.
        addr: SocketAddr,
    },
}

/// A server that listens. Dropping it closes the socket and breaks every connection off.
#[derive(Debug)]
pub struct Loopback {
    addr: SocketAddr,
    task: JoinHandle<()>,
}

impl Loopback {
    /// Binds and serves on the caller's runtime; port 0 takes a free one. `what` is named in errors.
    pub async fn serve<H, F, B>(
        what: &'static str,
        addr: SocketAddr,
        handler: H,
    ) -> Result<Loopback, LoopbackError>
    where
        H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        if !addr.ip().is_loopback() {
            return Err(LoopbackError::NotLoopback { what, addr });
        }
        let failed = |error| LoopbackError::Bind { what, addr, error };
        let listener = TcpListener::bind(addr).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;
        Ok(Loopback { addr, task: tokio::spawn(accept(listener, handler)) })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept<H, F, B>(listener: TcpListener, handler: H)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // The set ends with this task, and the connections with the set.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        // Running out of descriptors ends an accept, not the server; the next one may succeed.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        connections.spawn(connection(stream, handler.clone()));
    }
}

async fn connection<H, F, B>(stream: TcpStream, handler: H)
where
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // Nagle would add up to 40 ms to small writes; a failure here only costs that.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answer = handler(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A peer that leaves in the middle is no fault of the server. Whoever streamed to it notes that on its own.
    let _ = connection.await;
}

/// The whole body of a request; the error is ready to be shown to the caller.
pub(super) async fn body(request: Request<Incoming>) -> Result<Bytes, String> {
    match Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(format!("the body could not be read (at most {MAX_BODY_BYTES} bytes): {error}")),
    }
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, value: &Value) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::new(Bytes::from(value.to_string())));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
