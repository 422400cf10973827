//! The canvas store, trait by trait. Read in the sources of 1.0.0-alpha.10 to 1.20.0 and run there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the store and the chat treat deltas and the events that end them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "orthogonal traits that a profile sets one by one")]
pub struct StoreTraits {
    /// What a delta is.
    pub deltas: Deltas,
    /// When two neighbouring deltas become one bubble.
    pub merge: Merge,
    /// Whether a delta with a known id is dropped, and its id remembered (to 1.14.0).
    pub dedup_delta_ids: bool,
    /// Milliseconds that deltas are collected before they are drawn; 0 for at once (before 1.15.0).
    pub batch_ms: u64,
    /// What the final message does with the streamed text.
    pub finalise: Finalise,
    /// What a tool call does with the text streamed before it.
    pub tool_action: ToolAction,
    /// Whether a tool call that shows its own reasoning removes the streamed reasoning (1.6.1).
    pub tool_reasoning: bool,
    /// Whether a prompted tool call's raw `<function=` text is removed with its thought, and both only for
    /// the same sender (1.15.0).
    pub prompted_tools: bool,
    /// Whether a leading `<think>` block goes to the thinking fold (1.4.0).
    pub split_think: bool,
    /// What the chat does with a payload that is no string.
    pub non_string: NonString,
    /// Whether a `goal` state shows in the chat (1.4.0): its filter then throws on a null value.
    pub shows_goal: bool,
    /// Whether a repeated event acts again, apart from being drawn (before 1.6.1).
    pub replays_side_effects: bool,
}

impl Default for StoreTraits {
    /// The store of 1.15.0 to 1.20.0.
    fn default() -> StoreTraits {
        StoreTraits {
            deltas: Deltas::Rendered,
            merge: Merge::SameSender,
            dedup_delta_ids: false,
            batch_ms: 16,
            finalise: Finalise::Supersede,
            tool_action: ToolAction::MatchTrimmed,
            tool_reasoning: true,
            prompted_tools: true,
            split_think: true,
            non_string: NonString::Throws,
            shows_goal: true,
            replays_side_effects: false,
        }
    }
}

/// What a delta is to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deltas {
    /// An event of a kind that nobody knows: stored and never drawn (alphas).
    Anonymous,
    /// A bubble.
    Rendered,
}

/// When two neighbouring deltas become one bubble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// Always.
    Adjacent,
    /// When both come from the planning agent or neither does (1.6.1, #1656).
    SameSender,
}

/// What the final message does with the text streamed in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Finalise {
    /// Nothing; it is appended.
    None,
    /// It is left out if it starts with the streamed text or holds its bubbles in order (1.0.0).
    MatchSegmentsExact,
    /// The same, and white space at the stream's end may be missing from it (1.4.0).
    MatchSegmentsTrimmed,
    /// It replaces the streamed text, whatever that is (1.6.1).
    Supersede,
}

/// What a tool call does with the text streamed right before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolAction {
    /// Nothing; it is appended.
    Append,
    /// Its thought replaces the text if it matches, white space at the end aside (1.4.0, #1534).
    MatchEndTrimmed,
    /// The same, white space at both ends aside (1.6.1).
    MatchTrimmed,
}

/// What the chat does with a payload that is no string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonString {
    /// A bubble without text (1.0.0).
    Ignored,
    /// A string method throws and the error page replaces the chat (1.4.0).
    Throws,
}
