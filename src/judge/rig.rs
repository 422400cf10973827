//! Faults of the rig: contradictions that it found itself, and a ledger that disagrees with the text.

use super::align::Kind;
use super::evidence::{ClassText, Evidence, count};
use crate::record::{Finding, Reason, Verdict};
use crate::unit::Tally;

/// One of the rig's own checks failed; the note carries its words.
const RIG_FAULT: Reason = Reason::new("rig_fault");
/// The ledger says that other text arrived than the text itself says.
const LEDGER_DISAGREES: Reason = Reason::new("ledger_disagrees");

/// Every contradiction in the evidence.
pub(super) fn faults(evidence: &Evidence) -> Vec<Finding> {
    let noted = evidence.seen.rig_faults.iter().map(|fault| {
        let invalid = evidence.finding(Verdict::Invalid, Tally::default(), format!("rig fault: {fault}"));
        Finding { reason: Some(RIG_FAULT), ..invalid }
    });
    noted.chain(evidence.classes.iter().filter_map(|text| disagreement(evidence, text))).collect()
}

/// The ledger follows frames and the alignment reads text. Where the text says for certain how much arrived,
/// both must say the same; a repetition or another text is beyond what the ledger can know.
fn disagreement(evidence: &Evidence, text: &ClassText) -> Option<Finding> {
    if !matches!(text.alignment.kind, Kind::Equal | Kind::Missing { .. }) {
        return None;
    }
    let arrived = text.produced - text.alignment.missing.chars.min(text.produced);
    let counted = text.ledger_delivered().chars;
    if arrived == counted {
        return None;
    }
    let (class, characters) = (text.class.as_str(), count(counted, "character"));
    let note = format!(
        "rig fault: the ledger counts {characters} of {class} as delivered, and the application got {arrived}"
    );
    let amount = Tally { frames: 0, chars: arrived.abs_diff(counted) };
    let invalid = evidence.finding(Verdict::Invalid, amount, note);
    Some(Finding { reason: Some(LEDGER_DISAGREES), ..invalid })
}
