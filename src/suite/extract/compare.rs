//! Traits and facts held against another side.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::{Table, Value};

use super::by_path;
use super::client::DEFAULTS;
use crate::live::extract::Package;
use crate::record::extract::{Against, ExtractedProfile, TraitDifference};

/// Traits that are sets: their order means nothing.
const SETS: [&str; 3] = ["delta.fields", "bus.deltas_to", "shows"];

/// Facts that no trait takes, in the order in which they are shown.
const ASIDE: [(&str, &str); 6] = [
    ("client.reconnect", "the client's reconnects"),
    ("client.constructor", "RemoteConversation takes"),
    ("server.close_codes", "close codes"),
    ("server.session", "the session socket"),
    ("server.openapi", "OpenAPI"),
    ("server.routes", "routes"),
];

/// Holds every extracted trait against a resolved profile.
pub(super) fn with_table(party: &str, own: &ExtractedProfile, table: &Table, against: &mut Against) {
    for one in &own.traits {
        let default = DEFAULTS.iter().find(|(path, _)| *path == one.path).map(|(_, value)| value);
        let other = at(table, &one.path).or(default);
        compare(party, &one.path, other, Some(&one.value), &one.how, against);
    }
}

/// Holds the traits of two packages against each other. What neither says is not compared.
pub(super) fn with_profile(
    party: &str,
    own: &ExtractedProfile,
    other: &ExtractedProfile,
    against: &mut Against,
) {
    let theirs = by_path(other);
    for one in &own.traits {
        compare(
            party,
            &one.path,
            theirs.get(one.path.as_str()).copied(),
            Some(&one.value),
            &one.how,
            against,
        );
    }
    let ours = by_path(own);
    for one in other.traits.iter().filter(|t| !ours.contains_key(t.path.as_str())) {
        let why = own.missing.iter().find(|m| m.path == one.path).map_or("", |m| m.why.as_str());
        compare(party, &one.path, Some(&one.value), None, why, against);
    }
}

fn compare(
    party: &str,
    path: &str,
    other: Option<&Value>,
    this: Option<&Value>,
    how: &str,
    against: &mut Against,
) {
    against.compared += 1;
    let same = match (other, this) {
        (Some(other), Some(this)) => same(path, other, this),
        (other, this) => other.is_none() && this.is_none(),
    };
    if !same {
        against.traits.push(TraitDifference {
            party: party.to_owned(),
            path: path.to_owned(),
            other: other.cloned(),
            this: this.cloned(),
            how: how.to_owned(),
        });
    }
}

fn same(path: &str, a: &Value, b: &Value) -> bool {
    // A profile may write `30` where the package says 30.0.
    let number = |v: &Value| v.as_float().or_else(|| v.to_string().parse::<i32>().ok().map(f64::from));
    match (a, b) {
        (Value::Array(a), Value::Array(b)) if SETS.contains(&path) => {
            let sorted = |list: &[Value]| {
                let mut words: Vec<String> = list.iter().map(ToString::to_string).collect();
                words.sort();
                words
            };
            sorted(a) == sorted(b)
        }
        (Value::Float(_), Value::Integer(_)) | (Value::Integer(_), Value::Float(_)) => number(a) == number(b),
        _ => a == b,
    }
}

fn at<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let mut parts = path.split('.');
    let mut value = table.get(parts.next()?)?;
    for part in parts {
        value = value.as_table()?.get(part)?;
    }
    Some(value)
}

/// What was found out and is no trait, for a person.
pub(super) fn aside(package: &Package) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (fact, name) in ASIDE {
        let text = match package.fact::<Json>(fact) {
            Ok((is, _)) if is.is_null() => "there is none".to_owned(),
            Ok((is, _)) => shown(&is),
            Err(why) => format!("not found out: {why}"),
        };
        found.push((name.to_owned(), text));
    }
    found
}

/// A fact on one line. Long lists are only counted, apart from the sockets among them.
fn shown(is: &Json) -> String {
    let word = |v: &Json| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    match is {
        Json::Array(items) if items.len() > 24 => {
            let sockets = items.iter().filter_map(Json::as_str).filter_map(|r| r.strip_prefix("WEBSOCKET "));
            format!("{}; sockets: {}", items.len(), sockets.collect::<Vec<_>>().join(", "))
        }
        Json::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Json::Object(map) => {
            let pair = |(k, v): (&String, &Json)| match v {
                Json::Object(inner) => format!("{k} {}", inner.keys().cloned().collect::<Vec<_>>().join("|")),
                Json::Array(items) => format!("{k} {}", items.iter().map(word).collect::<Vec<_>>().join("|")),
                other => format!("{k} {}", word(other)),
            };
            map.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
        other => word(other),
    }
}

/// The facts that are no trait and differ: what this package has more, and what it has no longer.
pub(super) fn facts(own: &Package, other: &Package) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (fact, name) in ASIDE {
        let leaves = |package: &Package| package.fact::<Json>(fact).map(|(is, _)| leaves(&is));
        let (Ok(ours), Ok(theirs)) = (leaves(own), leaves(other)) else { continue };
        let mut said = Vec::new();
        for (place, is) in &ours {
            match theirs.get(place) {
                None => said.push(format!("+ {place}{is}")),
                Some(was) if was != is => said.push(format!("{place}{was} → {is}")),
                Some(_) => {}
            }
        }
        said.extend(
            theirs.iter().filter(|(p, _)| !ours.contains_key(*p)).map(|(p, was)| format!("- {p}{was}")),
        );
        found.extend(said.into_iter().map(|s| (name.to_owned(), s)));
    }
    found
}

/// A fact as places and values. The items of a list are places of their own, so that one more moves no other.
fn leaves(is: &Json) -> BTreeMap<String, String> {
    fn walk(is: &Json, place: &str, found: &mut BTreeMap<String, String>) {
        match is {
            Json::Object(map) if map.contains_key("file") && map.contains_key("code") => {
                found.insert(
                    format!("{place}{} {}", map["file"].as_str().unwrap_or_default(), map["code"]),
                    String::new(),
                );
            }
            Json::Object(map) => map.iter().for_each(|(k, v)| walk(v, &format!("{place}{k} "), found)),
            // A list of numbers is one value: the delays of a reconnect are no set.
            Json::Array(items) if items.iter().all(Json::is_number) && !items.is_empty() => {
                found.insert(place.to_owned(), is.to_string());
            }
            Json::Array(items) => items.iter().for_each(|i| match i {
                Json::String(word) => {
                    found.insert(format!("{place}{word}"), String::new());
                }
                other => walk(other, place, found),
            }),
            other => {
                found.insert(place.to_owned(), other.to_string());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(is, "", &mut found);
    found
}
