//! What a run tells the shell.

use crate::record::{Budgeted, CellResult, Outcome, Run, Verdict};

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Every cell ended as the scenario says, or as a known failure.
    AllAsExpected = 0,
    /// An error inside skewlab.
    Internal = 1,
    /// A usage or scenario error; nothing was judged.
    Usage = 2,
    /// Nothing ran, which is no success.
    NothingRan = 4,
    /// A cell did not end as the scenario says.
    Unexpected = 10,
    /// A known failure passes now, or its entry expired or picks nothing.
    Stale = 11,
    /// A budget is broken that the scenario does not expect to be, and nothing worse happened in that cell.
    OverBudget = 12,
    /// The rig is at fault or a cell did not run: the run says less than it claims.
    RigInvalid = 13,
}

impl ExitCode {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Of two codes the one that is told: the first of 13, 10, 12 and 11.
    #[must_use]
    pub fn first_of(self, other: ExitCode) -> ExitCode {
        let order = [ExitCode::RigInvalid, ExitCode::Unexpected, ExitCode::OverBudget, ExitCode::Stale];
        let place = |code| order.iter().position(|one| *one == code).unwrap_or(order.len());
        if place(other) < place(self) { other } else { self }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        code.code().into()
    }
}

/// The code of a run that came to its end: the first of 13, 10, 12 and 11 that applies to any cell. Reads the
/// cells, not the totals, so that an edited or merged file cannot be green by its summary.
pub fn exit_code(run: &Run) -> ExitCode {
    let any = |outcome| run.cells.iter().any(|cell| cell.outcome == outcome);
    let unexpected = |costly: bool| {
        let is = |cell: &CellResult| (cell.verdict == Verdict::OverBudget || cell.only_over_budget) == costly;
        run.cells.iter().any(|cell| cell.outcome == Outcome::Unexpected && is(cell))
    };
    // On the wall clock CPU is measured. Where it could not be, the run says less than its scenario asks; on the virtual
    // clock it never is.
    let unmeasured = |cell: &CellResult| run.clock == "wall" && cell.budgets.iter().any(Budgeted::unmeasured);
    if run.cells.is_empty() {
        ExitCode::NothingRan
    } else if run.cells.iter().any(|cell| cell.verdict.is_rig_fault() || unmeasured(cell)) {
        ExitCode::RigInvalid
    } else if unexpected(false) {
        ExitCode::Unexpected
    } else if unexpected(true) {
        ExitCode::OverBudget
    } else if any(Outcome::Stale) || !run.stale.is_empty() {
        ExitCode::Stale
    } else {
        ExitCode::AllAsExpected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{SCHEMA, Signal, Timing, Totals};

    fn cell(verdict: Verdict, outcome: Outcome) -> CellResult {
        let text = String::new;
        CellResult {
            hash: String::new(),
            client_asked: Vec::new(),
            due: crate::unit::Tally::default(),
            id: text(),
            scenario: text(),
            server: text(),
            server_release: text(),
            client: text(),
            client_release: text(),
            workload: text(),
            mutation: text(),
            verdict,
            scope: None,
            lost_at: None,
            reason: None,
            signal: Signal::None,
            log_lines: 0,
            expected: Verdict::Delivered,
            outcome,
            only_over_budget: false,
            outcome_note: None,
            known: None,
            proven: true,
            produced: crate::unit::Tally::default(),
            delivered: crate::unit::Tally::default(),
            hops: Vec::new(),
            classes: std::collections::BTreeMap::new(),
            durables: crate::record::Durables::default(),
            surfaced: Vec::new(),
            log: std::collections::BTreeMap::new(),
            side_effects: crate::record::SideEffects::default(),
            budgets: Vec::new(),
            figures: crate::record::Figures::new(),
            limits: Vec::new(),
            oracle: None,
            first_frame: None,
            queue: None,
            receive_queue: None,
            subscribers: None,
            findings: Vec::new(),
        }
    }

    fn code(cells: &[(Verdict, Outcome)]) -> u8 {
        code_of(cells.iter().map(|(verdict, outcome)| cell(*verdict, *outcome)).collect())
    }

    fn code_of(cells: Vec<CellResult>) -> u8 {
        let run = Run {
            schema: SCHEMA.to_owned(),
            skewlab: String::new(),
            seed: 1,
            clock: "virtual".to_owned(),
            digest: String::new(),
            sealed: false,
            scenarios: Vec::new(),
            totals: Totals::default(),
            stale: Vec::new(),
            cells,
            timing: Timing::default(),
        };
        exit_code(&run).code()
    }

    #[test]
    fn the_first_code_that_applies_wins() {
        let fine = (Verdict::Delivered, Outcome::Expected);
        let known = (Verdict::SilentLoss, Outcome::Known);
        let stale = (Verdict::Delivered, Outcome::Stale);
        let wrong = (Verdict::SilentLoss, Outcome::Unexpected);
        assert_eq!(code(&[]), 4);
        assert_eq!(code(&[fine]), 0);
        assert_eq!(code(&[fine, known, (Verdict::SilentLoss, Outcome::Expected)]), 0);
        assert_eq!(code(&[fine, known, stale]), 11);
        assert_eq!(code(&[stale, wrong, fine]), 10);
        let costly = (Verdict::OverBudget, Outcome::Unexpected);
        assert_eq!(code(&[fine, costly, known]), 12);
        assert_eq!(code(&[stale, costly]), 12, "a budget is worse than a stale entry");
        assert_eq!(code(&[costly, wrong, stale]), 10, "and a loss is worse than a budget");
        assert_eq!(code(&[(Verdict::OverBudget, Outcome::Expected), fine]), 0);
        assert_eq!(code(&[(Verdict::OverBudget, Outcome::Known), fine]), 0);
        let under = CellResult { only_over_budget: true, ..cell(Verdict::SilentLoss, Outcome::Unexpected) };
        assert_eq!(code_of(vec![under.clone()]), 12, "the loss is expected, the cost under it is not");
        assert_eq!(code_of(vec![under, cell(wrong.0, wrong.1)]), 10);
        // It was to be over budget and is not: as unexpected as any other headline.
        assert_eq!(code(&[(Verdict::Delivered, Outcome::Unexpected)]), 10);
        for rig in [Verdict::NotRun, Verdict::Invalid] {
            // Whatever its outcome claims.
            for outcome in [Outcome::Unexpected, Outcome::Expected, Outcome::Known] {
                assert_eq!(code(&[stale, wrong, costly, (rig, outcome)]), 13);
            }
        }
    }

    #[test]
    fn a_cpu_budget_without_a_measurement_is_a_fault_of_the_rig_where_it_is_measured() {
        let budget = |measured: Option<f64>| Budgeted {
            budget: Budgeted::CPU_RATIO_VS.to_owned(),
            is: crate::record::Comparison::AtMost,
            limit: 1.0,
            measured,
            kept: measured.map(|m| m <= 1.0),
            note: String::new(),
        };
        let code = |clock: &str, measured| {
            let mut cell = cell(Verdict::Delivered, Outcome::Expected);
            cell.budgets = vec![budget(measured)];
            let run = Run {
                schema: SCHEMA.to_owned(),
                skewlab: String::new(),
                seed: 1,
                clock: clock.to_owned(),
                digest: String::new(),
                sealed: false,
                scenarios: Vec::new(),
                totals: Totals::default(),
                stale: Vec::new(),
                cells: vec![cell],
                timing: Timing::default(),
            };
            exit_code(&run).code()
        };
        assert_eq!([code("wall", None), code("wall", Some(0.9)), code("virtual", None)], [13, 0, 0]);
    }

    #[test]
    fn of_two_codes_the_worse_is_told() {
        use ExitCode::{AllAsExpected, OverBudget, RigInvalid, Stale, Unexpected};
        let all = [RigInvalid, Unexpected, OverBudget, Stale, AllAsExpected];
        for (n, worse) in all.into_iter().enumerate() {
            for other in &all[n..] {
                assert_eq!((worse.first_of(*other), other.first_of(worse)), (worse, worse));
            }
        }
    }

    #[test]
    fn every_code_is_the_documented_one() {
        let codes = [ExitCode::AllAsExpected, ExitCode::Internal, ExitCode::Usage].map(ExitCode::code);
        assert_eq!(codes, [0, 1, 2]);
    }
}
