//! Frames as pure data: what the server puts on a socket, how each era encodes it, and how a scenario
//! may bend it. Nothing here knows a connection, a clock or a client.

pub mod dialect;
pub mod event;
pub mod json;
pub mod mutation;
pub mod numbered;
pub mod session;

pub use dialect::{Dialect, Nulls, ParentId};
pub use event::{Event, EventBody, Source};
pub use mutation::{Mutation, MutationError};
pub use session::SessionFrame;

/// The literal kind of a token delta on the legacy socket, unchanged from 1.18.1 to 1.58.2.
pub const DELTA_KIND: &str = "StreamingDeltaEvent";
