//! The second subject: a session log with a live event bus, all in one process, and what is lost when one of its feeds goes.
//!
//! A harness records every chunk of a model as a durable session event (the *log feed*, `session/event`) and may emit it
//! once more as a live agent event (the *live feed*). Source: the deepseek-harness, 2026-06 to 2026-09.
//!
//! | module | what it is |
//! |---|---|
//! | [`chunk`], [`event`] | what a model streams; what a log holds |
//! | [`profile`] | variants: which feed carries chunks, by what rules |
//! | [`script`], [`fault`] | what happens in a session, and what goes wrong |
//! | [`bus`], [`harness`] | listeners by name; logs, agents and time around them |
//! | [`agent`] | the loop that streams, appends, emits and settles |
//! | [`queue`] | the asynchronous mode: feeds as queues |
//! | [`consumer`], [`keeper`] | who listens and who reads; the store's end of the bus |
//! | [`writer`] | the process that is killed while it writes |
//! | [`mod@play`] | one session for one consumer, and everything that was noted |

pub mod agent;
pub mod bus;
pub mod chunk;
pub mod consumer;
pub mod event;
pub mod fault;
pub mod harness;
pub mod keeper;
mod lossless;
pub mod play;
pub mod profile;
pub mod queue;
pub mod script;
pub mod store;
pub mod writer;

pub use consumer::Consumer;
pub use fault::Fault;
pub use harness::Harness;
pub use play::{Listeners, Plan, Played, play};
pub use profile::{Variant, Variants};
pub use script::{Script, Shape};
