//! `[traits]`: what a scenario changes about all of its servers.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::axis::Server;
use super::names::Names;
use super::problem::Problem;
use super::section::{Faults, Section, wrong};
use crate::agent_server::profile::ProfileError;

/// One key with its value, which is no table.
struct Leaf {
    /// The keys that lead to it, each with its place.
    path: Vec<(String, Range<usize>)>,
    value: Range<usize>,
}

/// The traits that the file lays over those of `servers`; `text` is the whole file. Each value is tried on every
/// server for itself, so that every mistake has its own place.
pub(super) fn read(
    file: &mut Section<'_>,
    text: &str,
    servers: &[Server],
    names: &impl Names,
    faults: &mut Faults,
) -> Arc<Table> {
    let Some(value) = file.value("traits") else { return Arc::default() };
    let DeValue::Table(table) = value.get_ref() else {
        wrong("traits", "a table", value, faults);
        return Arc::default();
    };
    let whole = match text.parse::<Table>().ok().and_then(|mut file| file.remove("traits")) {
        Some(Value::Table(whole)) => whole,
        _ => Table::new(),
    };
    let mut leaves = Vec::new();
    collect(table, &mut Vec::new(), &mut leaves);
    let mut sound = true;
    for leaf in &leaves {
        if let Some((span, problem)) = wrong_leaf(leaf, &whole, servers, names) {
            faults.add(span, problem);
            sound = false;
        }
    }
    // Each is right for itself; together they may still contradict each other, or a server.
    if let (true, Some(first)) = (sound, leaves.first()) {
        let error = servers.iter().find_map(|server| names.check_traits(&server.name, &whole).err());
        if let Some(error) = error {
            faults.add(first.span(), Problem::BadTrait { message: error.to_string(), hint: String::new() });
        }
    }
    Arc::new(whole)
}

fn collect(table: &DeTable<'_>, path: &mut Vec<(String, Range<usize>)>, leaves: &mut Vec<Leaf>) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        path.push((key.get_ref().to_string(), key.span()));
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, path, leaves),
            _ => leaves.push(Leaf { path: path.clone(), value: value.span() }),
        }
        path.pop();
    }
}

impl Leaf {
    /// Key and value.
    fn span(&self) -> Range<usize> {
        self.path.last().map_or(self.value.clone(), |(_, key)| key.start..self.value.end)
    }

    /// The table that holds this value and nothing else.
    fn alone(&self, whole: &Table) -> Option<Table> {
        let ((first, _), rest) = self.path.split_first()?;
        let value = rest.iter().try_fold(whole.get(first)?, |at, (key, _)| at.get(key))?;
        let within = |inner: Value, key: &String| Value::Table(Table::from_iter([(key.clone(), inner)]));
        let nested = rest.iter().rev().fold(value.clone(), |inner, (key, _)| within(inner, key));
        Some(Table::from_iter([(first.clone(), nested)]))
    }
}

/// What is wrong with this value on the first server that does not take it.
fn wrong_leaf(
    leaf: &Leaf,
    whole: &Table,
    servers: &[Server],
    names: &impl Names,
) -> Option<(Range<usize>, Problem)> {
    let (first, place) = leaf.path.first()?;
    if first == "ships" {
        let message = "`ships` cannot be changed here: clients are picked by it before".to_owned();
        let hint = "write a profile of your own and name it with --profiles".to_owned();
        return Some((place.clone(), Problem::BadTrait { message, hint }));
    }
    let alone = leaf.alone(whole)?;
    let (message, hint) = servers.iter().find_map(|server| {
        match names.check_traits(&server.name, &alone) {
            Err(ProfileError::Laid { message, hint, .. }) => Some((message, hint)),
            // Whether it fits in with the others is asked of all of them together.
            _ => None,
        }
    })?;
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let key = unknown.and_then(|unknown| leaf.path.iter().find(|(key, _)| key == unknown));
    let span = key.map_or(leaf.value.clone(), |(_, key)| key.clone());
    Some((span, Problem::BadTrait { message, hint }))
}
