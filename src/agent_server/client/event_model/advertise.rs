//! The event model of one release as the schemas of an `OpenAPI` document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::types::{Extra, Field, Model, Type};
use super::vocabulary::{Tables, Vocabulary};
use super::{EventModel, Options};
use crate::agent_server::profile::ProfileError;
use crate::openapi::NOT_MODELLED;
use crate::unit::Release;

/// Which side of a class is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What is sent: every event has its `kind`, and nothing but the declared type is written.
    Sent,
    /// What is taken: null or a bare string where the class takes it, and a list where it makes a set of it.
    Taken,
}

/// A family's members, and every schema that they lead to.
#[derive(Debug, Clone, PartialEq)]
pub struct Advertised {
    /// The kinds of the family, in the order of the data file.
    pub kinds: Vec<String>,
    /// The schemas, by name.
    pub schemas: BTreeMap<String, Value>,
}

impl EventModel {
    /// The classes that `release` had under these options, as schemas. The families in `unknown` are said to be not
    /// modelled.
    ///
    /// Errors when the vocabulary contradicts itself for that release.
    pub fn advertised(
        release: &Release,
        options: Options,
        side: Side,
        unknown: &[String],
    ) -> Result<Advertised, ProfileError> {
        let vocabulary = Vocabulary::embedded()?;
        let tables = vocabulary.at(release, options)?;
        let mut walk = Walk { vocabulary, tables: &tables, side, unknown, schemas: BTreeMap::new() };
        let members = tables.members(tables.event);
        for member in members {
            walk.model(*member, true);
        }
        let kinds = members.iter().map(|m| tables.models[*m].name.to_string()).collect();
        Ok(Advertised { kinds, schemas: walk.schemas })
    }
}

struct Walk<'v> {
    vocabulary: &'v Vocabulary,
    tables: &'v Tables,
    side: Side,
    unknown: &'v [String],
    schemas: BTreeMap<String, Value>,
}

impl Walk<'_> {
    /// The reference to a model; `told_apart` for one whose family is told apart by `kind`.
    fn model(&mut self, number: usize, told_apart: bool) -> Value {
        let model: &Model = &self.tables.models[number];
        let name = model.name.to_string();
        if !self.schemas.contains_key(&name) {
            // There before its fields are read: a model may hold itself.
            self.schemas.insert(name.clone(), Value::Null);
            let schema = self.object(model, told_apart);
            self.schemas.insert(name.clone(), schema);
        }
        reference(&name)
    }

    fn object(&mut self, model: &Model, told_apart: bool) -> Value {
        let mut properties = Map::new();
        let mut required: Vec<String> = Vec::new();
        for field in &model.fields {
            properties.insert(field.name.to_string(), self.field(field));
            if field.required {
                required.push(field.name.to_string());
            }
        }
        if self.side == Side::Taken {
            // Keys of older versions, which are removed before anything is read.
            properties.extend(model.drops.iter().map(|key| (key.to_string(), json!({}))));
        }
        if told_apart {
            // Computed from the class name, and written last.
            properties.insert("kind".to_owned(), json!({"type": "string", "const": &*model.name}));
            required.push("kind".to_owned());
        }
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        match model.extra {
            Extra::Forbid => schema["additionalProperties"] = false.into(),
            Extra::Allow => schema["additionalProperties"] = true.into(),
            Extra::Ignore => {}
        }
        schema
    }

    fn field(&mut self, field: &Field) -> Value {
        let declared = self.ty(&field.ty);
        let takes = |word: &str| json!({"type": word});
        let mut all = vec![declared];
        if self.side == Side::Taken {
            all.extend(field.or_null.then(|| takes("null")));
            all.extend(field.or_str.then(|| takes("string")));
        }
        if all.len() > 1 { json!({"anyOf": all}) } else { all.swap_remove(0) }
    }

    fn ty(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Any => json!({}),
            Type::Str | Type::StrExcept(_) | Type::KindName(_) => json!({"type": "string"}),
            Type::LongStr(min) => json!({"type": "string", "minLength": min}),
            Type::Bool => json!({"type": "boolean"}),
            Type::Int(min) => bounded("integer", &[("minimum", min.map(Value::from))]),
            Type::Float(min, max) => {
                bounded("number", &[("minimum", min.map(Value::from)), ("maximum", max.map(Value::from))])
            }
            Type::OneOf(words) | Type::Enum(words) => {
                json!({"type": "string", "enum": words.iter().map(|w| &**w).collect::<Vec<_>>()})
            }
            Type::List(inner) | Type::Seq(inner) => self.list(inner, false),
            Type::Set(inner) => self.list(inner, self.side == Side::Sent),
            Type::Dict(inner) => {
                let of = if **inner == Type::Any { true.into() } else { self.ty(inner) };
                json!({"type": "object", "additionalProperties": of})
            }
            Type::Model(number) => self.model(*number, false),
            Type::Family(number) => self.family(*number),
            Type::Instance | Type::Class => not_modelled(),
            Type::Union(members) => json!({"anyOf": members.iter().map(|m| self.ty(m)).collect::<Vec<_>>()}),
            Type::Nullable(inner) => json!({"anyOf": [self.ty(inner), {"type": "null"}]}),
        }
    }

    fn list(&mut self, inner: &Type, unique: bool) -> Value {
        let mut schema = json!({"type": "array", "items": self.ty(inner)});
        if unique {
            schema["uniqueItems"] = true.into();
        }
        schema
    }

    fn family(&mut self, number: usize) -> Value {
        let name = self.vocabulary.families[number].name.clone();
        if !self.schemas.contains_key(&name) {
            self.schemas.insert(name.clone(), not_modelled());
            if !self.unknown.contains(&name) {
                let members: Vec<Value> =
                    self.tables.members(number).iter().map(|m| self.model(*m, true)).collect();
                let union = json!({"oneOf": members, "discriminator": {"propertyName": "kind"}});
                self.schemas.insert(name.clone(), union);
            }
        }
        reference(&name)
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn not_modelled() -> Value {
    json!({NOT_MODELLED: "not modelled"})
}

fn bounded(ty: &str, bounds: &[(&str, Option<Value>)]) -> Value {
    let mut schema = json!({"type": ty});
    for (key, bound) in bounds {
        if let Some(bound) = bound {
            schema[*key] = bound.clone();
        }
    }
    schema
}
