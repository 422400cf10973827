//! The first subject: an agent-server that streams deltas to clients over `WebSockets`, era by era.
//!
//! A party is a [`profile`]: orthogonal traits in TOML. [`server`] and [`client`] turn traits into
//! behaviour and know no release by name.

pub mod advertised;
pub mod client;
pub mod fault;
pub mod link;
pub mod profile;
pub mod rest;
pub mod server;
