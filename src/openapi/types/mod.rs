//! What a package of generated TypeScript types knows of the events: names of types, kinds and fields, and nothing else of
//! its text.

mod load;
mod scan;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Schema name and version of the facts as JSON.
pub const TYPES_SCHEMA: &str = "skewlab.types/1";

/// The types of one package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeFacts {
    /// [`TYPES_SCHEMA`].
    pub schema: String,
    /// `@openhands/typescript-client 1.39.0`, or the name of a file that belongs to no package.
    pub package: String,
    /// SHA-256 of the files that were read, by their place in the package.
    pub files: BTreeMap<String, String>,
    /// The members of the union `Event`, in the order of the file.
    pub union: Vec<UnionMember>,
    /// The types of those members, and those that other files use, by name.
    pub types: BTreeMap<String, Generated>,
    /// The generated types that files written by hand import, by name. One that is gone no longer compiles.
    pub used: BTreeSet<String>,
}

/// A member of the union `Event`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnionMember {
    /// The type.
    pub name: String,
    /// The kind that the union says beside it; `None` where it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// One generated type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// The kind that its own `kind` says, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its fields, and whether each is always there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, bool>,
}

impl TypeFacts {
    /// The facts in the binary: the last package before the client moved into the server's repository.
    ///
    /// Errors never, unless the file in the binary is broken.
    pub fn released() -> Result<TypeFacts, super::ContractFileError> {
        const NAME: &str = "scenarios/vocabulary/typescript-1.39.0.json";
        const TEXT: &str =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/vocabulary/typescript-1.39.0.json"));
        TypeFacts::parse(NAME, TEXT)
    }

    /// The kinds of the types in the union, with the name of the type of each.
    pub fn kinds(&self) -> BTreeMap<&str, &str> {
        let kind = |m: &'_ UnionMember| self.types.get(&m.name)?.kind.as_deref();
        self.union.iter().filter_map(|m| Some((kind(m)?, m.name.as_str()))).collect()
    }

    /// The members of the union whose type can have no value: the union says one kind and the type another one, and what is
    /// both is `never` (run: tsc 5.9.3 on the types of 1.39.0).
    pub fn never(&self) -> Vec<&str> {
        let is = |m: &&UnionMember| {
            let own = self.types.get(&m.name).and_then(|t| t.kind.as_ref());
            matches!((own, &m.said), (Some(own), Some(said)) if own != said)
        };
        self.union.iter().filter(is).map(|m| m.name.as_str()).collect()
    }
}
