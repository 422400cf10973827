//! What the model has sent, per tag: the first hop of the ledger.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::request::Api;
use crate::record::observation::Piece;

/// What was streamed under one tag, all its requests together: a client that asks again gets the reply again.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Streamed {
    /// Requests that were answered with this reply.
    pub requests: u64,
    /// Answers that came to their end.
    pub finished: u64,
    /// Answers that were given whole, because no stream was asked for. They leave no parts and no pieces: nothing of
    /// them was streamed. The request for a title is one of them.
    pub whole: u64,
    /// Answers that failed with an HTTP status because the reply says so.
    pub refused: u64,
    /// Parts that had been sent when the caller left in the middle of a stream; of the last one that did.
    pub aborted_at: Option<usize>,
    /// Which API the last request called.
    pub api: Option<Api>,
    /// Whether any request asked for a stream.
    pub stream: bool,
    /// Every chunk that carried a part, or the role, in the order in which they were sent.
    pub parts: Vec<SentPart>,
    /// The pieces exactly as sent. `parts[k].pieces` says how many of them came with each chunk.
    pub produced: Vec<Piece>,
}

/// A chunk that was handed to the socket.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SentPart {
    /// Place of the part in the reply; `None` for a chunk that carries the role alone.
    pub index: Option<usize>,
    /// Pieces that it carried.
    pub pieces: usize,
    /// When it was due: seconds since the model started.
    #[serde(serialize_with = "seconds")]
    pub intended_at: Duration,
    /// When its last byte was handed over: seconds since the model started.
    #[serde(serialize_with = "seconds")]
    pub at: Duration,
}

fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

/// What was sent, by tag.
#[derive(Debug, Default)]
pub(super) struct Book(Mutex<BTreeMap<String, Streamed>>);

impl Book {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Streamed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the page of a tag, which begins empty.
    pub(super) fn note(&self, tag: &str, change: impl FnOnce(&mut Streamed)) {
        let mut book = self.open();
        if let Some(page) = book.get_mut(tag) {
            change(page);
        } else {
            change(book.entry(tag.to_owned()).or_default());
        }
    }

    pub(super) fn page(&self, tag: &str) -> Option<Streamed> {
        self.open().get(tag).cloned()
    }

    pub(super) fn all(&self) -> BTreeMap<String, Streamed> {
        self.open().clone()
    }
}
