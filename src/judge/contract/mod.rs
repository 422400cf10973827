//! A document judged: by itself, against another one, against generated types, and by what each client makes of a change.
//!
//! | file | idea |
//! |---|---|
//! | `alone` | what one document says that cannot be: members that nobody returns, schemas that nobody refers to |
//! | `compare` | two documents: what is new, gone, tighter, wider |
//! | `reader` | a client, as far as it reads events |
//! | `breaks` | what a difference does to a reader |
//! | `types` | the generated types of a client package beside the document |
//! | `words` | findings in words: how bad, and what to do |
//!
//! Events flow from the server to its readers, so what is wider breaks readers and what is tighter does not; a request
//! flows the other way. Nothing is said of what a document says that it does not know.

mod alone;
mod breaks;
mod compare;
#[cfg(test)]
mod mutants;
mod reader;
mod types;
mod words;

use std::collections::BTreeSet;

pub use reader::Reader;

use crate::judge::ExitCode;
use crate::openapi::{Document, TypeFacts, quoted};
use crate::record::contract::{AskedClient, CONTRACT_SCHEMA, ContractFinding, ContractReport, Party};

/// The union whose members are the events.
pub const EVENT: &str = "Event";

/// A document, and what is known of the server behind it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What it is, ready to print.
    pub name: String,
    /// What it advertises.
    pub document: Document,
    /// Kinds that no endpoint of that server can return, whatever the document says, each with how that is known.
    pub unlogged: Vec<(String, String)>,
    /// The kind of a token delta, if that server sends deltas on a socket; `None` for a document of unknown origin.
    pub streams: Option<String>,
}

/// Everything that a subject is held against.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// An older document.
    pub against: Option<Subject>,
    /// Generated types.
    pub types: Option<TypeFacts>,
    /// Clients, asked what they make of each difference.
    pub readers: Vec<Reader>,
    /// Ids of findings that are known, as globs.
    pub expected: Vec<glob::Pattern>,
}

/// Judges a document. Findings come worst first, in one order for one input.
pub fn judge(subject: &Subject, question: &Question) -> ContractReport {
    let mut findings = alone::findings(subject);
    if let Some(against) = &question.against {
        let differences = compare::differences(&against.document, &subject.document);
        findings.extend(
            differences
                .iter()
                .map(|d| breaks::finding_of(d, against, subject, &question.readers, question.types.as_ref())),
        );
    }
    if let Some(types) = &question.types {
        findings.extend(types::findings(subject, question.against.as_ref(), types));
    }
    let expects = |pattern: &glob::Pattern, finding: &ContractFinding| pattern.matches(&finding.id);
    for finding in &mut findings {
        finding.expected = question.expected.iter().any(|pattern| expects(pattern, finding));
    }
    let stale = question.expected.iter().filter(|p| !findings.iter().any(|f| expects(p, f)));
    let stale = stale.map(|p| p.as_str().to_owned()).collect();
    findings.sort_by(|a, b| (a.severity, a.change, &a.id).cmp(&(b.severity, b.change, &b.id)));
    ContractReport {
        schema: CONTRACT_SCHEMA.to_owned(),
        skewlab: env!("CARGO_PKG_VERSION").to_owned(),
        subject: party(subject),
        against: question.against.as_ref().map(party),
        types: question.types.as_ref().map(|t| quoted(&t.package)),
        clients: question
            .readers
            .iter()
            .map(|r| AskedClient { name: r.name.clone(), certified: r.certified })
            .collect(),
        findings,
        stale,
    }
}

/// 10 when something breaks that was not declared, or with `strict` when anything at all was found that was not; 11 when a
/// declared finding is not there any more; else 0.
pub fn exit_code(report: &ContractReport, strict: bool) -> ExitCode {
    if report.findings.iter().any(|f| !f.expected && (strict || f.severity.breaks())) {
        ExitCode::Unexpected
    } else if report.stale.is_empty() {
        ExitCode::AllAsExpected
    } else {
        ExitCode::Stale
    }
}

fn party(subject: &Subject) -> Party {
    let document = &subject.document;
    let count = |n: usize| n as u64;
    Party {
        name: subject.name.clone(),
        event_members: document.union(EVENT).map(|u| count(u.members.len())),
        schemas: count(document.schemas.len()),
        endpoints: count(document.operations.len()),
        not_modelled: count(document.not_modelled()),
    }
}

/// The schemas that an event can hold, in a document.
fn event_schemas(document: &Document) -> BTreeSet<&str> {
    if document.union(EVENT).is_some() { document.closure([EVENT]) } else { BTreeSet::new() }
}
