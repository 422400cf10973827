//! Writes a repaired log, when somebody asks for it.

use std::path::Path;

use super::super::jsonl::JsonlStore;
use super::super::medium::{LogFile, Medium as _};
use super::super::{Store as _, StoreError};
use super::{LoadError, Loaded, load};

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

/// Loads the log at `from` and writes it to the new file `to`: what was kept of it byte for byte, and behind that, if
/// anything had to be closed, one batch more. `from` is not touched.
pub fn repaired(from: &Path, to: &Path) -> Result<Loaded, RepairError> {
    let loaded = load(from)?;
    let mut kept = std::fs::read(from).map_err(|error| LoadError::Read { path: from.to_owned(), error })?;
    kept.truncate(usize::try_from(loaded.stored.bytes).unwrap_or(usize::MAX));
    let place = to.display().to_string();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Exists { place: place.clone() },
        _ => StoreError::Io { place: place.clone(), error },
    };
    let mut file = LogFile::create(to).map_err(failed)?;
    if loaded.added().is_empty() {
        file.write(&kept).and_then(|()| file.sync()).map_err(failed)?;
    } else {
        let stored = loaded.stored;
        JsonlStore::after(file, kept, false, stored.batches, stored.events).append(loaded.added())?;
    }
    Ok(loaded)
}
