//! The JSON Schemas: what is committed is what the code says, a version keeps its first promises, and a schema and the
//! reader of its files agree on what is right and what is not.

mod committed;
mod invalid;
mod shape;
mod valid;

use jsonschema::Validator;
use serde_json::Value;
use skewlab::suite::schemas;

/// The validator of one schema, formats included.
fn validator(name: &str) -> Validator {
    let all = schemas::all();
    let schema = all.iter().find(|schema| schema.name == name).unwrap_or_else(|| panic!("no schema {name}"));
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema.schema)
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Everything that is wrong with a value, one line each.
fn faults(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect()
}

/// TOML as an editor checks it: dates become texts.
fn of_toml(text: &str) -> Value {
    fn json(value: toml::Value) -> Value {
        match value {
            toml::Value::Datetime(date) => date.to_string().into(),
            toml::Value::Array(items) => items.into_iter().map(json).collect(),
            toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, json(value))).collect(),
            other => serde_json::to_value(other).unwrap(),
        }
    }
    json(toml::Value::Table(text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))))
}
