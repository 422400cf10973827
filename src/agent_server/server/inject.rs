//! Frames that no release would send, written between the real ones: what a calibration puts before a client.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::join_all;
use tokio::task::coop::unconstrained;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::Server;
use super::conversation::Conversation;
use super::subscriber::Subscriber;
use crate::probe::ledger::Endpoint;

impl Server {
    /// Writes `frame` as it is, one text frame, to everybody who is on that socket of that conversation now, behind
    /// whatever was published before. It need not be an event, nor JSON. In the notes it is a frame that carries
    /// nothing.
    ///
    /// Waits until every legacy socket has taken it, and until it is in the queue of every session socket, where it
    /// counts for the byte budget like any other. Returns how many took it; `None` when there is no such
    /// conversation. Call it on the server's own runtime: elsewhere nothing keeps the order.
    pub async fn inject(&self, conversation: &str, endpoint: Endpoint, frame: &str) -> Option<usize> {
        let conversation = self.0.conversation(conversation)?;
        let frame = Utf8Bytes::from(frame);
        // A task, as every publish is one: those that were started before come first.
        let written = tokio::spawn(unconstrained(async move { write(&conversation, endpoint, frame).await }));
        // A write that panicked has reached nobody for certain, and was reported where it happened.
        Some(written.await.unwrap_or(0))
    }
}

impl Server {
    /// How many are on that socket of that conversation now.
    pub fn attending(&self, conversation: &str, endpoint: Endpoint) -> usize {
        let Some(conversation) = self.0.conversation(conversation) else { return 0 };
        let on = |subscriber: &Subscriber| match endpoint {
            Endpoint::Events => matches!(subscriber, Subscriber::Legacy(_)),
            Endpoint::Session => matches!(subscriber, Subscriber::Session(_)),
        };
        conversation.bus.subscribers().iter().filter(|(_, subscriber)| on(subscriber)).count()
    }
}

async fn write(conversation: &Arc<Conversation>, endpoint: Endpoint, frame: Utf8Bytes) -> usize {
    let subscribers = conversation.bus.subscribers();
    let (mut took, mut unfinished) = (0, Vec::new());
    for (_, subscriber) in subscribers.iter() {
        match (endpoint, &**subscriber) {
            (Endpoint::Events, Subscriber::Legacy(socket)) => {
                let mut written = Box::pin(socket.raw(frame.clone()));
                // Everybody is called before anybody is waited for, so that the frame has its place on each line.
                match poll_fn(|cx| Poll::Ready(written.as_mut().poll(cx))).await {
                    Poll::Ready(written) => took += usize::from(written),
                    Poll::Pending => unfinished.push(written),
                }
            }
            (Endpoint::Session, Subscriber::Session(socket)) => {
                took += usize::from(socket.raw(frame.to_string()));
            }
            _ => {}
        }
    }
    took + join_all(unfinished).await.into_iter().filter(|written| *written).count()
}
