//! The server that a URL names. No error repeats the URL: a key may stand in it.

use std::net::{SocketAddr, ToSocketAddrs};

use hyper::Uri;

use super::error::CliError;

/// What is wrong with a URL.
pub(super) fn wrong(what: impl std::fmt::Display) -> CliError {
    CliError::Usage(format!("URL: {what}"))
}

/// The URL, of one of these schemes. A scheme with TLS is refused with a way out.
pub(super) fn uri(url: &str, schemes: &[&str], expected: &str) -> Result<Uri, CliError> {
    // hyper's own words repeat nothing of the URL.
    let uri: Uri = url.parse().map_err(|e| wrong(format!("{e}; {expected}")))?;
    match uri.scheme_str() {
        Some(scheme) if schemes.contains(&scheme) => Ok(uri),
        Some(tls @ ("https" | "wss")) => {
            Err(wrong(format!("`{tls}` is not spoken here; a tunnel can end TLS")))
        }
        Some(other) => Err(wrong(format!("scheme `{other}`; {expected}"))),
        None => Err(wrong(format!("no scheme; {expected}"))),
    }
}

/// The address of the host, resolved; this machine unless `allow_remote`.
pub(super) fn address(uri: &Uri, allow_remote: bool, expected: &str) -> Result<SocketAddr, CliError> {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        return Err(wrong(format!("it has a name or a key before the host; {expected}")));
    }
    let port = match uri.port_u16() {
        Some(port @ 1..) => port,
        None if authority.ends_with(']') || !authority.contains(':') => 80,
        _ => return Err(wrong(format!("a port is a number from 1 to 65535; {expected}"))),
    };
    let found = (host, port).to_socket_addrs().map_err(|e| wrong(format!("host `{host}`: {e}")))?;
    // `localhost` is often `::1` first, and the servers at hand listen on 127.0.0.1.
    let addr = found.min_by_key(SocketAddr::is_ipv6);
    let addr = addr.ok_or_else(|| wrong(format!("host `{host}` has no address")))?;
    if !addr.ip().is_loopback() && !allow_remote {
        return Err(wrong(format!("`{host}` is not this machine; --allow-remote lets it be another")));
    }
    Ok(addr)
}
