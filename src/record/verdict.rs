//! The words that a cell ends in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::{Hop, Reason};
use super::observation::Signal;
use crate::unit::Tally;

/// What is to be said of one client in one cell. Ordered by severity: the first is the worst, and a cell's
/// headline is its worst finding.
///
/// The order is one of harm to the person who reads. First what takes the conversation from them, then text that is missing
/// or wrong while nobody is told, then text that is missing and somebody is told; behind it text that is all there and right,
/// in a place where it does not belong (`late`) or at a time when nobody waits for it any more (`not_streamed`, `stalled`);
/// last what only the operator pays for. So a reply that stands twice in the view is worse than a late piece of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The cell did not run. Red, never blank.
    NotRun,
    /// The rig is at fault: counts that do not add up, a panic.
    Invalid,
    /// A delta reached a consumer that must never see one.
    Leaked,
    /// The runtime's idle policy ended the server while a turn was running: the rest of the reply is never made.
    Reaped,
    /// A durable event that the client should have got was refused or dropped, or is never made because the server was ended
    /// in the turn that owes it.
    DurableLoss,
    /// Text missing, and nothing surfaced, whether or not the run ended.
    SilentLoss,
    /// Wrong text.
    Corrupted,
    /// The right text, and its pieces in another order.
    Reordered,
    /// Two sources of one text disagree: a live feed and the log, or chunks and the message made of them.
    Divergent,
    /// Text twice.
    Duplicated,
    /// Text missing, and something surfaced.
    LoudLoss,
    /// Text that came after the final message of its turn.
    Late,
    /// All text came, and none of it before the model was as good as done.
    NotStreamed,
    /// A subscriber with which nothing is wrong was held up because another one was.
    Stalled,
    /// More and more waited for a subscriber, and nothing limited it.
    Unbounded,
    /// A cost budget of the scenario was exceeded. The text is all there, which is why every loss is worse.
    OverBudget,
    /// The profile says that this client does not stream, and it got nothing.
    ByDesign,
    /// All text, in order, once, while it streamed.
    Delivered,
}

impl Verdict {
    /// Every verdict, worst first.
    pub const ALL: [Verdict; 18] = [
        Verdict::NotRun,
        Verdict::Invalid,
        Verdict::Leaked,
        Verdict::Reaped,
        Verdict::DurableLoss,
        Verdict::SilentLoss,
        Verdict::Corrupted,
        Verdict::Reordered,
        Verdict::Divergent,
        Verdict::Duplicated,
        Verdict::LoudLoss,
        Verdict::Late,
        Verdict::NotStreamed,
        Verdict::Stalled,
        Verdict::Unbounded,
        Verdict::OverBudget,
        Verdict::ByDesign,
        Verdict::Delivered,
    ];

    /// The word that a person types and `run.json` carries.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::NotRun => "not_run",
            Verdict::Invalid => "invalid",
            Verdict::Leaked => "leaked",
            Verdict::Reaped => "reaped",
            Verdict::DurableLoss => "durable_loss",
            Verdict::SilentLoss => "silent_loss",
            Verdict::Corrupted => "corrupted",
            Verdict::Reordered => "reordered",
            Verdict::Divergent => "divergent",
            Verdict::Duplicated => "duplicated",
            Verdict::LoudLoss => "loud_loss",
            Verdict::Late => "late",
            Verdict::NotStreamed => "not_streamed",
            Verdict::Stalled => "stalled",
            Verdict::Unbounded => "unbounded",
            Verdict::OverBudget => "over_budget",
            Verdict::ByDesign => "by_design",
            Verdict::Delivered => "delivered",
        }
    }

    /// Whether the person got what they should, at a cost that the scenario allows.
    pub fn is_healthy(self) -> bool {
        matches!(self, Verdict::Delivered | Verdict::ByDesign)
    }

    /// Whether the cell says nothing about the subject, because the rig failed.
    pub fn is_rig_fault(self) -> bool {
        matches!(self, Verdict::NotRun | Verdict::Invalid)
    }
}

/// Which part of the text is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All of it.
    Total,
    /// The beginning.
    Prefix,
    /// The end.
    Tail,
    /// One stretch in the middle.
    Gap,
    /// All of one class, while another class arrived.
    Class,
    /// Several stretches.
    Scattered,
}

impl Scope {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Total => "total",
            Scope::Prefix => "prefix",
            Scope::Tail => "tail",
            Scope::Gap => "gap",
            Scope::Class => "class",
            Scope::Scattered => "scattered",
        }
    }
}

/// One thing found in a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What it is.
    pub verdict: Verdict,
    /// Which part of the text, for a loss.
    pub scope: Option<Scope>,
    /// The hop that stopped most of it.
    pub lost_at: Option<Hop>,
    /// Why it stopped there.
    pub reason: Option<Reason>,
    /// What the application could notice of it.
    pub signal: Signal,
    /// How much is missing, wrong or too much.
    pub amount: Tally,
    /// The same in words, for a person.
    pub note: String,
}

/// What an actual verdict means next to the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As the scenario says.
    Expected,
    /// Not as the scenario says.
    Unexpected,
    /// Not as it should be, and listed as a known failure that has not expired.
    Known,
    /// Listed as a known failure, but it passes now or the entry has expired.
    Stale,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 4] = [Outcome::Expected, Outcome::Unexpected, Outcome::Known, Outcome::Stale];

    /// The word in `run.json` and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Expected => "expected",
            Outcome::Unexpected => "unexpected",
            Outcome::Known => "known",
            Outcome::Stale => "stale",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_listed_worst_first_and_named_as_they_are_written() {
        assert!(Verdict::ALL.is_sorted(), "the list and the order of the enum differ");
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
    }

    #[test]
    fn outcomes_are_named_alike_in_results_and_reports() {
        for outcome in Outcome::ALL {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
    }
}
