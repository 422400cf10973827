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
//! | `seen` | a URL: where what the scenario asks about was seen |
//! | `subject` | `agent-server` (also if absent), or `session-feed`, whose files are read by [`feed`] |
//! | `servers`, `clients` | names, releases that an era covers, globs over profile names; `python@same`; `NAME/LIST` for a callback list |
//! | `workloads` | names of `[workload.NAME]` tables |
//! | `mutations` | frame mutations (see [`crate::wire::mutation`]); `["none"]` if absent |
//! | `faults` | names of `[[fault.NAME]]` lists, and `none`; `["none"]` if absent: see below |
//! | `must_not_receive` | consumers that must never see a delta: `webhook`, `telemetry`, `idle`, `event_store` |
//! | `[workload.NAME]` | `tokens` or `generate`; `rate` (tokens a second, 50), `user` (`"hi"`), `finish` (`message`, `finish-tool`), `chunk_bytes` (of the model's writes, live only) |
//! | an item of `tokens` | `text`, `reasoning`, `repeat`; `stall_s` (silence before it); for released servers `tool` with `arguments`, and at the end `error`, at the start with a `status` |
//! | `subscribers` | copies of the client that attend a cell (1); the one that fares worst is reported |
//! | `[traits]` | traits of a server profile, laid over every server: `[traits.bus]`, `max_subscribers = 0` |
//! | `[webhook]` | the sink: `latency_s` (0), `refuse_first` posts (0) |
//! | `[runtime]` | an outside runtime that asks `/server_info` every `poll_s` (60) and ends the server once its idle time is `reap_after_s` (1200); emulated servers only |
//! | `[budget]`, `[[budget]]` | patterns, and limits by metric: see below |
//! | `[[include]]`, `[[exclude]]` | patterns: a cell matches one include, if there are any, and no exclude |
//! | `[[expect]]` | patterns, `verdict`, and if wanted `scope`, `lost_at`, `signal`, `reason`, `over` (the broken budgets), `because` |
//! | `[[known]]` | patterns, `verdict`, `reason`, `link`, `expires` (a date), and if wanted `lost_at` |
//!
//! Patterns are `server`, `client`, `workload`, `mutation` and `fault`, each a glob or a list of globs. A party goes by the
//! name asked for and by its profile's name, and a client that its server ships also by `python@same`. A pattern that names
//! nothing is an error, and so is a table that counts for no cell under any selection of servers and clients, and a workload or
//! a fault that no cell has.
//!
//! # Budgets
//!
//! ```toml
//! [budget]
//! serialisations_per_token = 1
//! webhook_delta_events = 0
//! idle_writes = [">= 1", "<= ceil(T/30)+1"]
//! cpu_ratio_vs = { server = "1.43.1", max = 1.0 }
//! ```
//!
//! The metrics are those of [`crate::record::Metric`]. A number means at most; a string is a comparison (`<=` if
//! there is none, `<`, `==`, `>=`, `>`) and an expression over `T` (seconds of streaming, tokens ÷ rate), `N` (tokens)
//! and `S` (subscribers), with `+ - * / ( )`, `ceil`, `floor`, `min` and `max`. Of several limits in a list all have
//! to hold. Of all tables that match a cell, the first that limits a metric counts for it. *Per token* divides by `N`.
//! `cpu_ratio_vs` is measured by the clock on the wall only; where it was not, the cell says so.
//!
//! # Faults
//!
//! ```toml
//! faults = ["none", "dropped"]
//!
//! [[fault.dropped]]
//! kind = "close"
//! code = 1011
//! at = "token 40"
//! ```
//!
//! Several tables of one name are at work together. When: `at = "token 40"` (the model's chunks, from 1), `at = "12s"` (since the
//! person's first message was sent, also in later turns; what the model's stream does comes with its next chunk), `after = "first delta"`, `"reply"` or `"turn"` with `by = "1.4s"`; from the beginning without either. Where:
//! `hop`, which every kind has one of by itself. For whom: `subscriber = 2` of several. A fault that never came makes its cell
//! `not_run`: what did not happen has not been tested.
//!
//! Two of a kind for one subscriber: silences and stalls join, so that each holds for its whole time; handshakes, refusals and
//! appends queue; of rates, proxies, lifetimes and fragments the later one takes the place of the earlier one at its moment, and at
//! one moment two are refused. A slow sink is as slow as the last of them that is not over.
//!
//! | kind | takes | what it does |
//! |---|---|---|
//! | `close` | `code`, `reason` | the server closes the connection |
//! | `abort` | | the connection is gone without a close |
//! | `silence` | `for` | half open: nothing passes, nobody is told |
//! | `stall`, `slow` | `for`; `bytes_per_s` | the client does not read, or slowly |
//! | `buffer` | `bytes`, `for` or `until = "turn"` | a proxy collects what the server sends; `for = "40ms"` is how Nagle clusters |
//! | `lifetime` | `every` | a proxy ends every connection at that age |
//! | `handshake` | `for`, `times` | the next handshakes take that long |
//! | `refuse` | `status`, `times` | the next upgrades are refused |
//! | `fragment` | `bytes` | reads of so many bytes; with `hop = "sent"` WebSocket fragments |
//! | `no_pong` | | the client's pings are not answered |
//! | `join` | | the subscriber connects only then |
//! | `inject` | `frame` or `bytes` | a frame that no release sends |
//! | `duplicate`, `reorder`, `late` | `times`, `every` | a delta comes again, after the next one, after the reply |
//! | `delay` | `lane`, `for` | `deltas` or `durables` come later than they are due |
//! | `lossy` | `bytes` | somebody between decodes UTF-8 piece by piece |
//! | `final` | `append` | the reply is not the sum of its deltas |
//! | `replay_deltas` | `count` | who connects gets the last deltas again |
//! | `say` | `text` or `bytes`, `run` | the person says something |
//! | `tool`, `provider_error`, `cancel`, `retry` | `name`; `message` | what an agent's turn meets |
//! | `block` | `for` | the server's event loop hangs |
//! | `fail_append` | `times` | the event log takes no more |
//! | `restart`, `swap` | `down`; `server` | the server goes, and comes back as itself or as another one |
//! | `slow_sink` | `latency`, `for` | the webhook sink answers what arrives that late |
//!
//! # Editors
//!
//! An editor that knows TOML schemas (Even Better TOML, taplo) completes keys and words, and shows what they mean. The first
//! line of a scenario names the schema, by a path from the file's own folder: `#:schema ../schemas/scenario.schema.json`, or
//! `feed-scenario.schema.json` for the session feed. `skewlab generate schema all --out schemas` writes them, those of
//! profiles too. The schema leaves names, globs and expressions to the reader. A new key is a field in `schema/`; a test holds
//! the two against each other.
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

