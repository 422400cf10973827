//! Typed reading of one table of a TOML file, collecting every fault instead of stopping at the first.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::Fault;
use super::problem::Problem;
use crate::agent_server::profile::nearest;

/// All faults of a file so far.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, span: Range<usize>, problem: Problem) {
        self.0.push(Fault { span, problem });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The faults in file order.
    pub(super) fn sorted(mut self) -> Vec<Fault> {
        self.0.sort_by_key(|f| (f.span.start, f.span.end));
        self.0
    }
}

/// One table, being read key by key; what nobody asked for is a fault.
pub(super) struct Section<'a> {
    /// What a fault calls it: `[workload.chat]`.
    pub(super) name: String,
    /// Where it stands.
    pub(super) span: Range<usize>,
    table: &'a DeTable<'a>,
    asked: BTreeSet<&'static str>,
    forgiven: bool,
}

impl<'a> Section<'a> {
    pub(super) fn new(name: impl Into<String>, span: Range<usize>, table: &'a DeTable<'a>) -> Section<'a> {
        Section { name: name.into(), span, table, asked: BTreeSet::new(), forgiven: false }
    }

    /// Whether it has no key but these.
    pub(super) fn has_only(&self, keys: &[&str]) -> bool {
        self.table.keys().all(|key| keys.contains(&key.get_ref().as_ref()))
    }

    /// The value of a key, whatever its type.
    pub(super) fn value(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.insert(key);
        self.table.get(key)
    }

    /// A string that is not empty after trimming.
    pub(super) fn words(&mut self, key: &'static str, faults: &mut Faults) -> Option<Spanned<String>> {
        let text = self.text(key, faults)?;
        if text.get_ref().trim().is_empty() {
            faults.add(text.span(), Problem::Empty { key: key.to_owned() });
            return None;
        }
        Some(text)
    }

    /// Any string.
    pub(super) fn text(&mut self, key: &'static str, faults: &mut Faults) -> Option<Spanned<String>> {
        string(key, "a string", self.value(key)?, faults)
    }

    /// [`Section::words`], or a fault when the key is absent.
    pub(super) fn required(&mut self, key: &'static str, faults: &mut Faults) -> Option<Spanned<String>> {
        self.require(key, faults).then(|| self.words(key, faults)).flatten()
    }

    /// Whether the key is there; a fault if not.
    pub(super) fn require(&mut self, key: &'static str, faults: &mut Faults) -> bool {
        let there = self.value(key).is_some();
        if !there {
            faults.add(self.span.clone(), Problem::MissingKey { key, table: self.name.clone() });
        }
        there
    }

    /// A list of strings that is not empty; `None` when absent or faulty as a whole.
    pub(super) fn list(&mut self, key: &'static str, faults: &mut Faults) -> Option<Vec<Spanned<String>>> {
        let value = self.value(key)?;
        let Some(items) = value.get_ref().as_array() else {
            wrong(key, "a list of strings", value, faults);
            return None;
        };
        if items.is_empty() {
            faults.add(value.span(), Problem::Empty { key: key.to_owned() });
            return None;
        }
        Some(items.iter().filter_map(|item| string(key, "a list of strings", item, faults)).collect())
    }

    /// One string or a list of them.
    pub(super) fn one_or_more(&mut self, key: &'static str, faults: &mut Faults) -> Vec<Spanned<String>> {
        match self.value(key) {
            Some(value) if value.get_ref().is_array() => self.list(key, faults).unwrap_or_default(),
            Some(value) => string(key, "a string or a list of strings", value, faults).into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// A whole number from `least` to `most`.
    pub(super) fn count(
        &mut self,
        key: &'static str,
        least: u64,
        most: u64,
        faults: &mut Faults,
    ) -> Option<u64> {
        let value = self.value(key)?;
        let Some(integer) = value.get_ref().as_integer() else {
            wrong(key, "a whole number", value, faults);
            return None;
        };
        let digits = integer.as_str().replace('_', "");
        match u64::from_str_radix(&digits, integer.radix()) {
            Ok(n) if (least..=most).contains(&n) => Some(n),
            _ => {
                let allowed = format!("a whole number from {least} to {most}");
                faults.add(value.span(), Problem::OutOfRange { key: key.to_owned(), allowed });
                None
            }
        }
    }

    /// A number above 0 and up to `most`.
    pub(super) fn positive(&mut self, key: &'static str, most: f64, faults: &mut Faults) -> Option<f64> {
        self.within(key, |n| n > 0.0 && n <= most, format!("a number above 0, at most {most}"), faults)
    }

    /// A number from 0 to `most`.
    pub(super) fn up_to(&mut self, key: &'static str, most: f64, faults: &mut Faults) -> Option<f64> {
        self.within(key, |n| (0.0..=most).contains(&n), format!("a number from 0 to {most}"), faults)
    }

    fn within(
        &mut self,
        key: &'static str,
        fits: impl Fn(f64) -> bool,
        allowed: String,
        faults: &mut Faults,
    ) -> Option<f64> {
        let value = self.value(key)?;
        if !matches!(value.get_ref(), DeValue::Integer(_) | DeValue::Float(_)) {
            wrong(key, "a number", value, faults);
            return None;
        }
        let number = number(value).filter(|n| fits(*n));
        if number.is_none() {
            faults.add(value.span(), Problem::OutOfRange { key: key.to_owned(), allowed });
        }
        number
    }

    /// The table of `[key]`.
    pub(super) fn one(&mut self, key: &'static str, faults: &mut Faults) -> Option<Section<'a>> {
        let value = self.value(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            wrong(key, "a table", value, faults);
        }
        table.map(|table| Section::new(format!("[{key}]"), value.span(), table))
    }

    /// The table of `[key]`, or the tables of `[[key]]`.
    pub(super) fn one_or_more_tables(&mut self, key: &'static str, faults: &mut Faults) -> Vec<Section<'a>> {
        match self.value(key) {
            Some(value) if value.get_ref().is_table() => self.one(key, faults).into_iter().collect(),
            _ => self.tables(key, faults),
        }
    }

    /// The tables of `[[key]]`.
    pub(super) fn tables(&mut self, key: &'static str, faults: &mut Faults) -> Vec<Section<'a>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            wrong(key, "a list of tables", value, faults);
            return Vec::new();
        };
        let mut sections = Vec::new();
        for item in items {
            match item.get_ref().as_table() {
                Some(table) => sections.push(Section::new(format!("[[{key}]]"), item.span(), table)),
                None => wrong(key, "a list of tables", item, faults),
            }
        }
        sections
    }

    /// The entries of a table of tables, by key.
    pub(super) fn named(
        &mut self,
        key: &'static str,
        faults: &mut Faults,
    ) -> Vec<(Spanned<String>, Section<'a>)> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Some(table) = value.get_ref().as_table() else {
            wrong(key, "a table of tables", value, faults);
            return Vec::new();
        };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut sections = Vec::new();
        for (name, item) in entries {
            let called = Spanned::new(name.span(), name.get_ref().clone().into_owned());
            match item.get_ref().as_table() {
                Some(table) => {
                    let section = Section::new(format!("[{key}.{}]", called.get_ref()), name.span(), table);
                    sections.push((called, section));
                }
                None => wrong(key, "a table", item, faults),
            }
        }
        sections
    }

    /// The lists of tables of `[[key.NAME]]`, by NAME.
    pub(super) fn named_lists(
        &mut self,
        key: &'static str,
        faults: &mut Faults,
    ) -> Vec<(Spanned<String>, Vec<Section<'a>>)> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Some(table) = value.get_ref().as_table() else {
            wrong(key, "a table of lists", value, faults);
            return Vec::new();
        };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        let mut lists = Vec::new();
        for (name, items) in entries {
            let called = Spanned::new(name.span(), name.get_ref().clone().into_owned());
            let shown = format!("[[{key}.{}]]", called.get_ref());
            let Some(items) = items.get_ref().as_array() else {
                wrong(&shown, "a list of tables", items, faults);
                continue;
            };
            let mut sections = Vec::new();
            for item in items {
                match item.get_ref().as_table() {
                    Some(table) => sections.push(Section::new(shown.clone(), item.span(), table)),
                    None => wrong(&shown, "a list of tables", item, faults),
                }
            }
            lists.push((called, sections));
        }
        lists
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &'static str, faults: &mut Faults) -> Option<bool> {
        let value = self.value(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            wrong(key, "`true` or `false`", value, faults);
        }
        flag
    }

    /// Nothing more is said of its keys: what they mean hangs on one that is wrong.
    pub(super) fn forgive(&mut self) {
        self.forgiven = true;
    }

    /// Reports the keys that nobody asked for.
    pub(super) fn finish(self, faults: &mut Faults) {
        if self.forgiven {
            return;
        }
        for key in self.table.keys().filter(|k| !self.asked.contains(k.get_ref().as_ref())) {
            let hint = hint(key.get_ref(), &self.asked.iter().copied().collect::<Vec<_>>());
            let problem =
                Problem::UnknownKey { key: key.get_ref().to_string(), table: self.name.clone(), hint };
            faults.add(key.span(), problem);
        }
    }
}

