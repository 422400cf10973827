//! Finding the files of a package, and reading them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::ContractFileError;
use super::scan::{exported, imported, object, union, without_comments};
use super::{TYPES_SCHEMA, TypeFacts};

/// Where the generated file is in a package.
const GENERATED: &str = "generated/agent-server-schema.d.ts";
/// The file written by hand whose types stand on the generated ones.
const BY_HAND: &str = "events/types.d.ts";
/// Folders of a package that may hold them.
const HOMES: [&str; 4] = ["", "dist", "package/dist", "node_modules/@openhands/typescript-client/dist"];
/// The type that the events are one of.
const EVENT: &str = "Event";

impl TypeFacts {
    /// Reads a folder with a package, one file of declarations, or facts that were stored as JSON.
    ///
    /// Errors when it is none of them, cannot be read, or has no type `Event`.
    pub fn load(path: &Path) -> Result<TypeFacts, ContractFileError> {
        let wrong = |problem: String| ContractFileError::Types { path: path.to_owned(), problem };
        if path.is_dir() {
            let mut homes = HOMES.iter().map(|home| path.join(home));
            let home = homes.find(|home| home.join(GENERATED).is_file()).ok_or_else(|| {
                wrong(format!(
                    "holds no generated types: expected {GENERATED} in it, in dist/ or in package/dist/"
                ))
            })?;
            let by_hand = Some(home.join(BY_HAND)).filter(|file| file.is_file());
            return facts(&home.join(GENERATED), by_hand.as_deref(), package(&home));
        }
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let has = |extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        if has("json") {
            return TypeFacts::parse(&path.display().to_string(), &read(path)?);
        }
        if has("ts") {
            return facts(path, None, name.to_owned());
        }
        let expected =
            "expected a folder with the package, FILE.d.ts, or FILE.json with facts that were stored";
        Err(wrong(if path.exists() {
            expected.to_owned()
        } else {
            format!("there is no such file; {expected}")
        }))
    }

    /// Reads stored facts; `name` says in errors where they came from.
    ///
    /// Errors when they are cut off, no JSON, or of another shape.
    pub fn parse(name: &str, text: &str) -> Result<TypeFacts, ContractFileError> {
        let facts: TypeFacts = serde_json::from_str(text).map_err(|e| ContractFileError::parsed(name, e))?;
        if facts.schema == TYPES_SCHEMA {
            return Ok(facts);
        }
        Err(ContractFileError::Wrong {
            name: name.to_owned(),
            at: "schema".to_owned(),
            problem: format!(
                "expected `{TYPES_SCHEMA}`, and found `{}`",
                super::super::quoted(&facts.schema)
            ),
        })
    }
}

fn read(path: &Path) -> Result<String, ContractFileError> {
    std::fs::read_to_string(path).map_err(|error| ContractFileError::Read { path: path.to_owned(), error })
}

fn facts(generated: &Path, by_hand: Option<&Path>, package: String) -> Result<TypeFacts, ContractFileError> {
    let wrong =
        |problem: &str| ContractFileError::Types { path: generated.to_owned(), problem: problem.to_owned() };
    let text = read(generated)?;
    let bodies = exported(&without_comments(&text));
    let event = bodies
        .get(EVENT)
        .ok_or_else(|| wrong("exports no type `Event`: expected generated types of a server"))?;
    let union = union(event);
    if union.is_empty() {
        return Err(wrong("its type `Event` is not one of several types"));
    }
    let in_package = |file: &str, only: &Path| {
        let plain = || only.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        if by_hand.is_some() || only.ends_with(file) { file.to_owned() } else { plain() }
    };
    let mut files = BTreeMap::from([(in_package(GENERATED, generated), hash(&text))]);
    let mut used = BTreeSet::new();
    if let Some(path) = by_hand {
        let text = read(path)?;
        used = imported(&without_comments(&text));
        files.insert(BY_HAND.to_owned(), hash(&text));
    }
    let names: BTreeSet<&String> = union.iter().map(|m| &m.name).chain(&used).collect();
    let mut types = BTreeMap::new();
    for name in names {
        if let Some(body) = bodies.get(name.as_str()) {
            types.insert(name.clone(), object(body).unwrap_or_default());
        }
    }
    Ok(TypeFacts { schema: TYPES_SCHEMA.to_owned(), package, files, union, types, used })
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Name and version by the `package.json` above; the folder's own name says nothing that may stand in a result.
fn package(home: &Path) -> String {
    let said = |path: PathBuf| -> Option<String> {
        let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
        Some(format!("{} {}", value.get("name")?.as_str()?, value.get("version")?.as_str()?))
    };
    let found = [home.join("package.json"), home.join("../package.json")].into_iter().find_map(said);
    found.unwrap_or_else(|| "types of no package".to_owned())
}
