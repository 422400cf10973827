//! From JSON to the model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::schema::Schemas;
use super::walk::{Fault, references, under};
use super::{ContractFileError, Document, Operation};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

impl Document {
    /// Reads a file.
    ///
    /// Errors when it cannot be read, and as [`Document::parse`] does.
    pub fn load(path: &Path) -> Result<Document, ContractFileError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ContractFileError::Read { path: path.to_owned(), error })?;
        Document::parse(&path.display().to_string(), &text)
    }

    /// Reads a document; `name` says in errors where it came from.
    ///
    /// Errors when it is cut off, no JSON, no `OpenAPI` 3 document, has no schemas, or has a reference to nothing or in a
    /// circle. The error names the place.
    pub fn parse(name: &str, text: &str) -> Result<Document, ContractFileError> {
        let value: Value = serde_json::from_str(text).map_err(|e| ContractFileError::parsed(name, e))?;
        Document::of(name, &value)
    }

    /// The same from JSON that is read already.
    pub fn of(name: &str, value: &Value) -> Result<Document, ContractFileError> {
        read(value).map_err(|Fault { at, problem }| ContractFileError::Wrong {
            name: name.to_owned(),
            at: if at.is_empty() { "the document".to_owned() } else { at },
            problem,
        })
    }
}

fn read(value: &Value) -> Result<Document, Fault> {
    match value.get("openapi").and_then(Value::as_str) {
        Some(version) if version.starts_with("3.") => {}
        Some(other) => {
            return Err(fault(
                "openapi",
                format!("expected version 3, and found `{}`", super::quoted(other)),
            ));
        }
        None => {
            let what = if value.is_object() { "there is no `openapi`" } else { "it is no object" };
            let expected = "expected an OpenAPI 3 document, as `GET /openapi.json` answers";
            return Err(fault("", format!("{what}; {expected}")));
        }
    }
    let all = value.get("components").and_then(|c| c.get("schemas")).and_then(Value::as_object);
    let Some(all) = all.filter(|schemas| !schemas.is_empty()) else {
        let problem = "it holds no schema, and there is nothing to compare".to_owned();
        return Err(fault("components.schemas", problem));
    };
    let mut refs = BTreeMap::new();
    for (name, schema) in all {
        refs.insert(name.clone(), referred(schema, all, &under("components.schemas", name))?);
    }
    let schemas = Schemas(all);
    let named = all.iter().map(|(name, value)| Ok((name.clone(), schemas.named(name, value)?)));
    let info = |key: &str| {
        value.get("info").and_then(|i| i.get(key)).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    Ok(Document {
        title: info("title"),
        version: info("version"),
        schemas: named.collect::<Result<_, Fault>>()?,
        operations: operations(value, all)?,
        refs,
    })
}

fn operations(value: &Value, schemas: &Map<String, Value>) -> Result<Vec<Operation>, Fault> {
    let mut found = Vec::new();
    let paths = match value.get("paths") {
        None => return Ok(found),
        Some(Value::Object(paths)) => paths,
        Some(_) => return Err(fault("paths", "expected an object, whose keys are paths".to_owned())),
    };
    for (path, item) in paths {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let at = format!("paths.{}.{method}", super::quoted(path));
            let part = |key: &str| match operation.get(key) {
                None => Ok(BTreeSet::new()),
                Some(part) => referred(part, schemas, &under(&at, key)),
            };
            let mut asks = part("requestBody")?;
            asks.extend(part("parameters")?);
            let name = format!("{} {path}", method.to_uppercase());
            found.push(Operation { name, answers: part("responses")?, asks });
        }
    }
    Ok(found)
}

fn referred(value: &Value, schemas: &Map<String, Value>, at: &str) -> Result<BTreeSet<String>, Fault> {
    let mut found = BTreeSet::new();
    references(value, schemas, at, &mut found)?;
    Ok(found)
}

