//! Variants: which feed carries chunks, and by what rules. Data, in `scenarios/feeds/*.toml`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::schema::table;

/// What the log keeps of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptChunks {
    /// One `assistant/chunk` event a chunk.
    Event,
    /// Nothing but the assembled message.
    None,
    /// One settlement an attempt, with the attempt's exact chunks and times.
    Embedded,
}

/// What the live feed carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LiveStream {
    /// Nothing.
    None,
    /// `agent/stream-chunk`, one event a chunk.
    Chunks,
    /// `agent/assistant-stream`: a start frame, a frame a chunk, an end frame after the settlement.
    Frames,
}

/// What an append does that comes from within the dispatch of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReentrantAppend {
    /// It appends, and its dispatch runs inside the other one.
    Allowed,
    /// It throws.
    Refused,
}

/// The log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DurableTraits {
    /// What it keeps of a stream.
    pub chunks: KeptChunks,
    /// Whether a message cites the chunks that it was made of (`sourceEventSeqs`).
    pub cites: bool,
}

/// The live feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveTraits {
    /// What it carries.
    pub stream: LiveStream,
    /// A mutant, of no release: every so many chunks one is not emitted, as when a change to a chunk reaches one of its two
    /// schemas and not the other. 0: none.
    #[serde(default)]
    pub forget_every: u64,
}

/// The bus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusTraits {
    /// Whether a listener's throw is caught and logged. Otherwise it ends the dispatch and reaches who emitted.
    pub contained: bool,
    /// Appends from within a dispatch of the log.
    pub reentrant_append: ReentrantAppend,
}

/// A cancelled turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTraits {
    /// Whether the text that was delivered is committed as an interrupted message.
    pub commits_prefix: bool,
}

/// How a variant behaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traits {
    /// The log.
    pub durable: DurableTraits,
    /// The live feed.
    pub live: LiveTraits,
    /// The bus.
    pub bus: BusTraits,
    /// A cancelled turn.
    pub cancel: CancelTraits,
}

impl Traits {
    /// The declarations that a new field of a chunk has to be added to, one for each shape that carries chunks.
    pub fn schema_sites(&self) -> u64 {
        let kept = u64::from(self.durable.chunks != KeptChunks::None);
        kept + u64::from(self.live.stream != LiveStream::None)
    }
}

/// A variant of the session feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The name that a person types.
    pub name: String,
    /// One sentence: what is particular about it.
    pub summary: String,
    /// Where each trait comes from, by top-level key.
    pub source: BTreeMap<String, String>,
    traits: Traits,
}

impl Variant {
    /// How it behaves.
    pub fn traits(&self) -> &Traits {
        &self.traits
    }
}

/// What a file says of its variant beside the traits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct About {
    /// The name that a person types.
    name: String,
    /// One sentence: what is particular about it.
    summary: String,
    /// Where each trait comes from, by top-level key.
    source: BTreeMap<String, String>,
}

/// The file of a variant. It states every trait.
#[derive(Debug)]
pub struct VariantFile;

impl JsonSchema for VariantFile {
    fn schema_name() -> Cow<'static, str> {
        "VariantFile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (own, traits) = (About::json_schema(generator), Traits::json_schema(generator));
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for part in [&own, &traits] {
            properties
                .extend(part.get("properties").and_then(|p| p.as_object()).cloned().unwrap_or_default());
            let keys = part.get("required").and_then(|keys| keys.as_array()).into_iter().flatten();
            required.extend(keys.filter_map(|key| key.as_str()));
        }
        let mut schema = table(properties, &required);
        schema.insert("description".to_owned(), "The traits of one variant of the session feed.".into());
        schema
    }
}

/// A variant that is not there or does not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// No variant has this name.
    #[error("there is no variant called `{name}`; there are {known}")]
    Unknown {
        /// As it was typed.
        name: String,
        /// All there are.
        known: String,
    },
    /// A file or what was laid over it is wrong.
    #[error("variant `{name}`: {message}")]
    Faulty {
        /// The variant, or the file.
        name: String,
        /// What is wrong.
        message: String,
    },
}

