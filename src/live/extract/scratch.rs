//! A folder that is gone when its owner is.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::ExtractError;

/// A new folder below the system's temporary one, for this user alone.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Errors when there can be none.
    pub(super) fn new() -> Result<Scratch, ExtractError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("skewlab-extract-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(ExtractError::File { path, error }),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to be told; the system clears its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
