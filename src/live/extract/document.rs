//! The document that the script prints: packages, facts, and what could not be found out.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ExtractError;

/// The version of the document's shape.
pub const SCHEMA: &str = "skewlab.package/1";

/// The distribution whose version is the release's.
const NAMED_BY: [&str; 2] = ["openhands-agent-server", "openhands-sdk"];

/// What is known of one set of installed packages.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// [`SCHEMA`].
    pub schema: String,
    /// The Python that read it.
    pub python: String,
    /// The distributions, by name: those of the release, and those that its behaviour depends on.
    pub packages: BTreeMap<String, Installed>,
    /// What was found out, by name.
    pub facts: BTreeMap<String, Fact>,
    /// What was not, and why.
    pub faults: Vec<Fault>,
}

/// One installed distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installed {
    /// Its version, as the distribution says it.
    pub version: String,
    /// SHA-256 over its record of files; only for the packages of the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// One thing that was found out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The answer; its shape depends on the question.
    pub is: Value,
    /// How it was found: *asked*, *run* or *read*, and of what.
    pub how: String,
}

/// One thing that was not found out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The question.
    pub fact: String,
    /// What the package did instead of answering.
    pub message: String,
}

impl Package {
    /// Reads a document; `name` says in errors where it came from.
    ///
    /// Errors when it is no document of this schema, or holds no `OpenHands` package.
    pub fn parse(name: &str, text: &str) -> Result<Package, ExtractError> {
        let wrong = |problem: String| ExtractError::Document { name: name.to_owned(), problem };
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(format!("no JSON: {e}")))?;
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            Some(other) => return Err(wrong(format!("its schema is `{other}`, and `{SCHEMA}` is read"))),
            None => return Err(wrong(format!("no document of an extraction: `schema` is not `{SCHEMA}`"))),
        }
        let package: Package = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
        if NAMED_BY.iter().all(|n| !package.packages.contains_key(*n)) {
            let why = package.faults.iter().find(|f| f.fact.starts_with("package "));
            let why = why.map_or(String::new(), |f| format!(" ({}: {})", f.fact, f.message));
            return Err(wrong(format!("neither {} is installed{why}", NAMED_BY.join(" nor "))));
        }
        Ok(package)
    }

    /// Reads a stored document.
    ///
    /// Errors also when the file cannot be read.
    pub fn load(path: &Path) -> Result<Package, ExtractError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ExtractError::File { path: path.to_owned(), error })?;
        Package::parse(&path.display().to_string(), &text)
    }

    /// The version of the server, or of the SDK where there is no server, as the distribution says it.
    pub fn version(&self) -> &str {
        NAMED_BY.iter().find_map(|n| self.packages.get(*n)).map_or("", |p| p.version.as_str())
    }

    /// The fact of that name.
    ///
    /// Errors with a sentence when there is none, or its shape is not `T`.
    pub fn fact<T: DeserializeOwned>(&self, name: &str) -> Result<(T, &str), String> {
        let Some(fact) = self.facts.get(name) else {
            let fault = self.faults.iter().find(|f| f.fact == name);
            return Err(fault.map_or_else(
                || format!("the document has no `{name}`"),
                |f| format!("`{name}`: {}", f.message),
            ));
        };
        T::deserialize(&fact.is)
            .map(|is| (is, fact.how.as_str()))
            .map_err(|e| format!("`{name}` is not what was expected: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        Package::parse("p.json", text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_document_says_why() {
        assert!(wrong("<html>").starts_with("p.json: no JSON"));
        assert!(wrong("{}").contains("no document of an extraction"));
        assert!(wrong(r#"{"schema":"skewlab.package/9"}"#).contains("`skewlab.package/9`"));
        let empty = r#"{"schema":"skewlab.package/1","python":"3","packages":{},"facts":{},
            "faults":[{"fact":"package openhands-sdk","message":"PackageNotFoundError"}]}"#;
        assert!(wrong(empty).contains("is installed (package openhands-sdk: PackageNotFoundError)"));
    }

    #[test]
    fn a_fact_that_is_missing_or_odd_is_a_sentence() {
        let text = r#"{"schema":"skewlab.package/1","python":"3.12.1",
            "packages":{"openhands-sdk":{"version":"1.59.0"}},
            "facts":{"a":{"is":3,"how":"asked"}},"faults":[{"fact":"b","message":"LookupError: gone"}]}"#;
        let package = Package::parse("p.json", text).unwrap();
        assert_eq!(package.version(), "1.59.0");
        assert_eq!(package.fact::<u8>("a"), Ok((3, "asked")));
        assert_eq!(package.fact::<u8>("b").unwrap_err(), "`b`: LookupError: gone");
        assert_eq!(package.fact::<u8>("c").unwrap_err(), "the document has no `c`");
        assert!(package.fact::<String>("a").unwrap_err().starts_with("`a` is not what was expected"));
    }
}
