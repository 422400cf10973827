//! Results on disk: written under a temporary name and renamed, so that nobody ever reads half of one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A result that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// The operating system's words.
    pub error: io::Error,
}

/// Writes `path` by way of a temporary file beside it; folders on the way are made.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), StoreError> {
    let attempt = || {
        if let Some(dir) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
            fs::create_dir_all(dir)?;
        }
        let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
        let temporary = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
        let written = (|| {
            let mut out = BufWriter::new(File::create(&temporary)?);
            write(&mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&temporary, path)
        })();
        if written.is_err() {
            // The first error is the one to report; a leftover is harmless and named after this process.
            let _ = fs::remove_file(&temporary);
        }
        written
    };
    attempt().map_err(|error| StoreError { path: path.to_owned(), error })
}

/// Makes the folder and sees whether a file can be written into it.
pub fn writable(dir: &Path) -> Result<(), StoreError> {
    let probe = dir.join(format!(".probe.{}", std::process::id()));
    let attempt = || {
        fs::create_dir_all(dir)?;
        File::create(&probe)?;
        fs::remove_file(&probe)
    };
    attempt().map_err(|error| StoreError { path: dir.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/run.json");
        write_atomically(&path, |out| out.write_all(b"one")).unwrap();
        let failed = write_atomically(&path, |out| {
            out.write_all(b"tw")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.unwrap_err().to_string().contains("disk full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(fs::read_dir(dir.path().join("deep")).unwrap().count(), 1);
    }
}
