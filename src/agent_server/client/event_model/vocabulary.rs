//! Families and models of all releases, and what of them one release has.

use std::sync::LazyLock;

use super::Options;
use super::line::Line;
use super::types::{Extra, Field, Model};
use crate::agent_server::profile::ProfileError;
use crate::unit::Release;
use crate::wire::DELTA_KIND;

const PATH: &str = "scenarios/vocabulary/python.toml";
pub(super) const TEXT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/vocabulary/python.toml"));

/// The event classes of all releases.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) path: String,
    pub(super) plain_input_is_reported: Release,
    pub(super) families: Vec<Family>,
    pub(super) models: Vec<Entry>,
}

/// Models told apart by their `kind`.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) finds_kind_by: FindsKindBy,
    pub(super) extra: Extra,
    pub(super) lines: Vec<Line>,
}

/// How a family looks for the model of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FindsKindBy {
    Hash,
    Comparison,
}

/// A package that a client need not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Only {
    Server,
}

/// A model in all its releases.
#[derive(Debug)]
pub(super) struct Entry {
    /// What a frame calls it: its name, unless the data file gives it another one.
    pub(super) kind: String,
    pub(super) family: Option<usize>,
    /// Whose package alone has the class; absent for what every client has.
    pub(super) only: Option<Only>,
    pub(super) since: Option<Release>,
    pub(super) until: Option<Release>,
    pub(super) extra: Extra,
    pub(super) drops: Box<[Box<str>]>,
    pub(super) lines: Vec<Line>,
}

/// The event classes of one release.
#[derive(Debug)]
pub(super) struct Tables {
    /// All models; types refer to them by number.
    pub(super) models: Vec<Model>,
    /// The number of the family that a frame is decoded as.
    pub(super) event: usize,
    /// Whether something else than an object is an error of its own where an object with a kind belongs.
    pub(super) plain_input_is_reported: bool,
    /// By family: the models that are its kinds.
    kinds: Vec<Vec<usize>>,
    /// By family: whether a kind that cannot be hashed is a `TypeError`.
    hashes: Vec<bool>,
}

impl Tables {
    /// The model of that kind in that family.
    pub(super) fn kind(&self, family: usize, kind: &str) -> Option<usize> {
        self.kinds[family].iter().copied().find(|model| *self.models[*model].name == *kind)
    }

    /// The models that are the kinds of that family, in the order of the data file.
    pub(super) fn members(&self, family: usize) -> &[usize] {
        &self.kinds[family]
    }

    /// Whether a kind of that family that cannot be hashed is a `TypeError`.
    pub(super) fn hashes_kinds(&self, family: usize) -> bool {
        self.hashes[family]
    }

    /// The kinds of event.
    pub(super) fn event_kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds[self.event].iter().map(|model| &*self.models[*model].name)
    }
}

impl Vocabulary {
    /// The one in the binary.
    pub(super) fn embedded() -> Result<&'static Vocabulary, ProfileError> {
        static READ: LazyLock<Result<Vocabulary, ProfileError>> =
            LazyLock::new(|| Vocabulary::read(PATH, TEXT));
        READ.as_ref().map_err(Clone::clone)
    }

    /// What `release` has of it.
    pub(super) fn at(&self, release: &Release, options: Options) -> Result<Tables, ProfileError> {
        let invalid = |message: String| ProfileError::Invalid { path: self.path.clone(), message };
        let root = options.family.name();
        let event = self.families.iter().position(|f| f.name == root);
        let event = event.ok_or_else(|| invalid(format!("there is no family `{root}`")))?;
        let mut kinds = vec![Vec::new(); self.families.len()];
        let mut models = Vec::new();
        for (number, entry) in self.models.iter().enumerate() {
            let begun = entry.since.as_ref().is_none_or(|r| release.at_least(r));
            let over = entry.until.as_ref().is_some_and(|r| release.at_least(r));
            let taken_off = options.family == super::Family::Event && !options.delta_is_event;
            let out = taken_off && entry.family == Some(event) && entry.kind == DELTA_KIND;
            let elsewhere = entry.only == Some(Only::Server) && !options.server;
            if let Some(family) = entry.family.filter(|_| begun && !over && !out && !elsewhere) {
                kinds[family].push(number);
            }
            let head = entry.family.map_or(&[][..], |f| &self.families[f].lines);
            let fields = fields(head, &entry.lines, release)
                .map_err(|name| invalid(format!("`{}` has two fields `{name}` in {release}", entry.kind)))?;
            models.push(Model {
                name: entry.kind.as_str().into(),
                extra: entry.extra,
                drops: entry.drops.clone(),
                fields,
            });
        }
        let plain_input_is_reported = release.at_least(&self.plain_input_is_reported);
        let hashes = self.families.iter().map(|f| f.finds_kind_by == FindsKindBy::Hash).collect();
        Ok(Tables { models, event, plain_input_is_reported, kinds, hashes })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(release: &str) -> Tables {
        let release = release.parse().unwrap();
        Vocabulary::embedded().unwrap().at(&release, Options::default()).unwrap()
    }

    fn fields(tables: &Tables, name: &str) -> Vec<String> {
        let model = tables.models.iter().find(|m| *m.name == *name).unwrap();
        model.fields.iter().map(|f| f.name.to_string()).collect()
    }

    #[test]
    fn a_field_cannot_stand_twice_in_one_release() {
        let text = TEXT.replacen("\"id?: str until 1.31.0\"", "\"id?: str\"", 1);
        let vocabulary = Vocabulary::read("v.toml", &text).unwrap();
        let at = |release: &str| vocabulary.at(&release.parse().unwrap(), Options::default());
        assert!(at("1.30.0").is_ok());
        let text = at("1.31.0").unwrap_err().to_string();
        assert!(text.contains("two fields `id`"), "{text}");
    }

    #[test]
    fn fields_come_and_keep_their_place() {
        let delta = ["id", "timestamp", "source", "content", "reasoning_content"];
        assert_eq!(fields(&at("1.30.0"), DELTA_KIND), delta);
        let delta = ["id", "timestamp", "source", "parent_id", "content", "reasoning_content"];
        assert_eq!(fields(&at("1.31.0"), DELTA_KIND), delta);
        assert_eq!(
            fields(&at("1.58.2"), "TokenEvent")[2],
            "source",
            "its own field, where the family has it"
        );
    }

    #[test]
    fn kinds_come_with_their_release() {
        let has = |release: &str, kind: &str| at(release).event_kinds().any(|k| k == kind);
        for (kind, before, first) in [
            (DELTA_KIND, "1.18.0", "1.18.1"),
            ("InterruptEvent", "1.22.1", "1.23.0"),
            ("SecurityAnalysisEvent", "1.53.0", "1.54.0"),
        ] {
            assert!(!has(before, kind) && has(first, kind), "{kind}");
        }
        assert!(!has("1.58.2", "ServerErrorEvent"), "a client without the server's package");
        let staged = "1.43.1+AB".parse().unwrap();
        let options = Options { delta_is_event: false, ..Options::default() };
        let tables = Vocabulary::embedded().unwrap().at(&staged, options).unwrap();
        assert!(tables.event_kinds().all(|kind| kind != DELTA_KIND));
    }
}
