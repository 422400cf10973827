//! `figures` of an `[[expect]]`: exact counts, as numbers or expressions.

use toml::de::DeValue;

use super::workload::FeedWorkload;
use crate::record::{Comparison, Figure, FigureLimit, Figures};
use crate::scenario::expression::{Term, Terms, mentions, work_out};
use crate::scenario::limit::{Misplaced, Written, written};
use crate::scenario::problem::Problem;
use crate::scenario::section::{Faults, Section, wrong};
use crate::session_feed::Fault;

/// One limit of an expectation.
#[derive(Debug, Clone)]
pub(super) struct Figured {
    figure: Figure,
    is: Comparison,
    written: std::sync::Arc<Written>,
}

const EXPECTED: &str =
    "a number, or in quotes an expression over C, T, A, S, k, N, L and M with a comparison before it";
const HELP: &str = "write a number, or an expression with + - * / ( ) ceil, floor, min and max, and a comparison (==, <=, <, \
                    >=, >) before it if it is not equal: \"<= k\"";

/// What the letters of a figure stand for, but for `N`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) workload: &'a FeedWorkload,
    pub(super) fault: Fault,
    pub(super) log_listeners: u32,
    pub(super) live_listeners: u32,
}

impl Known<'_> {
    #[expect(clippy::cast_precision_loss, reason = "counts of one session stay far below 2^52")]
    fn terms(self, events: Option<u64>) -> Vec<Term> {
        let attempts = self.workload.steps() + u64::from(matches!(self.fault, Fault::Retry(_)));
        let all = [
            ("C", "chunks that the script streams", Some(self.workload.chunks())),
            ("T", "characters of its text", Some(self.workload.text_chars())),
            ("A", "attempts", Some(attempts)),
            ("S", "steps", Some(self.workload.steps())),
            ("k", "the fault's chunk", self.fault.chunk()),
            ("N", "events in the log", events),
            ("L", "plain listeners on the log", Some(self.log_listeners.into())),
            ("M", "plain listeners on the live feed", Some(self.live_listeners.into())),
        ];
        let counted = |(name, meaning, value): (&'static str, &'static str, Option<u64>)| {
            Some(Term { name, meaning, value: value? as f64 })
        };
        all.into_iter().filter_map(counted).collect()
    }
}

/// Reads the `figures` of a table.
pub(super) fn read(section: &mut Section<'_>, faults: &mut Faults) -> Vec<Figured> {
    let Some(value) = section.value("figures") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        wrong("figures", "a table: { dispatches = \"N+C\", handled_chunks = 0 }", value, faults);
        return Vec::new();
    };
    let mut table = Section::new("`figures`", value.span(), table);
    let mut figures = Vec::new();
    for figure in Figure::ALL.iter().copied() {
        for written in written(&mut table, figure.as_str(), EXPECTED, faults) {
            // A count is exact unless something else is said.
            let is = written.is.unwrap_or(Comparison::Exactly);
            figures.push(Figured { figure, is, written: std::sync::Arc::new(written) });
        }
    }
    table.finish(faults);
    figures
}

impl Figured {
    /// The limit of a cell; its value is absent where it takes what the run counts.
    pub(super) fn limit(&self, known: Known<'_>) -> Result<FigureLimit, Misplaced> {
        let from = self.written.from();
        let needs = |letter: &str| from.as_ref().is_some_and(|text| mentions(text, letter));
        if needs("k") && known.fault.chunk().is_none() {
            let message = format!("`k` is the fault's chunk, and `{}` has none", known.fault);
            let hint = "give this [[expect]] a `fault` of which each has a chunk".to_owned();
            return Err((self.written.span.clone(), Problem::BadLimit { message, hint }));
        }
        // Every log has an event more than it has chunks; that is enough to read the expression.
        let terms = known.terms(Some(known.workload.chunks() + 1));
        let terms = Terms { of: "figure", all: &terms };
        let value = self.written.value(terms).map_err(helped)?;
        if needs("N") {
            return Ok(FigureLimit { figure: self.figure, is: self.is, value: None, from });
        }
        if !(value.is_finite() && value >= 0.0) {
            let message = format!("a count is 0 or more, and this is {value}");
            let hint = format!("with {} (workload `{}`)", terms.values(), known.workload.name);
            return Err((self.written.span.clone(), Problem::BadLimit { message, hint }));
        }
        Ok(FigureLimit { figure: self.figure, is: self.is, value: Some(value), from })
    }
}

impl Figured {
    /// The limit of a cell. All were worked out once while the file was read; one that could not be has no value and is
    /// missed, rather than not there.
    pub(super) fn limit_or_none(&self, known: Known<'_>) -> FigureLimit {
        let (figure, is, from) = (self.figure, self.is, self.written.from());
        self.limit(known).unwrap_or(FigureLimit { figure, is, value: None, from })
    }
}

/// The help for budgets names other letters.
fn helped((span, problem): Misplaced) -> Misplaced {
    let problem = match problem {
        Problem::BadLimit { message, hint } if hint.is_empty() => {
            Problem::BadLimit { message, hint: HELP.to_owned() }
        }
        other => other,
    };
    (span, problem)
}

/// The limits with what the run counted. Where that is not enough the value stays absent, and the limit is missed.
pub(super) fn settled(limits: &[FigureLimit], known: Known<'_>, counted: &Figures) -> Vec<FigureLimit> {
    let terms = known.terms(counted.get(&Figure::Events).copied());
    let terms = Terms { of: "figure", all: &terms };
    let settle = |limit: &FigureLimit| {
        let value =
            limit.value.or_else(|| work_out(limit.from.as_deref()?, terms).ok().filter(|v| v.is_finite()));
        FigureLimit { value, ..limit.clone() }
    };
    limits.iter().map(settle).collect()
}
