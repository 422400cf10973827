//! What one connection said, read from its bytes as they pass.

use std::sync::Arc;

use super::head::{Asked, answer, request};
use super::message::{Reader, Said};
use super::{KEPT_BYTES, Ports, Shared, Side, WireClose, WireFrame, WireSocket};

/// Reads both directions of one connection.
#[derive(Debug)]
pub(super) struct Observer {
    id: u64,
    ports: Ports,
    shared: Arc<Shared>,
    stage: Stage,
    kept: usize,
}

#[derive(Debug)]
enum Stage {
    /// The request's head is not complete.
    Asking(Vec<u8>),
    /// It asked for a WebSocket; the answer's head is not complete. What the client already sent waits.
    Waiting { answer: Vec<u8>, early: Vec<u8> },
    /// A WebSocket.
    Open { server: Reader, client: Reader },
    /// No WebSocket, or no longer readable.
    Passing,
}

impl Observer {
    pub(super) fn new(id: u64, ports: Ports, shared: Arc<Shared>) -> Observer {
        Observer { id, ports, shared, stage: Stage::Asking(Vec::new()), kept: 0 }
    }

    /// Bytes that are about to be passed on.
    pub(super) fn bytes(&mut self, from: Side, bytes: &[u8]) {
        let stage = std::mem::replace(&mut self.stage, Stage::Passing);
        self.stage = match (stage, from) {
            (Stage::Asking(mut head), Side::Client) => {
                head.extend_from_slice(bytes);
                self.asked(head)
            }
            (Stage::Waiting { answer, mut early }, Side::Client) => {
                self.count(from, bytes.len());
                early.extend_from_slice(bytes);
                Stage::Waiting { answer, early }
            }
            (Stage::Waiting { mut answer, early }, Side::Server) => {
                self.count(from, bytes.len());
                answer.extend_from_slice(bytes);
                self.answered(answer, early)
            }
            (Stage::Open { server, client }, from) => {
                self.count(from, bytes.len());
                self.read(server, client, from, bytes)
            }
            (stage @ (Stage::Asking(_) | Stage::Passing), _) => stage,
        };
    }

    /// The connection has ended.
    pub(super) fn over(&mut self) {
        self.with(|socket| socket.over = true);
    }

    fn asked(&mut self, head: Vec<u8>) -> Stage {
        let Some((asked, length)) = request(&head) else { return Stage::Asking(head) };
        let Asked::Socket(path) = asked else { return Stage::Passing };
        let opened_at = self.shared.clock.now();
        let Ports { client, peer } = self.ports;
        let socket = WireSocket { path, peer, client, opened_at, ..WireSocket::default() };
        self.shared.sockets().insert(self.id, socket);
        self.count(Side::Client, head.len());
        Stage::Waiting { answer: Vec::new(), early: head[length..].to_vec() }
    }

    fn answered(&mut self, head: Vec<u8>, early: Vec<u8>) -> Stage {
        let Some((answered, length)) = answer(&head) else { return Stage::Waiting { answer: head, early } };
        let extensions = answered.extensions.clone();
        self.with(|socket| {
            socket.status = Some(answered.status);
            socket.extensions = answered.extensions;
        });
        if answered.status != 101 {
            return Stage::Passing;
        }
        let extensions = extensions.as_deref();
        let server = Reader::new(extensions, "server_no_context_takeover");
        let client = Reader::new(extensions, "client_no_context_takeover");
        match self.read(server, client, Side::Server, &head[length..]) {
            Stage::Open { server, client } => self.read(server, client, Side::Client, &early),
            ended => ended,
        }
    }

    fn read(&mut self, mut server: Reader, mut client: Reader, from: Side, bytes: &[u8]) -> Stage {
        let reader = if from == Side::Server { &mut server } else { &mut client };
        let said = match reader.read(bytes) {
            Ok(said) => said,
            Err(why) => return self.unreadable(&format!("from the {}: {why}", word(from))),
        };
        let at = self.shared.clock.now();
        for said in said {
            match said {
                Said::Message(payload) => {
                    self.kept += payload.len();
                    if self.kept > KEPT_BYTES {
                        return self.unreadable("more text than is kept of one socket");
                    }
                    let text = String::from_utf8_lossy(&payload).into_owned();
                    self.with(|socket| socket.frames.push(WireFrame { at, from, text }));
                }
                Said::Close(code, reason) => self.with(|socket| {
                    socket.closed.get_or_insert(WireClose { by: from, code, reason });
                }),
            }
        }
        Stage::Open { server, client }
    }

    /// The bytes still pass; nothing more is said of them.
    fn unreadable(&mut self, why: &str) -> Stage {
        self.with(|socket| socket.unreadable = Some(why.to_owned()));
        Stage::Passing
    }

    fn count(&self, from: Side, bytes: usize) {
        self.with(|socket| match from {
            Side::Server => socket.bytes_from_server += bytes as u64,
            Side::Client => socket.bytes_from_client += bytes as u64,
        });
    }

    fn with(&self, note: impl FnOnce(&mut WireSocket)) {
        if let Some(socket) = self.shared.sockets().get_mut(&self.id) {
            note(socket);
        }
    }
}

fn word(side: Side) -> &'static str {
    match side {
        Side::Server => "server",
        Side::Client => "client",
    }
}