const FILES: [(&str, &str); 4] = [
    ("scenarios/feeds/mirrored.toml", include_str!("../../scenarios/feeds/mirrored.toml")),
    ("scenarios/feeds/mirror-removed.toml", include_str!("../../scenarios/feeds/mirror-removed.toml")),
    ("scenarios/feeds/transient-only.toml", include_str!("../../scenarios/feeds/transient-only.toml")),
    ("scenarios/feeds/embedded.toml", include_str!("../../scenarios/feeds/embedded.toml")),
];

/// All variants there are.
#[derive(Debug, Clone)]
pub struct Variants(Vec<(Variant, Table)>);

const OWN_KEYS: [&str; 3] = ["name", "summary", "source"];

impl Variants {
    /// The variants in the binary.
    pub fn embedded() -> Result<Variants, VariantError> {
        FILES.into_iter().map(|(path, text)| read(path, text)).collect::<Result<_, _>>().map(Variants)
    }

    /// Their names, in the order in which they came about.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(variant, _)| variant.name.as_str()).collect()
    }

    /// The variant of this name.
    pub fn get(&self, name: &str) -> Result<Variant, VariantError> {
        self.with(name, &Table::new())
    }

    /// The variant of this name with `laid` over its traits.
    pub fn with(&self, name: &str, laid: &Table) -> Result<Variant, VariantError> {
        let found = self.0.iter().find(|(variant, _)| variant.name == name);
        let Some((variant, traits)) = found else {
            return Err(VariantError::Unknown { name: name.to_owned(), known: self.names().join(", ") });
        };
        let mut table = traits.clone();
        lay(&mut table, laid);
        let traits = of(name, table)?;
        Ok(Variant { traits, ..variant.clone() })
    }
}

fn read(path: &str, text: &str) -> Result<(Variant, Table), VariantError> {
    let faulty = |e: toml::de::Error| VariantError::Faulty { name: path.to_owned(), message: e.to_string() };
    let mut table: Table = text.parse().map_err(faulty)?;
    let own: Table = OWN_KEYS.iter().filter_map(|k| Some(((*k).to_owned(), table.remove(*k)?))).collect();
    let About { name, summary, source } = own.try_into().map_err(faulty)?;
    let traits = of(path, table.clone())?;
    Ok((Variant { name, summary, source, traits }, table))
}

fn of(name: &str, table: Table) -> Result<Traits, VariantError> {
    table.try_into().map_err(|e: toml::de::Error| VariantError::Faulty {
        name: name.to_owned(),
        message: e.to_string().trim().to_owned(),
    })
}

/// Lays tables over tables, and any other value over what was there.
fn lay(under: &mut Table, over: &Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => lay(under, over),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_reads_and_says_where_each_trait_comes_from() {
        let variants = Variants::embedded().unwrap();
        assert_eq!(variants.names(), ["mirrored", "mirror-removed", "transient-only", "embedded"]);
        let sites = |name: &str| variants.get(name).unwrap().traits().schema_sites();
        // Row 24 of the facts.
        assert_eq!([sites("mirrored"), sites("mirror-removed")], [2, 1]);
        for (variant, traits) in &variants.0 {
            for key in traits.keys() {
                assert!(variant.source.contains_key(key), "{}: {key} has no source", variant.name);
            }
        }
    }

    #[test]
    fn a_trait_can_be_laid_over_a_variant_and_a_wrong_one_is_named() {
        let variants = Variants::embedded().unwrap();
        let laid: Table = "[bus]\ncontained = true".parse().unwrap();
        let variant = variants.with("mirrored", &laid).unwrap();
        assert!(variant.traits().bus.contained);
        assert_eq!(variant.traits().bus.reentrant_append, ReentrantAppend::Allowed);
        let wrong = variants.with("mirrored", &"[bus]\ncontain = true".parse().unwrap()).unwrap_err();
        assert!(wrong.to_string().contains("contain"), "{wrong}");
        let unknown = variants.get("mirored").unwrap_err().to_string();
        assert!(unknown.contains("`mirored`") && unknown.contains("mirrored, mirror-removed"), "{unknown}");
    }
}
