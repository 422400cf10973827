//! Writes a repaired log, when somebody asks for it.

use std::path::Path;

use super::super::jsonl::{JsonlStore, failed};
use super::super::medium::{LogFile, Medium as _};
use super::super::{Store as _, StoreError};
use super::{LoadError, Loaded, from_database, from_lines, is_database, refused};

/// A log that was not repaired.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// It cannot be loaded, so there is nothing to repair.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The repaired one cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Loads the log at `from` and writes it to the new file `to`: what was kept of it as it is, byte for byte in a file of JSON
/// lines, and behind that, if anything had to be closed, one batch more. `from` is not touched.
pub fn repaired(from: &Path, to: &Path) -> Result<Loaded, RepairError> {
    let mut bytes = std::fs::read(from).map_err(|error| LoadError::Read { path: from.to_owned(), error })?;
    if is_database(&bytes) {
        return database(from, &bytes, to);
    }
    let loaded = from_lines(&bytes).map_err(|fault| refused(from, fault))?;
    bytes.truncate(usize::try_from(loaded.stored.bytes).unwrap_or(usize::MAX));
    lines(&bytes, &loaded, to)?;
    Ok(loaded)
}

fn lines(kept: &[u8], loaded: &Loaded, to: &Path) -> Result<(), StoreError> {
    let failed = |error| failed(to.display().to_string(), error);
    let mut file = LogFile::create(to).map_err(failed)?;
    if loaded.added().is_empty() {
        file.write(kept).and_then(|()| file.sync()).map_err(failed)
    } else {
        // No chunk is among them, so that there is nothing to pack.
        let stored = loaded.stored;
        JsonlStore::after(file, kept.to_vec(), false, stored.batches, stored.events).append(loaded.added())
    }
}

#[cfg(feature = "sqlite")]
fn database(from: &Path, bytes: &[u8], to: &Path) -> Result<Loaded, RepairError> {
    let loaded = from_database(from, bytes).map_err(|fault| refused(from, fault))?;
    let source = super::database::reader(from).map_err(|error| {
        let place = from.display().to_string();
        StoreError::Database { place, message: error.to_string() }
    })?;
    let mut store = super::super::SqliteStore::create(to, &loaded.header.session, false)?;
    store.copy(&source, loaded.stored.batches, loaded.stored.events)?;
    store.append(loaded.added())?;
    Ok(loaded)
}

#[cfg(not(feature = "sqlite"))]
fn database(from: &Path, bytes: &[u8], _: &Path) -> Result<Loaded, RepairError> {
    Ok(from_database(from, bytes).map_err(|fault| refused(from, fault))?)
}