fn fault(at: &str, problem: String) -> Fault {
    Fault { at: at.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Extra, Schema, Term};
    use super::*;

    fn sample() -> Value {
        json!({
            "openapi": "3.1.0",
            "info": {"title": "t", "version": "1"},
            "paths": {"/events": {"get": {"responses": {"200": {"content": {"application/json": {"schema":
                {"type": "array", "items": {"$ref": "#/components/schemas/Event"}}}}}}}}},
            "components": {"schemas": {
                "Event": {"oneOf": [{"$ref": "#/components/schemas/A"}], "discriminator":
                    {"propertyName": "kind", "mapping": {"A": "#/components/schemas/A"}}},
                "A": {"type": "object", "properties": {
                    "kind": {"const": "A"}, "risk": {"$ref": "#/components/schemas/Risk"}, "x": {},
                    "$ref": {"type": "boolean"}, "own": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "null"}]}},
                    "required": ["kind"], "additionalProperties": false},
                "Risk": {"enum": ["LOW"], "description": "a word"},
                "Json": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/components/schemas/Json"}}]},
                "Alone": {"x-skewlab": "not modelled"}
            }}
        })
    }

    fn wrong(change: impl Fn(&mut Value)) -> String {
        let mut value = sample();
        change(&mut value);
        Document::of("d.json", &value).unwrap_err().to_string()
    }

    #[test]
    fn a_document_is_read_with_its_ways() {
        let document = Document::of("d.json", &sample()).unwrap();
        let a = document.object("A").unwrap();
        assert_eq!(a.extra, Extra::Forbidden);
        assert_eq!(
            a.fields["risk"].term,
            Term::Words(["LOW".to_owned()].into()),
            "a named word list is read in place"
        );
        assert_eq!(
            a.fields["own"].term,
            Term::one_of([Term::Named("A".into()), Term::Null]),
            "a type may hold itself"
        );
        assert!(a.fields["kind"].required && !a.fields["x"].required && a.fields["$ref"].term == Term::Bool);
        assert_eq!(document.word("A", "kind"), Some("A"));
        assert_eq!(document.schemas["Alone"], Schema::NotModelled);
        let list = Term::List { of: Box::new(Term::Named("Json".into())), unique: false };
        assert_eq!(
            document.schemas["Json"],
            Schema::Alias(Term::one_of([Term::text(), list])),
            "a list of itself"
        );
        assert_eq!(document.answering("Risk"), ["GET /events"]);
        assert!(!document.answered().contains("Alone") && document.asked().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let set = |path: &'static str, to: Value| wrong(move |v| *v.pointer_mut(path).unwrap() = to.clone());
        let to = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let text = set("/components/schemas/Event/oneOf/0", to("B"));
        assert_eq!(
            text,
            "d.json: components.schemas.Event.oneOf.0: `$ref` names the schema `B`, and there is none"
        );
        let text = set("/components/schemas/A/properties/x", to("Rsk"));
        assert!(text.contains("A.properties.x") && text.ends_with("did you mean `Risk`?"), "{text}");
        let text = set("/components/schemas/Risk", to("Risk"));
        assert!(text.contains("circle") && text.contains("Risk → Risk"), "{text}");
        let text = set("/components/schemas/Event/discriminator/mapping/A", json!("A"));
        assert!(text.contains("discriminator.mapping.A: `$ref` is `A`"), "{text}");
        let text = set("/components/schemas/A/properties/x", json!({"$ref": "other.json#/X"}));
        assert!(text.contains("expected `#/components/schemas/NAME`"), "{text}");
        let text = set("/components/schemas/A/properties/x", json!(7));
        assert!(text.contains("expected a schema") && text.contains("a number"), "{text}");
        assert!(set("/components/schemas", json!({})).contains("components.schemas: it holds no schema"));
        assert!(set("/openapi", json!("2.0")).contains("openapi: expected version 3"));
        assert!(wrong(|v| *v = json!({"swagger": 2})).contains("the document: there is no `openapi`"));
        assert!(wrong(|v| *v = json!([])).contains("it is no object"));
        assert!(set("/paths", json!([])).starts_with("d.json: paths: expected an object"));
    }

    #[test]
    fn a_document_that_is_cut_off_says_so() {
        let text = sample().to_string();
        let error = Document::parse("d.json", &text[..text.len() - 9]).unwrap_err().to_string();
        assert!(error.starts_with("d.json:1:") && error.contains("cut off"), "{error}");
        assert!(Document::parse("d.json", "<html>").unwrap_err().to_string().contains("no JSON"));
    }
}
