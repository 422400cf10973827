//! The traits of a server. Each is independent of the others; an era is a choice of values.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Seconds;
use crate::wire::Dialect;

/// How a server behaves.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerTraits {
    /// What a token delta is.
    pub delta: DeltaTraits,
    /// How it travels.
    pub bus: BusTraits,
    /// The idle clocks.
    pub idle: IdleTraits,
    /// The telemetry counter.
    pub telemetry: TelemetryTraits,
    /// The webhook poster.
    pub webhook: WebhookTraits,
    /// How values are written on the legacy socket.
    pub wire: Dialect,
    /// Both sockets' handshakes and limits.
    pub socket: SocketTraits,
    /// The session socket.
    pub session: SessionTraits,
    /// The clients built from the same tree.
    pub ships: Ships,
    /// What `/openapi.json` says beside the events that it returns.
    #[serde(default)]
    pub openapi: OpenApiTraits,
    /// A deliberate fault, for proving that a detector detects. No release has one.
    #[serde(default)]
    pub mutant: ServerMutant,
}

/// What a token delta is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeltaTraits {
    /// Its place in the type system.
    pub class: DeltaClass,
    /// The `kind` on the legacy socket.
    pub kind: String,
    /// The fields that its frame may have, `kind` apart; others are left out.
    pub fields: BTreeSet<String>,
    /// Which empty pieces of the model's stream become one.
    pub empty: EmptyPieces,
}

/// Which pieces without a character the library between model and agent hands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyPieces {
    /// All of them. No release does that.
    All,
    /// The first piece of a reply, which carries the role (measured on 1.43.1, 1.44.1, 1.45.0 and 1.58.2 with litellm
    /// 1.105.7 and 1.110.2).
    First,
}

/// The delta's place in the type system, which decides what the durable bus can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeltaClass {
    /// A subclass of `Event`, like everything else on the bus (1.18.1 on). On the wire there is no difference to
    /// [`DeltaClass::Standalone`] (measured): the class decides what a client of the same tree can decode.
    Event,
    /// Taken off `Event` with explicit id, timestamp and source (stage A).
    Standalone,
    /// No longer constructed for the legacy socket (step 7, issue #4683).
    Withdrawn,
}

/// How a delta travels inside the server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusTraits {
    /// The path of a delta.
    pub kind: BusKind,
    /// How a bus calls its subscribers.
    pub fan_out: FanOut,
    /// Who turns a delta into the text of a frame.
    pub encoding: Encoding,
    /// Subscribers of one conversation, internal ones included; 0 for no limit.
    pub max_subscribers: usize,
    /// Which subscribers ask for deltas, where a bus asks: `opt-in` and `split`.
    pub deltas_to: BTreeSet<SubscriberKind>,
}

impl ServerTraits {
    /// What in these traits cannot be meant, in words for whoever wrote them.
    pub(super) fn contradiction(&self) -> Option<String> {
        let (bus, idle) = (&self.bus, &self.idle);
        let asks = matches!(bus.kind, BusKind::OptIn | BusKind::Split);
        let all = |kind| !asks || bus.deltas_to.contains(&kind);
        if !asks && !bus.deltas_to.is_empty() {
            return Some(
                "`bus.deltas_to` names subscribers, but a shared or widened bus gives deltas to all of them; \
                 write `deltas_to = []`, or `kind = \"opt-in\"` or `\"split\"`"
                    .to_owned(),
            );
        }
        if idle.token_writes && !idle.heartbeat_s.is_zero() {
            return Some(
                "`idle.token_writes` writes at every token and leaves a heartbeat nothing to do; \
                 write `heartbeat_s = 0`, or `token_writes = false`"
                    .to_owned(),
            );
        }
        if self.openapi.names_delta && self.delta.class != DeltaClass::Standalone {
            return Some(
                "`openapi.names_delta` gives the delta a schema of its own, and it has one as a member of `Event`; \
                 write `delta.class = \"standalone\"`, or `names_delta = false`"
                    .to_owned(),
            );
        }
        (!idle.delta_throttle_s.is_zero() && !all(SubscriberKind::Idle)).then(|| {
            "`idle.delta_throttle_s` throttles what the subscriber behind the idle clocks writes for deltas, and it \
             gets none; add \"idle\" to `bus.deltas_to`, or write `delta_throttle_s = 0`"
                .to_owned()
        })
    }
}

