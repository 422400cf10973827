//! What a capsule says of its cell beside the cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{Hop, Reason, Scope, Signal, Verdict};

/// Schema name and version.
pub const CAPSULE_SCHEMA: &str = "skewlab.capsule/1";

/// The only clock of a capsule.
pub const CLOCK: &str = "virtual";

/// What a capsule says of its cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// [`CAPSULE_SCHEMA`].
    pub schema: String,
    /// Version of the skewlab that wrote it. Another one may emulate a party in another way.
    pub skewlab: String,
    /// Seed of the run.
    #[schemars(range(max = i64::MAX))]
    pub seed: u64,
    /// The clock; always `virtual`, which is the one that repeats.
    pub clock: String,
    /// Hash of what the cell does.
    pub hash: String,
    /// What came of it.
    pub found: Found,
    /// Profiles that do not come with skewlab.
    #[serde(default, skip_serializing_if = "Profiles::is_empty")]
    pub profiles: Profiles,
}

impl Head {
    /// The version that wrote it, if that is another one than this.
    pub fn writer(&self) -> Option<&str> {
        (self.skewlab != env!("CARGO_PKG_VERSION")).then_some(self.skewlab.as_str())
    }
}

/// What came of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The verdict of its worst finding.
    pub verdict: Verdict,
    /// Which part of the text is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The hop that lost most of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Hop>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What the application could notice.
    pub signal: Signal,
    /// The ledger of the client that fared worst, a line a hop.
    pub hops: Vec<String>,
    /// SHA-256 over the ledgers of all clients.
    pub ledger: String,
    /// SHA-256 over the seed and all evidence of all clients, times apart.
    pub evidence: String,
}

/// Texts of profiles, each behind those that it extends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Profiles {
    /// Of servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Of clients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
}

impl Profiles {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.clients.is_empty()
    }
}
