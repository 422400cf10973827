//! What one document says that cannot be.

use std::collections::BTreeSet;

use super::words::{note, some};
use super::{EVENT, Subject};
use crate::openapi::{Document, Schema, Union, quoted};
use crate::record::contract::{ContractChange, ContractFinding};

/// What to do about a discriminator that says what is never sent.
const MEND: &str =
    "generated unions that repeat the mapping narrow to nothing; map the value that is sent, or leave it out";

/// Everything that is odd about a document by itself.
pub(super) fn findings(subject: &Subject) -> Vec<ContractFinding> {
    let document = &subject.document;
    let unions = document.schemas.iter().filter_map(|(name, schema)| match schema {
        Schema::Union(union) => Some((name.as_str(), union)),
        _ => None,
    });
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for (name, union) in unions {
        found.extend(never_returned(subject, name, union));
        if name == EVENT {
            found.extend(never_sent(document, name, union));
        } else if never_sent(document, name, union).is_some() {
            others.push(name);
        }
    }
    if !others.is_empty() {
        let what = format!(
            "{} other unions say values of their discriminator that never stand in a frame: {}",
            others.len(),
            some(others.iter().copied())
        );
        found.push(note(ContractChange::DiscriminatorNeverSent, &["other unions"], what, MEND));
    }
    found.extend(unreferenced(document));
    found
}

/// Members that no endpoint can return although an endpoint returns the union.
fn never_returned(subject: &Subject, name: &str, union: &Union) -> Vec<ContractFinding> {
    let document = &subject.document;
    let Some(property) = &union.discriminator else { return Vec::new() };
    let endpoints = document.answering(name);
    if endpoints.is_empty() {
        // Only requests hold it, or nothing does, which is another finding.
        return Vec::new();
    }
    let known = |member: &String| {
        let kind = document.word(member, property).unwrap_or(member);
        let (_, because) = subject.unlogged.iter().find(|(unlogged, _)| unlogged == kind)?;
        let what = format!(
            "{} return `{}`, and none of them can ever return this member: {because}",
            some(endpoints.iter().copied()),
            quoted(name)
        );
        let advice = "take it off the union; keep a schema of its own, or the type generated from it is lost";
        Some(note(ContractChange::NeverReturned, &[name, member], what, advice))
    };
    union.members.iter().filter_map(known).collect()
}

/// A discriminator whose advertised values are none that its property can have.
fn never_sent(document: &Document, name: &str, union: &Union) -> Option<ContractFinding> {
    let property = union.discriminator.as_ref()?;
    let never: Vec<(&str, &str)> = union
        .mapping
        .iter()
        .filter_map(|(value, schema)| {
            let own = document.word(schema, property)?;
            (own != value).then_some((value.as_str(), own))
        })
        .collect();
    let (value, own) = never.first()?;
    let what = format!(
        "{} of {} values of the discriminator `{}` never stand in a frame: `{}` is sent as \"{}\"",
        never.len(),
        union.mapping.len(),
        quoted(property),
        quoted(value),
        quoted(own)
    );
    Some(note(ContractChange::DiscriminatorNeverSent, &[name], what, MEND))
}

/// Schemas that no endpoint leads to; of those that hang together the first ones.
fn unreferenced(document: &Document) -> Vec<ContractFinding> {
    if document.operations.is_empty() {
        let what = "the document has no endpoint, so it cannot be said what is returned".to_owned();
        return vec![note(ContractChange::Unreferenced, &["paths"], what, "ask the server itself")];
    }
    let mut reached = document.answered();
    reached.extend(document.asked());
    let alone: BTreeSet<&str> =
        document.schemas.keys().map(String::as_str).filter(|name| !reached.contains(name)).collect();
    let led_to: BTreeSet<&str> = alone
        .iter()
        .flat_map(|name| document.closure([*name]).into_iter().filter(move |other| other != name))
        .collect();
    let first = alone.iter().filter(|name| !led_to.contains(*name));
    let found = first.map(|name| {
        let what = "no endpoint refers to it".to_owned();
        let advice =
            "right for a type that only sockets carry and that code is generated from; else remove it";
        note(ContractChange::Unreferenced, &[name], what, advice)
    });
    found.collect()
}
