//! A crash that is one: a child process writes a log with real syncs, and is killed with SIGKILL.
//!
//! The child is this program once more ([`FEED_WRITER`], see [`writer`](crate::session_feed::writer)). It plays a whole session,
//! or a [`Plan`] of events alone, whose time is that of its events, so that what it has written at the point where it is killed
//! is byte for byte what the plan writes into memory up to there.

mod parent;
mod plan;
mod seeded;

pub(in crate::session_feed) use parent::killed_child;
pub use parent::{CrashError, FEED_WRITER, Kill, Survived};
pub use plan::{Plan, Played, Told};
pub use seeded::Seeded;
