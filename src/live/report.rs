//! What a client's driver reports: one marked JSON line for everything that happened to it, in the order in which it did.
//!
//! `drivers/README.md` has the protocol.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a marked line begins with.
pub const MARK: &str = "@skewlab ";

/// One report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The cell that it is about; absent when it is about none.
    #[serde(default)]
    pub cell: Option<String>,
    /// When: seconds since the driver began, on the driver's clock. A stored one is on the run's clock.
    pub at: f64,
    /// What.
    #[serde(flatten)]
    pub what: Report,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ev", rename_all = "snake_case")]
pub enum Report {
    /// The driver is up.
    Hello {
        /// The package under test.
        package: String,
        /// Its version, as it says itself.
        version: String,
        /// Unix time at 0 of the driver's clock, seconds.
        epoch: f64,
        /// Seconds that importing it took.
        #[serde(default)]
        import_s: Option<f64>,
        /// Stages that are laid over it: `AB`; empty for none.
        #[serde(default)]
        stages: String,
    },
    /// The client is ready by its own rule.
    Ready {
        /// The conversation that it attends.
        conversation: String,
    },
    /// The client could not attend.
    Failed {
        /// Class of the exception.
        #[serde(rename = "type", default)]
        class: Option<String>,
        /// Its words.
        error: String,
    },
    /// A callback of the application was called with an event.
    Callback {
        /// The callback list; absent where the library has one alone.
        #[serde(default)]
        list: Option<String>,
        /// The class that the event became.
        #[serde(default)]
        class: Option<String>,
        /// Its `kind`.
        #[serde(default)]
        kind: Option<Value>,
        /// Its `id`.
        #[serde(default)]
        id: Option<Value>,
        /// Text of a delta.
        #[serde(default)]
        content: Option<Value>,
        /// Reasoning of a delta.
        #[serde(default)]
        reasoning: Option<Value>,
        /// Text of a message of the agent.
        #[serde(default)]
        text: Option<String>,
        /// Everything else that the driver says of it.
        #[serde(flatten)]
        more: BTreeMap<String, Value>,
    },
    /// A token callback was called.
    Token {
        /// The callback list.
        #[serde(default)]
        list: Option<String>,
        /// The `id` of the chunk.
        #[serde(default)]
        id: Option<Value>,
        /// Its text.
        #[serde(default)]
        content: Option<Value>,
        /// Its reasoning.
        #[serde(default)]
        reasoning: Option<Value>,
    },
    /// The library logged something, warnings and worse.
    Log {
        /// `WARNING`, `ERROR`, …
        level: String,
        /// Name of the logger.
        #[serde(default)]
        logger: String,
        /// The message.
        message: String,
        /// Class of the exception that came with it.
        #[serde(rename = "type", default)]
        class: Option<String>,
        /// Its words.
        #[serde(default)]
        error: Option<String>,
    },
    /// An error callback of the application was called.
    Error {
        /// Which.
        #[serde(rename = "where", default)]
        place: String,
        /// What it was told.
        error: String,
    },
    /// The run returned.
    Ran {
        /// How it ended, by the client.
        status: Option<String>,
        /// How long it took.
        #[serde(default)]
        seconds: Option<f64>,
    },
    /// The run raised an exception.
    Raised {
        /// Class of the exception.
        #[serde(rename = "type", default)]
        class: Option<String>,
        /// Its words.
        error: String,
    },
    /// The driver could not do what it was told.
    Refused {
        /// Why.
        error: String,
    },
    /// The client left.
    Left {
        /// Events that it keeps, by class.
        #[serde(default)]
        events: BTreeMap<String, u64>,
        /// Text of the last message of the agent among them.
        #[serde(rename = "final", default)]
        reply: String,
        /// How the conversation stands, by the client.
        #[serde(default)]
        status: Option<String>,
    },
    /// One frame was decoded without a socket.
    Checked {
        /// The frame's name.
        name: String,
        /// `accepted` or `rejected`.
        outcome: String,
        /// The class that it became.
        #[serde(default)]
        class: Option<String>,
        /// Class of the exception.
        #[serde(rename = "type", default)]
        exception: Option<String>,
        /// Its words.
        #[serde(default)]
        error: Option<String>,
        /// Everything else that the driver says of it.
        #[serde(flatten)]
        more: BTreeMap<String, Value>,
    },
}
