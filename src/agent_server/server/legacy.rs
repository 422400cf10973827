//! `/sockets/events/{id}`: one text frame an event, written by the publish itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};

use super::Inner;
use super::bus::{Published, Unfinished};
use super::conversation::Conversation;
use super::frame::delta_object;
use super::inbound;
use super::line::{Line, Written};
use super::net::PeerId;
use super::query::{Resend, SocketQuery, timestamp};
use super::subscriber::Subscriber;
use super::upgrade::{Socket, close_frame};
use crate::agent_server::profile::server::Encoding;
use crate::probe::trace::Origin;
use crate::record::{Hop, Reason};
use crate::wire::{Event, EventBody, Source};

/// A client on the legacy socket, as a subscriber.
#[derive(Debug)]
pub(super) struct LegacySocket {
    server: Arc<Inner>,
    peer: PeerId,
    line: Line,
    deltas: AtomicU32,
    durables: AtomicU32,
    /// Held while a message goes out in fragments.
    fragments: tokio::sync::Mutex<()>,
}

/// Whether a fault that strikes every n-th time strikes the time with this number.
pub(super) fn strikes(number: u32, every: u32) -> bool {
    every > 0 && number.is_multiple_of(every)
}

impl LegacySocket {
    /// Writes one event. A slow peer holds up this publish and no other client; it is never disconnected.
    ///
    /// What the connection takes at once is written within the call. The rest, of a slow peer, is a future.
    pub(super) fn deliver<'a>(&'a self, published: &'a Published) -> Option<Unfinished<'a>> {
        let origin = published.origin;
        self.server.note(|notes| notes.dispatched(self.peer, origin));
        let number = match origin {
            Origin::Delta { .. } => self.deltas.fetch_add(1, Ordering::Relaxed) + 1,
            Origin::Durable { .. } => self.durables.fetch_add(1, Ordering::Relaxed) + 1,
            Origin::Other => 0,
        };
        let text = self.frame(published, number)?;
        if let Some(bytes) = self.server.faults.fragments() {
            return Some(Box::pin(async move {
                let payload = text.len();
                let written = self.fragmented(text, bytes).await;
                self.written(written, payload, origin);
            }));
        }
        let twice = published.event.is_delta() && strikes(number, self.server.traits.mutant.repeat_every);
        let again = twice.then(|| text.clone());
        let rest = self.write(text, origin);
        match (rest, again) {
            (rest, None) => rest,
            (rest, Some(text)) => Some(Box::pin(async move {
                if let Some(rest) = rest {
                    rest.await;
                }
                if let Some(rest) = self.write(text, origin) {
                    rest.await;
                }
            })),
        }
    }

    /// The frame's text, or nothing when a deliberate fault swallowed it.
    fn frame(&self, published: &Published, number: u32) -> Option<Utf8Bytes> {
        let mutant = &self.server.traits.mutant;
        if !published.event.is_delta() {
            let lost = matches!(published.origin, Origin::Durable { .. })
                && strikes(number, mutant.drop_durable_every);
            return (!lost).then(|| published.event.encode(self.server.traits.wire).into());
        }
        if strikes(number, mutant.forget_every) {
            return None;
        }
        if strikes(number, mutant.drop_every) {
            let reason = Reason::new("mutant_drop");
            self.server.note(|notes| notes.stopped(self.peer, published.origin, Hop::Sent, &reason));
            return None;
        }
        if strikes(number, mutant.alter_every) {
            return Some(self.delta(&published.event, true));
        }
        Some(match self.server.traits.bus.encoding {
            Encoding::PerSubscriber => self.delta(&published.event, false),
            Encoding::Once => published.frame.get_or_init(|| self.delta(&published.event, false)).clone(),
        })
    }

    /// Turns a delta into the text of its frame; `altered` exchanges its content for another of the same length.
    fn delta(&self, event: &Event, altered: bool) -> Utf8Bytes {
        let mut object = delta_object(&self.server.traits, event);
        if altered
            && let Some(content) = object.get_mut("content")
            && let Some(text) = content.as_str()
        {
            *content = "#".repeat(text.chars().count()).into();
        }
        let text = self.server.config.mutation.apply(object);
        let text = self.server.faults.relayed(text);
        self.server.costs.serialised(text.len());
        text.into()
    }

    pub(super) fn peer(&self) -> PeerId {
        self.peer
    }

    /// Closes the connection behind what was written before.
    pub(super) async fn hang_up(&self, code: u16, reason: &str) {
        self.server.notes().link(self.peer).closed = Some((code, reason.to_owned()));
        self.line.send(close_frame(code, reason)).await;
    }

