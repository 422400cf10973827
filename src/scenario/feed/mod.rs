//! Scenarios of the session feed: `subject = "session-feed"`.
//!
//! ```toml
//! question = "Who loses its text when the live event is removed?"
//! subject = "session-feed"
//! variants = ["mirrored", "mirror-removed"]
//! consumers = ["stale-plugin", "migrated-plugin"]
//! workloads = ["chat"]
//!
//! [workload.chat]
//! reply = "hey"
//!
//! [[expect]]
//! variant = "mirror-removed"
//! consumer = "stale-plugin"
//! verdict = "silent_loss"
//! figures = { dispatches = "N", handled_chunks = 0 }
//! because = "row 10: nobody emits what it listens to"
//! ```
//!
//! | key | holds |
//! |---|---|
//! | `question` | the first key of the file |
//! | `subject` | `session-feed` |
//! | `variants`, `consumers` | names and globs |
//! | `workloads` | names of `[workload.NAME]` tables |
//! | `faults` | see [`crate::session_feed::Fault`]; `["none"]` if absent. One at a chunk that no workload streams is refused; a cell whose own session never comes so far has not run |
//! | `policies` | flush policies: `turn-end`, `every-event`, `window-200ms`. With this key they are part of a cell's id; without, the log is flushed at the end of a turn |
//! | `packed` | whether runs of deltas are stored as one row (`false`) |
//! | `listeners` | plain listeners beside the consumer: `{ log = 2, live = 3 }` |
//! | `[traits]` | laid over the traits of every variant |
//! | `[workload.NAME]` | one of `reply`, `tokens` and `shape`; `user` (`"hi"`), `rate` (chunks a second, 50), `turns` (1), `steps` (1) |
//! | `reply` | text, a delta a character; with `reasoning` before it, if wanted |
//! | an item of `tokens` | `text` or `reasoning`, `repeat`; or `tool` with `arguments`, which ends a step |
//! | `shape` | `events`, `chunks`, `steps`, and `texts` (steps with text; all if absent): a log of that size without its words |
//! | `[[include]]`, `[[exclude]]`, `[[expect]]`, `[[known]]` | as for the other subject, with the patterns `variant`, `consumer`, `workload`, `fault` and `policy` |
//!
//! A session is bounded as a whole: deltas and steps, with repeats, `steps`, `turns` and `sessions` multiplied, are at most three
//! million.
//!
//! # Figures
//!
//! `figures` of an `[[expect]]` holds exact counts by the names of [`crate::record::Figure`]: a number, or an expression in
//! quotes with a comparison before it (`==` if there is none). A figure that is missed makes the cell unexpected; so does
//! one that was not counted. The letters are `C` (chunks that the script streams), `T` (characters of its text), `A`
//! (attempts), `S` (steps), `k` (the fault's chunk), `L` and `M` (plain listeners on the log and on the live feed), and `N`
//! (events in the log, as the run counted them).

mod cell;
#[cfg(test)]
mod complaints;
mod expand;
mod figures;
#[cfg(test)]
mod oracle;
mod parse;
mod reach;
mod scenario;
mod workload;

pub use cell::FeedCell;
pub use expand::expand_feed;
pub(super) use parse::MAX_LISTENERS;
pub use scenario::FeedScenario;
pub use workload::FeedWorkload;
pub(super) use workload::{MAX_EVENTS, MAX_RATE, MAX_SESSIONS, MAX_STEPS};