/// The path of a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BusKind {
    /// One bus; every subscriber gets every delta.
    Shared,
    /// One bus; a subscriber gets deltas when it says so (1.44.1, #4689).
    OptIn,
    /// One bus, typed wider than `Event`; every subscriber gets every delta (stage A alone).
    Widened,
    /// A bus of its own (stage B).
    Split,
}

impl BusKind {
    /// The word in a profile and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            BusKind::Shared => "shared",
            BusKind::OptIn => "opt-in",
            BusKind::Widened => "widened",
            BusKind::Split => "split",
        }
    }
}

/// How a bus calls its subscribers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FanOut {
    /// One after the other: a slow one delays all behind it (to 1.22.0).
    Sequential,
    /// All at once; the publish ends with the slowest (1.22.1, #3162).
    Gather,
}

/// Who turns a delta into the text of a legacy frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// Each socket for itself, as every release does.
    PerSubscriber,
    /// The first one, for all sockets of the conversation; no release does that.
    Once,
}

impl Encoding {
    /// The word in a profile and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::PerSubscriber => "per-subscriber",
            Encoding::Once => "once",
        }
    }
}

/// A kind of subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscriberKind {
    /// A client on the legacy socket.
    Websocket,
    /// A client on the session socket, which gets deltas as progress frames and never as events; so no
    /// profile can name it.
    #[serde(skip)]
    SessionSocket,
    /// The subscriber behind the idle clocks.
    Idle,
    /// The one that names a conversation after its first user message.
    AutoTitle,
    /// The telemetry counter.
    Telemetry,
    /// The webhook poster.
    Webhook,
}

/// The idle clocks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleTraits {
    /// Whether the eviction clock exists (1.37.1).
    pub eviction: bool,
    /// Seconds without an event after which the sweep evicts a conversation that nobody runs or watches
    /// (`conversation_idle_ttl_seconds`, 1.37.1). It sweeps twice as often, at most once a minute.
    pub evict_after_s: Seconds,
    /// Seconds between two writes of the producer's heartbeat to the process clock (1.45.0, #4790);
    /// 0 for no heartbeat.
    pub heartbeat_s: Seconds,
    /// Whether the producer writes the process clock at every token. No release does.
    pub token_writes: bool,
    /// Seconds between two writes to the process clock and `updated_at` that the subscriber behind them makes for
    /// deltas (proposed in #4706); 0 for one each, as every release that gives it deltas does.
    pub delta_throttle_s: Seconds,
}

/// The telemetry counter.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelemetryTraits {
    /// Whether it exists (1.37.0).
    pub present: bool,
}

/// The webhook poster. Its defaults are those of the released `WebhookSpec`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookTraits {
    /// Events that trigger a post.
    pub event_buffer_size: NonZeroUsize,
    /// Seconds from the first queued event to a post of what there is; a post for a full buffer cancels it.
    pub flush_delay_s: Seconds,
    /// Further attempts after a failed post.
    pub num_retries: u32,
    /// Seconds between attempts.
    pub retry_delay_s: Seconds,
    /// Events kept while the sink fails; oldest dropped. 0 for no limit (before 1.22.0).
    pub max_queue_size: usize,
    /// Bytes of one post; 0 for no limit (before 1.40.1).
    pub max_batch_bytes: usize,
    /// Bytes kept; oldest dropped. 0 for no limit (before 1.40.1).
    pub max_queue_bytes: usize,
    /// Whether at most one post is in flight (1.40.1). Before, a post takes the whole queue, posts run side
    /// by side, and the queue is bounded only when one failed.
    pub one_in_flight: bool,
    /// Whether a post looks again at the end: at a buffer that filled meanwhile, and at the timer (1.56.0).
    pub rechecks_after_post: bool,
}

