//! What a difference does to its readers.

use super::compare::{Difference, Side};
use super::reader::Reader;
use super::words::{finding, severity};
use super::{EVENT, Subject, event_schemas};
use crate::openapi::{Extra, Field, Taken, Term, TypeFacts, quoted};
use crate::record::Signal;
use crate::record::contract::{Broken, ContractChange, ContractFinding, Severity};
use crate::wire::DELTA_KIND;

/// The fields that the guard of a front end looks at.
const GUARDED: [&str; 3] = ["id", "timestamp", "source"];
/// The sources that it lets through.
const SOURCES: [&str; 4] = ["agent", "user", "environment", "hook"];
/// The fields of a delta that hold its text.
const TEXTS: [&str; 2] = ["content", "reasoning_content"];

/// A difference as a finding, with who breaks on it.
pub(super) fn finding_of(
    difference: &Difference<'_>,
    before: &Subject,
    after: &Subject,
    readers: &[Reader],
    types: Option<&TypeFacts>,
) -> ContractFinding {
    let name = difference.name;
    // A schema that is gone was an event's in the older document.
    let of_event =
        event_schemas(&after.document).contains(name) || event_schemas(&before.document).contains(name);
    let asked = before.document.asked().contains(name) || after.document.asked().contains(name);
    let mut breaks: Vec<Broken> = Vec::new();
    if of_event {
        breaks.extend(readers.iter().filter_map(|reader| read(reader, difference, after)));
        breaks.extend(types.and_then(|types| generated(types, difference)));
    }
    let bad = severity(&breaks, otherwise(difference.change, of_event, asked));
    let place: Vec<&str> = [Some(name), difference.part].into_iter().flatten().collect();
    let (what, advice) = (what(difference), advice(difference.change, bad, asked));
    finding(difference.change, bad, &place, what, breaks, advice)
}

/// What a client makes of it, if it breaks.
fn read(reader: &Reader, difference: &Difference<'_>, after: &Subject) -> Option<Broken> {
    let (name, part) = (difference.name, difference.part.unwrap_or_default());
    let broken = |signal: Signal, how: String| Some(Broken { who: reader.name.clone(), signal, how });
    let refused = |why: String| broken(reader.refusal(), format!("its event model refuses the frame: {why}"));
    match difference.change {
        ContractChange::MemberAdded if name == EVENT && reader.refuses_kind(part) => {
            refused(format!("it has no kind `{}`", quoted(part)))
        }
        ContractChange::MemberRemoved
            if name == EVENT && after.streams.as_deref() == Some(part) && reader.refuses_kind(part) =>
        {
            refused(format!("`{}` is still sent, and it has no such kind", quoted(part)))
        }
        ContractChange::FieldAdded if reader.forbids(name, part) => {
            refused(format!("it forbids keys that it does not know, and `{}` is one", quoted(part)))
        }
        ContractChange::FieldRemoved | ContractChange::FieldOptional if reader.needs(name, part) => {
            refused(format!("it needs `{}`", quoted(part)))
        }
        ContractChange::FieldRemoved => removed(reader, name, part, after),
        _ => match (&difference.before, &difference.after) {
            (Some(Side::Field(before)), Some(Side::Field(after_field))) => {
                retyped(reader, difference, before, after_field, after)
            }
            _ => None,
        },
    }
}

/// A field that is gone and that no event model needs.
fn removed(reader: &Reader, name: &str, field: &str, after: &Subject) -> Option<Broken> {
    if reader.guards() && GUARDED.contains(&field) && is_event(after, name) {
        let how = format!("its guard drops an event without `{field}`, and looks at nothing else");
        return Some(Broken { who: reader.name.clone(), signal: reader.dropping(), how });
    }
    (name == DELTA_KIND && TEXTS.contains(&field) && reader.shows_deltas()).then(|| Broken {
        who: reader.name.clone(),
        signal: Signal::None,
        how: format!("the delta arrives without its `{field}`, and there is nothing to show"),
    })
}

/// A field whose type is another one.
fn retyped(
    reader: &Reader,
    difference: &Difference<'_>,
    before: &Field,
    after: &Field,
    subject: &Subject,
) -> Option<Broken> {
    let (name, field) = (difference.name, difference.part.unwrap_or_default());
    let broken = |signal: Signal, how: String| Some(Broken { who: reader.name.clone(), signal, how });
    // What the two sides of a presence change say of the type is the same.
    if !matches!(difference.change, ContractChange::TypeLoosened | ContractChange::TypeChanged) {
        return None;
    }
    if reader.refuses_more(name, field, before, after) {
        let how = format!("its event model refuses `{}` where it is not {}", quoted(field), before.term);
        return broken(reader.refusal(), how);
    }
    if reader.guards() && GUARDED.contains(&field) && is_event(subject, name) {
        let let_through = match field {
            "source" => Term::Words(SOURCES.iter().map(|s| (*s).to_owned()).collect()),
            _ => Term::text(),
        };
        if let_through.takes(&before.term) == Taken::All && let_through.takes(&after.term) == Taken::NotAll {
            let how = format!("its guard drops an event whose `{field}` is not {let_through}");
            return broken(reader.dropping(), how);
        }
    }
    if name != DELTA_KIND {
        return None;
    }
    if field == "kind" && reader.compares_kind() {
        return broken(Signal::None, "it finds deltas by their kind, and this is another one".to_owned());
    }
    let shown = Term::one_of([Term::text(), Term::Null]);
    let odd = TEXTS.contains(&field) && shown.takes(&after.term) == Taken::NotAll;
    if odd && reader.shows_anything() {
        return broken(Signal::None, format!("it shows whatever `{field}` is as text"));
    }
    None
}

