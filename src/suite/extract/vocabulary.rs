//! The event classes of a package held against those of a release, in the language of the vocabulary.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::agent_server::client::event_model::{Shown, ShownFamily, ShownModel};
use crate::live::extract::Package;
use crate::record::extract::ClassChange;
use crate::unit::Release;

/// Where a rule of all families is said.
const RULES: &str = "[rules]";

/// The event classes as a package says them.
#[derive(Debug)]
pub(super) struct Own {
    shown: Shown,
    /// Classes of other distributions, with the name of that.
    foreign: BTreeMap<String, String>,
    /// Fields that were not read: class, field, why.
    unread: Vec<(String, String, String)>,
}

#[derive(Deserialize)]
struct Fact {
    families: Vec<FamilyFact>,
    models: Vec<ModelFact>,
    plain_input_is_reported: bool,
}

#[derive(Deserialize)]
struct FamilyFact {
    name: String,
    finds_kind_by: String,
    kinds: Vec<String>,
}

#[derive(Deserialize)]
struct ModelFact {
    name: String,
    extra: String,
    fields: Vec<String>,
    #[serde(default)]
    drops: Vec<String>,
    #[serde(default)]
    of: Option<String>,
    #[serde(default)]
    unread: Vec<Unread>,
}

#[derive(Deserialize)]
struct Unread {
    field: String,
    message: String,
}

/// The event classes of a package.
///
/// Errors with a sentence when they were not read.
pub(super) fn shown(package: &Package) -> Result<Own, String> {
    let (fact, _) = package.fact::<Fact>("client.model")?;
    let mut own = Own {
        shown: Shown {
            families: BTreeMap::new(),
            models: BTreeMap::new(),
            plain_input_is_reported: fact.plain_input_is_reported,
        },
        foreign: BTreeMap::new(),
        unread: Vec::new(),
    };
    for family in fact.families {
        let shown = ShownFamily { finds_kind_by: family.finds_kind_by, kinds: family.kinds };
        own.shown.families.insert(family.name, shown);
    }
    for model in fact.models {
        own.unread.extend(model.unread.into_iter().map(|u| (model.name.clone(), u.field, u.message)));
        if let Some(of) = model.of {
            own.foreign.insert(model.name.clone(), of);
        }
        let shown = ShownModel { extra: model.extra, drops: model.drops, fields: model.fields };
        own.shown.models.insert(model.name, shown);
    }
    Ok(own)
}

/// The classes alone, as the other side of a comparison.
pub(super) fn known(own: &Own) -> Shown {
    own.shown.clone()
}

/// The one change that says that the classes were not read.
pub(super) fn unread(why: &str) -> ClassChange {
    ClassChange { class: "Event".to_owned(), what: format!("not read: {why}"), lines: Vec::new() }
}

/// What the package adds, removes and changes; then the same for classes of other distributions.
pub(super) fn changes(known: &Shown, own: &Own, release: &Release) -> (Vec<ClassChange>, Vec<ClassChange>) {
    let unread = own.unread.iter().map(|(class, field, _)| (class.as_str(), field.as_str())).collect();
    let mut differ = Differ { known, own: &own.shown, unread, release, found: BTreeSet::new() };
    differ.rules();
    differ.families();
    differ.models();
    for (class, field, why) in &own.unread {
        differ.note(class, format!("`{field}` was not read: {why}"), Vec::new());
    }
    differ.found.into_iter().partition(|change| !own.foreign.contains_key(&change.class))
}

struct Differ<'d> {
    known: &'d Shown,
    own: &'d Shown,
    /// Fields of which nothing can be said: class and field.
    unread: BTreeSet<(&'d str, &'d str)>,
    release: &'d Release,
    found: BTreeSet<ClassChange>,
}

