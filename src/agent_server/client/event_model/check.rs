//! Walking a value along its type. Errors are collected with their places; what the real client raises
//! instead of collecting is an [`Escape`].

use serde_json::{Map, Value};

use super::coerce;
use super::place::{At, Place};
use super::problem::Problem;
use super::types::{Extra, Field, Model, Type};
use super::vocabulary::Tables;
use crate::wire::json::LONE_SURROGATE;

/// An exception that pydantic does not turn into an error of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// `AttributeError`: no object, and asked for its `kind`.
    Attribute,
    /// `TypeError`: a list, asked for its `kind`.
    List,
    /// `TypeError`: a `kind` that is a list or an object, looked up by hash.
    Unhashable,
    /// `UnicodeEncodeError`: a lone surrogate in an error message. It is a `ValueError`, so the next kind
    /// further out makes an error of it.
    Unicode,
}

/// One walk over one value.
pub(super) struct Check<'m> {
    pub(super) tables: &'m Tables,
    problems: Vec<(Problem, String)>,
    /// While a union tries its members: errors are counted and not written down.
    pub(super) quiet: bool,
    count: usize,
}

impl<'m> Check<'m> {
    pub(super) fn new(tables: &'m Tables) -> Check<'m> {
        Check { tables, problems: Vec::new(), quiet: false, count: 0 }
    }

    /// The whole frame.
    pub(super) fn event(&mut self, value: &Value) -> Result<(), Escape> {
        self.family(self.tables.event, value, None)
    }

    pub(super) fn into_problems(self) -> Vec<(Problem, String)> {
        self.problems
    }

    pub(super) fn push(&mut self, problem: Problem, at: At<'_>) {
        self.count += 1;
        if !self.quiet {
            self.problems.push((problem, at.map_or_else(String::new, Place::words)));
        }
    }

    /// How many errors there are, for [`Check::forget`].
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.count, self.problems.len())
    }

    /// Forgets the errors since `mark`.
    pub(super) fn forget(&mut self, mark: (usize, usize)) {
        self.count = mark.0;
        self.problems.truncate(mark.1);
    }

    /// `value` as `ty`.
    pub(super) fn value(&mut self, ty: &Type, value: &Value, at: At<'_>) -> Result<(), Escape> {
        let fault = match ty {
            Type::Any => None,
            Type::Nullable(inner) => {
                return if value.is_null() { Ok(()) } else { self.value(inner, value, at) };
            }
            Type::Model(model) => {
                let model = &self.tables.models[*model];
                return match value {
                    Value::Object(map) => self.object(model, map, None, at),
                    _ => self.fault(Problem::ModelType, at),
                };
            }
            Type::Family(family) => return self.family(*family, value, at),
            Type::KindName(family) => return self.kind_name(*family, value, at),
            Type::List(inner) => return self.items(inner, value, Problem::ListType, at),
            Type::Set(inner) => return self.items(inner, value, Problem::SetType, at),
            Type::Seq(_) if value.is_string() => Some(Problem::SequenceStr),
            Type::Seq(inner) => return self.items(inner, value, Problem::IsInstance, at),
            Type::Dict(inner) => return self.dict(inner, value, at),
            Type::Union(members) => return self.union(members, value, at),
            Type::Instance => Some(Problem::IsInstance),
            Type::Class => Some(Problem::IsSubclass),
            scalar => coerce::fault(scalar, value),
        };
        if let Some(problem) = fault {
            self.push(problem, at);
        }
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends the functions that can escape")]
    fn fault(&mut self, problem: Problem, at: At<'_>) -> Result<(), Escape> {
        self.push(problem, at);
        Ok(())
    }

    fn items(&mut self, ty: &Type, value: &Value, other: Problem, at: At<'_>) -> Result<(), Escape> {
        let Value::Array(items) = value else { return self.fault(other, at) };
        for (index, item) in items.iter().enumerate() {
            self.value(ty, item, Some(&Place::index(at, index)))?;
        }
        Ok(())
    }

    fn dict(&mut self, ty: &Type, value: &Value, at: At<'_>) -> Result<(), Escape> {
        let Value::Object(map) = value else { return self.fault(Problem::DictType, at) };
        if *ty != Type::Any {
            for (key, item) in map {
                self.value(ty, item, Some(&Place::key(at, key)))?;
            }
        }
        Ok(())
    }

    /// An object whose `kind` says which model of the family it is.
    fn family(&mut self, family: usize, value: &Value, at: At<'_>) -> Result<(), Escape> {
        let map = match value {
            Value::Object(map) => map,
            _ if self.tables.plain_input_is_reported => return self.fault(Problem::ModelType, at),
            Value::Array(_) => return Err(Escape::List),
            _ => return Err(Escape::Attribute),
        };
        let model = match map.get("kind") {
            Some(Value::Object(_) | Value::Array(_)) if self.tables.hashes_kinds(family) => {
                return Err(Escape::Unhashable);
            }
            Some(Value::String(kind)) => self.lookup(family, kind)?,
            // Anything else is looked for too and never found; null is the same as none.
            _ => None,
        };
        let Some(model) = model else { return self.fault(Problem::UnknownKind, at) };
        let (mark, quiet) = (self.mark(), self.quiet);
        match self.object(&self.tables.models[model], map, Some("kind"), at) {
            Err(Escape::Unicode) => {
                self.quiet = quiet;
                self.forget(mark);
                self.fault(Problem::UnknownKind, at)
            }
            other => other,
        }
    }

    fn kind_name(&mut self, family: usize, value: &Value, at: At<'_>) -> Result<(), Escape> {
        match value {
            Value::String(kind) if self.lookup(family, kind)?.is_some() => Ok(()),
            Value::String(_) => self.fault(Problem::UnknownKind, at),
            _ => self.fault(Problem::Assertion, at),
        }
    }

    /// The model of that kind. A kind that is not found has to be writable into the message that says so.
    fn lookup(&self, family: usize, kind: &str) -> Result<Option<usize>, Escape> {
        match self.tables.kind(family, kind) {
            None if kind.contains(LONE_SURROGATE) => Err(Escape::Unicode),
            found => Ok(found),
        }
    }

    /// The fields of `model` in declaration order, then other keys in the order of the frame. `taken` is a
    /// key that was removed before.
    fn object(
        &mut self,
        model: &Model,
        map: &Map<String, Value>,
        taken: Option<&str>,
        at: At<'_>,
    ) -> Result<(), Escape> {
        let mark = self.mark();
        let mut read = taken.map_or(0, |key| usize::from(map.contains_key(key)));
        for field in &model.fields {
            let place = Place::key(at, &field.name);
            match find(field, map) {
                Some(value) => {
                    read += 1;
                    if !(field.or_null && value.is_null() || field.or_str && value.is_string()) {
                        self.value(&field.ty, value, Some(&place))?;
                    }
                }
                None if field.required => self.push(Problem::Missing, Some(&place)),
                None => {}
            }
        }
        if model.extra == Extra::Ignore || read == map.len() {
            return Ok(());
        }
        for key in map.keys().filter(|key| taken != Some(key.as_str()) && !model.reads(key)) {
            if key.contains(LONE_SURROGATE) {
                // Such a key ends the model's validation there and then, what was found before is lost.
                self.forget(mark);
                return self.fault(Problem::StringUnicode, at);
            }
            if model.extra == Extra::Forbid {
                self.push(Problem::Extra, Some(&Place::key(at, key)));
            }
        }
        Ok(())
    }
}

impl Model {
    fn reads(&self, key: &str) -> bool {
        let same = |name: &str| name == key;
        self.fields.iter().any(|f| same(&f.name) || f.also.as_deref().is_some_and(same))
            || self.drops.iter().any(|dropped| same(dropped))
    }
}

/// The field's value; of its two spellings the later one in the frame.
fn find<'v>(field: &Field, map: &'v Map<String, Value>) -> Option<&'v Value> {
    match &field.also {
        None => map.get(&*field.name),
        Some(also) => {
            let spelt = |key: &str| key == &*field.name || key == &**also;
            map.iter().rfind(|(key, _)| spelt(key)).map(|(_, value)| value)
        }
    }
}
