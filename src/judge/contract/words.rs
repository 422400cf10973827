//! Findings in words.

use crate::openapi::quoted;
use crate::record::Signal;
use crate::record::contract::{Broken, ContractChange, ContractFinding, Severity};

/// A finding without readers.
pub(super) fn note(change: ContractChange, place: &[&str], what: String, advice: &str) -> ContractFinding {
    finding(change, Severity::Note, place, what, Vec::new(), advice)
}

/// A finding. `place` are names, from the outside in.
pub(super) fn finding(
    change: ContractChange,
    severity: Severity,
    place: &[&str],
    what: String,
    breaks: Vec<Broken>,
    advice: &str,
) -> ContractFinding {
    let names: Vec<String> = place.iter().map(|name| quoted(name)).collect();
    ContractFinding {
        id: format!("{}/{}", change.as_str(), names.join("/")),
        change,
        severity,
        place: names.join("."),
        what,
        breaks,
        advice: advice.to_owned(),
        expected: false,
    }
}

/// How bad it is for those readers, and `otherwise` where there is none.
pub(super) fn severity(breaks: &[Broken], otherwise: Severity) -> Severity {
    // A log line is not surfacing.
    let silent = breaks.iter().any(|b| b.signal != Signal::Surfaced);
    match breaks {
        [] => otherwise,
        _ if silent => Severity::Silent,
        _ => Severity::Loud,
    }
}

/// Names in one line, the first few of many.
pub(super) fn some<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const MOST: usize = 4;
    let count = names.len();
    let mut shown: Vec<String> = names.take(MOST).map(|n| format!("`{}`", quoted(n))).collect();
    if count > MOST {
        shown.push(format!("{} more", count - MOST));
    }
    shown.join(", ")
}