impl Differ<'_> {
    fn note(&mut self, class: &str, what: String, lines: Vec<String>) {
        self.found.insert(ClassChange { class: class.to_owned(), what, lines });
    }

    fn rules(&mut self) {
        let (was, is) = (self.known.plain_input_is_reported, self.own.plain_input_is_reported);
        if was != is {
            let lines = vec![format!("plain_input_is_reported = {{ since = \"{}\" }}", self.release)];
            self.note(
                RULES,
                format!("plain_input_is_reported: {was} → {is}"),
                if is { lines } else { Vec::new() },
            );
        }
    }

    fn families(&mut self) {
        let (known, own) = (self.known, self.own);
        for name in known.families.keys().filter(|n| !own.families.contains_key(*n)) {
            self.note(name, "the family is gone".to_owned(), Vec::new());
        }
        for (name, is) in &own.families {
            let Some(was) = known.families.get(name) else {
                self.note(name, "a new family".to_owned(), self.family_lines(name, is));
                continue;
            };
            if was.finds_kind_by != is.finds_kind_by {
                let what = format!("finds_kind_by: {} → {}", was.finds_kind_by, is.finds_kind_by);
                self.note(name, what, vec![format!("finds_kind_by = \"{}\"", is.finds_kind_by)]);
            }
            for gone in was.kinds.iter().filter(|k| !is.kinds.contains(k)) {
                let lines = vec![format!("until = \"{}\"", self.release)];
                self.note(gone, format!("no longer a kind of {name}"), lines);
            }
        }
    }

    fn models(&mut self) {
        let (known, own) = (self.known, self.own);
        for (name, is) in &own.models {
            match known.models.get(name) {
                None => {
                    let family = self.family_of(name);
                    let what =
                        family.map_or_else(|| "a new class".to_owned(), |f| format!("a new kind of {f}"));
                    self.note(name, what, self.model_lines(name, is));
                }
                Some(was) => self.model(name, was, is),
            }
        }
        let kinds: BTreeSet<&String> = known.families.values().flat_map(|f| &f.kinds).collect();
        for name in known.models.keys().filter(|n| !own.models.contains_key(*n) && !kinds.contains(n)) {
            self.note(name, "no class leads there any more".to_owned(), Vec::new());
        }
    }

    fn model(&mut self, name: &str, was: &ShownModel, is: &ShownModel) {
        if was.extra != is.extra {
            let lines = vec![format!("extra = \"{}\"", is.extra)];
            self.note(name, format!("extra: {} → {}", was.extra, is.extra), lines);
        }
        let drops = |m: &ShownModel| m.drops.iter().cloned().collect::<BTreeSet<_>>();
        if drops(was) != drops(is) {
            let list: Vec<String> = is.drops.iter().map(|d| format!("\"{d}\"")).collect();
            let what = format!("drops: {:?} → {:?}", was.drops, is.drops);
            self.note(name, what, vec![format!("drops = [{}]", list.join(", "))]);
        }
        let named = |m: &'_ ShownModel| -> BTreeMap<String, String> {
            m.fields.iter().map(|line| (field_name(line).to_owned(), line.clone())).collect()
        };
        let (old, new) = (named(was), named(is));
        let family = self.family_of(name).map(str::to_owned);
        for (field, line) in &new {
            let (since, until) = (format!("\"{line} since {}\",", self.release), old.get(field));
            let (what, lines) = match until {
                None => (format!("new field `{line}`"), vec![since]),
                Some(before) if before != line => {
                    let until = format!("\"{before} until {}\",", self.release);
                    (format!("`{before}` → `{line}`"), vec![until, since])
                }
                Some(_) => continue,
            };
            let all = family.as_deref().filter(|f| self.all_have(f, line, until.map(String::as_str)));
            self.note(all.unwrap_or(name), what, lines);
        }
        for (field, before) in old.iter().filter(|(field, _)| !new.contains_key(*field)) {
            if self.unread.contains(&(name, field.as_str())) {
                continue;
            }
            let gone = family.as_deref().filter(|f| self.none_has(f, field, before));
            let lines = vec![format!("\"{before} until {}\",", self.release)];
            self.note(gone.unwrap_or(name), format!("the field `{before}` is gone"), lines);
        }
        let order = |m: &ShownModel, other: &BTreeMap<String, String>| -> Vec<String> {
            m.fields.iter().map(|l| field_name(l).to_owned()).filter(|f| other.contains_key(f)).collect()
        };
        if order(was, &new) != order(is, &old) {
            self.note(
                name,
                format!("the fields stand in another order: {}", order(is, &old).join(", ")),
                Vec::new(),
            );
        }
    }

    fn family_of(&self, kind: &str) -> Option<&str> {
        self.own.families.iter().find(|(_, f)| f.kinds.iter().any(|k| k == kind)).map(|(n, _)| n.as_str())
    }

    /// Kinds of a family that both sides have.
    fn common<'s>(&'s self, family: &str) -> impl Iterator<Item = (&'s ShownModel, &'s ShownModel)> {
        let kinds = self.own.families.get(family).map(|f| f.kinds.as_slice()).unwrap_or_default();
        kinds.iter().filter_map(|k| Some((self.known.models.get(k)?, self.own.models.get(k)?)))
    }

    /// Whether a line is in every kind of a family, and whether all of them had `before` instead.
    fn all_have(&self, family: &str, line: &str, before: Option<&str>) -> bool {
        let has = |m: &ShownModel, line: &str| m.fields.iter().any(|l| l == line);
        let named = |m: &ShownModel| m.fields.iter().any(|l| field_name(l) == field_name(line));
        self.common(family).count() > 1
            && self
                .common(family)
                .all(|(was, is)| has(is, line) && before.map_or(!named(was), |b| has(was, b)))
    }

    fn none_has(&self, family: &str, field: &str, before: &str) -> bool {
        self.common(family).count() > 1
            && self.common(family).all(|(was, is)| {
                was.fields.iter().any(|l| l == before) && !is.fields.iter().any(|l| field_name(l) == field)
            })
    }

    /// The lines that a family gives to its kinds: those of most of them, for a kind may have its own instead.
    fn shared(&self, family: &str) -> Vec<&String> {
        let kinds = self.own.families.get(family).map(|f| f.kinds.as_slice()).unwrap_or_default();
        let models: Vec<&ShownModel> = kinds.iter().filter_map(|k| self.own.models.get(k)).collect();
        let most =
            |line: &&String| models.iter().filter(|m| m.fields.contains(line)).count() * 2 > models.len();
        let mut shared: Vec<&String> = Vec::new();
        for line in models.iter().flat_map(|m| &m.fields).filter(most) {
            if models.len() > 1 && !shared.contains(&line) {
                shared.push(line);
            }
        }
        shared
    }

    fn family_lines(&self, name: &str, family: &ShownFamily) -> Vec<String> {
        let kinds = family.kinds.iter().filter_map(|k| self.own.models.get(k));
        let extra = kinds.map(|m| m.extra.clone()).next().unwrap_or_else(|| "ignore".to_owned());
        let mut lines = vec![
            "[[family]]".to_owned(),
            format!("name = \"{name}\""),
            format!("finds_kind_by = \"{}\"", family.finds_kind_by),
            format!("extra = \"{extra}\""),
        ];
        lines.extend(fields(&self.shared(name)));
        lines
    }

    fn model_lines(&self, name: &str, model: &ShownModel) -> Vec<String> {
        let mut lines = vec!["[[model]]".to_owned(), format!("name = \"{name}\"")];
        let shared = if let Some(family) = self.family_of(name) {
            lines.push(format!("family = \"{family}\""));
            self.shared(family)
        } else {
            lines.push(format!("extra = \"{}\"", model.extra));
            Vec::new()
        };
        lines.push(format!("since = \"{}\"", self.release));
        if !model.drops.is_empty() {
            let list: Vec<String> = model.drops.iter().map(|d| format!("\"{d}\"")).collect();
            lines.push(format!("drops = [{}]", list.join(", ")));
        }
        let own: Vec<&String> = model.fields.iter().filter(|line| !shared.contains(line)).collect();
        lines.extend(fields(&own));
        lines
    }
}

fn fields(lines: &[&String]) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut text = vec!["fields = [".to_owned()];
    text.extend(lines.iter().map(|line| format!("    \"{line}\",")));
    text.push("]".to_owned());
    text
}

fn field_name(line: &str) -> &str {
    line.split(": ").next().unwrap_or(line).trim_end_matches('?')
}

/// All lines to paste into the vocabulary, each block under the class that it belongs to.
pub fn lines(changes: &[ClassChange]) -> String {
    let block = |change: &ClassChange| {
        let head = format!("# {}: {}", change.class, change.what);
        let lines: Vec<&str> =
            std::iter::once(head.as_str()).chain(change.lines.iter().map(String::as_str)).collect();
        lines.join("\n") + "\n\n"
    };
    changes.iter().map(block).collect()
}
