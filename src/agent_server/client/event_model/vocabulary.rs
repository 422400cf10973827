//! The data file: families and models, and what of them a release has.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::Spanned;

use super::Options;
use super::line::{Line, Named, Names, read_type};
use super::types::{Extra, Field, Model};
use crate::agent_server::profile::ProfileError;
use crate::unit::Release;
use crate::wire::DELTA_KIND;

const PATH: &str = "scenarios/vocabulary/python.toml";
const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/vocabulary/python.toml"));

/// The event classes of all releases.
#[derive(Debug)]
pub(super) struct Vocabulary {
    path: String,
    plain_input_is_reported: Release,
    families: Vec<Family>,
    models: Vec<Entry>,
}

#[derive(Debug)]
struct Family {
    name: String,
    extra: Extra,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    family: Option<usize>,
    since: Option<Release>,
    until: Option<Release>,
    extra: Extra,
    drops: Box<[Box<str>]>,
    lines: Vec<Line>,
}

/// The event classes of one release.
#[derive(Debug)]
pub(super) struct Tables {
    /// All models; types refer to them by number.
    pub(super) models: Vec<Model>,
    /// The number of the family `Event`.
    pub(super) event: usize,
    /// Whether something else than an object is an error of its own where an object with a kind belongs.
    pub(super) plain_input_is_reported: bool,
    /// By family: the models that are its kinds.
    kinds: Vec<Vec<usize>>,
}

impl Tables {
    /// The model of that kind in that family.
    pub(super) fn kind(&self, family: usize, kind: &str) -> Option<usize> {
        self.kinds[family].iter().copied().find(|model| *self.models[*model].name == *kind)
    }

    /// The kinds of event.
    pub(super) fn event_kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds[self.event].iter().map(|model| &*self.models[*model].name)
    }
}

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
    extra: Extra,
    #[serde(default)]
    fields: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    name: Spanned<String>,
    family: Option<Spanned<String>>,
    since: Option<Release>,
    until: Option<Release>,
    extra: Option<Extra>,
    #[serde(default)]
    drops: Vec<Box<str>>,
    #[serde(default)]
    fields: Vec<Spanned<String>>,
}

impl Vocabulary {
    /// The one in the binary.
    pub(super) fn embedded() -> Result<&'static Vocabulary, ProfileError> {
        static READ: LazyLock<Result<Vocabulary, ProfileError>> =
            LazyLock::new(|| Vocabulary::read(PATH, TEXT));
        READ.as_ref().map_err(Clone::clone)
    }

    /// Reads a data file. Every line of it is checked, whatever its release.
    pub(super) fn read(path: &str, text: &str) -> Result<Vocabulary, ProfileError> {
        let source = Source { path, text };
        let file: File = toml::from_str(text).map_err(|e| source.invalid(e.to_string()))?;
        let names = source.names(&file)?;
        let mut families = Vec::new();
        for raw in file.family {
            let lines = source.lines(&raw.fields, &names)?;
            families.push(Family { name: raw.name, extra: raw.extra, lines });
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
                name: raw.name.into_inner(),
                family,
                since: raw.since,
                until: raw.until,
                drops: raw.drops.into(),
                lines: source.lines(&raw.fields, &names)?,
            });
        }
        let plain_input_is_reported = file.rules.plain_input_is_reported.since;
        Ok(Vocabulary { path: path.to_owned(), plain_input_is_reported, families, models })
    }

    /// What `release` has of it.
    pub(super) fn at(&self, release: &Release, options: Options) -> Result<Tables, ProfileError> {
        let invalid = |message: String| ProfileError::Invalid { path: self.path.clone(), message };
        let event = self.families.iter().position(|f| f.name == "Event");
        let event = event.ok_or_else(|| invalid("there is no family `Event`".into()))?;
        let mut kinds = vec![Vec::new(); self.families.len()];
        let mut models = Vec::new();
        for (number, entry) in self.models.iter().enumerate() {
            let begun = entry.since.as_ref().is_none_or(|r| release.at_least(r));
            let over = entry.until.as_ref().is_some_and(|r| release.at_least(r));
            let out = entry.family == Some(event) && entry.name == DELTA_KIND && !options.delta_is_event;
            if let Some(family) = entry.family.filter(|_| begun && !over && !out) {
                kinds[family].push(number);
            }
            let head = entry.family.map_or(&[][..], |f| &self.families[f].lines);
            let fields = fields(head, &entry.lines, release)
                .map_err(|name| invalid(format!("`{}` has two fields `{name}` in {release}", entry.name)))?;
            models.push(Model {
                name: entry.name.as_str().into(),
                extra: entry.extra,
                drops: entry.drops.clone(),
                fields,
            });
        }
        let plain_input_is_reported = release.at_least(&self.plain_input_is_reported);
        Ok(Tables { models, event, plain_input_is_reported, kinds })
    }
}

/// The fields of the family with the model's own, which replace those of the same name where they stand.
/// The error is a name that one of the two lists has twice.
fn fields(head: &[Line], own: &[Line], release: &Release) -> Result<Box<[Field]>, Box<str>> {
    let mut fields: Vec<Field> = Vec::new();
    for list in [head, own] {
        let mut stated: Vec<Box<str>> = Vec::new();
        for field in list.iter().filter_map(|line| line.at(release)) {
            if stated.contains(&field.name) {
                return Err(field.name);
            }
            stated.push(field.name.clone());
            match fields.iter_mut().find(|f| f.name == field.name) {
                Some(inherited) => *inherited = field,
                None => fields.push(field),
            }
        }
    }
    Ok(fields.into())
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
