//! Who wants what of a session: listeners on either feed, and readers of the log that is left.

mod attend;
mod ear;
mod renderer;
mod replay;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use attend::{Attendance, attend};
pub(super) use ear::AWAY;
pub(super) use ear::piece as piece_of;
pub use ear::{Ear, Seen};
pub(super) use replay::text_of;
pub use replay::{Read, Scripts, Twice, agreement, request, scripts, transcript};

use super::profile::{KeptChunks, LiveStream, Traits};
use crate::record::Hop;

/// A consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Consumer {
    /// Writes the log to disk; wants no text.
    Persistence,
    /// Starts a new session from the stored log: the next model request is made of surface events alone.
    Resume,
    /// Shows a stored session as it was shown live: messages, and chunks where a step has no message.
    Transcript,
    /// Takes the stored log for the model's script.
    SnapshotReplay,
    /// The interactive renderer that is released with the harness: it follows whichever feed streams.
    Renderer,
    /// The ACP bridge since 2026-07-23: committed messages only.
    Acp,
    /// The ACP bridge before: one update a visible delta, from the log feed.
    AcpPerDelta,
    /// A plugin that still subscribes to `agent/stream-chunk`.
    StalePlugin,
    /// A plugin that filters `session/event` for chunks and looks the agent up by the session's id.
    MigratedPlugin,
    /// A plugin that appends an event of its own for every chunk: on `agent/stream-chunk` where that is emitted, moved to
    /// `session/event` where it is not.
    AppendingPlugin,
    /// Telemetry that ships the first chunk of a step; wants no text.
    Telemetry,
    /// Somebody who comes when half of the chunks have been streamed.
    LateJoiner,
    /// Somebody who leaves after a third of the chunks and is back after two thirds.
    Reconnecting,
}

impl Consumer {
    /// Every consumer: who reads the log first, then who listens.
    pub const ALL: [Consumer; 13] = [
        Consumer::Persistence,
        Consumer::Resume,
        Consumer::Transcript,
        Consumer::SnapshotReplay,
        Consumer::Renderer,
        Consumer::Acp,
        Consumer::AcpPerDelta,
        Consumer::StalePlugin,
        Consumer::MigratedPlugin,
        Consumer::AppendingPlugin,
        Consumer::Telemetry,
        Consumer::LateJoiner,
        Consumer::Reconnecting,
    ];

