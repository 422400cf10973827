//! A schema version keeps the promises that it was introduced with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use skewlab::suite::schemas;

/// What a schema promises, a line each: `cells[].hops[].in.frames integer`, `cells[].verdict "delivered"`, and
/// `cells[].id is there`. Keys that are data are `*`.
fn facts(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(schema, schema, "", &mut found);
    found
}

fn collect(root: &Value, schema: &Value, at: &str, found: &mut BTreeSet<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let place = target.strip_prefix('#').unwrap();
        return collect(root, root.pointer(place).unwrap_or_else(|| panic!("no {target}")), at, found);
    }
    let list = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
    for choice in ["anyOf", "oneOf"].into_iter().flat_map(list) {
        collect(root, &choice, at, found);
    }
    let kinds = if schema["type"].is_array() { list("type") } else { vec![schema["type"].clone()] };
    for kind in kinds.iter().filter_map(Value::as_str) {
        found.insert(format!("{at} {kind}"));
    }
    for word in list("enum").iter().chain(schema.get("const")) {
        found.insert(format!("{at} {word}"));
    }
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let dot = if at.is_empty() { "" } else { "." };
        collect(root, value, &format!("{at}{dot}{key}"), found);
    }
    for key in list("required").iter().filter_map(Value::as_str) {
        let dot = if at.is_empty() { "" } else { "." };
        found.insert(format!("{at}{dot}{key} is there"));
    }
    if schema["additionalProperties"].is_object() {
        collect(root, &schema["additionalProperties"], &format!("{at}.*"), found);
    }
    if schema["propertyNames"].is_object() {
        collect(root, &schema["propertyNames"], &format!("{at}.* is"), found);
    }
    for item in list("prefixItems").iter().chain(schema.get("items")) {
        collect(root, item, &format!("{at}[]"), found);
    }
}

/// What breaks a reader of files of this version: a promise that is gone, and a field that has to be there and was not.
fn broken(first: &BTreeSet<String>, today: &BTreeSet<String>) -> (Vec<String>, Vec<String>) {
    let gone = first.difference(today).cloned().collect();
    let wanted = today.difference(first).filter(|fact| fact.ends_with(" is there"));
    // What lies within something that is new itself breaks nobody.
    let old = |fact: &&String| {
        let parent = fact.trim_end_matches(" is there").rsplit_once('.').map_or("", |(parent, _)| parent);
        parent.is_empty() || first.iter().any(|known| known.starts_with(&format!("{parent} ")))
    };
    (gone, wanted.filter(old).cloned().collect())
}

#[test]
fn no_promise_of_a_schema_version_is_broken() {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "schemas"].iter().collect();
    let mut versions = 0;
    for schema in schemas::all().iter().filter(|schema| schema.file.contains(".v")) {
        let path = folder.join(schema.file.replace(".schema.json", ".txt"));
        let today = facts(&schema.schema);
        if !path.exists() && std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, today.iter().fold(String::new(), |text, line| text + line + "\n")).unwrap();
        }
        let first = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let first: BTreeSet<String> = first.lines().map(str::to_owned).collect();
        assert!(first.len() > 10, "{} holds next to nothing", path.display());
        let (gone, wanted) = broken(&first, &today);
        assert!(
            gone.is_empty() && wanted.is_empty(),
            "{} breaks what its version promised.\n  gone: {gone:#?}\n  newly required: {wanted:#?}\nA field that is \
             gone, of another type or newly required needs a new schema version",
            schema.name
        );
        versions += 1;
    }
    assert_eq!(versions, 13);
}

#[test]
fn a_field_may_come_and_none_may_go() {
    let schema = |more: &Value, required: &[&str]| {
        let mut schema = json!({
            "properties": { "a": { "type": "integer" }, "w": { "$ref": "#/$defs/W" } },
            "required": required,
            "$defs": { "W": { "oneOf": [{ "const": "one", "type": "string" }, { "enum": ["two"] }] } },
        });
        for (key, value) in more.as_object().unwrap() {
            schema["properties"][key] = value.clone();
        }
        facts(&schema)
    };
    let first = schema(&json!({}), &["a"]);
    let lines: Vec<&str> = first.iter().map(String::as_str).collect();
    assert_eq!(lines, ["a integer", "a is there", "w \"one\"", "w \"two\"", "w string"]);
    let within =
        json!({ "b": { "type": "object", "properties": { "c": { "type": "null" } }, "required": ["c"] } });
    assert_eq!(
        broken(&first, &schema(&within, &["a"])),
        (vec![], vec![]),
        "an optional field with fields of its own"
    );
    let (gone, _) = broken(&first, &schema(&json!({ "a": { "type": "string" } }), &["a"]));
    assert_eq!(gone, ["a integer"]);
    let (gone, _) = broken(&first, &schema(&json!({ "w": { "enum": ["one"], "type": "string" } }), &["a"]));
    assert_eq!(gone, ["w \"two\""]);
    let (_, wanted) = broken(&first, &schema(&json!({}), &["a", "w"]));
    assert_eq!(wanted, ["w is there"]);
}
