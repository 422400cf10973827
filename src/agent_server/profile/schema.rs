//! The shape of a profile's file, for editors: what it says of itself, and traits of which it may leave out any.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::client::ClientTraits;
use super::server::ServerTraits;
use super::shelf::About;
use crate::schema::{partial, table};
use crate::unit::Release;

/// The file of a server profile.
#[derive(Debug)]
pub struct ServerFile;

/// The file of a client profile.
#[derive(Debug)]
pub struct ClientFile;

impl JsonSchema for ServerFile {
    fn schema_name() -> Cow<'static, str> {
        "ServerFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        file::<ServerTraits>("The traits of one era of the agent server.", generator)
    }
}

impl JsonSchema for ClientFile {
    fn schema_name() -> Cow<'static, str> {
        "ClientFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        file::<ClientTraits>("The traits of one era of a client.", generator)
    }
}

/// Traits stand at the top of the file, beside what it says of itself, and once more in each `[[since]]`.
fn file<T: JsonSchema>(description: &str, generator: &mut SchemaGenerator) -> Schema {
    let mut own = properties(&About::json_schema(generator));
    own.insert(
        "extends".to_owned(),
        json!({ "description": "The profile that it is laid over: it states what changed.", "type": "string",
                "examples": ["1.43.1", "python-1.55.1"] }),
    );
    let mut traits = Map::new();
    for (key, value) in properties(&partial::<T>()) {
        let mut shared = Map::new();
        if let Some(text) = value.get("description") {
            shared.insert("description".to_owned(), text.clone());
        }
        shared.insert("$ref".to_owned(), format!("#/$defs/{key}").into());
        generator.definitions_mut().insert(key.clone(), value);
        traits.insert(key, shared.into());
    }
    let mut change = traits.clone();
    change.insert("release".to_owned(), generator.subschema_for::<Release>().to_value());
    let since = json!({
        "description": "What changed within the era, each from a release on.",
        "type": "array",
        "items": table(change, &["release"]),
    });
    own.extend(traits);
    own.insert("since".to_owned(), since);
    let mut schema = table(own, &["name", "summary"]);
    schema.insert("description".to_owned(), description.into());
    schema
}

fn properties(schema: &Schema) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::shelf::OWN_KEYS;
    use super::*;
    use crate::schema::{Language, document};

    /// What serde says of a key that a `T` does not have: the list of those that it has.
    fn known<T: serde::de::DeserializeOwned>() -> Vec<String> {
        let nothing = toml::Table::from_iter([("\u{20ac}".to_owned(), true.into())]);
        let said = match toml::Value::Table(nothing).try_into::<T>() {
            Ok(_) => panic!("an unknown key was taken"),
            Err(error) => error.to_string(),
        };
        said.split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    fn holds<T: serde::de::DeserializeOwned, F: JsonSchema>() {
        let schema = document::<F>("urn:x", "x", Language::Toml);
        let keys = |at: &Value| {
            let mut keys: Vec<String> = at["properties"].as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys
        };
        let sorted = |own: &[&str]| {
            let mut all: Vec<String> = own.iter().map(|k| (*k).to_owned()).chain(known::<T>()).collect();
            all.sort();
            all
        };
        assert_eq!(keys(&schema), sorted(&[&OWN_KEYS[..], &["since"]].concat()));
        assert_eq!(keys(&schema["properties"]["since"]["items"]), sorted(&["release"]));
    }

    #[test]
    fn the_schema_and_the_reader_know_the_same_keys() {
        holds::<ServerTraits, ServerFile>();
        holds::<ClientTraits, ClientFile>();
    }
}
