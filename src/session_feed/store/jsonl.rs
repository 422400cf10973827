//! The store of JSON lines: a header, then for each batch a frame line and the batch's rows. Append-only, one sync a batch.

use std::io;
use std::path::Path;
use std::rc::Rc;

use super::super::event::{Body, Event, Seq};
use super::frame::{Frame, Header};
use super::medium::{LogFile, Medium};
use super::written::{Written, chunks};
use super::{Store, StoreError, gap, row};

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
    /// The rows of the batch being written; kept for its memory.
    rows: Vec<u8>,
    broken: Option<String>,
}

impl JsonlStore<LogFile> {
    /// A new log at `path`, whose folder must exist. There is no file until the first batch is durable.
    pub fn create(path: &Path, session: &str, packed: bool) -> Result<Self, StoreError> {
        let medium = LogFile::create(path).map_err(|error| failed(path.display().to_string(), error))?;
        Ok(JsonlStore::new(medium, session, packed))
    }
}

fn failed(place: String, error: io::Error) -> StoreError {
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
        let (written, rows) = (Written::default(), Vec::new());
        JsonlStore { medium, before, packed, next, frame, written, rows, broken: None }
    }

    /// What it is written to.
    pub fn medium(&self) -> &M {
        &self.medium
    }

    /// Encodes the batch into `self.rows` and says what its frame and its counts are.
    fn encode(&mut self, batch: &[Rc<Event>]) -> Result<(Frame, Written), StoreError> {
        self.rows.clear();
        let mut wrote = Written { batches: 1, fsyncs: 1, events: batch.len() as u64, ..Written::default() };
        let mut rest = batch;
        while !rest.is_empty() {
            let length = row::write(rest, self.packed, &mut self.rows)
                .map_err(|error| failed(self.medium.place(), error.into()))?;
            self.rows.push(b'\n');
            wrote.rows += 1;
            wrote.packed_rows += u64::from(length > 1);
            rest = &rest[length..];
        }
        wrote.chunks = batch.iter().map(|event| chunks(event)).sum();
        let frame = Frame {
            frame: self.frame,
            first: self.next,
            events: wrote.events,
            ends: batch.iter().filter(|event| matches!(event.body, Body::TurnEnd(..))).count() as u64,
            bytes: self.rows.len() as u64,
            crc: crc32fast::hash(&self.rows),
        };
        Ok((frame, wrote))
    }

    /// Writes and syncs what comes before, the frame line and the rows; says how many bytes that were.
    fn put(&mut self, line: &str) -> io::Result<u64> {
        if !self.before.is_empty() {
            self.medium.write(&self.before)?;
        }
        self.medium.write(line.as_bytes())?;
        self.medium.write(&self.rows)?;
        self.medium.sync()?;
        Ok((self.before.len() + line.len() + self.rows.len()) as u64)
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
        let (frame, mut wrote) = self.encode(batch)?;
        match self.put(&frame.line()) {
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
