//! What one client of one cell saw: the evidence, before anybody judges it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::CpuRatio;
use super::cost::DeltaCosts;
use super::evidence::{FirstFrame, Queue, Reaped, Times};
use super::figure::Figures;
use super::flow::{Class, HopFlow, Reason};
use crate::unit::Tally;

/// What the receiving application could notice.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Nothing at all.
    #[default]
    None,
    /// A line in a log.
    Log,
    /// An exception to the caller, an error callback, an error shown, a fatal close seen.
    Surfaced,
}

impl Signal {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::None => "none",
            Signal::Log => "log",
            Signal::Surfaced => "surfaced",
        }
    }
}

/// How a run ended that was not called *finished*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutShort {
    /// The person cancelled it.
    Cancelled,
    /// An error ended it, and an event says so.
    Failed,
    /// It stopped where it was, and nothing says so: its process was ended, or it hangs.
    Unended,
}

impl CutShort {
    /// The same as the end of a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            CutShort::Cancelled => "the run was cancelled",
            CutShort::Failed => "the run ended with an error",
            CutShort::Unended => "the run never ended",
        }
    }
}

/// One piece of text as the application got it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// What it is.
    pub class: Class,
    /// Its text.
    pub text: String,
}

/// One of two sources of a text that ought to say the same: the chunks of a step beside its message, or a live feed beside
/// the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is: `chunks`, `message`, `log feed`, `live feed`.
    pub name: String,
    /// The text that it holds; or, of a feed, a line for each chunk with its number and what it is.
    pub text: String,
    /// Whether it is lines of chunks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chunks: bool,
    /// Whether it is lines of durable events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub events: bool,
}

/// A step of a session: its turn and its place in it, both from 1.
pub type Step = (u32, u32);

/// What one subscriber of a feed saw for itself, without anybody's help: all that the silent-loss oracle asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscribed {
    /// Whether it wants deltas at all; a bridge of committed messages or a store never does.
    pub wants_deltas: bool,
    /// Steps of which it saw a message with text.
    pub messages: BTreeSet<Step>,
    /// Steps of which it saw a delta.
    pub deltas: BTreeSet<Step>,
}

/// The durable events of the turn, as far as this client is concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Durables {
    /// Published while this client was subscribed, or should still have been.
    pub due: u64,
    /// Written to this client's socket.
    pub sent: u64,
    /// Taken by the client.
    pub accepted: u64,
    /// Of those, read over REST after a reconnect and not got from a socket.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub recovered: u64,
    /// Refused by the client, by reason.
    pub rejected: BTreeMap<Reason, u64>,
    /// Whether the reply itself (the final message) was among those that were due.
    pub reply_due: bool,
    /// Whether it was taken.
    pub reply: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none_of_them(n: &u32) -> bool {
    *n == 0
}

fn no_text(tally: &Tally) -> bool {
    tally.is_zero()
}

/// What the tokens caused beside the sockets, in the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SideEffects {
    /// The webhook sink.
    pub webhook: WebhookCount,
    /// The telemetry counter.
    pub telemetry: ConsumerCount,
    /// Writes to each idle clock.
    pub idle_writes: IdleWrites,
    /// Those of them that the stream caused: by a delta that reached the subscriber behind the clocks, or by the
    /// producer's heartbeat.
    #[serde(default)]
    pub streamed_writes: IdleWrites,
    /// Deltas that reached the subscriber behind the idle clocks.
    pub idle_deltas: u64,
    /// Deltas that were persisted; no release does that.
    pub stored_deltas: u64,
    /// What the deltas cost.
    #[serde(default)]
    pub costs: DeltaCosts,
    /// Whether the server is a released package: then only `webhook` and `stored_deltas` were seen, and everything else
    /// here is zero because nobody could look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// What a webhook sink received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookCount {
    /// HTTP posts of events that the sink answered with success.
    pub posts: u64,
    /// Events in them.
    pub events: u64,
    /// Token deltas among the events.
    pub deltas: u64,
    /// Posts that failed and were tried again or given up.
    pub failed_posts: u64,
    /// Events dropped because a queue bound was reached, or lost with a post that was broken off.
    pub dropped: u64,
}

/// What an in-process counter received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsumerCount {
    /// Events.
    pub events: u64,
    /// Token deltas among them.
    pub deltas: u64,
}

/// Writes to the three idle clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleWrites {
    /// The process clock behind `/server_info` `idle_time`.
    pub process: u64,
    /// `updated_at` of the conversation, in memory.
    pub updated_at: u64,
    /// The eviction clock (exists from 1.37.1 on).
    pub eviction: u64,
}

/// The evidence of one client in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Whether the client's profile says that it streams.
    pub streams: bool,
    /// The classes that its application shows.
    pub shows: Vec<Class>,
    /// What the model produced, in order.
    pub produced: Vec<Piece>,
    /// What the application got while the reply streamed, in order.
    pub delivered: Vec<Piece>,
    /// The reply as its durable event carries it.
    pub reply: String,
    /// The reply as a person sees it at the end; `None` for a client that has no view of its own.
    pub view: Option<String>,
    /// Whether the run ended normally (the server said *finished*).
    pub completed: bool,
    /// How it ended instead, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutShort>,
    /// Turns in which this client attended and the server was ended: their replies were never made, and nobody says so. A
    /// process that its consumers live in takes them with it, so a session feed counts none.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub turns_killed: u32,
    /// Why the client never got as far as its first frame, if it did not.
    pub unattended: Option<Reason>,
    /// The durable events.
    pub durables: Durables,
    /// Hop by hop, per class.
    pub flows: BTreeMap<Class, Vec<HopFlow>>,
    /// The loudest thing that the application could notice of the deltas, or of the connection as a whole.
    pub signal: Signal,
    /// The same of the durable events.
    pub durable_signal: Signal,
    /// What surfaced, in order of first appearance.
    pub surfaced: Vec<String>,
    /// Lines in the client's log, by message key.
    pub log: BTreeMap<String, u64>,
    /// What happened beside the sockets.
    pub side_effects: SideEffects,
    /// CPU of this server over another's, where a budget asks for it and somebody measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<CpuRatio>,
    /// Exact counts of a session feed.
    #[serde(default, skip_serializing_if = "Figures::is_empty")]
    pub figures: Figures,
    /// The pieces of `produced` that were lost, by their place in it, where each is known by more than its text; a session feed
    /// numbers its chunks. Empty elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_pieces: Vec<usize>,
    /// Sources of one text that ought to agree, pair by pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<[Source; 2]>,
    /// What this consumer of a session feed saw for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribed: Option<Subscribed>,
    /// The first frame that carried text which was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_frame: Option<FirstFrame>,
    /// How the text came in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// How the text came to the same client when nothing went wrong in the cell; only of one that no fault of the cell is
    /// about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Times>,
    /// Text that the application got of attempts which a later attempt said again.
    #[serde(default, skip_serializing_if = "no_text")]
    pub superseded: Tally,
    /// The pieces of `delivered` that came after the final message of their turn had, by their place in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<usize>,
    /// What waited for it in the server; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What waited in the client for its application; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_queue: Option<Queue>,
    /// The runtime that ended the server, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaped: Option<Reaped>,
    /// Contradictions inside skewlab itself; any of them makes the cell invalid.
    pub rig_faults: Vec<String>,
}
