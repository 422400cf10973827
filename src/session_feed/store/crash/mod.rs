//! A crash that is one: a child process writes a log with real syncs, and is killed with SIGKILL.
//!
//! The child is this program once more ([`FEED_WRITER`]). It plays a [`Plan`], whose time is that of its events, so that what
//! it has written at the point where it is killed is byte for byte what the plan writes into memory up to there.

mod child;
mod parent;
mod plan;
mod seeded;

pub use child::{FEED_WRITER, write_as_planned};
pub use parent::{CrashError, Kill, Survived, written_by_child};
pub use plan::{Plan, Played, Told};
pub use seeded::Seeded;
