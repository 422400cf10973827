//! Scenario files: one question each, its axes, what it expects of their product, and what is known to fail.
//!
//! [`Scenario::load`] reads a file and reports everything that is wrong with it at once, each fault at its
//! character. [`expand`] turns a scenario into [`Cell`]s: plain data with every name resolved.
//!
//! ```toml
//! question = "Does a person on release X see the reply stream when the server is release Y?"
//! servers = ["*"]
//! clients = ["*", "python@same"]
//! workloads = ["chat"]
//!
//! [workload.chat]
//! tokens = [{ text = "Hel" }, { text = "lo" }]
//!
//! [[expect]]
//! client = "browser-1.0.0-alpha.10"
//! verdict = "by_design"
//! ```
//!
//! | key | holds |
//! |---|---|
//! | `question` | the first key of the file |
//! | `servers`, `clients` | names, releases that an era covers, globs over profile names; `python@same`; `NAME/LIST` for a callback list |
//! | `workloads` | names of `[workload.NAME]` tables |
//! | `mutations` | frame mutations (see [`crate::wire::mutation`]); `["none"]` if absent |
//! | `must_not_receive` | consumers that must never see a delta: `webhook`, `telemetry`, `idle`, `event_store` |
//! | `[workload.NAME]` | `tokens` or `generate`; `rate` (tokens a second, 50), `user` (`"hi"`), `finish` (`message`, `finish-tool`) |
//! | `[[include]]`, `[[exclude]]` | patterns: a cell matches one include, if there are any, and no exclude |
//! | `[[expect]]` | patterns, `verdict`, and if wanted `scope`, `lost_at`, `signal`, `reason`, `because` |
//! | `[[known]]` | patterns, `verdict`, `reason`, `link`, `expires` (a date), and if wanted `lost_at` |
//!
//! Patterns are `server`, `client`, `workload` and `mutation`, each a glob or a list of globs. A party goes by the
//! name asked for and by its profile's name, and a client that its server ships also by `python@same`.
//!
//! # Adding a scenario
//! 1. Write `scenarios/NAME.toml`; start with the question.
//! 2. List it in `shipped.rs`.
//! 3. Give every `[[expect]]` a `because` that names the measurement or the source it rests on.
//!
//! # Common pitfalls
//! - The first `[[expect]]` that matches wins, so the more severe and the more special ones come first.
//! - A pattern without a callback list also matches the client with one: put `NAME/LIST` before `NAME`.
//! - `*` does not cross `/`; `**` does.

mod axis;
mod cell;
#[cfg(test)]
mod complaints;
mod diagnostic;
mod expand;
mod load;
mod names;
#[cfg(test)]
mod oracle;
mod parse;
mod pattern;
mod problem;
mod rule;
mod section;
mod shipped;
mod words;
mod workload;

pub use cell::Cell;
pub use diagnostic::{Fault, ScenarioError};
pub use expand::{Selection, expand};
pub use load::Scenario;
pub use names::{Names, Resolved, SAME};
pub use pattern::{Glob, GlobError};
pub use problem::Problem;
pub use rule::{Axes, Place};
pub use shipped::SHIPPED;
pub use workload::Workload;
