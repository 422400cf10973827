//! Results that hold one thing against another: comparisons, benches in turns, contracts.

use super::measured::Measured;
use super::wording::{counted, spaced};
use super::{Section, Tone};
use crate::record::comparison::{Comparison, State};
use crate::record::contract::{ContractReport, Party, Severity};
use crate::record::interleaved::{Claim, Interleaved, Series};
use crate::report::compare;

/// The section of `compare`.
pub(super) fn comparison(of: &Comparison, id: String, title: String) -> askama::Result<Section> {
    let side = |side: &crate::record::comparison::Side| {
        format!("{} of skewlab {}", compare::many(side.cells, of.kind), side.skewlab)
    };
    let mut shown = Measured {
        lead: format!("{} Before: {}. Now: {}.", compare::summary(of), side(&of.base), side(&of.head)),
        ..Measured::default()
    };
    for fault in &of.rig {
        shown.note(Tone::Bad, format!("The rig: {fault}"));
    }
    for stale in compare::stale(of) {
        shown.note(Tone::Warn, format!("Has to go from its list: {stale}"));
    }
    for note in &of.notes {
        shown.note(Tone::Quiet, note.clone());
    }
    let rows = of.changes.iter().map(|change| {
        vec![
            change.id.clone(),
            change.change.words().to_owned(),
            gates(change.gates),
            state(change.base.as_ref()),
            state(change.head.as_ref()),
            change.known.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    });
    shown.table("What ended otherwise", &["cell", "how", "exit code", "before", "now", "known as"], rows);
    let groups = compare::groups(of);
    let rows = groups.iter().map(|group| {
        let places = compare::places(&group.cells, of.kind, str::to_owned);
        vec![group.count.to_owned(), gates(group.gates), group.base.clone(), group.head.clone(), places]
    });
    shown.table("Exact counts that differ", &["count", "exit code", "before", "now", "where"], rows);
    let micros = |ns: f64| format!("{:.2}", ns / 1e3);
    let rows = of.times.iter().map(|t| vec![t.id.clone(), micros(t.base_ns), micros(t.head_ns)]);
    shown.table("CPU a chunk, µs (not judged)", &["point", "before", "now"], rows);
    let rows = of.skipped.iter().map(|cell| vec![cell.clone()]);
    shown.table("Left out: another scenario's cell now", &["cell"], rows);
    let tone = match of.exit {
        0 => Tone::Good,
        11 => Tone::Warn,
        _ => Tone::Bad,
    };
    shown.section(id, title, (tone, sentence(compare::result(of))))
}

/// As the beginning of a sentence.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn gates(gates: bool) -> String {
    if gates { "follows from it" } else { "-" }.to_owned()
}

fn state(of: Option<&State>) -> String {
    let Some(of) = of else { return "-".to_owned() };
    let details = compare::details(of);
    let word = spaced(of.verdict.as_str());
    if details.is_empty() { word } else { format!("{word} ({})", details.join(", ")) }
}

