//! What a scenario says of its cells before they run: duties, the expected end, known failures. Plain data
//! that scenario files deserialise into and the judge reads.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Budget, Metric};
use super::figure::FigureLimit;
use super::flow::Hop;
use super::observation::Signal;
use super::verdict::{Scope, Verdict};

/// A place beside the sockets that events go to and that token deltas may have to stay away from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consumer {
    /// The webhook sink.
    Webhook,
    /// The telemetry counter.
    Telemetry,
    /// The subscriber behind the idle clocks.
    Idle,
    /// The persisted event log.
    #[serde(rename = "event_store")]
    Store,
}

impl Consumer {
    /// The word that a scenario and a report use.
    pub fn as_str(self) -> &'static str {
        match self {
            Consumer::Webhook => "webhook",
            Consumer::Telemetry => "telemetry",
            Consumer::Idle => "idle",
            Consumer::Store => "event_store",
        }
    }
}

/// What the server owes to the parties that are not clients, and to whoever pays for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Duties {
    /// Consumers that must never see a token delta; one that does is a leak.
    pub must_not_receive: BTreeSet<Consumer>,
    /// What the cell may cost; going beyond it is `over_budget`.
    pub budget: Budget,
}

/// How a scenario expects a cell to end. Everything that is given must match; what is absent may be anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The headline's verdict.
    pub verdict: Verdict,
    /// Its scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The hop that lost most of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Hop>,
    /// What the application could notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// The code of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The metrics whose budgets are broken, all of them and no other. Absent: any where the verdict is
    /// `over_budget`, and none where it is a worse one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<BTreeSet<Metric>>,
    /// Exact counts of a session feed; all have to hold, and what was not counted does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureLimit>,
    /// Why a person expects this; never compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Expected {
    /// Expects a verdict and leaves everything else open.
    pub fn of(verdict: Verdict) -> Expected {
        Expected {
            verdict,
            scope: None,
            lost_at: None,
            signal: None,
            reason: None,
            over: None,
            figures: Vec::new(),
            because: None,
        }
    }
}

/// A failure that is known, has a link and an end. It never makes a cell green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The wrong verdict that is known.
    pub verdict: Verdict,
    /// The hop that it is known to be lost at; absent for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Hop>,
    /// The code of the loss's own reason; absent for any. Only a file of known failures names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why it is tolerated.
    pub reason: String,
    /// Where it is tracked.
    pub link: String,
    /// The last day on which it is tolerated: `"2026-12-31"`.
    #[serde(with = "iso_date")]
    #[schemars(with = "String")]
    pub expires: NaiveDate,
}

/// `YYYY-MM-DD` and nothing else. chrono's own `serde` feature would do the same for another build feature.
mod iso_date {
    use chrono::NaiveDate;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(super) fn serialize<S: Serializer>(date: &NaiveDate, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(date)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<NaiveDate, D::Error> {
        let text = String::deserialize(from)?;
        match text.parse::<NaiveDate>() {
            // The round trip refuses `2026-1-5` and years that nobody means.
            Ok(date) if date.to_string() == text => Ok(date),
            _ => Err(D::Error::custom(format!("`{text}` is not a date of the form `2026-12-31`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumers_are_named_alike_in_files_and_reports() {
        for consumer in [Consumer::Webhook, Consumer::Telemetry, Consumer::Idle, Consumer::Store] {
            assert_eq!(serde_json::to_value(consumer).unwrap(), consumer.as_str());
        }
    }

    #[test]
    fn a_known_failure_reads_from_toml_and_back() {
        let text = "verdict = \"silent_loss\"\nlost_at = \"decoded\"\nreason = \"r\"\nlink = \"l\"\nexpires = \"2026-12-31\"\n";
        let known: Known = toml::from_str(text).unwrap();
        assert_eq!(known.expires, NaiveDate::from_ymd_opt(2026, 12, 31).unwrap());
        assert_eq!(toml::to_string(&known).unwrap(), text);
    }

    #[test]
    fn a_sloppy_date_and_an_unknown_key_are_refused() {
        let with =
            |tail: &str| format!("verdict = \"silent_loss\"\nreason = \"r\"\nlink = \"l\"\nexpires = {tail}");
        for bad in ["\"2026-1-5\"", "\"2026-02-30\"", "\"soon\"", "\"2026-12-31\"\nexpired = 1"] {
            assert!(toml::from_str::<Known>(&with(bad)).is_err(), "{bad}");
        }
        assert!(toml::from_str::<Expected>("verdict = \"delivered\"\nlostat = \"sent\"").is_err());
        assert_eq!(
            toml::from_str::<Expected>("verdict = \"delivered\"").unwrap(),
            Expected::of(Verdict::Delivered)
        );
    }
}
