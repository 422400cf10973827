//! What bytes are written to: a file that syncs, or memory that counts how often it was asked to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Something append-only that can be synced.
pub trait Medium {
    /// Its name, for messages.
    fn place(&self) -> String;
    /// Appends all of the bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns once everything written so far is durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Takes back what was written after the last sync that worked.
    fn take_back(&mut self) -> io::Result<()>;
}

/// Memory in the place of a file, for the virtual form of a run.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    bytes: Vec<u8>,
    durable: usize,
    syncs: u64,
}

impl Memory {
    /// The bytes that a file would hold after a crash: those that were synced.
    pub fn durable(&self) -> &[u8] {
        &self.bytes[..self.durable]
    }

    /// How often it was synced.
    pub fn syncs(&self) -> u64 {
        self.syncs
    }
}

impl Medium for Memory {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.durable = self.bytes.len();
        self.syncs += 1;
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.bytes.truncate(self.durable);
        Ok(())
    }
}

/// A file. It appears under its name only once its first batch is durable, and never in the place of another one.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    /// Where it is written until it is published.
    temporary: Option<PathBuf>,
    durable: u64,
}

impl LogFile {
    /// A new file at `path`, whose folder must exist. Refused if there is one already.
    pub fn create(path: &Path) -> io::Result<LogFile> {
        let (temporary, file) = temporary(path)?;
        Ok(LogFile { path: path.to_owned(), file, temporary: Some(temporary), durable: 0 })
    }
}

/// A new, empty file beside `path`, under a name of this process. Refused if there is something at `path`.
pub(super) fn temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    // What matters is the link at the end; this only says so before any work is done.
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // A killed process may have left one, and process ids come again.
    for attempt in 0..100 {
        let name = format!(".{}.{}.{attempt}", name.to_string_lossy(), std::process::id());
        let temporary = path.with_file_name(name);
        match OpenOptions::new().append(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((temporary, file?)),
        }
    }
    Err(io::Error::other("its folder is full of temporary files of killed processes"))
}

/// Gives a synced temporary file its name, and takes its old one. A link, because a rename would replace what is there.
pub(super) fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(temporary, path)?;
    // It has its name now; a second one does no harm.
    let _ = fs::remove_file(temporary);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

impl Medium for LogFile {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        if let Some(temporary) = &self.temporary {
            publish(temporary, &self.path)?;
            self.temporary = None;
        }
        self.durable = self.file.metadata()?.len();
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.durable)
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        // Nothing in it was ever acknowledged.
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
