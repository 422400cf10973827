//! A folder that is gone when its owner is.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Those that are there, for a process that ends without dropping anything.
static LIVING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn living() -> MutexGuard<'static, Vec<PathBuf>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder that cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the folder {}: {error}", path.display())]
pub struct NoScratch {
    /// The folder.
    pub path: PathBuf,
    /// Why.
    pub error: std::io::Error,
}

/// A new folder below the system's temporary one, for this user alone.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A folder that has `what` in its name. Errors when there can be none, with the path.
    pub fn new(what: &str) -> Result<Scratch, NoScratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("skewlab-{what}-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    living().push(path.clone());
                    return Ok(Scratch(path));
                }
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(NoScratch { path, error }),
            }
        }
    }

    /// Takes all of them away, whoever has them. For a process that ends at once; nothing may go on after it.
    pub fn sweep() {
        for path in living().drain(..) {
            let _ = std::fs::remove_dir_all(path);
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to be told; the system clears its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
        living().retain(|path| *path != self.0);
    }
}
