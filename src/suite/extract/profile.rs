//! Names of extracted profiles, the committed one that says the rest, and the TOML.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::ImplyError;
use crate::agent_server::profile::{About, Catalogue, Shelf};
use crate::record::extract::{ExtractedProfile, ExtractedTrait, Extraction};
use crate::unit::Release;

/// What a profile gets behind its release where a committed one has that name.
const TAKEN: &str = "extracted";

/// The profiles that say what was not extracted: the era of the release, or the newest one before it.
pub(super) fn bases(release: &Release, catalogue: &Catalogue) -> Result<(String, String), ImplyError> {
    let server = base("", release, catalogue.servers());
    let client = base("python-", release, catalogue.clients());
    let old = |what| ImplyError::TooOld { release: release.clone(), what };
    Ok((server.ok_or_else(|| old("server"))?, client.ok_or_else(|| old("Python client"))?))
}

fn base(family: &str, release: &Release, shelf: &Shelf) -> Option<String> {
    let named = |a: &&About| a.name == format!("{family}{release}");
    if let Some(own) = shelf.all().find(named) {
        return Some(own.name.clone());
    }
    let covers = |a: &About| a.covers.as_ref().is_some_and(|c| release.within(c));
    let version = |a: &About| -> Option<Release> { a.name.strip_prefix(family)?.parse().ok() };
    let eras = || shelf.abouts().filter(|a| a.covers.is_some()).filter_map(|a| Some((version(a)?, a)));
    if let Some((_, era)) = eras().find(|(_, a)| covers(a)) {
        return Some(era.name.clone());
    }
    let mut before: Vec<_> = eras().filter(|(v, _)| release.at_least(v)).collect();
    before.sort_by(|(a, _), (b, _)| a.at_least(b).cmp(&b.at_least(a)));
    before.pop().map(|(_, a)| a.name.clone())
}

/// The name of the profile of a release: the release, or one behind it where that name is taken.
pub(super) fn name(family: &str, release: &Release, shelf: &Shelf) -> String {
    let plain = format!("{family}{release}");
    if !shelf.all().any(|a| a.name == plain) {
        return plain;
    }
    let sign = if release.stages().is_empty() { '+' } else { '.' };
    format!("{plain}{sign}{TAKEN}")
}

/// Traits as the nested tables of a profile.
pub(super) fn table(traits: &[ExtractedTrait]) -> Table {
    let mut table = Table::new();
    for one in traits {
        put(&mut table, &one.path, one.value.clone());
    }
    table
}

fn put(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((head, rest)) => {
            let inner = table.entry(head.to_owned()).or_insert_with(|| Value::Table(Table::new()));
            // No path is the beginning of another one.
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// The server's profile as a file.
pub fn server_toml(extraction: &Extraction) -> String {
    let mut traits = table(&extraction.server.traits);
    // `python@same` finds the client of the plain release by itself; one with another name is said.
    let plain = extraction.release.split('+').next().unwrap_or_default();
    if extraction.client.name != format!("python-{plain}") {
        put(&mut traits, "ships.python", extraction.client.name.clone().into());
    }
    file(&extraction.server, traits, &extraction.release, "server")
}

/// The Python client's profile as a file.
pub fn client_toml(extraction: &Extraction) -> String {
    file(&extraction.client, table(&extraction.client.traits), &extraction.release, "Python client")
}

fn file(profile: &ExtractedProfile, traits: Table, release: &str, what: &str) -> String {
    let summary = format!(
        "The {what} of {release}, extracted from the package; what it does not say is that of {}.",
        profile.extends
    );
    let head: String = [("name", &profile.name), ("extends", &profile.extends), ("summary", &summary)]
        .map(|(key, text)| format!("{key} = {}\n", Value::from(text.as_str())))
        .concat();
    let mut hows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in &profile.traits {
        let top = one.path.split('.').next().unwrap_or(&one.path);
        hows.entry(top).or_default().insert(one.how.as_str());
    }
    let mut source = Table::new();
    for top in traits.keys() {
        let how: Vec<&str> = hows.get(top.as_str()).into_iter().flatten().copied().collect();
        let how = if how.is_empty() { "the client of the same packages".to_owned() } else { how.join("; ") };
        source.insert(top.clone(), format!("extracted from {release}: {how}").into());
    }
    let mut text = String::from("# Written by `skewlab live extract`.\n");
    text.extend(profile.missing.iter().map(|missing| {
        let why = one_line(&missing.why);
        format!("# {} is that of {}: {why}\n", missing.path, profile.extends)
    }));
    let mut scalars = Table::new();
    let mut tables = Table::new();
    for (key, value) in traits {
        if value.is_table() { &mut tables } else { &mut scalars }.insert(key, value);
    }
    tables.insert("source".into(), Value::Table(source));
    for part in [head, scalars.to_string(), tables.to_string()] {
        if !part.is_empty() {
            text.push('\n');
            text.push_str(&part);
        }
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