/// Both sockets' handshakes and limits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketTraits {
    /// Seconds to wait for the authentication frame.
    pub auth_timeout_s: Seconds,
    /// What a further authentication frame is, once authenticated.
    pub auth_frame: AuthFrame,
    /// Seconds that pushing the snapshot to a new subscriber may take; 0 for no limit (before 1.22.0).
    pub snapshot_timeout_s: Seconds,
    /// Bytes of one inbound frame.
    pub max_inbound_bytes: usize,
    /// The codes that it closes with.
    pub close: CloseCodes,
}

/// WebSocket close codes.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseCodes {
    /// No authentication, or a bad one, after the upgrade.
    pub unauthenticated: u16,
    /// No such conversation.
    pub unknown_conversation: u16,
    /// The subscriber cap is reached, or a session socket's budget is spent.
    pub try_again_later: u16,
}

/// What an authentication frame is that comes after authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuthFrame {
    /// A bad message like any other (to 1.22.0).
    Message,
    /// Ignored whatever else it holds (1.22.1).
    Ignored,
    /// Ignored if it holds exactly `type` and `session_api_key` (1.39.1).
    IgnoredIfExact,
}

/// The session socket.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionTraits {
    /// What it carries.
    pub endpoint: SessionEndpoint,
    /// Events in a page of replay.
    pub replay_page: NonZeroUsize,
    /// Bytes of one outbound frame before the connection is closed 1013 `frame_too_large`.
    pub max_frame_bytes: usize,
    /// Bytes waiting for one connection before it is closed 1013 `slow_consumer`.
    pub max_pending_bytes: usize,
}

/// What the session socket carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEndpoint {
    /// It does not exist: the upgrade is refused with HTTP 403 (before 1.45.0).
    Absent,
    /// Durable and transient events; deltas are dropped (1.45.0, #4807).
    Durable,
    /// Deltas too, over a progress bus of their own (1.47.0, #4822).
    Full,
}

/// The clients built from the same tree.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ships {
    /// What `python@same` means. Empty: the Python client of the same release.
    pub python: String,
}

/// What `/openapi.json` says beside the events that it returns.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OpenApiTraits {
    /// Whether the delta has a schema of its own although it is no event (stage D of the bus split). No release needs one:
    /// there the delta is a member of `Event`. With stage A alone the document loses it, and the TypeScript type with it.
    pub names_delta: bool,
}

/// A deliberate fault in a server.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own that a profile switches on")]
pub struct ServerMutant {
    /// Writes every n-th delta frame twice; 0 for never.
    pub repeat_every: u32,
    /// Loses every n-th delta between bus and socket, with a reason; 0 for never.
    pub drop_every: u32,
    /// Loses every n-th delta without noting it anywhere; 0 for never. The ledger must call the cell invalid.
    pub forget_every: u32,
    /// Exchanges every n-th delta's text for another of the same length; 0 for never.
    pub alter_every: u32,
    /// Drops every n-th durable frame; 0 for never.
    pub drop_durable_every: u32,
    /// Persists deltas in the event log.
    pub store_deltas: bool,
    /// Panics when a turn starts.
    pub panic: bool,
    /// Never ends the turn.
    pub hang: bool,
    /// The eviction sweep spares neither a turn that runs nor a client that watches.
    pub evict_busy: bool,
    /// Encodes every delta so many times more, for nothing: exact counts say how often.
    pub encode_again: u32,
    /// Spends CPU on every delta, for nothing: so many steps of arithmetic, a nanosecond or two each. No count moves.
    pub burn: u32,
}
