//! The head of the first request and of its answer: whether they make a WebSocket, and which.

/// Bytes after which a head that does not end is none.
const MAX_HEAD: usize = 64 * 1024;

/// What the first request on a connection asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A WebSocket at this path, query cut off.
    Socket(String),
    /// Anything else: the connection is passed on and not read.
    Other,
}

/// What the server answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) extensions: Option<String>,
}

/// A head that is complete: what it says, and how many bytes it takes. `None` while bytes are missing.
pub(super) fn request(bytes: &[u8]) -> Option<(Asked, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => {
            let upgrade = value(request.headers, "upgrade");
            let socket = upgrade.is_some_and(|to| to.eq_ignore_ascii_case("websocket"));
            let path = request.path.unwrap_or_default();
            let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
            Some((if socket { Asked::Socket(path) } else { Asked::Other }, length))
        }
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => None,
        _ => Some((Asked::Other, 0)),
    }
}

/// The same of an answer. One that is no HTTP has status 0.
pub(super) fn answer(bytes: &[u8]) -> Option<(Answered, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut answer = httparse::Response::new(&mut headers);
    match answer.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => {
            let extensions = value(answer.headers, "sec-websocket-extensions");
            Some((Answered { status: answer.code.unwrap_or(0), extensions }, length))
        }
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => None,
        _ => Some((Answered { status: 0, extensions: None }, 0)),
    }
}

fn value(headers: &[httparse::Header<'_>], name: &str) -> Option<String> {
    let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(found.value).into_owned())
}