fn is_event(subject: &Subject, name: &str) -> bool {
    subject.document.union(EVENT).is_some_and(|events| events.members.iter().any(|m| m == name))
}

/// What becomes of the types of a package when they are generated anew.
fn generated(types: &TypeFacts, difference: &Difference<'_>) -> Option<Broken> {
    if difference.change != ContractChange::FieldRemoved {
        return None;
    }
    let kinds = types.kinds();
    let ty = kinds.get(difference.name)?;
    types.types.get(*ty)?.fields.get(difference.part?)?;
    Some(Broken {
        who: quoted(&types.package),
        signal: Signal::Surfaced,
        how: "the generated type loses the field; code that reads it no longer compiles".to_owned(),
    })
}

/// How bad a difference is that breaks no reader whom anybody knows.
fn otherwise(change: ContractChange, of_event: bool, asked: bool) -> Severity {
    match change {
        ContractChange::SchemaRemoved
        | ContractChange::MemberRemoved
        | ContractChange::EndpointRemoved
        | ContractChange::FieldRemoved
        | ContractChange::TypeChanged => Severity::Possible,
        // Whoever forbids what it does not know refuses the first frame that has such a key; none need ever come.
        ContractChange::ExtraAllowed if of_event => Severity::Possible,
        // What is tighter in a request refuses whoever sends the old form, and in an event what a log holds already.
        ContractChange::FieldRequired | ContractChange::TypeTightened | ContractChange::ExtraForbidden
            if asked || of_event =>
        {
            Severity::Possible
        }
        // What is wider in an answer surprises whoever reads it. Events have readers that were asked.
        ContractChange::FieldOptional | ContractChange::TypeLoosened if !asked && !of_event => {
            Severity::Possible
        }
        _ => Severity::Note,
    }
}

fn what(difference: &Difference<'_>) -> String {
    let said = |side: &Option<Side<'_>>| match side {
        Some(Side::Field(field)) => field.term.to_string(),
        Some(Side::Term(term)) => term.to_string(),
        Some(Side::Extra(Extra::Forbidden)) => "forbidden".to_owned(),
        Some(Side::Extra(_)) => "allowed".to_owned(),
        None => String::new(),
    };
    let (before, after) = (&difference.before, &difference.after);
    match difference.change {
        ContractChange::SchemaRemoved => "the schema is gone".to_owned(),
        ContractChange::SchemaAdded => "a new schema".to_owned(),
        ContractChange::MemberRemoved => "no longer a member of the union".to_owned(),
        ContractChange::MemberAdded => "a new member of the union".to_owned(),
        ContractChange::EndpointRemoved => "the endpoint is gone".to_owned(),
        ContractChange::EndpointAdded => "a new endpoint".to_owned(),
        ContractChange::FieldRemoved => format!("the field is gone; it was {}", said(before)),
        ContractChange::FieldAdded => {
            let required = matches!(after, Some(Side::Field(field)) if field.required);
            format!("a new{} field, {}", if required { " required" } else { "" }, said(after))
        }
        ContractChange::FieldRequired => "the field must be there now".to_owned(),
        ContractChange::FieldOptional => "the field may be missing now".to_owned(),
        ContractChange::ExtraForbidden => "keys that are not named are forbidden now".to_owned(),
        ContractChange::ExtraAllowed => "keys that are not named are allowed now".to_owned(),
        ContractChange::TypeTightened => format!("tighter: {} where it was {}", said(after), said(before)),
        ContractChange::TypeLoosened => format!("wider: {} where it was {}", said(after), said(before)),
        _ if before.is_none() => {
            "another kind of schema: an object, a union, or a name for a type".to_owned()
        }
        _ => format!("{} where it was {}", said(after), said(before)),
    }
}

fn advice(change: ContractChange, bad: Severity, asked: bool) -> &'static str {
    match (change, bad) {
        (ContractChange::MemberAdded, Severity::Note) => {
            "every reader that was asked knows it or takes any kind"
        }
        (ContractChange::MemberAdded, _) => {
            "send the new kind only to who asked for it, or wait until no such client is in use"
        }
        (ContractChange::MemberRemoved, Severity::Silent) => {
            "let the client of the same tree look at the kind first (stage C) before this ships"
        }
        (ContractChange::MemberRemoved, _) => {
            "a released client decodes by its own classes and does not notice; say it in the release notes for who generates code"
        }
        (ContractChange::FieldAdded, Severity::Silent | Severity::Loud) => {
            "leave the field out for clients that are older, as the shim of 1.31.2 did, or use the session socket"
        }
        (
            ContractChange::FieldRequired | ContractChange::TypeTightened | ContractChange::ExtraForbidden,
            _,
        ) if asked => "a client that sends the old form is refused: take both forms for a release",
        (
            ContractChange::FieldRequired | ContractChange::TypeTightened | ContractChange::ExtraForbidden,
            Severity::Possible,
        ) => "readers are safe; see that events which a log holds already are still read",
        (ContractChange::ExtraAllowed, Severity::Possible) => {
            "send no key that older clients do not know: the Python ones refuse the frame, and only log it"
        }
        (_, Severity::Note) => "nothing",
        (
            ContractChange::SchemaRemoved | ContractChange::EndpointRemoved | ContractChange::FieldRemoved,
            _,
        ) => "keep it until nobody reads it",
        _ => "keep the old form until no such client is in use",
    }
}
