//! What can be noticed when a stage of a client fails.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::record::Signal;

/// What can be noticed of one kind of failure.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// How loud it is.
    pub signal: Signal,
    /// The log line's message key, or the first words of what surfaces.
    #[serde(default)]
    pub key: String,
}

/// What a close code means to a client.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseRule {
    /// The codes; empty for every code that no earlier rule names.
    #[serde(default)]
    pub codes: Vec<u16>,
    /// How loud it is.
    pub signal: Signal,
    /// The log line's message key, or the first words of what surfaces.
    #[serde(default)]
    pub key: String,
}

/// What can be noticed, stage by stage. A stage that is left out fails without a sound.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailureTraits {
    /// A frame that is no JSON.
    pub json: Failure,
    /// A frame that the event model refuses.
    pub decode: Failure,
    /// A frame that the guard stops.
    pub guard: Failure,
    /// An exception while a good frame is handled.
    pub handler: Failure,
    /// A view that throws: the page is replaced.
    pub render: Failure,
    /// The server's own error frame, accepted and shown.
    pub error_frame: Failure,
    /// A value that the library's cache cannot take.
    pub cache: Failure,
    /// A run that ends, after which the library reads the durable events again over REST and its event model refuses one.
    pub reread: Failure,
    /// A run that ends in error or stuck, as the socket or REST says.
    pub run_failed: Failure,
    /// A server that the client does not open a conversation on: older than its minimum, or of an unknown version.
    pub old_server: Failure,
    /// No WebSocket to connect with.
    pub unavailable: Failure,
    /// An upgrade refused with an HTTP status.
    pub refused: Failure,
    /// Not ready within the time limit.
    pub not_ready: Failure,
    /// A closed connection; the first rule that fits.
    pub closed: Vec<CloseRule>,
}
