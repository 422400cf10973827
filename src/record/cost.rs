//! What token deltas cost a server, counted exactly: no clock takes part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts over all token deltas of a run, on all paths out of the server.
///
/// Durable events, snapshots and answers over HTTP are not in here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeltaCosts {
    /// Chunks of the model that were published as deltas.
    pub published: u64,
    /// Calls of a subscriber with a delta, internal subscribers and progress frames included.
    pub invocations: u64,
    /// Times that a delta was turned into JSON text: for a socket, for several at once, or for a webhook body.
    pub serialisations: u64,
    /// Bytes of that text.
    pub bytes_encoded: u64,
    /// Delta frames written to sockets.
    pub frames: u64,
    /// Bytes of those frames with their WebSocket headers, TCP and below not included.
    pub wire_bytes: u64,
    /// Lines that the server logs because of a delta: a subscriber that failed.
    pub log_lines: u64,
}
