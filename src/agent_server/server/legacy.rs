//! `/sockets/events/{id}`: one text frame an event, written by the publish itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::Inner;
use super::bus::Published;
use super::conversation::Conversation;
use super::inbound;
use super::net::PeerId;
use super::query::{Resend, SocketQuery, timestamp};
use super::subscriber::Subscriber;
use super::upgrade::{Socket, close};
use crate::probe::trace::Origin;
use crate::record::{Hop, Reason};
use crate::wire::{Event, EventBody, Source};

/// A client on the legacy socket, as a subscriber.
#[derive(Debug)]
pub(super) struct LegacySocket {
    server: Arc<Inner>,
    peer: PeerId,
    sink: Mutex<SplitSink<Socket, Message>>,
    deltas: AtomicU32,
    durables: AtomicU32,
}

/// Whether a fault that strikes every n-th time strikes the time with this number.
fn strikes(number: u32, every: u32) -> bool {
    every > 0 && number.is_multiple_of(every)
}

impl LegacySocket {
    /// Writes one event. A slow peer holds up this publish and no other client; it is never disconnected.
    pub(super) async fn deliver(&self, published: &Published) {
        let origin = published.origin;
        self.server.notes().dispatched(self.peer, origin);
        let number = match origin {
            Origin::Delta { .. } => self.deltas.fetch_add(1, Ordering::Relaxed) + 1,
            Origin::Durable { .. } => self.durables.fetch_add(1, Ordering::Relaxed) + 1,
            Origin::Other => 0,
        };
        let Some(text) = self.frame(published, number) else { return };
        let mutant = &self.server.traits.mutant;
        let twice = published.event.is_delta() && strikes(number, mutant.repeat_every);
        self.write(text.clone(), origin).await;
        if twice {
            self.write(text, origin).await;
        }
    }

    /// The frame's text, or nothing when a deliberate fault swallowed it.
    fn frame(&self, published: &Published, number: u32) -> Option<Utf8Bytes> {
        let mutant = &self.server.traits.mutant;
        let mut object = published.event.to_object(self.server.traits.wire);
        if published.event.is_delta() {
            let delta = &self.server.traits.delta;
            object.retain(|field, _| field == "kind" || delta.fields.contains(field));
            object.insert("kind".to_owned(), delta.kind.as_str().into());
            if strikes(number, mutant.forget_every) {
                return None;
            }
            if strikes(number, mutant.drop_every) {
                let reason = Reason::new("mutant_drop");
                self.server.notes().stopped(self.peer, published.origin, Hop::Sent, &reason);
                return None;
            }
            if strikes(number, mutant.alter_every)
                && let Some(content) = object.get_mut("content")
                && let Some(text) = content.as_str()
            {
                *content = "#".repeat(text.chars().count()).into();
            }
            let text = self.server.config.mutation.apply(object);
            self.server.costs.serialised(text.len());
            return Some(text.into());
        }
        if matches!(published.origin, Origin::Durable { .. }) && strikes(number, mutant.drop_durable_every) {
            return None;
        }
        Some(serde_json::Value::Object(object).to_string().into())
    }

    async fn write(&self, text: Utf8Bytes, origin: Origin) {
        let mut sink = self.sink.lock().await;
        let payload = text.len();
        let delta = matches!(origin, Origin::Delta { .. });
        if sink.send(Message::Text(text)).await.is_ok() {
            if delta {
                self.server.costs.wrote(payload);
            }
            self.server.notes().sent(self.peer, origin);
        } else {
            if delta {
                self.server.costs.logged();
            }
            let reason = Reason::SOCKET_CLOSED;
            self.server.notes().stopped(self.peer, origin, Hop::Sent, &reason);
        }
    }

    async fn error(&self, code: &str, detail: String) {
        let event = Event {
            id: self.server.next_id(),
            timestamp: self.server.clock.timestamp(),
            source: Source::Environment,
            parent_id: None,
            body: EventBody::ServerError { code: code.to_owned(), detail },
        };
        self.deliver(&Published { event: Arc::new(event), origin: Origin::Other, seq: None }).await;
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
    let (sink, mut stream) = socket.split();
    let sink = Mutex::new(sink);
    let (deltas, durables) = (AtomicU32::new(0), AtomicU32::new(0));
    let socket = Arc::new(LegacySocket { server: server.clone(), peer, sink, deltas, durables });
    let subscriber = Arc::new(Subscriber::Legacy(socket.clone()));
    let Ok(subscriptions) = conversation.subscribe(subscriber) else {
        let reason = "Too many connections for this conversation";
        let code = server.traits.socket.close.try_again_later;
        server.notes().link(peer).closed = Some((code, reason.to_owned()));
        let mut sink = socket.sink.lock().await;
        close(&mut *sink, code, reason).await;
        return;
    };
    server.notes().joined(peer);
    let snapshot = conversation.snapshot(&server);
    let push = socket.deliver(&snapshot);
    let bound = server.traits.socket.snapshot_timeout_s;
    if bound.is_zero() {
        push.await;
    } else {
        // A subscriber that is too slow for its snapshot stays registered; only the snapshot is given up.
        let _ = timeout(bound.duration(), push).await;
    }
    resend(&conversation, &socket, &query.resend).await;
    while let Some((code, detail)) = inbound::unusable(&server, &conversation, &mut stream).await {
        socket.error(code, detail).await;
    }
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
    for (seq, event) in conversation.log_from(0, usize::MAX) {
        if wanted(&event) {
            socket.deliver(&Published { event, origin: Origin::Other, seq: Some(seq) }).await;
        }
    }
}