    /// Writes one message in fragments of so many bytes, which nothing may come between.
    async fn fragmented(&self, text: Utf8Bytes, bytes: usize) -> bool {
        let _alone = self.fragments.lock().await;
        let text = Bytes::from(text);
        let parts = text.chunks(bytes.max(1)).count();
        for (place, part) in text.chunks(bytes.max(1)).enumerate() {
            let kind = OpCode::Data(if place == 0 { Data::Text } else { Data::Continue });
            let frame = Frame::message(text.slice_ref(part), kind, place + 1 == parts);
            if !self.line.send(Message::Frame(frame)).await {
                return false;
            }
        }
        true
    }

    /// Writes what the connection takes at once; what it does not comes back as a future that keeps the sink.
    fn write(&self, text: Utf8Bytes, origin: Origin) -> Option<Unfinished<'_>> {
        let payload = text.len();
        match self.line.write(Message::Text(text)) {
            Written::Now(written) => {
                self.written(written, payload, origin);
                None
            }
            Written::Later(rest) => {
                self.server.note(|notes| notes.waits(self.peer, self.line.depth(), None));
                Some(Box::pin(async move { self.written(rest.await, payload, origin) }))
            }
        }
    }

    /// Accounts for a frame that is out, or that cannot get out any more.
    fn written(&self, written: bool, payload: usize, origin: Origin) {
        let delta = matches!(origin, Origin::Delta { .. });
        if written {
            if delta {
                self.server.costs.wrote(payload);
            }
            self.server.note(|notes| notes.sent(self.peer, origin));
        } else {
            if delta {
                self.server.costs.logged();
            }
            self.server.note(|notes| notes.stopped(self.peer, origin, Hop::Sent, &Reason::SOCKET_CLOSED));
        }
    }

    /// Delivers to the end.
    async fn push(&self, published: &Published) {
        if let Some(rest) = self.deliver(published) {
            rest.await;
        }
    }

    /// Writes a text as it is, to the end. False when the connection is gone.
    pub(super) async fn raw(&self, text: Utf8Bytes) -> bool {
        let written = match self.line.write(Message::Text(text)) {
            Written::Now(written) => written,
            Written::Later(rest) => rest.await,
        };
        self.written(written, 0, Origin::Other);
        written
    }

    async fn error(&self, code: &str, detail: String) {
        let event = Event {
            id: self.server.next_id(),
            timestamp: self.server.clock.timestamp(),
            source: Source::Environment,
            parent_id: None,
            body: EventBody::ServerError { code: code.to_owned(), detail },
        };
        self.push(&Published::new(Arc::new(event), Origin::Other, None)).await;
    }
}

/// Runs an authenticated connection until the client leaves.
pub(super) async fn run(
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    socket: Socket,
    peer: PeerId,
    query: SocketQuery,
) {
    let line = Line::new(socket);
    let (deltas, durables) = (AtomicU32::new(0), AtomicU32::new(0));
    let fragments = tokio::sync::Mutex::default();
    let socket = LegacySocket { server: server.clone(), peer, line, deltas, durables, fragments };
    let subscriber = Arc::new(Subscriber::Legacy(socket));
    let Subscriber::Legacy(socket) = &*subscriber else { return };
    let Ok(subscriptions) = conversation.subscribe(subscriber.clone()) else {
        let reason = "Too many connections for this conversation";
        let code = server.traits.socket.close.try_again_later;
        server.notes().came(peer);
        server.notes().link(peer).closed = Some((code, reason.to_owned()));
        socket.line.send(close_frame(code, reason)).await;
        return;
    };
    server.notes().joined(peer);
    let snapshot = conversation.snapshot(&server);
    let push = socket.push(&snapshot);
    let bound = server.traits.socket.snapshot_timeout_s;
    if bound.is_zero() {
        push.await;
    } else {
        // A subscriber that is too slow for its snapshot stays registered; only the snapshot is given up.
        let _ = timeout(bound.duration(), push).await;
    }
    resend(&conversation, socket, &query.resend).await;
    for delta in conversation.kept() {
        server.faults.replayed();
        socket.push(&delta).await;
    }
    let mut stream = socket.line.read();
    while let Some((code, detail)) = inbound::unusable(&server, &conversation, &mut stream).await {
        socket.error(code, detail).await;
    }
    server.note(|notes| notes.left(peer, socket.line.depth()));
    conversation.unsubscribe(&subscriptions);
}

/// Sends history, with nothing that keeps live events from falling in between.
async fn resend(conversation: &Conversation, socket: &LegacySocket, resend: &Resend) {
    let wanted: Box<dyn Fn(&Event) -> bool + Send> = match resend {
        Resend::Nothing | Resend::Since(None) => return,
        Resend::All => Box::new(|_| true),
        Resend::Since(Some(after)) => {
            let after = *after;
            Box::new(move |e| timestamp(&e.timestamp).is_some_and(|t| t >= after))
        }
    };
    for logged in conversation.log_from(0, usize::MAX) {
        if wanted(&logged.event) {
            socket.push(&logged).await;
        }
    }
}
