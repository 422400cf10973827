//! One schema: a term, an object or a union.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::walk::{Fault, target, under};
use super::{Bound, Extra, Field, NOT_MODELLED, Object, Schema, Term, Union};

/// Keys that say nothing of what is valid.
const WORDS: [&str; 11] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "externalDocs",
    "discriminator",
];

/// On the way of references: from here on inside a list or an object. No schema is called so: a name has no slash.
const INSIDE: &str = "/";

/// The schemas of a document, while they are read.
pub(super) struct Schemas<'v>(pub(super) &'v Map<String, Value>);

impl Schemas<'_> {
    /// One named schema.
    pub(super) fn named(&self, name: &str, value: &Value) -> Result<Schema, Fault> {
        let at = under("components.schemas", name);
        if not_modelled(value) {
            return Ok(Schema::NotModelled);
        }
        if is_object(value) {
            return Ok(Schema::Object(self.object(value, &at)?));
        }
        match members(value) {
            Some(members) => Ok(Schema::Union(self.union(value, members, &at)?)),
            None => Ok(Schema::Alias(self.term(value, &at, &mut vec![name.to_owned()])?)),
        }
    }

    fn object(&self, value: &Value, at: &str) -> Result<Object, Fault> {
        let required: BTreeSet<&str> = value
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut fields = BTreeMap::new();
        let at_fields = under(at, "properties");
        for (name, field) in value.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let term = self.term(field, &under(&at_fields, name), &mut Vec::new())?;
            fields.insert(name.clone(), Field { term, required: required.contains(name.as_str()) });
        }
        for name in required {
            // Legal without a property, and then nothing is said of the field but that it is there.
            fields.entry(name.to_owned()).or_insert(Field { term: Term::Any, required: true });
        }
        let extra = match value.get("additionalProperties") {
            None => Extra::Unsaid,
            Some(Value::Bool(false)) => Extra::Forbidden,
            Some(Value::Bool(true)) => Extra::Allowed(Term::Any),
            Some(of) => Extra::Allowed(self.term(of, &under(at, "additionalProperties"), &mut Vec::new())?),
        };
        Ok(Object { fields, extra })
    }

    fn union(&self, value: &Value, members: Vec<(String, &str)>, at: &str) -> Result<Union, Fault> {
        let find = |(place, reference): (String, &str)| {
            target(reference, self.0, &under(at, &place)).map(str::to_owned)
        };
        let members = members.into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let told = value.get("discriminator").and_then(Value::as_object);
        let mapping = told.and_then(|d| d.get("mapping")).and_then(Value::as_object);
        let place = under(&under(at, "discriminator"), "mapping");
        let mapped = mapping.into_iter().flatten().map(|(word, reference)| {
            let name = target(reference.as_str().unwrap_or_default(), self.0, &under(&place, word))?;
            Ok((word.clone(), name.to_owned()))
        });
        Ok(Union {
            members,
            discriminator: told.and_then(|d| d.get("propertyName")?.as_str()).map(str::to_owned),
            mapping: mapped.collect::<Result<_, Fault>>()?,
        })
    }

    /// A type. `on_the_way` are the names that led here by nothing but references.
    fn term(&self, value: &Value, at: &str, on_the_way: &mut Vec<String>) -> Result<Term, Fault> {
        if not_modelled(value) {
            return Ok(Term::Unknown);
        }
        let object = match value {
            Value::Bool(true) => return Ok(Term::Any),
            Value::Object(object) => object,
            Value::Bool(false) => return Ok(Term::Other("false".to_owned())),
            other => {
                let problem =
                    format!("expected a schema, which is an object or a bool, and found {}", kind(other));
                return Err(Fault { at: at.to_owned(), problem });
            }
        };
        if let Some(reference) = object.get("$ref") {
            return self.referred(reference, at, on_the_way);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(Value::Array(items)) = object.get(word) {
                let here = under(at, word);
                let terms: Vec<Term> = items
                    .iter()
                    .enumerate()
                    .map(|(n, item)| self.term(item, &under(&here, &n.to_string()), on_the_way))
                    .collect::<Result<_, _>>()?;
                return Ok(Term::one_of(terms));
            }
        }
        match object.get("allOf") {
            Some(Value::Array(items)) if items.len() == 1 => {
                return self.term(&items[0], &under(at, "allOf.0"), on_the_way);
            }
            _ => {}
        }
        self.plain(object, at, on_the_way)
    }

    fn referred(&self, reference: &Value, at: &str, on_the_way: &mut Vec<String>) -> Result<Term, Fault> {
        let name = target(reference.as_str().unwrap_or_default(), self.0, at)?;
        let value = &self.0[name];
        if not_modelled(value) {
            return Ok(Term::Unknown);
        }
        if let Some(from) = on_the_way.iter().position(|n| n == name) {
            // A list of itself is a type; itself is none.
            if on_the_way[from..].iter().any(|n| n == INSIDE) {
                return Ok(Term::Named(name.to_owned()));
            }
            let way = on_the_way.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" → ");
            let problem = format!("`$ref` goes in a circle and never says a type: {}", super::quoted(&way));
            return Err(Fault { at: at.to_owned(), problem });
        }
        if is_object(value) || members(value).is_some() {
            return Ok(Term::Named(name.to_owned()));
        }
        // A name for a plain type is read where it is used, so that naming it is no change.
        on_the_way.push(name.to_owned());
        let term = self.term(value, &under("components.schemas", name), on_the_way);
        on_the_way.pop();
        term
    }

    fn plain(
        &self,
        object: &Map<String, Value>,
        at: &str,
        on_the_way: &mut Vec<String>,
    ) -> Result<Term, Fault> {
        let said: BTreeMap<&str, &Value> =
            object.iter().map(|(k, v)| (k.as_str(), v)).filter(|(k, _)| !WORDS.contains(k)).collect();
        if said.is_empty() {
            return Ok(Term::Any);
        }
        let word = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(word) = said.get("const").and_then(|c| word(c)) {
            return Ok(Term::Words([word].into()));
        }
        if let Some(Value::Array(items)) = said.get("enum")
            && let Some(words) = items.iter().map(word).collect::<Option<BTreeSet<_>>>()
        {
            return Ok(Term::Words(words));
        }
        match said.get("type") {
            Some(Value::Array(types)) => {
                let mut of = |ty: &Value| {
                    let mut one = object.clone();
                    one.insert("type".to_owned(), ty.clone());
                    self.plain(&one, at, on_the_way)
                };
                Ok(Term::one_of(types.iter().map(&mut of).collect::<Result<Vec<_>, _>>()?))
            }
            Some(Value::String(ty)) => self.typed(ty, &said, at, on_the_way),
            _ => Ok(other(&said)),
        }
    }

    fn typed(
        &self,
        ty: &str,
        said: &BTreeMap<&str, &Value>,
        at: &str,
        on_the_way: &mut Vec<String>,
    ) -> Result<Term, Fault> {
        let only = |known: &[&str]| said.keys().all(|k| *k == "type" || known.contains(k));
        let bound = |key: &str| said.get(key).and_then(|v| v.as_f64()).map(Bound);
        let mut inner = |key: &str| {
            let Some(value) = said.get(key) else { return Ok(Term::Any) };
            on_the_way.push(INSIDE.to_owned());
            let term = self.term(value, &under(at, key), on_the_way);
            on_the_way.pop();
            term
        };
        Ok(match ty {
            "null" if only(&[]) => Term::Null,
            "boolean" if only(&[]) => Term::Bool,
            "string" => {
                let rules: BTreeMap<&str, &Value> = said
                    .iter()
                    .filter(|(k, _)| ["pattern", "format", "maxLength"].contains(k))
                    .map(|(k, v)| (*k, *v))
                    .collect();
                let min = said.get("minLength").and_then(|v| v.as_u64()).unwrap_or_default();
                Term::Text { min, rules: if rules.is_empty() { String::new() } else { written(&rules) } }
            }
            "integer" | "number" if only(&["minimum", "maximum", "format"]) => {
                Term::Number { whole: ty == "integer", min: bound("minimum"), max: bound("maximum") }
            }
            "array" if only(&["items", "uniqueItems"]) => Term::List {
                of: Box::new(inner("items")?),
                unique: said.get("uniqueItems").is_some_and(|v| **v == Value::Bool(true)),
            },
            "object" if only(&["additionalProperties"]) => {
                Term::Map(Box::new(inner("additionalProperties")?))
            }
            _ => other(said),
        })
    }
}

/// A schema that says of itself that nothing is known.
fn not_modelled(value: &Value) -> bool {
    value.as_object().is_some_and(|o| o.contains_key(NOT_MODELLED) && !o.contains_key("properties"))
}

fn is_object(value: &Value) -> bool {
    value.get("properties").is_some_and(Value::is_object)
        || value.get("type").and_then(Value::as_str) == Some("object")
            && value.get("additionalProperties").is_none_or(Value::is_boolean)
            && value.get("additionalProperties") != Some(&Value::Bool(true))
}

/// The members of a schema that is one of several named ones, as place and reference.
fn members(value: &Value) -> Option<Vec<(String, &str)>> {
    let (word, items) = ["oneOf", "anyOf"].into_iter().find_map(|w| Some((w, value.get(w)?.as_array()?)))?;
    items
        .iter()
        .enumerate()
        .map(|(n, item)| Some((format!("{word}.{n}"), item.get("$ref")?.as_str()?)))
        .collect()
}

fn other(said: &BTreeMap<&str, &Value>) -> Term {
    Term::Other(written(said))
}

/// JSON with its keys in order, so that two documents write it in one way.
fn written(said: &BTreeMap<&str, &Value>) -> String {
    serde_json::to_string(said).unwrap_or_default()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
