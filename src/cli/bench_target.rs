//! Where the subscribers of a bench connect.

use std::net::SocketAddr;

use super::address::{address, uri, wrong};
use super::error::CliError;
use crate::agent_server::profile::nearest;

/// Where the sockets go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) addr: SocketAddr,
    pub(super) path_and_query: String,
}

impl Target {
    pub(super) fn parse(url: &str, allow_remote: bool) -> Result<Target, CliError> {
        let expected = "expected ws://127.0.0.1:PORT/sockets/events/ID";
        let uri = uri(url, &["ws"], expected)?;
        let path = uri.path();
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match segments[..] {
            ["sockets", "events" | "session", id] if !id.is_empty() => {}
            ["sockets", other, ..] if !matches!(other, "events" | "session") => {
                let near = nearest(other, ["events", "session"].into_iter());
                return Err(wrong(format!("no socket `{other}`{near}; {expected}")));
            }
            _ => return Err(wrong(format!("path `{path}`; {expected}"))),
        }
        let query = uri.query().unwrap_or_default();
        for (name, _) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "session_api_key" => {
                    return Err(wrong("a key does not belong into it; use --key-env or --key-file"));
                }
                "resend_mode" | "resend_all" | "after_seq" => {
                    let why = "asks for a replay, which never streamed and would count as missing";
                    return Err(wrong(format!("`{name}` {why}")));
                }
                _ => {}
            }
        }
        let addr = address(&uri, allow_remote, expected)?;
        let path_and_query = uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
        Ok(Target { addr, path_and_query })
    }
}

/// The first message that shows the key.
pub(super) fn auth_frame(key: &str) -> String {
    serde_json::json!({"type": "auth", "session_api_key": key}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_socket_of_this_machine() {
        for good in ["ws://127.0.0.1:8000/sockets/events/x", "ws://[::1]:8000/sockets/session/x?a=b"] {
            let target = Target::parse(good, false).unwrap();
            assert!(target.addr.ip().is_loopback() && target.path_and_query.starts_with("/sockets/"));
        }
        for (bad, why) in [
            ("127.0.0.1:8000", "no scheme"),
            ("http://127.0.0.1:8000/sockets/events/x", "scheme `http`"),
            ("wss://127.0.0.1:8000/sockets/events/x", "wss"),
            ("ws://127.0.0.1:8000/sockets/event/x", "did you mean `events`"),
            ("ws://127.0.0.1:8000/socket/events/x", "path"),
            ("ws://127.0.0.1:8000/sockets/events/", "path"),
            ("ws://192.0.2.7:8000/sockets/events/x", "--allow-remote"),
            ("ws://127.0.0.1:99999/sockets/events/x", "1 to 65535"),
            ("ws://127.0.0.1:0/sockets/events/x", "1 to 65535"),
            ("ws://[::1]:/sockets/events/x", "1 to 65535"),
            ("ws://s3cret@127.0.0.1:8000/sockets/events/x", "before the host"),
            ("ws://127.0.0.1:8000/sockets/events/x?resend_mode=all", "replay"),
            ("ws://127.0.0.1:8000/sockets/session/x?after_seq=0", "replay"),
        ] {
            let told = Target::parse(bad, false).unwrap_err().to_string();
            assert!(told.contains(why), "{bad}: {told}");
        }
        let remote = Target::parse("ws://192.0.2.7/sockets/events/x", true).unwrap();
        assert_eq!(remote.addr.to_string(), "192.0.2.7:80");
        let told =
            Target::parse("ws://127.0.0.1/sockets/events/x?session_api_key=s3cret", false).unwrap_err();
        assert!(told.to_string().contains("--key-env") && !told.to_string().contains("s3cret"));
    }
}
