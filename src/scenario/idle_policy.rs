//! An outside runtime and its idle policy, from `[runtime]`.

use std::time::Duration;

use super::section::{Faults, Section};

/// When a runtime takes a server for idle and ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePolicy {
    /// The `idle_time` of `/server_info` from which on it ends the server.
    pub reap_after: Duration,
    /// How often it asks.
    pub poll: Duration,
}

/// Source: the runtime that issue #4695 is about reaps after twenty minutes.
pub(super) const REAP_AFTER_S: f64 = 1_200.0;
pub(super) const POLL_S: f64 = 60.0;
/// A day is longer than any cell.
pub(super) const MAX_IDLE_S: f64 = 86_400.0;

/// The policy of `[runtime]`; nobody watches where the table is absent.
pub(super) fn read(file: &mut Section<'_>, faults: &mut Faults) -> Option<IdlePolicy> {
    let mut section = file.one("runtime", faults)?;
    let mut time = |key, default| section.positive(key, MAX_IDLE_S, faults).unwrap_or(default);
    let (reap_after, poll) = (time("reap_after_s", REAP_AFTER_S), time("poll_s", POLL_S));
    section.finish(faults);
    Some(IdlePolicy { reap_after: Duration::from_secs_f64(reap_after), poll: Duration::from_secs_f64(poll) })
}
