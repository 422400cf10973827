//! The traits of a client. Each is independent of the others; an era is a choice of values.

mod choice;
mod failure;
mod intake;
mod listen;
mod policy;
mod reconnect;
mod store;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use choice::ClientChoice;
pub use failure::{CloseRule, Failure, FailureTraits};
pub use intake::{IntakeTraits, ReceiveQueue, Takes};
pub use listen::{ListenTraits, Listening};
pub use policy::{Catch, PolicyTraits, Repeats, TurnEnd, Unknown};
pub use reconnect::{Keepalive, Reconcile, ReconnectTraits, Retry};
pub use store::{Deltas, Finalise, Merge, NonString, StoreTraits, ToolAction};

use crate::probe::ledger::Endpoint;
use crate::record::Class;
use crate::unit::{Release, Seconds};
use crate::wire::json::Reader;

/// How a client behaves.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientTraits {
    /// Whose client it is; a label for reports, nothing branches on it.
    pub family: Family,
    /// Whether it shows a reply while it streams.
    pub streams: bool,
    /// The classes of text that its application shows.
    pub shows: Vec<Class>,
    /// How it connects.
    pub connect: ConnectTraits,
    /// What it does when a connection ends or does not come about.
    #[serde(default)]
    pub reconnect: ReconnectTraits,
    /// How it reads a frame as JSON.
    pub json: JsonTraits,
    /// What it makes of the JSON.
    pub decode: DecodeTraits,
    /// What it checks before the application or store sees it.
    pub guard: Guard,
    /// What can be noticed when something fails, stage by stage.
    pub failure: FailureTraits,
    /// How fast the application takes frames, and where they wait meanwhile.
    #[serde(default)]
    pub intake: IntakeTraits,
    /// What the application makes of the stream as a whole.
    #[serde(default)]
    pub policy: PolicyTraits,
    /// The callback lists that an application can ask for.
    #[serde(default)]
    pub listen: ListenTraits,
    /// What is behind the library.
    pub application: ApplicationTraits,
    /// The store behind a canvas; meaningless without one.
    #[serde(default)]
    pub store: StoreTraits,
    /// A deliberate fault, for proving that a detector detects. No release has one.
    #[serde(default)]
    pub mutant: ClientMutant,
}

/// Whose client it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// `openhands-sdk`, `RemoteConversation`.
    Python,
    /// `@openhands/typescript-client`.
    TypeScript,
    /// `@openhands/agent-canvas` in a browser.
    Browser,
}

/// How a client connects.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectTraits {
    /// Whether there is anything to open a socket with where it runs.
    #[serde(default)]
    pub socket: SocketSupport,
    /// The oldest server that it opens a conversation on, by what `/server_info` says; a client without one does not ask.
    ///
    /// `compatibility.minimumAgentServer` of the front ends, 1.28.0 in every build looked at from 1.0.0 to 1.20.0 and in
    /// none of the alphas. A server that is older, says no version or is not reached is not dialled.
    #[serde(default)]
    pub min_server: Option<Release>,
    /// The fields of `/server_info` that say its version: the first one that holds a text counts. Read only for
    /// `min_server` (`version` to 1.4.0; `sdk_version` after it where that is missing, from 1.6.1 on).
    #[serde(default = "version")]
    pub server_version: Vec<String>,
    /// The socket that it opens.
    pub endpoint: Endpoint,
    /// Where it puts the key.
    pub auth: Auth,
    /// What it asks to be replayed.
    pub resend: Resend,
    /// Bytes of the largest frame that it takes; 0 for no limit. Above it the client itself closes 1009.
    pub max_frame_bytes: usize,
    /// When it counts as connected.
    pub ready: Ready,
    /// Seconds until not being ready is an error; 0 for never.
    pub ready_timeout_s: Seconds,
}

fn version() -> Vec<String> {
    vec!["version".to_owned()]
}

/// Whether a client finds a WebSocket where it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SocketSupport {
    /// Yes.
    #[default]
    Available,
    /// No: it never dials, and what it does by REST goes on (the TypeScript client as an ES module in Node, where
    /// `require('ws')` is not defined; run on 1.36.1 and 1.39.0).
    Unavailable,
}

/// Where the key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `?session_api_key=`, as it is: a `+` in the key arrives as a blank.
    Query,
    /// The same, percent-encoded.
    QueryEncoded,
    /// The first frame, `{"type":"auth","session_api_key":…}`.
    FirstFrame,
}

/// What a client asks to be replayed when it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resend {
    /// Nothing.
    None,
    /// `resend_mode=all`, and on the session socket `after_seq=-1`.
    All,
}

/// When a client counts as connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// With the first `ConversationStateUpdateEvent` that it accepts.
    StateUpdate,
    /// As soon as the socket is open.
    Open,
}

/// How a client reads a frame as JSON.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonTraits {
    /// Whose parser.
    pub reader: Reader,
    /// What a binary frame is.
    pub binary: Binary,
}

/// What a binary frame is to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binary {
    /// UTF-8, a byte order mark allowed; anything else is no JSON (`json.loads` of bytes).
    Utf8,
    /// Decoded with replacement characters (`toString()` of a buffer).
    Lossy,
    /// An object that no parser takes (a `Blob`).
    Blob,
}

/// What a client makes of the JSON.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecodeTraits {
    /// How strict.
    pub style: DecodeStyle,
    /// Whether the delta's class is one of the events (before stage A).
    #[serde(default = "yes")]
    pub delta_is_event: bool,
    /// Whether the delta's kind is looked at before the event model sees the frame (stage C).
    #[serde(default)]
    pub delta_first: bool,
}

fn yes() -> bool {
    true
}

/// How strictly a client decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecodeStyle {
    /// The pydantic event union of one release: unknown kinds and extra fields are refused.
    EventModel,
    /// Any JSON value.
    Open,
    /// The frames of the session socket, by `type`; an unknown `type` is ignored.
    SessionFrames,
}

/// What a client checks before a frame goes further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// Nothing.
    None,
    /// `isBaseEvent`: an object with non-empty `id` and `timestamp` and one of four sources.
    BaseEvent,
}

/// What is behind the library.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationTraits {
    /// What shows the text.
    pub kind: Application,
    /// Whether the library keeps every value by id beside the callbacks (`RemoteEventsList` of the
    /// TypeScript client, which cannot take `null`).
    #[serde(default)]
    pub cache: bool,
    /// Whether the library looks at the kind of every value before the application gets it. `null` has none, and goes no
    /// further.
    #[serde(default)]
    pub reads_kind: bool,
}

/// What shows the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// A callback that takes both fields of a decoded delta.
    Callbacks,
    /// The documentation's example: appends the content of frames whose kind is literally the delta's.
    LiteralKind,
    /// The store and chat of the canvas.
    Canvas,
    /// The same chat, fed by items of the session socket.
    Slots,
}

/// A deliberate fault in a client.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClientMutant {
    /// Loses the text of every n-th delta; 0 for never.
    pub drop_every: u32,
    /// Shows every n-th delta twice; 0 for never.
    pub repeat_every: u32,
    /// Exchanges every n-th delta's text for another of the same length; 0 for never.
    pub alter_every: u32,
    /// Refuses every message, action and observation without a word.
    pub reject_durables: bool,
    /// Panics on the first frame.
    pub panic: bool,
}