    /// The name that a person types.
    pub fn as_str(self) -> &'static str {
        match self {
            Consumer::Persistence => "persistence",
            Consumer::Resume => "resume",
            Consumer::Transcript => "transcript",
            Consumer::SnapshotReplay => "snapshot-replay",
            Consumer::Renderer => "renderer",
            Consumer::Acp => "acp",
            Consumer::AcpPerDelta => "acp-per-delta",
            Consumer::StalePlugin => "stale-plugin",
            Consumer::MigratedPlugin => "migrated-plugin",
            Consumer::AppendingPlugin => "appending-plugin",
            Consumer::Telemetry => "telemetry",
            Consumer::LateJoiner => "late-joiner",
            Consumer::Reconnecting => "reconnecting",
        }
    }

    /// One sentence: what it does.
    pub fn summary(self) -> &'static str {
        match self {
            Consumer::Persistence => "writes the log to disk and wants no text",
            Consumer::Resume => "makes the next model request of the stored log, surface events only",
            Consumer::Transcript => "shows a stored session: messages, and chunks where a step has none",
            Consumer::SnapshotReplay => "takes the stored log for the model's script, split at finish",
            Consumer::Renderer => {
                "the renderer of the same release: follows whichever feed streams, a frame every 16 ms"
            }
            Consumer::Acp => "the ACP bridge since 2026-07-23: an update a committed text block, no deltas",
            Consumer::AcpPerDelta => "the ACP bridge before: an update a visible delta, from session/event",
            Consumer::StalePlugin => "a plugin that still subscribes to agent/stream-chunk",
            Consumer::MigratedPlugin => {
                "a plugin that filters session/event and looks the agent up by session id"
            }
            Consumer::AppendingPlugin => "a plugin that appends an event from its listener for every chunk",
            Consumer::Telemetry => "ships the first chunk of each step and wants no text",
            Consumer::LateJoiner => "comes when half of the chunks have been streamed",
            Consumer::Reconnecting => "leaves after a third of the chunks and is back after two thirds",
        }
    }

    /// Whether it wants text while it streams. Who does not is never missing any.
    pub fn streams(self) -> bool {
        !matches!(self, Consumer::Persistence | Consumer::Resume | Consumer::Acp | Consumer::Telemetry)
    }

    /// Whether it reads the stored log instead of listening.
    pub fn reads(self) -> bool {
        matches!(
            self,
            Consumer::Persistence | Consumer::Resume | Consumer::Transcript | Consumer::SnapshotReplay
        )
    }

    /// The feed that it listens to in a variant; none for who reads.
    pub fn feed(self, traits: &Traits) -> Option<Feed> {
        let follows = || match (traits.live.stream, traits.durable.chunks) {
            (LiveStream::Chunks, _) => Feed::Chunks,
            (LiveStream::Frames, _) => Feed::Frames,
            (LiveStream::None, _) => Feed::Log,
        };
        match self {
            _ if self.reads() => None,
            Consumer::StalePlugin => Some(Feed::Chunks),
            // Where the log has the chunks the renderer has one listener, there; with a mirror it has two.
            Consumer::Renderer | Consumer::LateJoiner | Consumer::Reconnecting => Some(follows()),
            Consumer::AppendingPlugin if traits.live.stream == LiveStream::Chunks => Some(Feed::Chunks),
            _ => Some(Feed::Log),
        }
    }

    /// The hops that a chunk passes on its way to it, first to last.
    pub fn path(self, traits: &Traits) -> Vec<Hop> {
        match self.feed(traits) {
            None => vec![Hop::Produced, Hop::Appended, Hop::Durable, Hop::Replayed],
            Some(Feed::Log) => vec![Hop::Produced, Hop::Appended, Hop::Emitted, Hop::Handled],
            Some(Feed::Chunks | Feed::Frames) => vec![Hop::Produced, Hop::Emitted, Hop::Handled],
        }
    }
}

/// A feed that can be listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// `session/event`
    Log,
    /// `agent/stream-chunk`
    Chunks,
    /// `agent/assistant-stream`
    Frames,
}

impl Feed {
    /// The name of its event.
    pub fn event(self) -> &'static str {
        match self {
            Feed::Log => super::bus::SESSION_EVENT,
            Feed::Chunks => super::bus::STREAM_CHUNK,
            Feed::Frames => super::bus::ASSISTANT_STREAM,
        }
    }

    /// Milliseconds that a queue of this feed takes for one event. The log's is the slower one: its events are more, and
    /// larger. Chosen here; no source gives a figure.
    pub fn pace_ms(self) -> u64 {
        match self {
            Feed::Log => 25,
            Feed::Chunks | Feed::Frames => 15,
        }
    }

    /// Whether a variant emits chunks on it.
    pub fn streams(self, traits: &Traits) -> bool {
        match self {
            Feed::Log => traits.durable.chunks == KeptChunks::Event,
            Feed::Chunks => traits.live.stream == LiveStream::Chunks,
            Feed::Frames => traits.live.stream == LiveStream::Frames,
        }
    }
}

impl fmt::Display for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is no consumer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no consumer called `{0}`")]
pub struct NoConsumer(pub String);

impl From<Consumer> for String {
    fn from(it: Consumer) -> String {
        it.to_string()
    }
}

impl TryFrom<String> for Consumer {
    type Error = NoConsumer;

    fn try_from(text: String) -> Result<Consumer, NoConsumer> {
        text.parse()
    }
}

impl FromStr for Consumer {
    type Err = NoConsumer;

    fn from_str(text: &str) -> Result<Consumer, NoConsumer> {
        Consumer::ALL.into_iter().find(|c| c.as_str() == text).ok_or_else(|| NoConsumer(text.to_owned()))
    }
}
