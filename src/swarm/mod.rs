//! The subscribers' side of a bench: a client that reads thousands of sockets on one thread.
//!
//! It must cost so little that a server is measured and not its reader, and still notice what no load tool notices:
//! text that was withheld. So there is one poll and one read buffer for all sockets; frames are read where they lie
//! (`assembly`), JSON is borrowed from them (`heard`), and what a socket keeps is a fixed few hundred bytes: its place
//! in the reply (`ledger`) and the time of its last delta. Counts and distributions belong to a group, which is one
//! server under test (`group`).
//!
//! [`Swarm`] holds the thread (`engine`): [`Swarm::connect`], then for each block [`Swarm::begin`], then
//! [`Swarm::report`]. [`Reading::Raw`] is the reference that the rest is measured against.

mod assembly;
mod closed;
mod dial;
mod engine;
mod error;
mod frame;
mod group;
mod handle;
mod handshake;
mod heard;
mod ledger;
mod refused;
mod report;
mod socket;
mod spec;

pub use closed::{Closed, Fault};
pub use error::SwarmError;
pub use handle::Swarm;
pub use refused::Refused;
pub use report::{BlockReport, ConnectReport, GroupReport, Memory, Progress, Report, Times};
pub use spec::{Block, Conduct, Pace, Reading, SocketSpec};
