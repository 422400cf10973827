//! The store of JSON lines: a header, then for each batch a frame line and the batch's rows. Append-only, one sync a batch.

use std::io;
use std::path::Path;
use std::rc::Rc;

use super::super::event::{Event, Seq};
use super::batch::{Batch, gap};
use super::frame::Header;
use super::medium::{LogFile, Medium};
use super::written::Written;
use super::{Store, StoreError};

/// A log of JSON lines on a [`Medium`]. The bytes depend on the batches alone, so that memory holds what a file would.
#[derive(Debug)]
pub struct JsonlStore<M> {
    medium: M,
    /// What has to come before the next frame: the header, until a batch was written.
    before: Vec<u8>,
    packed: bool,
    next: Seq,
    frame: u64,
    written: Written,
    batch: Batch,
    broken: Option<String>,
}

impl JsonlStore<LogFile> {
    /// A new log at `path`, whose folder must exist. There is no file until the first batch is durable.
    pub fn create(path: &Path, session: &str, packed: bool) -> Result<Self, StoreError> {
        let medium = LogFile::create(path).map_err(|error| failed(path.display().to_string(), error))?;
        Ok(JsonlStore::new(medium, session, packed))
    }
}

/// A file that is in the way has an error of its own.
pub(super) fn failed(place: String, error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { place },
        _ => StoreError::Io { place, error },
    }
}

impl<M: Medium> JsonlStore<M> {
    /// A new log. `packed`: whether runs of deltas become packed rows.
    pub fn new(medium: M, session: &str, packed: bool) -> Self {
        JsonlStore::after(medium, Header::new(session).line().into_bytes(), packed, 0, 0)
    }

    /// A log that begins with `before`, whole frames of which `frame` there are, and goes on at `next`.
    pub(super) fn after(medium: M, before: Vec<u8>, packed: bool, frame: u64, next: Seq) -> Self {
        let (written, batch) = (Written::default(), Batch::default());
        JsonlStore { medium, before, packed, next, frame, written, batch, broken: None }
    }

    /// What it is written to.
    pub fn medium(&self) -> &M {
        &self.medium
    }

    /// Writes and syncs what comes before, the frame line and the rows; says how many bytes that were.
    fn put(&mut self) -> io::Result<u64> {
        if !self.before.is_empty() {
            self.medium.write(&self.before)?;
        }
        self.medium.write(self.batch.line.as_bytes())?;
        self.medium.write(&self.batch.rows)?;
        self.medium.sync()?;
        Ok((self.before.len() + self.batch.line.len() + self.batch.rows.len()) as u64)
    }
}

impl<M: Medium> Store for JsonlStore<M> {
    fn append(&mut self, batch: &[Rc<Event>]) -> Result<(), StoreError> {
        if let Some(error) = self.broken.clone() {
            return Err(StoreError::Broken { place: self.medium.place(), error });
        }
        if let Some((expected, found)) = gap(self.next, batch) {
            return Err(StoreError::Hole { place: self.medium.place(), expected, found });
        }
        if batch.is_empty() {
            return Ok(());
        }
        let encoded = self.batch.encode(batch, self.frame, self.packed);
        let mut wrote = encoded.map_err(|error| failed(self.medium.place(), error.into()))?;
        match self.put() {
            Ok(bytes) => {
                wrote.bytes = bytes;
                self.before = Vec::new();
                self.frame += 1;
                self.next += wrote.events;
                self.written += wrote;
                Ok(())
            }
            Err(error) => {
                // Half a frame in the middle of a log would make all that follows unreadable.
                self.broken = self.medium.take_back().err().map(|error| error.to_string());
                Err(failed(self.medium.place(), error))
            }
        }
    }

    fn written(&self) -> Written {
        self.written
    }

    fn next(&self) -> Seq {
        self.next
    }
}
