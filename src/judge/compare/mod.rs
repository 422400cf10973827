//! Two results of one kind, held against each other: pure functions of plain records.
//!
//! Verdicts come first, then exact counts, and times only to be looked at: two files did not take turns, so what their
//! clocks say differs for reasons that have nothing to do with the code. What cannot be compared is refused with the
//! reason ([`Incomparable`]), never left out quietly.
//!
//! A run is compared by what a baseline of it holds ([`reduced()`]), so a run and a committed baseline are the same to it.
//!
//! # Common pitfalls
//! - A cell that is gone is a finding. Whoever drops a scenario says so (`allow_gone`).
//! - A count that was not counted is not zero. What one side could not see is listed and gates nothing.
//! - A budget is no part of a cell's hash. A cell that was judged by others is said to be, and one that HEAD allows more
//!   gates: nothing healed, somebody stopped to look.
//! - What a run calls known is held to its entry's last day, and to nothing else.
//! - The verdict of a cell that healed moved its counts as well; they are listed under it and gate nothing more.

mod bench;
mod budgets;
mod cells;
mod counts;
mod difference;
mod known;
#[cfg(test)]
mod tests;

pub use bench::{compare_benches, compare_feed_benches, point_counts};
pub use cells::compare_runs;
pub use counts::reduced;
pub use known::KnownFailure;

use crate::judge::ExitCode;
use crate::record::comparison::{Change, Comparison, Counted};

/// What a person allows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules<'a> {
    /// Cells may go.
    pub allow_gone: bool,
    /// Cells whose scenario changed are left out and listed, instead of refusing all; and a budget that allows more is
    /// listed and gates nothing.
    pub skip_changed: bool,
    /// Failures that are known.
    pub known: &'a [KnownFailure],
    /// Today, for entries that expire.
    pub today: chrono::NaiveDate,
}

/// Two results that say nothing next to each other.
#[derive(Debug, thiserror::Error)]
pub enum Incomparable {
    /// They were asked differently.
    #[error("the two cannot be compared: {what} is `{base}` in BASE and `{head}` in HEAD; {help}")]
    Setting {
        /// What differs.
        what: &'static str,
        /// As in the first.
        base: String,
        /// As in the second.
        head: String,
        /// What to do about it.
        help: &'static str,
    },
    /// A side has nothing in it.
    #[error("{side} is empty: it holds no {what}, and nothing is no baseline")]
    Empty {
        /// `BASE` or `HEAD`.
        side: &'static str,
        /// `cell` or `point`.
        what: &'static str,
    },
    /// Two cells of one name: merged files.
    #[error("{side} has `{id}` twice: two results were put into one")]
    Twice {
        /// `BASE` or `HEAD`.
        side: &'static str,
        /// The cell.
        id: String,
    },
    /// Cells of one name that did not run the same thing.
    #[error(
        "{count} of the cells that both have did not run the same thing (another hash): {shown}; run BASE again, or leave them \
         out with --changed skip"
    )]
    Scenario {
        /// How many.
        count: usize,
        /// The first of them.
        shown: String,
        /// All of them.
        ids: Vec<String>,
    },
}

/// The exit code of a comparison: the first of 13, 10, 12 and 11 that applies.
pub fn exit_of(comparison: &Comparison) -> ExitCode {
    let gates =
        |cost: bool| comparison.counts.iter().any(|c| c.gates && (c.counted == Counted::Cost) == cost);
    let cell = comparison.changes.iter().any(|c| c.gates && c.change != Change::Unjudged);
    if !comparison.rig.is_empty() {
        ExitCode::RigInvalid
    } else if cell || gates(false) {
        ExitCode::Unexpected
    } else if gates(true) {
        ExitCode::OverBudget
    } else if comparison.compared == 0 {
        // Everything is gone, new, or another scenario's: nothing was held against anything.
        ExitCode::NothingRan
    } else if !comparison.stale.is_empty() {
        ExitCode::Stale
    } else {
        ExitCode::AllAsExpected
    }
}
