//! The generated types of a client package beside the document.

use std::collections::BTreeSet;

use super::words::{finding, note, some};
use super::{EVENT, Subject};
use crate::agent_server::client::event_model::{EventModel, Options};
use crate::openapi::{Document, TypeFacts, quoted};
use crate::record::Signal;
use crate::record::contract::{Broken, ContractChange, ContractFinding, Severity};
use crate::unit::Release;

/// Types that are lost, kinds without a type, and what the types say that cannot be. Nothing for a document without events.
pub(super) fn findings(
    subject: &Subject,
    against: Option<&Subject>,
    types: &TypeFacts,
) -> Vec<ContractFinding> {
    let document = &subject.document;
    let Some(events) = document.union(EVENT) else { return Vec::new() };
    let property = events.discriminator.as_deref().unwrap_or("kind");
    let members: BTreeSet<&str> =
        events.members.iter().map(|m| document.word(m, property).unwrap_or(m)).collect();
    let kinds = types.kinds();
    let mut found = Vec::new();
    for (kind, ty) in &kinds {
        if !defines(document, kind, property) {
            if was_there(kind, document, against, property) {
                found.push(lost(kind, ty, types));
            }
        } else if !members.contains(kind) {
            let what = format!("it is still defined, and no longer a member of `{EVENT}`");
            let advice = "the type stays; code that narrows the union by this kind finds it no more";
            found.push(note(ContractChange::LeftUnion, &[EVENT, kind], what, advice));
        }
    }
    for kind in members.iter().filter(|kind| !kinds.contains_key(*kind)) {
        let what = format!("{} has no type for this kind", quoted(&types.package));
        let advice = "at run time it is handed on like any other; generate the types anew";
        found.push(note(ContractChange::KindWithoutType, &[EVENT, kind], what, advice));
    }
    let never = types.never();
    if !never.is_empty() {
        let what = format!(
            "{} of {} members of `{EVENT}` in {} can have no value ({}): the union says the discriminator's mapping, the \
             type its own kind, and nothing is both",
            never.len(),
            types.union.len(),
            quoted(&types.package),
            some(never.iter().copied())
        );
        let advice = "cast by the literal kind, as the types of single events are right; mend the mapping at the server";
        found.push(note(ContractChange::TypeNever, &[EVENT], what, advice));
    }
    found
}

fn defines(document: &Document, kind: &str, property: &str) -> bool {
    document.schemas.contains_key(kind)
        || document.schemas.keys().any(|name| document.word(name, property) == Some(kind))
}

/// Whether the kind was defined before: by the other document, or else by the release that the document says it is. A kind
/// that came later is not lost.
fn was_there(kind: &str, document: &Document, against: Option<&Subject>, property: &str) -> bool {
    if let Some(against) = against {
        return defines(&against.document, kind, property);
    }
    let Ok(release) = document.version.parse::<Release>() else { return true };
    let options = Options { server: true, ..Options::default() };
    EventModel::at(&release, options).map_or(true, |model| model.kinds().any(|known| known == kind))
}

fn lost(kind: &str, ty: &str, types: &TypeFacts) -> ContractFinding {
    let used = types.used.contains(ty);
    let how = if used {
        "generated anew, the type is gone, and what the package itself writes by hand imports it: it no longer compiles"
    } else {
        "generated anew, the type is gone: code that uses it no longer compiles"
    };
    let broken = Broken { who: quoted(&types.package), signal: Signal::Surfaced, how: how.to_owned() };
    let what = "the document no longer defines it, so the generated type is lost".to_owned();
    let advice = "keep a schema of its own for it in the document (stage D)";
    finding(ContractChange::TypeLost, Severity::TypeLost, &[kind], what, vec![broken], advice)
}
