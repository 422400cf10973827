//! The shape of a capsule: a scenario whose head is not optional.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::head::Head;
use crate::scenario::ScenarioFile;

/// A capsule: a scenario of one cell, what came of it, and sums of its lines.
#[derive(Debug)]
pub struct CapsuleFile;

impl JsonSchema for CapsuleFile {
    fn schema_name() -> Cow<'static, str> {
        "CapsuleFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut file = ScenarioFile::json_schema(generator);
        let mut head = Head::json_schema(generator);
        let sum = json_schema!({
            "description": "Sums over the lines before them; the last table of the file.",
            "type": "object",
            "properties": {
                "lines": { "description": "Four hexadecimal digits a line.", "type": "string", "pattern": "^([0-9a-f]{4})*$" },
                "text": { "description": "SHA-256 over all of them.", "type": "string", "pattern": "^[0-9a-f]{64}$" },
            },
            "required": ["lines", "text"],
            "additionalProperties": false,
        });
        add(&mut head, "sum", sum.to_value());
        add(&mut file, "capsule", head.to_value());
        file.insert(
            "description".to_owned(),
            json!("A capsule: a scenario of one cell, what came of it, and sums of its lines."),
        );
        file
    }
}

/// A property that has to be there.
fn add(schema: &mut Schema, key: &str, value: Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(key.to_owned(), value);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push(key.into());
    }
}
