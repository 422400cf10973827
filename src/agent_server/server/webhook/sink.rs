//! A sink as the rig models it: how long it takes, and which posts it refuses.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::unit::Seconds;

/// How a sink behaves. In a scenario a table: `{ latency_s = 1, refuse_first = 2, fails_between_s = [10, 40] }`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SinkModel {
    /// Time that it takes to answer. From [`SinkModel::PATIENCE`] on the server gives the post up.
    #[serde(rename = "latency_s", deserialize_with = "seconds")]
    pub latency: Duration,
    /// How many posts it refuses before it accepts any.
    pub refuse_first: u64,
    /// When it refuses every post, counted from the moment in which the conversation was opened.
    #[serde(rename = "fails_between_s")]
    pub fails_between: Option<Outage>,
}

/// A stretch of time in which a sink refuses: from its beginning on, and no longer at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "(Seconds, Seconds)")]
pub struct Outage {
    from: Duration,
    until: Duration,
}

/// A stretch of time that has no length.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("an outage ends after it begins, and {from} to {until} does not")]
pub struct NoOutage {
    from: Seconds,
    until: Seconds,
}

impl TryFrom<(Seconds, Seconds)> for Outage {
    type Error = NoOutage;
    fn try_from((from, until): (Seconds, Seconds)) -> Result<Self, Self::Error> {
        if from < until {
            return Ok(Outage { from: from.duration(), until: until.duration() });
        }
        Err(NoOutage { from, until })
    }
}

fn seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    Seconds::deserialize(input).map(Seconds::duration)
}

impl SinkModel {
    /// How long the server waits for an answer (`timeout=30.0` in the subscriber of 1.18.1 to 1.58.2).
    pub const PATIENCE: Duration = Duration::from_secs(30);

    /// The same sink with another latency, if there is one.
    pub(super) fn slowed(&self, latency: Option<Duration>) -> SinkModel {
        SinkModel { latency: latency.unwrap_or(self.latency), ..self.clone() }
    }

    /// How long a post takes, answered or given up.
    pub(super) fn takes(&self) -> Duration {
        self.latency.min(Self::PATIENCE)
    }

    /// Whether it answers post number `attempt` (from 1) with success, when that arrives `age` after the
    /// conversation was opened.
    pub(super) fn accepts(&self, attempt: u64, age: Duration) -> bool {
        let out = self.fails_between.is_some_and(|o| (o.from..o.until).contains(&age));
        attempt > self.refuse_first && !out && self.latency < Self::PATIENCE
    }
}

/// A post of events, as the sink saw it arrive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Post {
    /// When it arrived: time since the server started.
    pub at: Duration,
    /// Whether it was answered with success. One that the server broke off was not.
    pub accepted: bool,
    /// Its events.
    pub events: Vec<PostedEvent>,
}

/// What a posted event was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PostedEvent {
    /// Its id.
    pub id: String,
    /// Its class name.
    pub kind: &'static str,
    /// Which field a state update is about.
    pub key: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SinkModel, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }

    #[test]
    fn a_sink_is_a_table_and_an_empty_one_answers_at_once() {
        assert_eq!(read("").unwrap(), SinkModel::default());
        let sink = read("latency_s = 1.5\nrefuse_first = 2\nfails_between_s = [10, 40]").unwrap();
        assert_eq!((sink.latency, sink.refuse_first), (Duration::from_millis(1500), 2));
        let accepts = |second| sink.accepts(3, Duration::from_secs(second));
        assert_eq!([9, 10, 39, 40].map(accepts), [true, false, false, true]);
        assert!(!sink.accepts(2, Duration::ZERO));
    }

    #[test]
    fn what_is_no_sink_is_refused() {
        for bad in ["latency_s = -1", "refuse_first = -1", "fails_between_s = [40, 10]", "latency = 1"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let same = read("fails_between_s = [7, 7]").unwrap_err();
        assert!(same.contains("ends after it begins"), "{same}");
    }

    #[test]
    fn a_sink_without_an_answer_in_time_has_refused() {
        let slow = |seconds| SinkModel { latency: Duration::from_secs(seconds), ..SinkModel::default() };
        assert!(slow(29).accepts(1, Duration::ZERO) && !slow(30).accepts(1, Duration::ZERO));
        assert_eq!(slow(45).takes(), SinkModel::PATIENCE);
    }
}
