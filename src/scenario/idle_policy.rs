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

#[cfg(test)]
mod tests {
    use super::super::load::Scenario;
    use super::super::names::double::Double;
    use super::*;

    fn read(table: &str) -> Result<Option<IdlePolicy>, String> {
        let text = format!(
            "question = \"q\"\nservers = [\"1.58.2\"]\nclients = [\"python@same\"]\nworkloads = [\"w\"]\n{table}\n\
             [workload.w]\ntokens = [{{ text = \"a\" }}]\n"
        );
        let scenario = Scenario::parse("s.toml", &text, &Double::new());
        scenario.map(|scenario| scenario.idle_policy).map_err(|error| error.to_string())
    }

    #[test]
    fn a_runtime_has_defaults_and_nobody_watches_without_one() {
        let s = Duration::from_secs;
        let policy = |reap_after, poll| Ok(Some(IdlePolicy { reap_after: s(reap_after), poll: s(poll) }));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("[runtime]"), policy(1_200, 60));
        assert_eq!(read("[runtime]\nreap_after_s = 90\npoll_s = 5"), policy(90, 5));
    }

    #[test]
    fn a_wrong_time_or_key_is_pointed_at() {
        for (table, said) in [
            ("[runtime]\nreap_after_s = 0", "`reap_after_s` takes a number above 0"),
            ("[runtime]\npoll_s = \"60s\"", "`poll_s` takes a number, not a string"),
            ("[runtime]\nreap_after = 60", "did you mean `reap_after_s`?"),
            ("runtime = 60", "`runtime` takes a table"),
        ] {
            let error = read(table).unwrap_err();
            let line = 4 + table.lines().count();
            assert!(error.contains(said) && error.contains(&format!("s.toml:{line}:")), "{table}: {error}");
        }
    }
}
