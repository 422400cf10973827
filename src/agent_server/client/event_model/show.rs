//! The event model of one release, written out in the language of the data file.

use std::collections::BTreeMap;

use super::types::{Extra, Field, Model, Type};
use super::vocabulary::{FindsKindBy, Tables, Vocabulary};
use super::{EventModel, Options};
use crate::agent_server::profile::ProfileError;
use crate::unit::Release;

/// Everything that `Event` leads to, in one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The families by name.
    pub families: BTreeMap<String, ShownFamily>,
    /// The models by name, members of families and the others.
    pub models: BTreeMap<String, ShownModel>,
    /// Whether something else than an object is a `ValidationError` where an object with a kind belongs.
    pub plain_input_is_reported: bool,
}

/// A family, in one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFamily {
    /// `hash` or `comparison`.
    pub finds_kind_by: String,
    /// The names of its kinds, sorted.
    pub kinds: Vec<String>,
}

/// A model, in one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownModel {
    /// `forbid`, `ignore` or `allow`.
    pub extra: String,
    /// Keys of older versions that it drops unread.
    pub drops: Vec<String>,
    /// Its fields with those of its family, as lines without releases: `content?: str?`.
    pub fields: Vec<String>,
}

impl EventModel {
    /// The event model that `release` had under these options, written out.
    ///
    /// Errors when the vocabulary contradicts itself for that release.
    pub fn shown(release: &Release, options: Options) -> Result<Shown, ProfileError> {
        let vocabulary = Vocabulary::embedded()?;
        let tables = vocabulary.at(release, options)?;
        let mut shown = Shown {
            families: BTreeMap::new(),
            models: BTreeMap::new(),
            plain_input_is_reported: tables.plain_input_is_reported,
        };
        Walk { vocabulary, tables: &tables, shown: &mut shown }.family(tables.event);
        Ok(shown)
    }
}

struct Walk<'v> {
    vocabulary: &'v Vocabulary,
    tables: &'v Tables,
    shown: &'v mut Shown,
}

impl Walk<'_> {
    fn family(&mut self, number: usize) -> String {
        let family = &self.vocabulary.families[number];
        let name = family.name.clone();
        if !self.shown.families.contains_key(&name) {
            let finds_kind_by = match family.finds_kind_by {
                FindsKindBy::Hash => "hash",
                FindsKindBy::Comparison => "comparison",
            };
            let members = self.tables.members(number);
            let mut kinds: Vec<String> =
                members.iter().map(|m| self.tables.models[*m].name.to_string()).collect();
            kinds.sort();
            let shown = ShownFamily { finds_kind_by: finds_kind_by.to_owned(), kinds };
            self.shown.families.insert(name.clone(), shown);
            for member in members.iter().copied() {
                self.model(member);
            }
        }
        name
    }

    fn model(&mut self, number: usize) -> String {
        let model: &Model = &self.tables.models[number];
        let name = model.name.to_string();
        if !self.shown.models.contains_key(&name) {
            let extra = match model.extra {
                Extra::Forbid => "forbid",
                Extra::Ignore => "ignore",
                Extra::Allow => "allow",
            };
            let drops = model.drops.iter().map(ToString::to_string).collect();
            let empty = ShownModel { extra: extra.to_owned(), drops, fields: Vec::new() };
            // There before its fields are read: a model may hold itself.
            self.shown.models.insert(name.clone(), empty);
            let fields = model.fields.iter().map(|f| self.field(f)).collect();
            if let Some(shown) = self.shown.models.get_mut(&name) {
                shown.fields = fields;
            }
        }
        name
    }

    fn field(&mut self, field: &Field) -> String {
        let mut line = format!("{}{}: ", field.name, if field.required { "" } else { "?" });
        line.push_str(&self.word(&field.ty));
        if let Some(also) = &field.also {
            line.push_str(" or ");
            line.push_str(also);
        }
        for (taken, word) in [(field.or_null, " or-null"), (field.or_str, " or-str")] {
            line.push_str(if taken { word } else { "" });
        }
        line
    }

    fn word(&mut self, ty: &Type) -> String {
        let bounds = |head: &str, bounds: &[(&str, Option<String>)]| {
            let given: Vec<String> =
                bounds.iter().filter_map(|(k, v)| Some(format!("{k}={}", v.as_ref()?))).collect();
            if given.is_empty() { head.to_owned() } else { format!("{head}({})", given.join(",")) }
        };
        match ty {
            Type::Any => "any".to_owned(),
            Type::Str => "str".to_owned(),
            Type::LongStr(min) => format!("str(min={min})"),
            Type::StrExcept(word) => format!("str(not={word})"),
            Type::Bool => "bool".to_owned(),
            Type::Int(min) => bounds("int", &[("min", min.map(|n| n.to_string()))]),
            Type::Float(min, max) => {
                bounds("float", &[("min", min.map(|n| n.to_string())), ("max", max.map(|n| n.to_string()))])
            }
            Type::OneOf(words) => format!("one_of({})", words.join("|")),
            Type::Enum(words) => format!("enum({})", words.join("|")),
            Type::List(inner) => format!("list<{}>", self.word(inner)),
            Type::Seq(inner) => format!("seq<{}>", self.word(inner)),
            Type::Set(inner) => format!("set<{}>", self.word(inner)),
            Type::Dict(inner) if **inner == Type::Any => "dict".to_owned(),
            Type::Dict(inner) => format!("dict<{}>", self.word(inner)),
            Type::Model(number) => self.model(*number),
            Type::Family(number) => self.family(*number),
            Type::KindName(number) => format!("kind<{}>", self.family(*number)),
            Type::Instance => "instance".to_owned(),
            Type::Class => "class".to_owned(),
            Type::Union(members) => members.iter().map(|m| self.word(m)).collect::<Vec<_>>().join("|"),
            Type::Nullable(inner) => format!("{}?", self.word(inner)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_written_out_as_the_data_file_says_it() {
        let shown = |release: &str| EventModel::shown(&release.parse().unwrap(), Options::default()).unwrap();
        let new = shown("1.58.2");
        let message = &new.models["Message"];
        assert_eq!(message.fields[1], "content?: seq<TextContent|ImageContent> or-null or-str");
        assert_eq!(new.models["StreamingDeltaEvent"].fields[0], "id?: str(not=__root__)");
        assert_eq!(new.models["CriticResult"].fields[0], "score: float(min=0,max=1)");
        assert_eq!(new.models["TextContent"].drops, ["enable_truncation"]);
        assert_eq!(new.families["ToolDefinition"].finds_kind_by, "comparison");
        assert!(!new.families.contains_key("Standalone"), "Event does not lead there");
        let old = shown("1.30.0");
        assert_eq!(old.models["StreamingDeltaEvent"].fields[0], "id?: str");
        assert!(!old.families["Event"].kinds.iter().any(|k| k == "SecurityAnalysisEvent"));
        assert!(!old.models.contains_key("ErrorClassification"), "nothing of 1.30.0 leads there");
    }
}
