//! One loopback origin for a front end: its build, and behind it the server that it talks to.
//!
//! A browser only gives a front end its storage, its cookies and its sockets without further questions on one origin,
//! and the front ends take the server to be at their own (read in 1.20.0).

mod bootstrap;
mod files;
mod proxy;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use files::Files;

/// What the site answers with: something of its own, or what the server is sending.
type Reply = Response<Either<Full<Bytes>, Incoming>>;

/// A front end that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// There is no build where one should be.
    #[error("{}: {why}", path.display())]
    Build {
        /// The folder, or the file of it that is wrong.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// No port on loopback.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(std::io::Error),
}

/// A front end's origin. Dropping it closes every connection, the tunnelled sockets included.
#[derive(Debug)]
pub struct Site {
    addr: SocketAddr,
    shared: Arc<Shared>,
    /// Its end is what every task of the site waits for.
    _open: watch::Sender<()>,
}

#[derive(Debug)]
struct Shared {
    files: Files,
    upstream: Mutex<SocketAddr>,
    requests: Mutex<BTreeMap<String, u64>>,
}

impl Site {
    /// Serves `build` on a free port of loopback and passes what belongs to the server on to `upstream`. `key` is what
    /// the front end gets to know as the session key.
    pub async fn start(build: PathBuf, upstream: SocketAddr, key: &str) -> Result<Site, SiteError> {
        let files = Files::open(&build, &bootstrap::script(key))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(SiteError::Listen)?;
        let addr = listener.local_addr().map_err(SiteError::Listen)?;
        let shared = Shared { files, upstream: Mutex::new(upstream), requests: Mutex::default() };
        let (open, closing) = watch::channel(());
        let site = Site { addr, shared: Arc::new(shared), _open: open };
        tokio::spawn(until_closed(closing.clone(), accept(listener, site.shared.clone(), closing)));
        Ok(site)
    }

    /// `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The address of a conversation's page.
    pub fn conversation(&self, id: &str) -> String {
        format!("{}/conversations/{id}", self.origin())
    }

    /// From now on another server is behind it. Connections that are open stay where they are.
    pub fn point_to(&self, upstream: SocketAddr) {
        *self.shared.upstream.lock().unwrap_or_else(PoisonError::into_inner) = upstream;
    }

    /// How often what was asked of the server, and of the build without success: `METHOD path status`, ids as `{id}`.
    pub fn requests(&self) -> BTreeMap<String, u64> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Does the work until it is done or the site is dropped.
async fn until_closed(mut closing: watch::Receiver<()>, work: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = work => {}
        // Nothing is ever sent: this comes back when the sender is gone.
        _ = closing.changed() => {}
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, closing: watch::Receiver<()>) {
    loop {
        // A connection that broke before it was taken, or too many open files: the next one may do.
        let Ok((io, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            continue;
        };
        tokio::spawn(until_closed(closing.clone(), serve(io, shared.clone(), closing.clone())));
    }
}

async fn serve(io: TcpStream, shared: Arc<Shared>, closing: watch::Receiver<()>) {
    // A token's frame must not wait for the acknowledgement of the one before it.
    let _ = io.set_nodelay(true);
    let service = service_fn(|request| {
        let (shared, closing) = (shared.clone(), closing.clone());
        async move { Ok::<_, Infallible>(answer(&shared, request, closing).await) }
    });
    // The browser leaves when it wants to.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades()
        .await;
}

async fn answer(shared: &Shared, request: Request<Incoming>, closing: watch::Receiver<()>) -> Reply {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let served = !proxy::is_servers(&path);
    let reply = if !served {
        let upstream = *shared.upstream.lock().unwrap_or_else(PoisonError::into_inner);
        proxy::forward(upstream, request, closing).await
    } else if method == Method::GET || method == Method::HEAD {
        shared.files.answer(&path).await
    } else {
        plain(StatusCode::METHOD_NOT_ALLOWED, "a build can only be read".to_owned())
    };
    if !served || !reply.status().is_success() {
        let line = format!("{method} {} {}", without_ids(&path), reply.status().as_u16());
        *shared.requests.lock().unwrap_or_else(PoisonError::into_inner).entry(line).or_default() += 1;
    }
    reply
}

/// A short answer of the site itself.
fn plain(status: StatusCode, text: String) -> Reply {
    own(status, "text/plain; charset=utf-8", Bytes::from(text))
}

fn own(status: StatusCode, kind: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Either::Left(Full::new(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // What is served is always what is on the disk, or the key of this site.
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// The path with `{id}` for every segment that is an id: 20 hexadecimal digits or more, hyphens aside.
fn without_ids(path: &str) -> String {
    let is_id = |segment: &str| {
        let digits = segment.bytes().filter(|b| *b != b'-');
        segment.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && digits.count() >= 20
    };
    let segments: Vec<&str> = path.split('/').map(|s| if is_id(s) { "{id}" } else { s }).collect();
    segments.join("/")
}
