//! What the model streams in a turn.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::lock;
use crate::probe::trace::class_of;
use crate::record::observation::Piece;

/// One chunk of the model's stream. A chunk without either text is not published by any release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// Text; the empty string is published too, and is what the first chunk of most models carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl Chunk {
    /// Its pieces in the order in which the session socket sends them: reasoning first.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        let reasoning = self.reasoning.iter().map(|t| (t, true));
        let text = self.text.iter().map(|t| (t, false));
        reasoning.chain(text).map(|(t, r)| Piece { class: class_of(t, r), text: t.clone() })
    }
}

/// How a turn ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// With a `MessageEvent` of the agent.
    #[default]
    Message,
    /// With an `ActionEvent` (`FinishAction`) and its `ObservationEvent`.
    FinishTool,
}

impl Finish {
    /// The word in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Finish::Message => "message",
            Finish::FinishTool => "finish-tool",
        }
    }
}

/// Chunks that come from outside while a turn runs, as from a model on a thread of its own. The turn ends when the
/// sender is dropped.
#[derive(Debug, Clone)]
pub struct Feed(Arc<Mutex<Option<mpsc::Receiver<Chunk>>>>);

impl Feed {
    /// A feed and its sender. At most `room` chunks wait in between.
    pub fn new(room: usize) -> (mpsc::Sender<Chunk>, Feed) {
        let (sender, receiver) = mpsc::channel(room.max(1));
        (sender, Feed(Arc::new(Mutex::new(Some(receiver)))))
    }

    /// The chunks, for the first turn that asks.
    pub(crate) fn take(&self) -> Option<mpsc::Receiver<Chunk>> {
        lock(&self.0).take()
    }
}

/// The script of a turn.
#[derive(Debug, Clone)]
pub struct Script {
    /// What the person says.
    pub user: String,
    /// What the model streams.
    pub chunks: Vec<Chunk>,
    /// Time between two chunks.
    pub gap: Duration,
    /// How it ends.
    pub finish: Finish,
    /// Where the first turn's chunks come from instead, if not from `chunks`.
    pub feed: Option<Feed>,
    /// Silence between the last of `chunks` and the end of the turn. Live runs use it, so that what a page showed before
    /// the reply is told from what it shows because of it.
    pub tail: Duration,
    /// Silences before chunks, by the chunk's place; they move what follows.
    pub stalls: Vec<(usize, Duration)>,
}

impl Script {
    /// All silences up to and before the chunk at that place.
    pub(super) fn stalled(&self, place: usize) -> Duration {
        self.stalls.iter().filter(|(before, _)| *before <= place).map(|(_, time)| *time).sum()
    }
}

impl Script {
    /// The whole text of the reply.
    pub fn reply(&self) -> String {
        self.chunks.iter().filter_map(|c| c.text.as_deref()).collect()
    }

    /// The whole reasoning, if there is any.
    pub fn reasoning(&self) -> Option<String> {
        let all: String = self.chunks.iter().filter_map(|c| c.reasoning.as_deref()).collect();
        (!all.is_empty()).then_some(all)
    }
}
