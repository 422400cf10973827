//! skewlab: load and version-skew simulation for streaming agents.
//!
//! The floors, lowest first. A module may use what lies below it and nothing beside or above it;
//! `tests/integration/floors.rs` reads the imports and fails otherwise.
//!
//! | floor | modules | what lives there |
//! |---|---|---|
//! | 0 | [`mod@unit`], [`seed`], [`caret`] | value types; run → cell → client seeds; pointing at a place in a file |
//! | 0 | [`schema`] | what a JSON Schema needs beside the types that derive it |
//! | 1 | [`wire`], [`record`], [`openapi`] | frames as pure data and their mutations; plain result data; what a server advertises |
//! | 2 | [`probe`] | what both ends noted, and the ledger that settles it |
//! | 3 | [`agent_server`] | the parties: profiles, buses, subscribers, decoders, guards |
//! | 3 | [`session_feed`] | the second subject: a session log with a live bus, its store and its consumers |
//! | 3 | [`swarm`] | the subscribers' side of a bench: thousands of sockets read on one thread |
//! | 4 | [`scenario`] | scenario files, their diagnostics, and their expansion into cells |
//! | 5 | [`run`], [`judge`] | executing a plan; evidence into findings, outcomes and an exit code |
//! | 6 | [`suite`], [`report`] | plan, run and judge put together; renderers |
//! | 7 | [`cli`] | one file per command |

pub mod agent_server;
pub mod caret;
pub mod cli;
pub mod judge;
pub mod live;
pub mod openapi;
pub mod probe;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod seed;
pub mod session_feed;
pub mod suite;
pub mod swarm;
pub mod unit;
pub mod wire;
