//! Exact counts of a session feed: what a scenario expects by name, and what a run found.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Comparison;

macro_rules! figures {
    ($($(#[doc = $doc:literal])+ $variant:ident $word:literal $words:literal,)*) => {
        /// One count. All are whole numbers, the same in every run of one seed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Figure {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Figure {
            /// Every figure, in the order of reports.
            pub const ALL: &'static [Figure] = &[$(Figure::$variant),*];

            /// The key in a scenario and in `run.json`.
            pub fn as_str(self) -> &'static str {
                match self { $(Figure::$variant => $word),* }
            }

            /// What is counted, in words that follow a number.
            pub fn words(self) -> &'static str {
                match self { $(Figure::$variant => $words),* }
            }
        }
    };
}

figures! {
    /// Chunks that the model streamed, all kinds, all attempts (*C*).
    Chunks "chunks" "chunks streamed",
    /// Events in the session log at the end, in memory (*N*).
    Events "events" "events in the log",
    /// Attempts of all steps (*A*).
    Attempts "attempts" "attempts",
    /// `assistant/chunk` events in the session log, in memory (*k* at a crash).
    LogChunks "log_chunks" "chunk events in the log",
    /// Committed messages.
    Messages "messages" "committed messages",
    /// Committed messages that are the prefix of a cancelled reply, by their flag `interrupted`.
    InterruptedMessages "interrupted_messages" "messages flagged as interrupted",
    /// Public emits on either feed.
    Dispatches "dispatches" "dispatches",
    /// Internal dispatches; every public emit fires one.
    InternalDispatches "internal_dispatches" "internal dispatches",
    /// Public emits that carried a chunk.
    ChunkDispatches "chunk_dispatches" "dispatches of chunks",
    /// Public emits of start and end frames of a transient stream.
    FrameDispatches "frame_dispatches" "dispatches of frames without a chunk",
    /// Calls of a listener.
    Callbacks "callbacks" "callbacks",
    /// Calls of a listener with a chunk.
    ChunkCallbacks "chunk_callbacks" "callbacks with a chunk",
    /// Throws of listeners that the bus contained and logged.
    ContainedThrows "contained_throws" "contained throws",
    /// Chunks that this consumer took.
    HandledChunks "handled_chunks" "chunks taken",
    /// Events that this consumer looked at and did not want.
    Filtered "filtered" "events filtered out",
    /// Times that this consumer found the agent of a session.
    LookupHits "lookup_hits" "agents found",
    /// Times that it did not.
    LookupMisses "lookup_misses" "agents not found",
    /// Updates that a bridge or a renderer sent on (ACP session updates, published renderer frames).
    Updates "updates" "updates sent on",
    /// From the first chunk to the first text for a person that this consumer had, milliseconds on the session's own clock.
    FirstTextMs "first_text_ms" "ms to the first text",
    /// Bytes of payload that forwarding both feeds to one client would take, newline-delimited JSON.
    ForwardedBytes "forwarded_bytes" "bytes forwarded",
    /// Chunks by which two feeds of one stream differ.
    DivergentChunks "divergent_chunks" "chunks by which the feeds differ",
    /// Chunks that the full queue of one feed or of the other dropped. Two queues that drop the same are not apart.
    DroppedChunks "dropped_chunks" "chunks dropped by a full queue",
    /// Texts drawn in the wrong style, because two listeners shared a flag.
    StyleErrors "style_errors" "texts drawn in the wrong style",
    /// Steps whose chunks and message disagree.
    DivergentSteps "divergent_steps" "steps whose chunks and message disagree",
    /// Chunks that came while a consumer was not there yet, or not there any more, and that it never got.
    MissedWhileAway "missed_while_away" "chunks missed while it was not there",
    /// Holes that a listener of the log can see in the seqs that it got.
    SeqGaps "seq_gaps" "holes in the seqs",
    /// Places in the code that a new field of a chunk has to be added to.
    SchemaSites "schema_sites" "schemas that a chunk's fields stand in",
    /// Bytes in the store, every line with its newline.
    DurableBytes "durable_bytes" "durable bytes",
    /// Events in the store.
    DurableEvents "durable_events" "durable events",
    /// Chunks in the store, embedded ones included (*f*).
    DurableChunks "durable_chunks" "durable chunks",
    /// Batches written.
    Batches "batches" "write batches",
    /// Syncs of the store.
    Fsyncs "fsyncs" "syncs",
    /// Rows in the store; a packed row holds many events.
    Rows "rows" "rows",
    /// Packed rows among them.
    PackedRows "packed_rows" "packed rows",
    /// Seqs that messages cite.
    Cited "cited" "cited chunks",
    /// Cited seqs that are no chunk of the same step before the message.
    Dangling "dangling" "dangling citations",
    /// Scripts that a snapshot replay derived.
    ScriptsDerived "scripts_derived" "scripts derived",
    /// Steps that it could not derive a script of.
    ScriptsFailed "scripts_failed" "scripts that could not be derived",
    /// Events that the repair on load added.
    RepairedEvents "repaired_events" "events added by repair",
    /// Messages that the next model request would be made of.
    RequestMessages "request_messages" "messages of the next request",
}

/// Counts by name; what was not counted is absent, and not zero.
pub type Figures = BTreeMap<Figure, u64>;

/// What a scenario says of one figure of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FigureLimit {
    /// The figure.
    pub figure: Figure,
    /// How it has to stand to the value.
    pub is: Comparison,
    /// The value; absent where the run did not count what it is worked out from.
    pub value: Option<f64>,
    /// The expression that it is worked out from, where it is more than a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl FigureLimit {
    /// Whether what was counted stands so to the value. What was not counted does not, and to a value below 0, which no count can
    /// have, nothing does.
    pub fn holds(&self, figures: &Figures) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "counts of a run stay far below 2^52")]
        let counted = figures.get(&self.figure).map(|n| *n as f64);
        let value = self.value.filter(|value| *value >= 0.0);
        counted.zip(value).is_some_and(|(counted, value)| self.is.holds(counted, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_named_alike_in_scenarios_and_results() {
        for figure in Figure::ALL {
            assert_eq!(serde_json::to_value(figure).unwrap(), figure.as_str());
        }
        assert!(Figure::ALL.is_sorted());
    }
}
