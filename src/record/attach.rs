//! The result of `skewlab attach`: what emulated clients saw of a server that somebody else runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::Quantiles;
use super::flow::{Hop, Reason};
use super::observation::Signal;
use super::verdict::Verdict;
use crate::unit::Tally;

/// Schema name and version of the JSON.
pub const ATTACH_SCHEMA: &str = "skewlab.attach/1";

/// What was seen, and what is to be said of it. Holds neither a key nor a URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachReport {
    /// [`ATTACH_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// The clients by what is to be said of them, worst first; never empty.
    pub findings: Vec<AttachFinding>,
    /// What was seen.
    pub seen: Attached,
}

/// Clients of which the same is to be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachFinding {
    /// What it is. `not_run`: the client did not join, or nothing streamed while it was there.
    pub verdict: Verdict,
    /// How many clients.
    pub clients: u64,
    /// The hop that stopped most; absent where nothing stopped.
    pub lost_at: Option<Hop>,
    /// Why it stopped there.
    pub reason: Option<Reason>,
    /// What the application could notice.
    pub signal: Signal,
    /// What is missing, wrong or too much, all these clients together.
    pub amount: Tally,
    /// The same in words.
    pub note: String,
}

/// What was seen between the moment when all clients had joined and the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// Host and port.
    pub server: String,
    /// The conversation.
    pub conversation: String,
    /// The clients' profile, and after a slash their callback list.
    pub profile: String,
    /// Clients that were asked for.
    pub asked: u32,
    /// Seconds that were asked for.
    pub for_s: f64,
    /// Whether this run started a turn.
    pub said: bool,
    /// Whether it ran for as long as was asked.
    pub complete: bool,
    /// Seconds that were measured; joining is not in them.
    pub seconds: f64,
    /// Extensions that the clients offered: `none`, as these clients have none.
    pub offered: String,
    /// Different deltas that any client got.
    pub deltas: u64,
    /// Different durable ends of replies that any client got.
    pub replies: u64,
    /// Delta frames without an identity: no two clients can compare them.
    pub unidentified: u64,
    /// Deltas that no client got, by the numbers in their texts or by their place on the session socket.
    pub missing_everywhere: u64,
    /// Arrival of a delta at a client minus its first arrival at any. The first arrival is not in it.
    pub spread: Quantiles,
    /// Between two successive deltas of one reply at one client.
    pub gap: Quantiles,
    /// From the message to the first delta after it, one a client; absent where no turn was started.
    pub first_delta: Option<Quantiles>,
    /// Arrival minus the frame's own timestamp. Only on this machine's own clock: absent for another machine, for
    /// frames without one, and where the two clocks differ by more than a time zone.
    pub since_own_timestamp: Option<Quantiles>,
    /// Share of a core that reading took. Near 1 the times above are skewlab's own.
    pub reader_cpu: f64,
    /// The clients, in the order in which they were started.
    pub clients: Vec<AttachedClient>,
}

/// What one client saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachedClient {
    /// Whether its first frame came before the measurement began: from then on it was subscribed.
    pub joined: bool,
    /// Whether it ever got ready by its own rule.
    pub ready: bool,
    /// Why it got no connection: `HTTP 403`, `connection refused`. A close has its own field.
    pub refused: Option<String>,
    /// How the server ended the connection. The client stays away: reconnecting is not modelled.
    pub closed: Option<Closed>,
    /// `Sec-WebSocket-Extensions` as the server answered.
    pub extensions: Option<String>,
    /// Bytes read from the socket, handshake included.
    pub bytes_read: u64,
    /// Bytes of the messages in them, after decoding.
    pub text_bytes: u64,
    /// Messages.
    pub frames: u64,
    /// Deltas on the connection.
    pub wire: Arrivals,
    /// Durable ends of replies on the connection.
    pub durable: Arrivals,
    /// Whether its profile streams. One that does not is not judged by what its application got.
    pub streams: bool,
    /// What reached the application, of the deltas on the connection.
    pub delivered: Tally,
    /// Text that stopped in the client and should not have, most first.
    pub stopped: Vec<StoppedText>,
    /// Durable ends that the client refused.
    pub durable_refused: u64,
    /// The streamed text of whole replies beside their durable end.
    pub replies: ReplyTexts,
    /// The loudest thing that its application could notice.
    pub signal: Signal,
    /// Lines in its log.
    pub log_lines: u64,
    /// What surfaced, each once.
    pub surfaced: Vec<String>,
}

/// A close by the server, or by the client's own frame limit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// WebSocket close code; 1006 for a connection that broke off.
    pub code: u16,
    /// Its reason, keys and control characters taken out.
    pub reason: String,
}

/// What came at a client beside what any client got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// That any client got while this one was subscribed.
    pub due: u64,
    /// Of these, those that came here.
    pub got: u64,
    /// Characters of those that did not come, by the text that most clients got, or by the shortest where none has a
    /// majority; durable ends count none.
    pub missing_chars: u64,
    /// Came again.
    pub twice: u64,
    /// Came with another text than the one that more than half of the clients got that got it at all.
    pub altered: u64,
    /// Of those that came, those that clients got with different texts, none of them at more than half of the clients:
    /// nobody can say which is right.
    pub contested: u64,
}

impl Arrivals {
    /// Those that did not come.
    pub fn missing(&self) -> u64 {
        self.due - self.got.min(self.due)
    }
}

/// Text that stopped at one place in the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoppedText {
    /// Where.
    pub hop: Hop,
    /// Why.
    pub reason: Reason,
    /// How much.
    pub amount: Tally,
}

/// Streamed text beside durable ends, one client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyTexts {
    /// Replies that were compared.
    pub judged: u64,
    /// Replies that may have begun before all clients had joined, or whose end does not repeat what streamed (a tool
    /// call).
    pub unjudged: u64,
    /// Characters that the durable end holds and that did not stream.
    pub short_chars: u64,
    /// Characters that streamed beyond the durable end.
    pub extra_chars: u64,
    /// Replies of the right length whose text differs.
    pub altered: u64,
}
