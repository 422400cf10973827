//! The fake model: an OpenAI-compatible provider on loopback that streams what it was told, when it was told, and
//! keeps the books of what it sent.
//!
//! Nothing is kept per conversation. A message of the person carries a marker, `[[skewlab:TAG]]`, and the marker in the
//! *last* message of the user names the reply. So several conversations run at once, a repeated request gets the same
//! answer, and a request that nobody planned gets the default reply. The request for a title, which an agent-server makes
//! by itself unless told not to, quotes the person's message with its marker (measured on 1.58.2). It asks for no
//! stream, so it counts in [`Streamed::whole`] and not in what was produced.
//!
//! Emission is open loop: when a part is due depends on the script alone (see [`Reply`]), and [`SentPart`] says how
//! late it left.

mod chat;
mod dialect;
mod directive;
mod error;
mod reply;
mod request;
mod responses;
mod routes;
mod state;
mod stream;
mod streamed;

use std::net::SocketAddr;
use std::sync::Arc;

pub use error::{ModelError, ReplyFault};
pub use reply::{Failure, Part, Reply};
pub use request::Api;
pub use streamed::{SentPart, Streamed};

use self::state::State;
use super::loopback::Loopback;

/// The tag under which the default reply is registered and booked.
pub const DEFAULT_TAG: &str = "default";

/// A model that listens. A clone is the same model; with the last one it stops and breaks its streams off.
#[derive(Debug, Clone)]
pub struct Model {
    state: Arc<State>,
    listening: Arc<Loopback>,
}

impl Model {
    /// Starts it on the caller's runtime; port 0 takes a free one. Refuses every address that is not loopback.
    pub async fn start(addr: SocketAddr) -> Result<Model, ModelError> {
        let state = Arc::new(State::new());
        let shared = state.clone();
        let handler = move |request| routes::answer(shared.clone(), request);
        let listening = Arc::new(Loopback::serve("the model", addr, handler).await?);
        Ok(Model { state, listening })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.listening.addr()
    }

    /// What a client takes as its base URL: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.addr())
    }

    /// The moment from which [`SentPart`] counts.
    pub fn epoch(&self) -> std::time::Instant {
        self.state.epoch.into_std()
    }

    /// The reply to every request whose last user message carries [`Model::marker`] of this tag. Replaces an earlier
    /// one; streams that have begun go on as they were. A tag is letters, digits and any of `. _ : + ~ / -`.
    pub fn register(&self, tag: &str, reply: Reply) -> Result<(), ModelError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._:+~/-".contains(c);
        if tag.is_empty() || !tag.chars().all(fits) {
            return Err(ModelError::Tag { tag: tag.to_owned() });
        }
        reply.check().map_err(|fault| ModelError::Reply { tag: tag.to_owned(), fault })?;
        self.state.register(tag, reply);
        Ok(())
    }

    /// The reply to a request without a marker; the same as registering [`DEFAULT_TAG`].
    pub fn set_default(&self, reply: Reply) -> Result<(), ModelError> {
        self.register(DEFAULT_TAG, reply)
    }

    /// From now on a message without a marker may order its tokens: `[[n=500 rate=100 reasoning=7 first=1s tail=2s]]`.
    pub fn take_orders(&self) {
        self.state.take_orders();
    }

    /// What has been sent under a tag so far; `None` if nothing was asked for.
    pub fn streamed(&self, tag: &str) -> Option<Streamed> {
        self.state.book.page(tag)
    }

    /// What a message must contain to be answered with the reply of that tag.
    pub fn marker(tag: &str) -> String {
        format!("{}{tag}]]", request::MARK)
    }
}

#[cfg(test)]
mod tests;
