//! Requests that belong to the server, passed on as they are: one connection for each, upgrades included.
//!
//! Connections are never kept for the next request. The servers close idle ones, and a request on one that is just being
//! closed fails with nobody at fault (seen once, with a driver that kept them).

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{Reply, plain, until_closed};

/// What the server answers; everything else is a page of the front end.
const SERVERS: [&str; 8] =
    ["/api", "/sockets", "/server_info", "/alive", "/health", "/ready", "/docs", "/openapi.json"];

/// How long the server may take to begin its answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Headers about one connection, which say nothing about the next one.
const HOP_BY_HOP: [&str; 6] =
    ["keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"];

/// Whether a path belongs to the server.
pub(super) fn is_servers(path: &str) -> bool {
    let below = |prefix: &&str| {
        path.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    SERVERS.iter().any(below)
}

/// Passes one request on and its answer back. A server that is not there is 502, one that is silent 504.
pub(super) async fn forward(
    upstream: SocketAddr,
    request: Request<Incoming>,
    closing: watch::Receiver<()>,
) -> Reply {
    match timeout(PATIENCE, exchange(upstream, request, closing)).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(why)) => plain(StatusCode::BAD_GATEWAY, format!("{upstream}: {why}")),
        Err(_) => {
            plain(StatusCode::GATEWAY_TIMEOUT, format!("{upstream} did not answer within {PATIENCE:?}"))
        }
    }
}

async fn exchange(
    upstream: SocketAddr,
    mut request: Request<Incoming>,
    closing: watch::Receiver<()>,
) -> Result<Reply, Box<dyn std::error::Error + Send + Sync>> {
    let upgrade = request.headers().get(UPGRADE).cloned();
    let ours = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
    let path = request.uri().path_and_query().map_or("/", hyper::http::uri::PathAndQuery::as_str);
    *request.uri_mut() = path.parse::<Uri>()?;
    strip(request.headers_mut());
    request.headers_mut().insert(HOST, HeaderValue::from_str(&upstream.to_string())?);
    if let Some(protocol) = upgrade {
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        request.headers_mut().insert(UPGRADE, protocol);
    }
    let io = TcpStream::connect(upstream).await?;
    io.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(io)).await?;
    tokio::spawn(until_closed(closing.clone(), async move {
        // Its error reaches whoever reads the answer.
        let _ = connection.with_upgrades().await;
    }));
    let mut response = sender.send_request(request).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let ours = ours.ok_or("it switched protocols, and nobody asked for that")?;
        let theirs = hyper::upgrade::on(&mut response);
        tokio::spawn(until_closed(closing, tunnel(ours, theirs)));
    } else {
        strip(response.headers_mut());
    }
    Ok(Response::map(response, Either::Right))
}

/// Bytes both ways, unread, until one end closes.
async fn tunnel(browser: OnUpgrade, server: OnUpgrade) {
    let (Ok(browser), Ok(server)) = tokio::join!(browser, server) else { return };
    // A connection that breaks is how a socket ends without a goodbye, and the browser shall see just that.
    let _ = copy_bidirectional(&mut TokioIo::new(browser), &mut TokioIo::new(server)).await;
}

/// Takes off what belongs to one connection, including what `Connection` names.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE] {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_whole_segments() {
        assert!(["/api", "/api/x", "/sockets/events/1", "/openapi.json"].into_iter().all(is_servers));
        assert!(!["/", "/apiary", "/conversations/api", "/server_infos"].into_iter().any(is_servers));
    }

    #[test]
    fn headers_of_one_connection_stay_behind() {
        let mut headers = HeaderMap::new();
        headers.insert(CONNECTION, HeaderValue::from_static("keep-alive, X-Own"));
        headers.insert("x-own", HeaderValue::from_static("1"));
        headers.insert("te", HeaderValue::from_static("trailers"));
        headers.insert("x-session-api-key", HeaderValue::from_static("k"));
        strip(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-session-api-key"]);
    }
}
