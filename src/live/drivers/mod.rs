//! What runs inside foreign processes: the applications behind the released clients, and the stages that are laid over a
//! released package. The programs are part of skewlab and are written to a folder when they are needed.
//!
//! `README.md` beside this file has the protocol that the two drivers speak.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the lines begin with that a driver means for skewlab. Everything else that it writes is log.
pub const MARK: &str = "@skewlab ";

/// Makes temporary names unlike each other.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// Each program: its name in the folder, and what it is.
const PROGRAMS: [(&str, &str); 3] = [
    ("python_client.py", include_str!("python_client.py")),
    ("stages.py", include_str!("stages.py")),
    ("typescript_client.mjs", include_str!("typescript_client.mjs")),
];

/// Where the programs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drivers {
    /// The application behind a Python client: `python PYTHON_CLIENT`.
    pub python_client: PathBuf,
    /// Lays stages over a package: `python STAGES AB -m MODULE`, or `python STAGES AB PYTHON_CLIENT`.
    pub stages: PathBuf,
    /// The application behind a TypeScript client: `node TYPESCRIPT_CLIENT PACKAGE_DIR require|none`.
    pub typescript_client: PathBuf,
}

/// A program that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", path.display())]
pub struct DriverError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: std::io::Error,
}

/// Writes the programs into a folder, which is made if it is not there.
///
/// Two runs may share the folder: a file appears whole or not at all, and one that is right already is left alone.
pub fn unpack(dir: &Path) -> Result<Drivers, DriverError> {
    fs::create_dir_all(dir).map_err(|error| DriverError { path: dir.to_owned(), error })?;
    let [python_client, stages, typescript_client] = PROGRAMS.map(|(name, text)| {
        let path = dir.join(name);
        match put(&path, text) {
            Ok(()) => Ok(path),
            Err(error) => Err(DriverError { path, error }),
        }
    });
    Ok(Drivers { python_client: python_client?, stages: stages?, typescript_client: typescript_client? })
}

/// Makes a file hold this text, by renaming a finished one over it.
fn put(path: &Path, text: &str) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    // Another process, or another thread of this one, may be at it too: no two write to one name.
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{serial}.new", std::process::id()));
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // What is left of it is in nobody's way, and the error is about the write.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests;
