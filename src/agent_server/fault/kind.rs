//! What can go wrong.

use std::time::Duration;

use crate::record::Hop;

/// Which of a server's two ways to a client something is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Token deltas.
    Deltas,
    /// Durable events.
    Durables,
}

impl Lane {
    /// Both.
    pub const ALL: [Lane; 2] = [Lane::Deltas, Lane::Durables];

    /// The word in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Lane::Deltas => "deltas",
            Lane::Durables => "durables",
        }
    }
}

/// One thing that goes wrong. Times are those of the cell's clock; a time that is left out lasts to the end of the cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    // --- The way of bytes, at hop `received` -------------------------------------------------------------------
    /// The server closes the connection with that code.
    Close {
        /// WebSocket close code.
        code: u16,
        /// Its reason.
        reason: String,
    },
    /// The connection is gone, without a close frame: 1006 at the client.
    Abort,
    /// Half open: nothing passes in either direction and nobody is told.
    Silence {
        /// How long.
        lasts: Option<Duration>,
    },
    /// The client does not read.
    Stall {
        /// How long.
        lasts: Option<Duration>,
    },
    /// The client reads slowly.
    Slow {
        /// Bytes a second.
        bytes_per_s: u64,
    },
    /// A proxy that collects what the server sends: until so many bytes, or for so long, or until the turn is over.
    Buffer {
        /// What makes it let go.
        hold: super::Hold,
    },
    /// A proxy that ends every connection after that time, whatever passes.
    Lifetime {
        /// How long a connection lives.
        every: Duration,
    },
    /// The answer to the next handshakes takes that long.
    Handshake {
        /// How long.
        lasts: Duration,
        /// How many handshakes.
        times: u32,
    },
    /// The server refuses the next upgrades with an HTTP status.
    Refuse {
        /// HTTP status.
        status: u16,
        /// How many upgrades.
        times: u32,
    },
    /// Bytes come in pieces of this many: at hop `received` reads of the client, at hop `sent` WebSocket fragments.
    Fragment {
        /// Bytes of a piece.
        bytes: usize,
    },
    /// Pings of the client are not answered.
    NoPong,

    // --- The stream, before a frame is sent ---------------------------------------------------------------------
    /// The subscriber connects only then.
    Join,
    /// A frame that no release sends, to everybody on a socket: text, or that many bytes of it.
    Inject {
        /// Its text.
        frame: String,
    },
    /// The delta is sent again, that often; with `every`, each n-th delta from then on.
    Duplicate {
        /// Copies beside the one that is due.
        times: u32,
        /// Each how manieth; 0 for the one only.
        every: u64,
    },
    /// The delta is sent after the next one; with `every`, each n-th delta from then on.
    Reorder {
        /// Each how manieth; 0 for the one only.
        every: u64,
    },
    /// The delta is published only after the reply.
    Late,
    /// One way is slower than the other from then on.
    Delay {
        /// Which.
        lane: Lane,
        /// By how much.
        by: Duration,
        /// How many of them; 0 for all that follow.
        times: u32,
    },
    /// Text is cut into pieces of so many bytes by somebody who decodes each piece for itself and puts U+FFFD where a character
    /// was cut.
    Lossy {
        /// Bytes of a piece.
        bytes: usize,
    },
    /// The reply differs from the deltas by this text at its end; an empty one takes its last character away.
    Final {
        /// What is appended.
        append: String,
    },
    /// Whoever connects gets the last deltas of the running turn again.
    ReplayDeltas {
        /// How many.
        count: u32,
    },
    /// The person says something, by REST.
    Say {
        /// What.
        text: String,
        /// Whether the agent is asked to run.
        run: bool,
    },
    /// The model calls a tool: its text so far becomes the call's thought, and the answer goes on behind the tool's result.
    Tool {
        /// The tool's name.
        name: String,
    },
    /// The provider fails, and with it the turn.
    ProviderError {
        /// What it says.
        message: String,
    },
    /// The person cancels the turn.
    Cancel,
    /// The agent asks the provider again, and the answer streams from its beginning.
    Retry,

    // --- The server ----------------------------------------------------------------------------------------------
    /// The server's event loop does nothing for that long: no byte goes in or out.
    Block {
        /// How long.
        lasts: Duration,
    },
    /// The next appends to the event log fail.
    FailAppend {
        /// How many.
        times: u32,
    },
    /// The server goes down, with its turn, and comes back with its log.
    Restart {
        /// How long nobody answers.
        down: Duration,
    },
    /// The same, and what comes back is another server.
    Swap {
        /// Its release or profile.
        server: String,
        /// How long nobody answers.
        down: Duration,
    },
    /// Posts that arrive at the webhook sink meanwhile are answered that late.
    SlowSink {
        /// How late.
        latency: Duration,
        /// How long.
        lasts: Option<Duration>,
    },
}

impl Kind {
    /// The words in a scenario, in the order of this enum.
    pub const WORDS: [&str; 30] = [
        "close",
        "abort",
        "silence",
        "stall",
        "slow",
        "buffer",
        "lifetime",
        "handshake",
        "refuse",
        "fragment",
        "no_pong",
        "join",
        "inject",
        "duplicate",
        "reorder",
        "late",
        "delay",
        "lossy",
        "final",
        "replay_deltas",
        "say",
        "tool",
        "provider_error",
        "cancel",
        "retry",
        "block",
        "fail_append",
        "restart",
        "swap",
        "slow_sink",
    ];

