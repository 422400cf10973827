//! A trait error at its place in the file.
//!
//! Traits are read after the file was laid over those that it extends, when positions are gone; the error
//! still knows the path of its key, and the file is searched for that.

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::error::{ProfileError, nearest};
use crate::caret::Caret;

/// The error, shown at its place in the file.
pub(super) fn faulty(path: &str, text: &str, error: &Error) -> ProfileError {
    faulty_in("", path, text, error)
}

/// The same for an error whose path begins below `table`.
pub(super) fn faulty_in(table: &str, path: &str, text: &str, error: &Error) -> ProfileError {
    let (span, inherited) =
        match error.span().map(|s| (s.start, s.end)).or_else(|| locate(table, text, error)) {
            Some(span) => (span, false),
            None => ((0, 0), true),
        };
    let title = error.message();
    let help = match (help(title), inherited) {
        (Some(help), _) => Some(help),
        (None, true) => Some("the value comes from a profile that this one extends".to_owned()),
        (None, false) => None,
    };
    ProfileError::Faulty { shown: Caret { path, text, span }.show(title, help.as_deref(), false) }
}

/// `did you mean …?` for an unknown word followed by the list of those that exist.
pub(super) fn help(title: &str) -> Option<String> {
    let mut quoted = title.split('`').skip(1).step_by(2);
    let wanted = quoted.next().filter(|_| title.starts_with("unknown "))?;
    let known: Vec<&str> = quoted.collect();
    let near = nearest(wanted, known.iter().copied());
    near.strip_prefix("; ").map(str::to_owned)
}

/// The span of the key or value that the error is about.
fn locate(table: &str, text: &str, error: &Error) -> Option<(usize, usize)> {
    let shown = error.to_string();
    let within = shown.rsplit_once("in `").and_then(|(_, rest)| rest.split('`').next()).unwrap_or_default();
    let document = DeTable::parse(text).ok()?;
    let mut here: &DeTable<'_> = document.get_ref();
    let mut span = None;
    for key in table.split('.').chain(within.split('.')).filter(|k| !k.is_empty()) {
        let value = find(here, key)?;
        span = Some(value.span());
        match inner(value) {
            Some(next) => here = next,
            None => break,
        }
    }
    let unknown = error.message().strip_prefix("unknown field `").and_then(|r| r.split('`').next());
    if let Some(unknown) = unknown {
        let key = here.keys().find(|k| k.get_ref().as_ref() == unknown);
        span = key.map(Spanned::span).or(span);
    }
    span.map(|s| (s.start, s.end))
}

fn find<'t, 'a>(table: &'t DeTable<'a>, key: &str) -> Option<&'t Spanned<DeValue<'a>>> {
    table.iter().find(|(k, _)| k.get_ref().as_ref() == key).map(|(_, value)| value)
}

/// The table in a value; of a list of tables the last, which is where an overlay is added.
fn inner<'t, 'a>(value: &'t Spanned<DeValue<'a>>) -> Option<&'t DeTable<'a>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        DeValue::Array(items) => items.iter().last().and_then(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Bus {
            #[expect(dead_code, reason = "only its reading is under test")]
            kind: Kind,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Kind {
            Shared,
            Split,
        }
        let table: toml::Table = text.parse().unwrap();
        let error =
            toml::Value::Table(table).try_into::<std::collections::BTreeMap<String, Bus>>().err().unwrap();
        faulty("p.toml", text, &error).to_string()
    }

    #[test]
    fn a_value_that_does_not_exist_has_a_caret_and_the_nearest_name() {
        let text = shown("[bus]\nkind = \"shred\"\n");
        assert!(text.contains("p.toml:2:8") && text.contains("^^^^^^^"), "{text}");
        assert!(text.contains("did you mean `shared`?"), "{text}");
    }

    #[test]
    fn a_key_that_does_not_exist_has_a_caret() {
        let text = shown("[bus]\nkind = \"split\"\nkindd = 1\n");
        assert!(text.contains("p.toml:3:1") && text.contains("did you mean `kind`?"), "{text}");
    }
}