mod aside;
mod axis;
mod budget;
pub mod capsule;
mod cell;
#[cfg(test)]
mod complaints;
mod diagnostic;
mod expand;
mod expression;
mod fault;
pub mod feed;
mod idle_policy;
mod known_list;
mod limit;
mod load;
mod loaded;
mod names;
#[cfg(test)]
mod oracle;
mod parse;
mod pattern;
mod problem;
mod reach;
mod rule;
mod schema;
mod section;
mod shipped;
mod traits;
mod words;
mod workload;

pub use aside::{Aside, Does};
pub use budget::Allowance;
pub use cell::Cell;
pub use diagnostic::{Fault, ScenarioError};
pub use expand::{Selection, expand};
pub use fault::FaultSet;
pub use feed::{FeedCell, FeedScenario, expand_feed};
pub use idle_policy::IdlePolicy;
pub use known_list::{KnownEntry, KnownList};
pub use load::{Scenario, members};
pub use loaded::{Loaded, Planned};
pub use names::{Names, Resolved, SAME};
pub use pattern::{Glob, GlobError};
pub use problem::Problem;
pub use rule::{Axes, Place};
pub use schema::{FeedScenarioFile, ScenarioFile};
pub use shipped::{FIELD, FIELD_GROUP, SHIPPED};
pub use workload::Workload;
