//! Which stores there are.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

#[cfg(feature = "sqlite")]
use super::SqliteStore;
use super::{JsonlStore, Store, StoreError};

/// A kind of store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreKind {
    /// JSON lines in frames.
    #[default]
    JsonLines,
    /// An SQLite database.
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl StoreKind {
    /// Every kind that this build has.
    pub const ALL: &[StoreKind] = &[
        StoreKind::JsonLines,
        #[cfg(feature = "sqlite")]
        StoreKind::Sqlite,
    ];

    /// A new log at `path`, whose folder must exist; see the stores themselves.
    pub fn create(self, path: &Path, session: &str, packed: bool) -> Result<Box<dyn Store>, StoreError> {
        Ok(match self {
            StoreKind::JsonLines => Box::new(JsonlStore::create(path, session, packed)?),
            #[cfg(feature = "sqlite")]
            StoreKind::Sqlite => Box::new(SqliteStore::create(path, session, packed)?),
        })
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            StoreKind::JsonLines => "JSON lines",
            #[cfg(feature = "sqlite")]
            StoreKind::Sqlite => "SQLite",
        })
    }
}
