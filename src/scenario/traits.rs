//! `[traits]`: what a scenario changes about all of its servers, or variants.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::problem::Problem;
use super::section::{Faults, Section, wrong};

/// One key with its value, which is no table.
struct Leaf {
    /// The keys that lead to it, each with its place.
    path: Vec<(String, Range<usize>)>,
    value: Range<usize>,
}

/// Why traits cannot be laid over a party.
pub(super) struct Refused {
    /// The whole of it.
    pub(super) shown: String,
    /// Message and hint, where it is about a value that it was tried with alone.
    pub(super) alone: Option<(String, String)>,
}

/// The parties that traits are laid over, and what has the last word.
pub(super) struct Under<'a> {
    /// A trait that cannot be laid over any.
    pub(super) fixed: Option<&'static str>,
    /// By name.
    pub(super) parties: Vec<&'a str>,
    /// Whether a party takes them.
    pub(super) check: &'a dyn Fn(&str, &Table) -> Result<(), Refused>,
}

/// The traits that the file lays over those of the parties; `text` is the whole file. Each value is tried on every
/// party for itself, so that every mistake has its own place.
pub(super) fn read(file: &mut Section<'_>, text: &str, under: &Under<'_>, faults: &mut Faults) -> Arc<Table> {
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
        if let Some((span, problem)) = wrong_leaf(leaf, &whole, under) {
            faults.add(span, problem);
            sound = false;
        }
    }
    // Each is right for itself; together they may still contradict each other, or a server.
    if let (true, Some(first)) = (sound, leaves.first()) {
        let error = under.parties.iter().find_map(|party| (under.check)(party, &whole).err());
        if let Some(Refused { shown, .. }) = error {
            faults.add(first.span(), Problem::BadTrait { message: shown, hint: String::new() });
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

/// What is wrong with this value on the first party that does not take it.
fn wrong_leaf(leaf: &Leaf, whole: &Table, under: &Under<'_>) -> Option<(Range<usize>, Problem)> {
    let (first, place) = leaf.path.first()?;
    if under.fixed == Some(first.as_str()) {
        let message = format!("`{first}` cannot be changed here: clients are picked by it before");
        let hint = "write a profile of your own and name it with --profiles".to_owned();
        return Some((place.clone(), Problem::BadTrait { message, hint }));
    }
    let alone = leaf.alone(whole)?;
    // Whether it fits in with the others is asked of all of them together.
    let (message, hint) =
        under.parties.iter().find_map(|party| (under.check)(party, &alone).err().and_then(|e| e.alone))?;
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let key = unknown.and_then(|unknown| leaf.path.iter().find(|(key, _)| key == unknown));
    let span = key.map_or(leaf.value.clone(), |(_, key)| key.clone());
    Some((span, Problem::BadTrait { message, hint }))
}