/// The value of an integer or a float; none of anything else, and of what is not written in tens.
pub(super) fn number(value: &Spanned<DeValue<'_>>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(i) if i.radix() == 10 => i.as_str().replace('_', "").parse().ok(),
        DeValue::Float(f) => f.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

/// `did you mean …?`, or all the words there are when none is near.
pub(super) fn hint(word: &str, words: &[&str]) -> String {
    let near = nearest(word, words.iter().copied());
    match (near.strip_prefix("; "), words) {
        (Some(near), _) => near.to_owned(),
        (None, []) => String::new(),
        (None, [only]) => format!("there is only `{only}`"),
        (None, _) => format!("there are {}", words.join(", ")),
    }
}

pub(super) fn string(
    key: &str,
    expected: &'static str,
    value: &Spanned<DeValue<'_>>,
    faults: &mut Faults,
) -> Option<Spanned<String>> {
    let text = value.get_ref().as_str().map(|s| Spanned::new(value.span(), s.to_owned()));
    if text.is_none() {
        wrong(key, expected, value, faults);
    }
    text
}

pub(super) fn wrong(key: &str, expected: &'static str, value: &Spanned<DeValue<'_>>, faults: &mut Faults) {
    let found = match value.get_ref().type_str() {
        kind @ ("integer" | "array") => format!("an {kind}"),
        kind => format!("a {kind}"),
    };
    faults.add(value.span(), Problem::WrongType { key: key.to_owned(), expected, found });
}