/// The section of `bench … --against`.
pub(super) fn interleaved(of: &Interleaved, id: String, title: String) -> askama::Result<Section> {
    let mut shown = Measured {
        lead: format!(
            "CPU a chunk of {} over that of {}, block by block in turn. The smallest effect is {} %; {} corrected by Holm.",
            of.head,
            of.base,
            of.smallest_effect * 100.0,
            counted(of.points.len() as u64, "point")
        ),
        ..Measured::default()
    };
    for reason in &of.rig {
        shown.note(Tone::Bad, format!("No figure below may be quoted: {reason}"));
    }
    for broken in &of.broken {
        shown.note(Tone::Bad, broken.clone());
    }
    if !of.complete {
        shown.note(Tone::Warn, "Stopped early: not every block that was asked for was measured.");
    }
    let rows = of.points.iter().map(|point| {
        let Series { base_ns, head_ns, ratio, ci, control_ci, p_holm, .. } = &point.first;
        let again = point.second.as_ref().map_or_else(|| "-".to_owned(), |s| format!("{:.3}", s.ratio));
        vec![
            point.id.clone(),
            base_ns.len().min(head_ns.len()).to_string(),
            format!("{ratio:.3}"),
            crate::report::interleaved::between(*ci),
            crate::report::interleaved::between(*control_ci),
            format!("{p_holm:.4}"),
            again,
            point.claim.words().to_owned(),
        ]
    });
    let head = ["point", "blocks", "ratio", "95 %", "A/A control", "p", "second series", "may be said"];
    shown.table("CPU of one over the other, in turns", &head, rows);
    let rows = of.counts.iter().map(|count| {
        vec![
            count.id.clone(),
            count.count.clone(),
            gates(count.gates),
            crate::report::compare::figure(count.base),
            crate::report::compare::figure(count.head),
        ]
    });
    shown.table("Exact counts that differ", &["point", "count", "exit code", "before", "now"], rows);
    let regressed = of.points.iter().filter(|point| point.claim == Claim::Regressed).count() as u64;
    let gating = of.counts.iter().filter(|count| count.gates).count() as u64;
    let headline = match of.exit {
        0 => (Tone::Good, "Nothing got worse".to_owned()),
        12 => {
            let (slower, counts) = (counted(regressed, "point"), counted(gating, "exact count"));
            (Tone::Bad, format!("{slower} regressed, {counts} went up"))
        }
        13 => (Tone::Bad, "The rig was not fit to measure: no figure may be quoted".to_owned()),
        _ => (Tone::Bad, "Text did not arrive as it should".to_owned()),
    };
    shown.section(id, title, headline)
}

/// The section of `contract`.
pub(super) fn contract(of: &ContractReport, id: String, title: String) -> askama::Result<Section> {
    let against = of.against.as_ref().map_or_else(String::new, |a| format!(", held against {}", party(a)));
    let types = of.types.as_ref().map_or_else(String::new, |t| format!("; generated types: {t}"));
    let mut shown =
        Measured { lead: format!("{}{against}{types}.", party(&of.subject)), ..Measured::default() };
    for stale in &of.stale {
        shown.note(Tone::Warn, format!("No finding is called {stale}, which is expected."));
    }
    let guessed: Vec<&str> = of.clients.iter().filter(|c| !c.certified).map(|c| c.name.as_str()).collect();
    if !guessed.is_empty() {
        shown.note(Tone::Quiet, format!("Without a certificate, so a guess: {}", guessed.join(", ")));
    }
    let rows = of.findings.iter().map(|finding| {
        let breaks: Vec<String> =
            finding.breaks.iter().map(|b| format!("{} ({}): {}", b.who, b.signal.as_str(), b.how)).collect();
        let known = if finding.expected { " (expected)" } else { "" };
        vec![
            format!("{}{known}", spaced(finding.severity.as_str())),
            finding.id.clone(),
            finding.what.clone(),
            breaks.join("; "),
            finding.advice.clone(),
        ]
    });
    shown.table("What was found", &["how bad", "id", "what", "breaks", "do"], rows);
    let asked =
        of.clients.iter().map(|c| vec![c.name.clone(), if c.certified { "yes" } else { "no" }.to_owned()]);
    shown.table("Clients that were asked", &["client", "certified"], asked);
    let open = of.findings.iter().filter(|f| !f.expected && f.severity.breaks()).count() as u64;
    let silent = of.findings.iter().filter(|f| !f.expected && f.severity == Severity::Silent).count();
    let headline = match open {
        0 => (Tone::Good, "Nothing breaks that is not expected".to_owned()),
        n => (Tone::Bad, format!("{} that break a reader, {silent} of them silently", counted(n, "finding"))),
    };
    shown.section(id, title, headline)
}

fn party(party: &Party) -> String {
    let events = party.event_members.map_or_else(
        || "no union of events".to_owned(),
        |n| format!("{} of event", if n == 1 { "1 kind".to_owned() } else { format!("{n} kinds") }),
    );
    let unknown = match party.not_modelled {
        0 => String::new(),
        n => format!(", {n} schemas or fields of which nothing is said"),
    };
    format!("{} ({events}, {} schemas, {} endpoints{unknown})", party.name, party.schemas, party.endpoints)
}