    /// The word in a scenario.
    pub fn as_str(&self) -> &'static str {
        match self {
            Kind::Close { .. } => "close",
            Kind::Abort => "abort",
            Kind::Silence { .. } => "silence",
            Kind::Stall { .. } => "stall",
            Kind::Slow { .. } => "slow",
            Kind::Buffer { .. } => "buffer",
            Kind::Lifetime { .. } => "lifetime",
            Kind::Handshake { .. } => "handshake",
            Kind::Refuse { .. } => "refuse",
            Kind::Fragment { .. } => "fragment",
            Kind::NoPong => "no_pong",
            Kind::Join => "join",
            Kind::Inject { .. } => "inject",
            Kind::Duplicate { .. } => "duplicate",
            Kind::Reorder { .. } => "reorder",
            Kind::Late => "late",
            Kind::Delay { .. } => "delay",
            Kind::Lossy { .. } => "lossy",
            Kind::Final { .. } => "final",
            Kind::ReplayDeltas { .. } => "replay_deltas",
            Kind::Say { .. } => "say",
            Kind::Tool { .. } => "tool",
            Kind::ProviderError { .. } => "provider_error",
            Kind::Cancel => "cancel",
            Kind::Retry => "retry",
            Kind::Block { .. } => "block",
            Kind::FailAppend { .. } => "fail_append",
            Kind::Restart { .. } => "restart",
            Kind::Swap { .. } => "swap",
            Kind::SlowSink { .. } => "slow_sink",
        }
    }

    /// The hops that it can sit on; the first is where it sits if nothing is said.
    pub fn hops(&self) -> &'static [Hop] {
        match self {
            Kind::Close { .. }
            | Kind::Refuse { .. }
            | Kind::Inject { .. }
            | Kind::Lossy { .. }
            | Kind::Block { .. } => &[Hop::Sent],
            Kind::Duplicate { .. } | Kind::Reorder { .. } | Kind::Late | Kind::Delay { .. } => {
                &[Hop::Published]
            }
            Kind::Fragment { .. } => &[Hop::Received, Hop::Sent],
            Kind::Abort
            | Kind::Silence { .. }
            | Kind::Stall { .. }
            | Kind::Slow { .. }
            | Kind::Buffer { .. }
            | Kind::Lifetime { .. }
            | Kind::Handshake { .. }
            | Kind::NoPong => &[Hop::Received],
            Kind::Join | Kind::ReplayDeltas { .. } => &[Hop::Dispatched],
            Kind::Final { .. }
            | Kind::Say { .. }
            | Kind::Tool { .. }
            | Kind::ProviderError { .. }
            | Kind::Cancel
            | Kind::Retry
            | Kind::FailAppend { .. }
            | Kind::Restart { .. }
            | Kind::Swap { .. }
            | Kind::SlowSink { .. } => &[Hop::Produced],
        }
    }

    /// Whether the turn itself does it, chunk by chunk, so that it can set in only while chunks come.
    pub fn in_turn(&self) -> bool {
        matches!(
            self,
            Kind::Duplicate { .. }
                | Kind::Reorder { .. }
                | Kind::Late
                | Kind::Delay { .. }
                | Kind::Final { .. }
                | Kind::Tool { .. }
                | Kind::ProviderError { .. }
                | Kind::Cancel
                | Kind::Retry
        )
    }

    /// Whether it puts what it says in the place of what an `earlier` one says. Windows in which nothing passes join instead, and
    /// what the next few meet is a queue.
    pub fn replaces(&self, earlier: &Kind) -> bool {
        match (self, earlier) {
            (Kind::Slow { .. }, Kind::Slow { .. })
            | (Kind::Buffer { .. }, Kind::Buffer { .. })
            | (Kind::Lifetime { .. }, Kind::Lifetime { .. })
            | (Kind::Fragment { .. }, Kind::Fragment { .. })
            | (Kind::Lossy { .. }, Kind::Lossy { .. })
            | (Kind::ReplayDeltas { .. }, Kind::ReplayDeltas { .. }) => true,
            // Behind a shorter one the longer one is there again.
            (Kind::SlowSink { lasts, .. }, Kind::SlowSink { lasts: other, .. }) => {
                let end = |lasts: &Option<Duration>| lasts.unwrap_or(Duration::MAX);
                end(lasts) >= end(other)
            }
            _ => false,
        }
    }

    /// Whether the server has to be one that can be blocked or taken down.
    pub fn needs_mortal(&self) -> bool {
        matches!(self, Kind::Block { .. } | Kind::Restart { .. } | Kind::Swap { .. })
    }

    /// Whether it is about one connection, so that it can concern one subscriber alone.
    pub fn per_subscriber(&self) -> bool {
        matches!(
            self,
            Kind::Close { .. }
                | Kind::Abort
                | Kind::Silence { .. }
                | Kind::Stall { .. }
                | Kind::Slow { .. }
                | Kind::Buffer { .. }
                | Kind::Lifetime { .. }
                | Kind::Handshake { .. }
                | Kind::Fragment { .. }
                | Kind::NoPong
                | Kind::Join
        )
    }
}
