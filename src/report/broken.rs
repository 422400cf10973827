//! What broke: the cells that are not as they should be, worst first, those that read the same as one.

use std::collections::BTreeMap;

use super::escape::line;
use super::findings::{places, sentence, whose};
use super::waiting::worst;
use crate::record::comparison::Stale;
use crate::record::{Budgeted, CellResult, Finding, Outcome, Run, Verdict};

/// How a cell is not as it should be, worst first: in the order of the exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// The rig is at fault, the cell did not run, or what its scenario asks was not measured.
    Rig,
    /// Not as the scenario says.
    Unexpected,
    /// A known failure that passes now, or whose entry expired.
    Stale,
}

impl Trouble {
    /// In a word.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Trouble::Rig => "rig fault",
            Trouble::Unexpected => "unexpected",
            Trouble::Stale => "stale",
        }
    }
}

/// What is wrong with a cell of this run, if anything is; the same that its exit code is made of.
pub(super) fn trouble(run: &Run, cell: &CellResult) -> Option<Trouble> {
    let unmeasured = run.clock == "wall" && cell.budgets.iter().any(Budgeted::unmeasured);
    match cell.outcome {
        _ if cell.verdict.is_rig_fault() => Some(Trouble::Rig),
        Outcome::Unexpected => Some(Trouble::Unexpected),
        Outcome::Stale => Some(Trouble::Stale),
        Outcome::Expected | Outcome::Known => unmeasured.then_some(Trouble::Rig),
    }
}

/// The finding that makes a cell what it is: its headline, or the broken budget under an expected headline.
pub(super) fn cause(cell: &CellResult) -> Option<&Finding> {
    let budget = |finding: &&Finding| finding.verdict == Verdict::OverBudget;
    let under = cell.findings.iter().find(budget).filter(|_| cell.only_over_budget);
    under.or(cell.findings.first())
}

/// One sentence on the cell: verdict, hop, reason, how much of how much, what could be noticed. One line.
pub(super) fn said(cell: &CellResult) -> String {
    let text = cause(cell).map(|finding| sentence(cell, finding));
    line(&text.unwrap_or_else(|| format!("{}, without a finding", cell.verdict.as_str()))).into_owned()
}

/// Cells that are broken alike.
pub(super) struct Broken<'a> {
    /// How.
    pub(super) trouble: Trouble,
    /// The verdict to read up: that of the finding that makes them what they are.
    pub(super) verdict: Verdict,
    /// The scenario.
    pub(super) scenario: &'a str,
    /// Whose client, and the sentence; one line.
    pub(super) what: String,
    /// Why that is not as it should be.
    pub(super) note: Option<String>,
    /// What waited for the subscriber; a line each.
    pub(super) waiting: Vec<String>,
    /// The cells, in plan order; never none.
    pub(super) cells: Vec<&'a CellResult>,
}

impl Broken<'_> {
    /// Where: servers, sessions, mutations; one line.
    pub(super) fn places(&self) -> String {
        line(&places(&self.cells)).into_owned()
    }
}

/// Entries of the file of known failures that have to go and that no cell tells of; one line each.
pub(super) fn stale_entries(run: &Run) -> Vec<String> {
    let entry = |entry: &Stale| {
        let at = entry.line.map_or_else(String::new, |line| format!(", line {line}"));
        line(&format!("known failures{at}: {}: {}", entry.cell, entry.why)).into_owned()
    };
    run.stale.iter().map(entry).collect()
}

/// What to do about them.
pub(super) const STALE_ENTRIES: &str =
    "Remove the entry from the file of known failures, or mend its pattern: it tolerates nothing.";

/// All that is broken in a run.
pub(super) fn broken(run: &Run) -> Vec<Broken<'_>> {
    let mut groups: BTreeMap<(Trouble, Verdict, &str, String), Vec<&CellResult>> = BTreeMap::new();
    for cell in &run.cells {
        let Some(trouble) = trouble(run, cell) else { continue };
        let verdict = cause(cell).map_or(cell.verdict, |finding| finding.verdict);
        let client = cause(cell).map_or_else(String::new, |finding| whose(cell, finding));
        let what = format!("{}{}", line(&client), said(cell));
        groups.entry((trouble, verdict, &cell.scenario, what)).or_default().push(cell);
    }
    let mut broken = Vec::new();
    for ((trouble, verdict, scenario, what), cells) in groups {
        let note = cells.first().and_then(|cell| note(cell)).map(|note| line(&note).into_owned());
        let waiting = worst(&cells);
        broken.push(Broken { trouble, verdict, scenario, what, note, waiting, cells });
    }
    broken
}

/// Why the cell is not as it should be.
fn note(cell: &CellResult) -> Option<String> {
    let unmeasured =
        || cell.budgets.iter().find(|budget| budget.unmeasured()).map(|budget| budget.note.clone());
    cell.outcome_note.clone().or_else(unmeasured)
}
