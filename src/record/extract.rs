//! What was extracted from a package, and where it differs from what it was held against.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::Value;

/// The version of the JSON's shape.
pub const EXTRACT_SCHEMA: &str = "skewlab.extract/1";

/// What one package implies.
#[derive(Debug, Clone, Serialize)]
pub struct Extraction {
    /// [`EXTRACT_SCHEMA`].
    pub schema: String,
    /// Its release.
    pub release: String,
    /// Every distribution that was looked at, with its version.
    pub packages: BTreeMap<String, String>,
    /// Its server.
    pub server: ExtractedProfile,
    /// Its Python client.
    pub client: ExtractedProfile,
    /// Where its event classes differ from the vocabulary of that release.
    pub vocabulary: Vec<ClassChange>,
    /// Differences of classes that belong to another distribution: they are not the release's.
    pub foreign: Vec<ClassChange>,
    /// What was found out and is no trait, as name and text.
    pub aside: Vec<(String, String)>,
    /// What the package was asked and did not answer, as fact and reason. With any of these the extraction says less than
    /// it should: the package does not work in its environment, or is no longer what the questions are about.
    pub unanswered: Vec<(String, String)>,
    /// What it was held against; `None` for nothing.
    pub against: Option<Against>,
}

/// A profile as far as a package says it.
#[derive(Debug, Clone, Serialize)]
pub struct ExtractedProfile {
    /// The name of the profile.
    pub name: String,
    /// The profile that says the rest.
    pub extends: String,
    /// The traits that were extracted.
    pub traits: Vec<ExtractedTrait>,
    /// Those that were not, and come from `extends`.
    pub missing: Vec<MissingTrait>,
}

/// One trait with its source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExtractedTrait {
    /// Its place in a profile: `bus.fan_out`.
    pub path: String,
    /// Its value.
    pub value: Value,
    /// How it was found out.
    pub how: String,
}

/// One trait that was not extracted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingTrait {
    /// Its place in a profile.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What a package was held against.
#[derive(Debug, Clone, Serialize)]
pub struct Against {
    /// What that is, ready to print: `the committed profiles 1.43.1 and python-1.55.1`.
    pub what: String,
    /// The traits that were compared.
    pub compared: usize,
    /// Those that differ.
    pub traits: Vec<TraitDifference>,
    /// The event classes that differ; for the committed profiles the same as [`Extraction::vocabulary`].
    pub classes: Vec<ClassChange>,
    /// What is no trait and differs, as name and text; nothing where the other side says nothing of it.
    pub aside: Vec<(String, String)>,
}

impl Against {
    /// Whether the two are the same in everything that was compared.
    pub fn equal(&self) -> bool {
        self.traits.is_empty() && self.classes.is_empty() && self.aside.is_empty()
    }
}

/// A trait that the two sides say differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraitDifference {
    /// `server` or `client`.
    pub party: String,
    /// Its place in a profile.
    pub path: String,
    /// What the other side says; `None` if nothing.
    pub other: Option<Value>,
    /// What this package says; `None` if nothing.
    pub this: Option<Value>,
    /// How that was found out.
    pub how: String,
}

/// A change of the event classes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ClassChange {
    /// The class or family.
    pub class: String,
    /// What changed, in words.
    pub what: String,
    /// The lines that say it in the language of the vocabulary, ready to paste; may be empty.
    pub lines: Vec<String>,
}
