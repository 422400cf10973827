//! Reading the data file. An error names the line and shows it.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::line::{Line, Named, Names, read_type};
use super::types::Extra;
use super::vocabulary::{Entry, Family, FindsKindBy, Only, Vocabulary};
use crate::agent_server::profile::ProfileError;
use crate::unit::Release;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rules: Rules,
    types: BTreeMap<String, Spanned<String>>,
    family: Vec<RawFamily>,
    model: Vec<RawModel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    plain_input_is_reported: Since,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Since {
    since: Release,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFamily {
    name: String,
    finds_kind_by: FindsKindBy,
    extra: Extra,
    #[serde(default)]
    fields: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    name: Spanned<String>,
    kind: Option<String>,
    family: Option<Spanned<String>>,
    only: Option<Only>,
    since: Option<Release>,
    until: Option<Release>,
    extra: Option<Extra>,
    #[serde(default)]
    drops: Vec<Box<str>>,
    #[serde(default)]
    fields: Vec<Spanned<String>>,
}

impl Vocabulary {
    /// Reads a data file. Every line of it is checked, whatever its release.
    pub(super) fn read(path: &str, text: &str) -> Result<Vocabulary, ProfileError> {
        let source = Source { path, text };
        let file: File = toml::from_str(text).map_err(|e| source.invalid(e.to_string()))?;
        let names = source.names(&file)?;
        let mut families = Vec::new();
        for raw in file.family {
            let lines = source.lines(&raw.fields, &names)?;
            families.push(Family {
                name: raw.name,
                finds_kind_by: raw.finds_kind_by,
                extra: raw.extra,
                lines,
            });
        }
        let mut models = Vec::new();
        for raw in file.model {
            let family = match &raw.family {
                None => None,
                Some(name) => Some(
                    families
                        .iter()
                        .position(|f| f.name == *name.get_ref())
                        .ok_or_else(|| source.at(name, &format!("`{}` is no family", name.get_ref())))?,
                ),
            };
            let inherited = family.map(|f| families[f].extra);
            models.push(Entry {
                extra: raw.extra.or(inherited).ok_or_else(|| source.at(&raw.name, "`extra` is missing"))?,
                kind: raw.kind.unwrap_or_else(|| raw.name.get_ref().clone()),
                family,
                only: raw.only,
                since: raw.since,
                until: raw.until,
                drops: raw.drops.into(),
                lines: source.lines(&raw.fields, &names)?,
            });
        }
        let plain_input_is_reported = file.rules.plain_input_is_reported.since;
        Ok(Vocabulary { path: path.to_owned(), plain_input_is_reported, families, models })
    }
}

/// The text of a data file, for errors that name the line.
struct Source<'t> {
    path: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn invalid(&self, message: String) -> ProfileError {
        ProfileError::Invalid { path: self.path.to_owned(), message }
    }

    fn at(&self, place: &Spanned<String>, message: &str) -> ProfileError {
        let line = self.text[..place.span().start].matches('\n').count();
        let shown = self.text.lines().nth(line).unwrap_or_default();
        self.invalid(format!("line {}: {message}\n  | {shown}", line + 1))
    }

    fn lines(&self, fields: &[Spanned<String>], names: &Names) -> Result<Vec<Line>, ProfileError> {
        fields.iter().map(|f| Line::read(f.get_ref(), names).map_err(|e| self.at(f, &e))).collect()
    }

    /// Every name that a type may use: families, models, and the types that have a name of their own.
    fn names(&self, file: &File) -> Result<Names, ProfileError> {
        let mut names = Names::new();
        for (number, family) in file.family.iter().enumerate() {
            names.insert(family.name.clone(), Named::Family(number));
        }
        for (number, model) in file.model.iter().enumerate() {
            if names.insert(model.name.get_ref().clone(), Named::Model(number)).is_some() {
                return Err(self.at(&model.name, "this name is taken"));
            }
        }
        for (name, text) in &file.types {
            let alias = read_type(text.get_ref(), &names).map_err(|e| self.at(text, &e))?;
            names.insert(name.clone(), Named::Alias(alias));
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::TEXT;
    use super::*;

    fn wrong(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from), "{from}");
        Vocabulary::read("v.toml", &TEXT.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn a_typing_error_points_at_its_line() {
        for (from, to, words) in [
            (
                "reasoning_content?: str?\"]",
                "reasoning_content?: strn?\"]",
                "`strn` is no type; did you mean `str`?",
            ),
            ("[types]", "[types]\nBad = \"list<Nope>\"", "`Nope` is no type"),
            ("family = \"Event\"", "family = \"Evnt\"", "`Evnt` is no family"),
            ("extra = \"ignore\"\nfields = [\"score", "fields = [\"score", "`extra` is missing"),
            ("name = \"PauseEvent\"", "name = \"Condensation\"", "this name is taken"),
            ("family = \"Event\"", "famly = \"Event\"", "unknown field `famly`"),
            ("plain_input_is_reported = ", "plain = ", "unknown field `plain`"),
        ] {
            let text = wrong(from, to);
            assert!(text.contains("v.toml") && text.contains("line ") && text.contains(words), "{text}");
        }
    }
}
