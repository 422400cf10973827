//! Two documents: what is new, gone, tighter, wider.

use std::collections::BTreeSet;

use crate::openapi::{Document, Extra, Field, Object, Schema, Taken, Term, Union};
use crate::record::contract::ContractChange;

/// One difference. `before` is the older document's side.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference<'d> {
    pub(super) change: ContractChange,
    /// The schema, union or endpoint.
    pub(super) name: &'d str,
    /// The field or member.
    pub(super) part: Option<&'d str>,
    pub(super) before: Option<Side<'d>>,
    pub(super) after: Option<Side<'d>>,
}

/// What one side says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Side<'d> {
    /// A field.
    Field(&'d Field),
    /// A schema that is a name for a type.
    Term(&'d Term),
    /// What is said of other keys.
    Extra(&'d Extra),
}

/// Every difference, in the order of names.
pub(super) fn differences<'d>(before: &'d Document, after: &'d Document) -> Vec<Difference<'d>> {
    let mut found = Vec::new();
    let names: BTreeSet<&String> = before.schemas.keys().chain(after.schemas.keys()).collect();
    for name in names {
        match (before.schemas.get(name), after.schemas.get(name)) {
            (Some(_), None) => found.push(bare(ContractChange::SchemaRemoved, name, None)),
            (None, Some(_)) => found.push(bare(ContractChange::SchemaAdded, name, None)),
            (Some(one), Some(other)) => schemas(name, one, other, &mut found),
            (None, None) => {}
        }
    }
    let endpoints = |document: &'d Document| -> BTreeSet<&'d str> {
        document.operations.iter().map(|o| o.name.as_str()).collect()
    };
    let (one, other) = (endpoints(before), endpoints(after));
    found.extend(one.difference(&other).map(|name| bare(ContractChange::EndpointRemoved, name, None)));
    found.extend(other.difference(&one).map(|name| bare(ContractChange::EndpointAdded, name, None)));
    found
}

fn bare<'d>(change: ContractChange, name: &'d str, part: Option<&'d str>) -> Difference<'d> {
    Difference { change, name, part, before: None, after: None }
}

fn schemas<'d>(name: &'d str, one: &'d Schema, other: &'d Schema, found: &mut Vec<Difference<'d>>) {
    match (one, other) {
        (Schema::NotModelled, _) | (_, Schema::NotModelled) => {}
        (Schema::Object(one), Schema::Object(other)) => objects(name, one, other, found),
        (Schema::Union(one), Schema::Union(other)) => unions(name, one, other, found),
        (Schema::Alias(one), Schema::Alias(other)) => {
            if let Some(change) = terms(one, other) {
                let (before, after) = (Some(Side::Term(one)), Some(Side::Term(other)));
                found.push(Difference { change, name, part: None, before, after });
            }
        }
        _ => found.push(bare(ContractChange::TypeChanged, name, None)),
    }
}

fn unions<'d>(name: &'d str, one: &'d Union, other: &'d Union, found: &mut Vec<Difference<'d>>) {
    let set = |union: &'d Union| -> BTreeSet<&'d str> { union.members.iter().map(String::as_str).collect() };
    let (one, other) = (set(one), set(other));
    found.extend(one.difference(&other).map(|m| bare(ContractChange::MemberRemoved, name, Some(m))));
    found.extend(other.difference(&one).map(|m| bare(ContractChange::MemberAdded, name, Some(m))));
}

fn objects<'d>(name: &'d str, one: &'d Object, other: &'d Object, found: &mut Vec<Difference<'d>>) {
    let fields: BTreeSet<&String> = one.fields.keys().chain(other.fields.keys()).collect();
    for part in fields {
        let (before, after) = (one.fields.get(part), other.fields.get(part));
        let changes = match (before, after) {
            (Some(_), None) => vec![ContractChange::FieldRemoved],
            (None, Some(_)) => vec![ContractChange::FieldAdded],
            (Some(one), Some(other)) => {
                let presence = match (one.required, other.required) {
                    (false, true) => Some(ContractChange::FieldRequired),
                    (true, false) => Some(ContractChange::FieldOptional),
                    _ => None,
                };
                presence.into_iter().chain(terms(&one.term, &other.term)).collect()
            }
            (None, None) => Vec::new(),
        };
        let (before, after) = (before.map(Side::Field), after.map(Side::Field));
        found.extend(changes.into_iter().map(|change| Difference {
            change,
            name,
            part: Some(part.as_str()),
            before: before.clone(),
            after: after.clone(),
        }));
    }
    let change = match (&one.extra, &other.extra) {
        (Extra::Forbidden, Extra::Unsaid | Extra::Allowed(_)) => Some(ContractChange::ExtraAllowed),
        (Extra::Unsaid | Extra::Allowed(_), Extra::Forbidden) => Some(ContractChange::ExtraForbidden),
        (Extra::Allowed(one), Extra::Allowed(other)) => terms(one, other),
        _ => None,
    };
    if let Some(change) = change {
        let (before, after) = (Some(Side::Extra(&one.extra)), Some(Side::Extra(&other.extra)));
        found.push(Difference { change, name, part: None, before, after });
    }
}

/// What became of a type; `None` for nothing, and where one of the two is not known.
fn terms(one: &Term, other: &Term) -> Option<ContractChange> {
    match (one.takes(other), other.takes(one)) {
        (Taken::Unknown, _) | (_, Taken::Unknown) | (Taken::All, Taken::All) => None,
        (Taken::All, Taken::NotAll) => Some(ContractChange::TypeTightened),
        (Taken::NotAll, Taken::All) => Some(ContractChange::TypeLoosened),
        (Taken::NotAll, Taken::NotAll) => Some(ContractChange::TypeChanged),
    }
}
