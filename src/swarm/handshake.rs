//! The opening handshake (RFC 6455, section 4.1), as bytes: the request, and what the response must say.

use std::fmt::Write as _;

use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::refused::Refused;

/// The longest response head that is waited for, bytes.
const LONGEST_HEAD: usize = 16 * 1024;

/// One upgrade under way.
#[derive(Debug)]
pub(super) struct Handshake {
    accept: String,
    head: Vec<u8>,
}

impl Handshake {
    /// The request for `path_and_query` at `host`, and what waits for its answer. No extension is offered: the
    /// emulated servers compress nothing, and a compressed frame could not be read in place.
    pub(super) fn start(host: &str, path_and_query: &str) -> (Handshake, String) {
        let key = generate_key();
        let mut request = String::with_capacity(192 + path_and_query.len());
        let _ = write!(
            request,
            "GET {path_and_query} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        );
        (Handshake { accept: derive_accept_key(key.as_bytes()), head: Vec::new() }, request)
    }

    /// Takes bytes of the response. Once its head is whole: how many of *these* bytes belonged to it; the rest is
    /// frames.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refused> {
        let before = self.head.len();
        self.head.extend_from_slice(bytes);
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response.parse(&self.head);
        let parsed = parsed.map_err(|error| Refused::Handshake(format!("no HTTP response: {error}")))?;
        let httparse::Status::Complete(size) = parsed else {
            if self.head.len() > LONGEST_HEAD {
                return Err(Refused::Handshake("the response head is longer than 16 KiB".to_owned()));
            }
            return Ok(None);
        };
        match response.code {
            Some(101) => {}
            code => return Err(Refused::Status(code.unwrap_or_default())),
        }
        let value = |name: &str| {
            let named = response.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
            named.and_then(|h| std::str::from_utf8(h.value).ok()).map(str::trim)
        };
        if value("sec-websocket-accept") != Some(self.accept.as_str()) {
            return Err(Refused::Handshake("the accept key is not the one for our key".to_owned()));
        }
        if !value("upgrade").is_some_and(|v| v.eq_ignore_ascii_case("websocket")) {
            return Err(Refused::Handshake("the response does not upgrade to `websocket`".to_owned()));
        }
        if let Some(extension) = value("sec-websocket-extensions") {
            return Err(Refused::Handshake(format!("extension `{extension}` was not offered")));
        }
        Ok(Some(size - before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(handshake: &Handshake) -> String {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nUpgrade: WebSocket\r\n\
             sec-websocket-accept: {}\r\n\r\n",
            handshake.accept
        )
    }

    #[test]
    fn the_head_may_come_in_pieces_and_with_frames_behind_it() {
        for piece in [1, 7, 1000] {
            let (mut handshake, request) = Handshake::start("127.0.0.1:9", "/sockets/events/x?a=b");
            assert!(request.starts_with("GET /sockets/events/x?a=b HTTP/1.1\r\nHost: 127.0.0.1:9\r\n"));
            let answer = response(&handshake) + "FRAMES";
            let mut bytes = answer.as_bytes();
            let rest = loop {
                let (now, later) = bytes.split_at(piece.min(bytes.len()));
                bytes = later;
                if let Some(used) = handshake.feed(now).unwrap() {
                    break [&now[used..], later].concat();
                }
            };
            assert_eq!(rest, b"FRAMES", "{piece} bytes a read");
        }
    }

    #[test]
    fn a_refusal_is_named() {
        let told = |change: &dyn Fn(String) -> String| {
            let (mut handshake, _) = Handshake::start("h", "/");
            let answer = change(response(&handshake));
            handshake.feed(answer.as_bytes()).map_err(|e| e.to_string())
        };
        assert!(told(&|r| r).is_ok());
        let forbidden = told(&|r| r.replace("101 Switching Protocols", "403 Forbidden"));
        assert!(forbidden.unwrap_err().contains("403"));
        assert!(told(&|r| r.replace("accept: ", "accept: x")).unwrap_err().contains("accept key"));
        assert!(told(&|r| r.replace("WebSocket", "h2c")).unwrap_err().contains("upgrade"));
        let deflate =
            told(&|r| r.replace("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"));
        assert!(deflate.unwrap_err().contains("permessage-deflate"));
        assert!(told(&|_| "SSH-2.0-x\r\n".to_owned()).unwrap_err().contains("no HTTP"));
        assert!(
            told(&|_| format!("HTTP/1.1 101 {}", "x".repeat(LONGEST_HEAD))).unwrap_err().contains("16 KiB")
        );
    }
}
