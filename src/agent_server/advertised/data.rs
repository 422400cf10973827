//! The data file: what a document says beside the event classes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent_server::profile::ProfileError;
use crate::unit::Release;

pub(super) const PATH: &str = "scenarios/vocabulary/openapi.toml";
const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/vocabulary/openapi.toml"));

/// The data file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub(super) openapi: String,
    pub(super) title: String,
    pub(super) union: String,
    pub(super) discriminator: String,
    mapping: String,
    pub(super) not_modelled: Vec<String>,
    modules: BTreeMap<String, Vec<String>>,
    endpoint: Vec<Endpoint>,
    unlogged: Vec<Unlogged>,
}

/// An endpoint that returns events, in some releases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    pub(super) path: String,
    pub(super) answer: Answer,
    since: Option<Release>,
    until: Option<Release>,
}

/// What an endpoint is said to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    Event,
    Events,
    Page,
    Untyped,
}

/// A kind that no endpoint can return: it is never in the log that the endpoints read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unlogged {
    /// The kind.
    pub kind: String,
    /// Whether it is that of a token delta.
    #[serde(default)]
    pub deltas: bool,
    /// How that is known.
    pub because: String,
}

impl Data {
    /// The endpoints that `release` has.
    pub(super) fn endpoints(&self, release: &Release) -> impl Iterator<Item = &Endpoint> {
        self.endpoint.iter().filter(|e| {
            let begun = e.since.as_ref().is_none_or(|r| release.at_least(r));
            begun && !e.until.as_ref().is_some_and(|r| release.at_least(r))
        })
    }

    /// The kinds in the order of the document, each with what the discriminator calls it.
    ///
    /// Errors when a kind has no module.
    pub(super) fn ordered<'k>(&self, kinds: &'k [String]) -> Result<Vec<(&'k str, String)>, ProfileError> {
        let module = |kind: &str| self.modules.iter().find(|(_, all)| all.iter().any(|k| k == kind));
        let mut found = Vec::new();
        for kind in kinds {
            let (module, _) = module(kind).ok_or_else(|| ProfileError::Invalid {
                path: PATH.to_owned(),
                message: format!("[modules]: the event kind `{kind}` is in none of them"),
            })?;
            let word = self.mapping.replace("{module}", &module.replace('.', "__")).replace("{kind}", kind);
            found.push((module.as_str(), kind.as_str(), word));
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, kind, word)| (kind, word)).collect())
    }
}

/// The one in the binary.
pub(super) fn data() -> Result<&'static Data, ProfileError> {
    static READ: LazyLock<Result<Data, ProfileError>> = LazyLock::new(|| {
        toml::from_str(TEXT)
            .map_err(|e| ProfileError::Invalid { path: PATH.to_owned(), message: e.to_string() })
    });
    READ.as_ref().map_err(Clone::clone)
}

/// The kinds that no endpoint can return, whatever a document says.
///
/// Errors when the data file is broken.
pub fn unlogged() -> Result<&'static [Unlogged], ProfileError> {
    Ok(&data()?.unlogged)
}
