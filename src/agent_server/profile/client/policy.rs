//! What an application makes of the stream as a whole: choices that no library forces on it, and that real reports are about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Seconds;

/// Choices of an application. The defaults are what the released clients do.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyTraits {
    /// What a frame that cannot be decoded ends.
    pub catch: Catch,
    /// What a delta is that comes after the end of its turn.
    pub turn_end: TurnEnd,
    /// Seconds without a frame after which it takes the connection for dead and opens another; 0 for never. Pings and pongs
    /// are no frames to it.
    pub watchdog_s: Seconds,
    /// What a delta is whose text it has had before.
    pub repeats: Repeats,
    /// What it does with a kind that it does not know.
    pub unknown: Unknown,
}

/// What a frame that cannot be decoded ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Catch {
    /// That frame: the next one is read as if nothing had been.
    #[default]
    Frame,
    /// The stream: whoever reads it has stopped, and the socket stays open.
    Stream,
}

/// What a delta is that comes after the end of its turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEnd {
    /// A delta.
    #[default]
    Lenient,
    /// Nothing: the turn is over.
    Strict,
}

/// What a delta is whose text came before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeats {
    /// A delta.
    #[default]
    Kept,
    /// A repetition, if the delta before had the same text.
    DroppedNext,
    /// A repetition, if any delta before had the same text.
    DroppedEver,
}

/// What an application does with a kind that it does not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// Nothing.
    #[default]
    Ignored,
    /// It shows the frame as it is.
    Shown,
}
