//! All that was seen of one live cell, and the evidence that it makes.
//!
//! A capture holds what the parties did, and no judgement: it can be kept and judged again by later rules, without any
//! of the packages. [`observe`] turns it into an [`Observation`](crate::record::Observation) by way of the same ledger
//! as an emulated cell. A hop inside a foreign process that nothing was seen of stays *unseen*.

mod canvas;
mod client;
mod late;
mod observe;
mod placing;
mod server;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use observe::{Seated, observe};

use super::report::Said;
use super::tap::WireSocket;
use crate::probe::{ClientTrace, LinkTrace, ServerTrace};
use crate::record::SideEffects;
use crate::record::observation::Piece;

/// Schema name and version of a stored capture.
pub const CAPTURE_SCHEMA: &str = "skewlab.capture/1";

/// One live cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// [`CAPTURE_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that made it.
    pub skewlab: String,
    /// The cell's id.
    pub cell: String,
    /// The cell's hash.
    pub hash: String,
    /// What ran: package and version of each party.
    pub ran: Vec<String>,
    /// The chunks that the model sent, in order, each with its pieces.
    pub chunks: Vec<Vec<Piece>>,
    /// The server.
    pub server: ServerSide,
    /// The client.
    pub client: ClientSide,
    /// The sockets of the conversation, as they passed the tap.
    pub sockets: Vec<WireSocket>,
    /// What happened beside the sockets, as far as it can be seen.
    pub side_effects: SideEffects,
    /// What went wrong in skewlab itself.
    pub rig_faults: Vec<String>,
}

/// What is known of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ServerSide {
    /// A released one: what its REST side says after the turn.
    Live {
        /// Its word for how the conversation stands.
        status: String,
        /// Its event log, in order.
        events: Vec<Value>,
    },
    /// An emulated one: its own notes.
    Emulated {
        /// What concerns all connections.
        trace: Box<ServerTrace>,
        /// This client's connection, of several the last.
        link: Box<LinkTrace>,
        /// Its connections before that, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<LinkTrace>,
    },
}

/// What is known of the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ClientSide {
    /// A released library: its driver's reports, in order.
    Library {
        /// The reports.
        said: Vec<Said>,
    },
    /// The released front end in a browser.
    Canvas {
        /// What the chat showed, in order; times on the run's clock.
        seen: Vec<Seen>,
        /// Warnings and errors in the console.
        console: Vec<String>,
        /// Errors that the page showed to the person.
        shown_errors: Vec<String>,
        /// Why the page was not ready, if it was not.
        failed: Option<String>,
    },
    /// An emulated one: its own notes.
    Emulated {
        /// Its notes.
        trace: Box<ClientTrace>,
    },
}

/// What the chat showed at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// When, seconds on the run's clock.
    pub at: f64,
    /// The text of each bubble of the agent, top to bottom.
    pub bubbles: Vec<String>,
}
