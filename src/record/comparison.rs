//! What two results differ by: verdicts, exact counts, costs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow::{Hop, Reason};
use super::observation::Signal;
use super::verdict::{Scope, Verdict};

/// Schema name and version.
pub const COMPARISON_SCHEMA: &str = "skewlab.comparison/1";

/// Two results of one kind, held against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: String,
    /// Version of skewlab that compared.
    pub skewlab: String,
    /// What was compared.
    pub kind: Kind,
    /// What came first.
    pub base: Side,
    /// What it is held against.
    pub head: Side,
    /// Cells (of a bench: points) that are in both and have the same hash.
    pub compared: u64,
    /// How many cells changed how; none of what did not occur.
    pub totals: BTreeMap<Change, u64>,
    /// Every cell whose end changed, in the order of [`Change`] and then by id.
    pub changes: Vec<CellChange>,
    /// Every exact count that differs, by cell and name.
    pub counts: Vec<CountChange>,
    /// Times of a bench. They never gate: two files did not take turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<TimeShown>,
    /// Cells that are another scenario's cell now, and were left out on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Known failures that are none any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Stale>,
    /// Where the rig was at fault, on either side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rig: Vec<String>,
    /// What a reader has to know and what gates nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The exit code that follows.
    pub exit: u8,
}

/// What a comparison is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Runs and baselines of runs.
    Run,
    /// `bench fanout`.
    Bench,
    /// `bench feed`.
    FeedBench,
}

impl Kind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Bench => "bench",
            Kind::FeedBench => "feed-bench",
        }
    }
}

/// One of the two results, without a word on where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Version of skewlab that made it.
    pub skewlab: String,
    /// Cells; of a bench points.
    pub cells: u64,
}

/// How the end of a cell changed. In the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was judged and is `not_run` or `invalid` now.
    Unjudged,
    /// It ends in a silent loss and did not, or ended better.
    NewlySilent,
    /// The same of a loud loss.
    NewlyLoud,
    /// Any other verdict that is more severe, or the same one with another finding under it.
    Worse,
    /// It is not there any more, which is not green.
    Gone,
    /// It did the same and was judged by other budgets, so that its verdicts say nothing next to each other.
    Rejudged,
    /// The same verdict, and another hop, reason, scope or signal.
    Changed,
    /// It was `not_run` or `invalid`, and is judged now.
    JudgedAgain,
    /// A verdict that is less severe, and not healthy; or a healthy one that is better than another.
    Better,
    /// It is healthy and was not.
    Healed,
    /// It was not there.
    Added,
}

impl Change {
    /// All, in the order of reports.
    pub const ALL: [Change; 11] = [
        Change::Unjudged,
        Change::NewlySilent,
        Change::NewlyLoud,
        Change::Worse,
        Change::Gone,
        Change::Rejudged,
        Change::Changed,
        Change::JudgedAgain,
        Change::Better,
        Change::Healed,
        Change::Added,
    ];

    /// The words of a report.
    pub fn words(self) -> &'static str {
        match self {
            Change::Unjudged => "not judged any more",
            Change::NewlySilent => "newly silent",
            Change::NewlyLoud => "newly loud",
            Change::Worse => "worse",
            Change::Gone => "gone",
            Change::Rejudged => "judged by another budget",
            Change::Changed => "same verdict, elsewhere",
            Change::JudgedAgain => "judged again",
            Change::Better => "better",
            Change::Healed => "healed",
            Change::Added => "added",
        }
    }
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Its headline.
    pub verdict: Verdict,
    /// Which part of the text is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The hop that lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Hop>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What the application could notice.
    pub signal: Signal,
    /// What else was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Verdict>,
}

/// A cell that ended otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellChange {
    /// The cell; of a bench the point, as `BUS/ENCODING/SUBSCRIBERS`.
    pub id: String,
    /// How it changed.
    pub change: Change,
    /// Whether the exit code follows from it.
    pub gates: bool,
    /// How it ended; absent where it was not there, and for a bench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<State>,
    /// How it ends now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<State>,
    /// The known failure that it is, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// By which budgets it was judged otherwise, in words; absent where they are the same or a side does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<String>,
}

/// What a count says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Text and events on their way: any difference is one too many.
    Text,
    /// What was spent: more is worse.
    Cost,
}

/// An exact count that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountChange {
    /// The cell or point.
    pub id: String,
    /// What was counted, in words: `left decoded, characters`.
    pub count: String,
    /// What it says.
    pub counted: Counted,
    /// The count; absent where it was not counted.
    #[schemars(with = "Option<f64>")]
    pub base: Option<Count>,
    /// The count now.
    #[schemars(with = "Option<f64>")]
    pub head: Option<Count>,
    /// Whether the exit code follows from it.
    pub gates: bool,
}

/// A number that was counted, or one made of such by a division. A count stays exact, however large it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// As it was counted.
    Whole(u64),
    /// Counted and divided.
    Share(f64),
}

impl Count {
    /// A quotient of counts; one without a remainder is whole.
    pub fn of(share: f64) -> Count {
        // Beyond this not every whole number has a float of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and within bounds"
        )]
        if share.fract() == 0.0 && (0.0..EXACT).contains(&share) {
            Count::Whole(share as u64)
        } else {
            Count::Share(share)
        }
    }
}

impl From<u64> for Count {
    fn from(count: u64) -> Count {
        Count::Whole(count)
    }
}

/// CPU of one point of a bench on both sides: shown, never judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeShown {
    /// The point.
    pub id: String,
    /// CPU a chunk, ns.
    pub base_ns: f64,
    /// CPU a chunk now, ns.
    pub head_ns: f64,
}

/// A known failure that has to go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stale {
    /// Line in the file of known failures, from 1; absent for one of a scenario's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The pattern of the entry, or the cell.
    pub cell: String,
    /// Why it has to go.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_reported_worst_first() {
        assert!(Change::ALL.is_sorted());
    }

    #[test]
    fn whole_counts_have_no_point_and_read_back() {
        let count = |base, head| CountChange {
            id: "a".into(),
            count: "c".into(),
            counted: Counted::Text,
            base,
            head,
            gates: true,
        };
        let of = |n| Some(Count::of(n));
        let large = |n| Some(Count::Whole(n));
        for change in [
            count(of(3.0), of(0.25)),
            count(None, of(1e300)),
            count(of(0.0), None),
            count(large((1 << 53) + 1), large(u64::MAX)),
        ] {
            let text = serde_json::to_string(&change).unwrap();
            assert!(!text.contains(".0"), "{text}");
            assert_eq!(serde_json::from_str::<CountChange>(&text).unwrap(), change);
        }
        let text = serde_json::to_string(&count(large((1 << 53) + 1), None)).unwrap();
        assert!(text.contains("9007199254740993"), "{text}");
    }
}
