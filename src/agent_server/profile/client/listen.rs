//! The callback lists of a client: which exist, and what becomes of a delta that goes to one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The callback lists that an application can ask for.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListenTraits {
    /// The list that an application of that era uses; empty for a client without lists.
    #[serde(default)]
    pub default: String,
    /// What each list is to a delta.
    #[serde(default)]
    pub lists: BTreeMap<String, Listening>,
}

/// What a callback list is to a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Listening {
    /// It is called.
    Called,
    /// The constructor takes it among unknown keywords and never calls it.
    Swallowed,
    /// It is called for events, and a delta is none.
    Bypassed,
}

impl ListenTraits {
    /// The known lists, ready to print.
    pub fn known(&self) -> String {
        if self.lists.is_empty() {
            return "none".to_owned();
        }
        self.lists.keys().map(|l| format!("`{l}`")).collect::<Vec<_>>().join(", ")
    }
}
