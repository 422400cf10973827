//! What a JSON Schema of a file needs beside the types that it is made of.
//!
//! The types derive `schemars::JsonSchema` where they stand; their doc comments are what an editor shows. Here is what
//! the derive does not do: the head of a document, maps whose keys are words of a closed list ([`keyed`]), traits of
//! which a file states only some ([`Partial`]), and the difference between JSON and TOML, which has no `null`.
//!
//! A schema says what the reader takes, so that a file of an older version, without the fields that came later, is
//! still valid.

mod partial;
mod tidy;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

pub use partial::{Partial, partial};

/// The draft that all schemas are written in.
pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The language of the file that a schema is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Has `null`.
    Json,
    /// Has none: what is optional is left out.
    Toml,
}

/// The schema of a file that holds a `T`, under an id of its own.
pub fn document<T: JsonSchema>(id: &str, title: &str, language: Language) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    tidy::descriptions(&mut schema);
    if language == Language::Toml {
        tidy::without_null(&mut schema);
    }
    let mut head = Map::new();
    head.insert("$schema".to_owned(), DRAFT.into());
    head.insert("$id".to_owned(), id.into());
    head.insert("title".to_owned(), title.into());
    if let Value::Object(body) = schema {
        let rest = body.into_iter().filter(|(key, _)| key != "$schema" && key != "title");
        head.extend(rest);
    }
    Value::Object(head)
}

/// A map whose keys are words of the closed list `K`. The derive takes any text there.
pub fn keyed<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let (keys, values) = (generator.subschema_for::<K>(), generator.subschema_for::<V>());
    json_schema!({ "type": "object", "propertyNames": keys, "additionalProperties": values })
}

/// A text that is one of these words.
pub fn one_of(words: impl IntoIterator<Item = &'static str>) -> Schema {
    let words: Vec<&str> = words.into_iter().collect();
    json_schema!({ "type": "string", "enum": words })
}

/// One `item`, or a list of them that is not empty.
pub fn one_or_more(item: &Schema) -> Schema {
    json_schema!({ "anyOf": [item, { "type": "array", "items": item, "minItems": 1 }] })
}

/// A table with these keys and no other; those of `required` have to be there.
pub fn table(properties: Map<String, Value>, required: &[&str]) -> Schema {
    let mut table = Schema::default();
    table.insert("type".to_owned(), "object".into());
    table.insert("properties".to_owned(), properties.into());
    table.insert("additionalProperties".to_owned(), false.into());
    if !required.is_empty() {
        table.insert("required".to_owned(), json!(required));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file. See [`Inner`].
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Outer {
        /// What is within.
        inner: Option<Inner>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Inner {
        a: Option<u8>,
    }

    #[test]
    fn a_document_has_a_head_and_toml_has_no_null() {
        let json = document::<Outer>("urn:x", "A title", Language::Json);
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys[..3], ["$schema", "$id", "title"]);
        assert_eq!(json["description"], "A file. See `Inner`.");
        assert!(json.to_string().contains("null"));
        let toml = document::<Outer>("urn:x", "A title", Language::Toml);
        assert!(!toml.to_string().contains("null"), "{toml}");
        assert_eq!(toml["properties"]["inner"]["$ref"], "#/$defs/Inner");
        assert_eq!(toml["$defs"]["Inner"]["properties"]["a"]["type"], "integer");
    }
}
