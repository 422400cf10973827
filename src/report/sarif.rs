//! A run as SARIF 2.1.0: one rule a verdict, one result a finding that is not healthy.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::broken::{STALE_ENTRIES, Trouble, cause, stale_entries, trouble};
use super::findings::sentence;
use super::words;
use crate::record::comparison::Stale;
use crate::record::{CellResult, Finding, Outcome, Reason, Run, Verdict};

/// Where the standard's schema is.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The folder that scenarios lie in; whoever reads the file says where that is.
const SCENARIOS: &str = "SCENARIOS";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'a str,
    message: Message<'a>,
    locations: [Location<'a>; 1],
    partial_fingerprints: Fingerprint,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression<'a>>,
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: serde_json::Value,
    logical_locations: Vec<Logical<'a>>,
}

/// A cell, or a hop in it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical<'a> {
    name: &'a str,
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Fingerprint {
    #[serde(rename = "skewlabFinding/v1")]
    finding: String,
}

#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    justification: Option<&'a str>,
}

#[derive(Serialize)]
struct Properties<'a> {
    outcome: &'a str,
    expected: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// Writes the findings of all runs as one run of the tool. What a cell is red for is an error, a stale entry or a known
/// failure a warning (the latter suppressed, with its reason), and what the scenario expects a note.
pub fn sarif(runs: &[&Run], out: &mut dyn Write) -> io::Result<()> {
    let complete = runs.iter().all(|run| run.cells.iter().all(|cell| !cell.verdict.is_rig_fault()));
    let version = runs.first().map_or(env!("CARGO_PKG_VERSION"), |run| run.skewlab.as_str());
    let driver = json!({"name": "skewlab", "version": version, "rules": rules()});
    writeln!(out, "{{\"$schema\":{},\"version\":\"2.1.0\",\"runs\":[{{", json!(SCHEMA))?;
    writeln!(out, "\"tool\":{},", json!({ "driver": driver }))?;
    writeln!(out, "\"invocations\":{},", json!([{"executionSuccessful": complete}]))?;
    let base = json!({SCENARIOS: {"description": {"text": "The folder that the scenario files lie in."}}});
    writeln!(out, "\"originalUriBaseIds\":{base},")?;
    write!(out, "\"columnKind\":\"unicodeCodePoints\",\"results\":[")?;
    let mut comma = "";
    for run in runs {
        for cell in &run.cells {
            for finding in reported(run, cell) {
                writeln!(out, "{comma}")?;
                result(run, cell, finding, out)?;
                comma = ",";
            }
        }
        for (entry, text) in run.stale.iter().zip(stale_entries(run)) {
            writeln!(out, "{comma}\n{}", stale(entry, &text))?;
            comma = ",";
        }
    }
    writeln!(out, "\n]}}]}}")
}

/// The findings of a cell that are worth a result: all that are not healthy, and the one that a red cell is red for.
fn reported<'a>(run: &'a Run, cell: &'a CellResult) -> impl Iterator<Item = &'a Finding> {
    let red = cause(cell).filter(|_| trouble(run, cell).is_some());
    cell.findings.iter().filter(move |finding| {
        !finding.verdict.is_healthy() || red.is_some_and(|red| std::ptr::eq(red, *finding))
    })
}

fn rules() -> Vec<serde_json::Value> {
    let rule = |verdict: Verdict| {
        let words = words::explain(verdict);
        json!({
            "id": verdict.as_str(),
            "name": camel(verdict.as_str()),
            "shortDescription": {"text": words.meaning},
            "fullDescription": {"text": words.meaning},
            "help": {"text": format!("{} {} See `skewlab explain {}`.", words.meaning, words.next, verdict.as_str())},
            "defaultConfiguration": {"level": if verdict.is_healthy() { "note" } else { "error" }},
        })
    };
    Verdict::ALL.into_iter().map(rule).chain([stale_rule()]).collect()
}

/// The rule of entries that have to go; it stands behind those of the verdicts.
const STALE_RULE: &str = "stale_known_failure";

