//! The references in a piece of JSON, each checked.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::error::{nearest, quoted};

const SCHEMAS: &str = "#/components/schemas/";

/// What is wrong at a place.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: String,
    pub(super) problem: String,
}

/// A place one key further in.
pub(super) fn under(at: &str, key: &str) -> String {
    let key = quoted(key);
    if at.is_empty() { key } else { format!("{at}.{key}") }
}

/// The schema that a `$ref` names.
///
/// Errors when it names none.
pub(super) fn target<'v>(
    reference: &'v str,
    schemas: &Map<String, Value>,
    at: &str,
) -> Result<&'v str, Fault> {
    let fault = |problem| Fault { at: at.to_owned(), problem };
    let Some(name) = reference.strip_prefix(SCHEMAS) else {
        let expected = format!("expected `{SCHEMAS}NAME`");
        return Err(fault(format!("`$ref` is `{}`; {expected}", quoted(reference))));
    };
    if schemas.contains_key(name) {
        return Ok(name);
    }
    let hint = nearest(name, schemas.keys().map(String::as_str));
    Err(fault(format!("`$ref` names the schema `{}`, and there is none{hint}", quoted(name))))
}

/// Every schema that a piece of JSON refers to. A mapping of a discriminator is no reference of its own: it repeats the
/// union's members, and is only checked.
pub(super) fn references(
    value: &Value,
    schemas: &Map<String, Value>,
    at: &str,
    found: &mut BTreeSet<String>,
) -> Result<(), Fault> {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let here = under(at, key);
                match (key.as_str(), inner) {
                    ("$ref", Value::String(reference)) => {
                        found.insert(target(reference, schemas, at)?.to_owned());
                    }
                    ("discriminator", Value::Object(discriminator)) => {
                        mapping(discriminator, schemas, &here)?;
                    }
                    // Its keys are names of fields, whatever they are called.
                    ("properties", Value::Object(fields)) => {
                        for (name, field) in fields {
                            references(field, schemas, &under(&here, name), found)?;
                        }
                    }
                    // Data, not schemas: a `$ref` in it is none.
                    ("example" | "examples" | "default" | "const" | "enum", _) => {}
                    _ => references(inner, schemas, &here, found)?,
                }
            }
        }
        Value::Array(items) => {
            for (number, inner) in items.iter().enumerate() {
                references(inner, schemas, &under(at, &number.to_string()), found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn mapping(discriminator: &Map<String, Value>, schemas: &Map<String, Value>, at: &str) -> Result<(), Fault> {
    for (value, reference) in discriminator.get("mapping").and_then(Value::as_object).into_iter().flatten() {
        let at = under(&under(at, "mapping"), value);
        let reference = reference
            .as_str()
            .ok_or_else(|| Fault { at: at.clone(), problem: format!("expected `{SCHEMAS}NAME`") })?;
        target(reference, schemas, &at)?;
    }
    Ok(())
}
