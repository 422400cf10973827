//! All detectors over one observation.

use super::evidence::{Evidence, count};
use super::{budget, divergent, durable, late, leak, loss, pace, queue, reaped, rig, wrong};
use crate::record::{Duties, Finding, Observation, Verdict};
use crate::unit::Tally;

/// Everything that is to be said of one client of one cell, worst first, never empty; the headline is the
/// first.
///
/// A fault of the rig stands alone: on broken evidence nothing is said of the subject. Findings of one
/// verdict keep the order of their detectors and, within one, of the classes.
pub fn judge(observation: &Observation, duties: &Duties) -> Vec<Finding> {
    let evidence = Evidence::of(observation);
    let faults = rig::faults(&evidence);
    if !faults.is_empty() {
        return faults;
    }
    let mut findings = leak::leaks(&evidence, duties);
    findings.extend(reaped::reaped(&evidence));
    findings.extend(durable::loss(&evidence));
    if !evidence.silent_by_design() {
        findings.extend(loss::loss(&evidence));
        findings.extend(wrong::texts(&evidence));
        findings.extend(late::late(&evidence));
        findings.extend(wrong::superseded(&evidence));
        findings.extend(pace::not_streamed(&evidence));
        findings.extend(pace::stalled(&evidence));
    }
    findings.extend(queue::in_server(&evidence));
    findings.extend(queue::in_client(&evidence));
    findings.extend(wrong::view(&evidence));
    findings.extend(divergent::sources(&evidence));
    if findings.iter().all(|finding| finding.verdict.is_healthy()) {
        findings.extend(loss::unattended(&evidence));
        findings.extend(loss::underived(&evidence));
    }
    findings.extend(budget::broken(&evidence, &duties.budget));
    if findings.is_empty() {
        findings.push(healthy(&evidence));
    }
    findings.sort_by_key(|finding| finding.verdict);
    findings
}

/// Nothing is wrong: either all arrived, or nothing was meant to.
fn healthy(evidence: &Evidence) -> Finding {
    if evidence.silent_by_design() {
        let note = "this client does not stream, and it got no text while the reply streamed".to_owned();
        return evidence.finding(Verdict::ByDesign, Tally::default(), note);
    }
    let produced: u64 = evidence.shown().map(|text| text.produced).sum();
    let delivered: u64 = evidence.shown().map(|text| text.delivered).sum();
    let amount =
        Tally { frames: evidence.shown().map(|text| text.ledger_delivered().frames).sum(), chars: delivered };
    match (produced, delivered) {
        (0, _) => {
            let note = "the model produced no text that this application shows, and none arrived".to_owned();
            evidence.finding(Verdict::Delivered, amount, note)
        }
        // Calling this delivered would claim what nobody saw.
        (_, 0) => {
            let note = format!("{} withheld by design", count(produced, "character"));
            evidence.finding(Verdict::ByDesign, amount, note)
        }
        _ => {
            let withheld = match produced - delivered.min(produced) {
                0 => String::new(),
                n => format!("; {n} withheld by design"),
            };
            let arrived = count(produced, "character");
            // A turn that was cut short has no end to be delivered.
            let cut = evidence.cut().map(|how| format!("; {how}")).unwrap_or_default();
            let note = format!("{delivered} of {arrived} arrived in order, once{withheld}{cut}");
            evidence.finding(Verdict::Delivered, amount, note)
        }
    }
}