fn stale_rule() -> serde_json::Value {
    json!({
        "id": STALE_RULE,
        "name": camel(STALE_RULE),
        "shortDescription": {"text": "An entry of the known failures picks no cell."},
        "fullDescription": {"text": "An entry of the known failures picks no cell, so that it tolerates nothing."},
        "help": {"text": STALE_ENTRIES},
        "defaultConfiguration": {"level": "warning"},
    })
}

/// An entry that has to go. What its file is called is not known here; it is looked for beside the scenarios.
fn stale(entry: &Stale, text: &str) -> serde_json::Value {
    let mut hash = Sha256::new();
    for part in [STALE_RULE, entry.cell.as_str()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let print = hash.finalize().iter().take(16).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    json!({
        "ruleId": STALE_RULE,
        "ruleIndex": Verdict::ALL.len(),
        "level": "warning",
        "message": {"text": format!("{text}. {STALE_ENTRIES}")},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": "known.toml", "uriBaseId": SCENARIOS},
                "region": {"startLine": entry.line.unwrap_or(1).max(1)},
            },
        }],
        "partialFingerprints": {"skewlabFinding/v1": print},
    })
}

/// `silent_loss` as `SilentLoss`, which is what the standard wants a name to look like.
fn camel(word: &str) -> String {
    word.split('_')
        .flat_map(|part| {
            let (first, rest) = part.split_at(1.min(part.len()));
            [first.to_ascii_uppercase(), rest.to_owned()]
        })
        .collect()
}

fn result(run: &Run, cell: &CellResult, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let red = cause(cell).is_some_and(|cause| std::ptr::eq(cause, finding));
    let level = match (trouble(run, cell), cell.outcome) {
        (Some(Trouble::Rig | Trouble::Unexpected), _) if red => "error",
        (Some(Trouble::Stale), _) | (None, Outcome::Known) if red => "warning",
        _ => "note",
    };
    let note = cell.outcome_note.as_deref();
    let known = cell.outcome == Outcome::Known && red;
    let text = sentence(cell, finding);
    let text = match note.filter(|_| red) {
        Some(note) => format!("{} ({}): {text}; {note}", cell.id, cell.outcome.as_str()),
        None => format!("{}: {text}", cell.id),
    };
    let found = Found {
        rule_id: finding.verdict.as_str(),
        rule_index: Verdict::ALL.iter().position(|v| *v == finding.verdict).unwrap_or_default(),
        level,
        message: Message { text: &text },
        locations: [Location {
            physical_location: file(&cell.scenario),
            logical_locations: places(cell, finding),
        }],
        partial_fingerprints: Fingerprint { finding: fingerprint(cell, finding) },
        suppressions: if known {
            vec![Suppression { kind: "external", justification: note }]
        } else {
            Vec::new()
        },
        properties: Properties {
            outcome: cell.outcome.as_str(),
            expected: cell.expected.as_str(),
            note: note.filter(|_| red),
        },
    };
    serde_json::to_writer(out, &found).map_err(io::Error::other)
}

/// The scenario's file: it is what somebody changes. Its folder is not known here.
fn file(scenario: &str) -> serde_json::Value {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let uri: String = scenario
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    json!({
        "artifactLocation": {"uri": format!("{uri}.toml"), "uriBaseId": SCENARIOS},
        "region": {"startLine": 1},
    })
}

/// The cell, and in it the hop that lost the text.
fn places<'a>(cell: &'a CellResult, finding: &Finding) -> Vec<Logical<'a>> {
    let id = cell.id.as_str();
    let mut places = vec![Logical { name: id, fully_qualified_name: id.to_owned(), kind: "member" }];
    if let Some(hop) = finding.lost_at {
        let fully_qualified_name = format!("{id}/{hop}");
        places.push(Logical { name: hop.as_str(), fully_qualified_name, kind: "member" });
    }
    places
}

/// The same in every run in which the same thing is found in the same cell, however much of it.
fn fingerprint(cell: &CellResult, finding: &Finding) -> String {
    let hop = finding.lost_at.map(crate::record::Hop::as_str).unwrap_or_default();
    let reason = finding.reason.as_ref().map(Reason::as_str).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [cell.id.as_str(), finding.verdict.as_str(), hop, reason] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
