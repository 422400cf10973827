//! The store of an SQLite database: write-ahead log, `synchronous=FULL`, one transaction a batch. Its lines and rows are those
//! of the JSON lines, checksums included, as SQLite has none of its own. Source: the deepseek-harness, note of 2026-08-18.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::super::event::{Event, Seq};
use super::batch::{Batch, gap};
use super::frame::Header;
use super::jsonl::failed;
use super::medium::{publish, temporary};
use super::written::Written;
use super::{Store, StoreError};

const TABLES: &str = "
    CREATE TABLE header (line TEXT NOT NULL) STRICT;
    CREATE TABLE batch (revision INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT;
    CREATE TABLE row (revision INTEGER NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (revision, number)) STRICT, WITHOUT ROWID;";

/// A log in an SQLite database.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    place: String,
    packed: bool,
    next: Seq,
    revision: u64,
    written: Written,
    batch: Batch,
}

impl SqliteStore {
    /// A new database at `path`, whose folder must exist. It appears under its name with its tables, and never in the place of
    /// another file.
    pub fn create(path: &Path, session: &str, packed: bool) -> Result<SqliteStore, StoreError> {
        let place = path.display().to_string();
        let (temporary, _) = temporary(path).map_err(|error| failed(place.clone(), error))?;
        let made = (|| {
            let connection = opened(&temporary)?;
            connection.execute_batch(TABLES)?;
            connection.execute("INSERT INTO header VALUES (?1)", [Header::new(session).line()])?;
            // Closing it folds the write-ahead log into the file, synced.
            connection.close().map_err(|(_, error)| error)
        })();
        let made = made.map_err(|error| database(&place, &error));
        let made = made.and_then(|()| publish(&temporary, path).map_err(|e| failed(place.clone(), e)));
        if made.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        made?;
        let connection = opened(path).map_err(|error| database(&place, &error))?;
        let (written, batch) = (Written::default(), Batch::default());
        Ok(SqliteStore { connection, place, packed, next: 0, revision: 0, written, batch })
    }

    /// Takes over the batches of another database, as they are: so many with so many events. Only for a store that has none.
    pub(super) fn copy(&mut self, source: &Connection, batches: u64, events: Seq) -> Result<(), StoreError> {
        let copied = (|| {
            let transaction = self.connection.transaction()?;
            for (table, columns) in [("batch", 2), ("row", 3)] {
                let marks = ["?1, ?2", "?1, ?2, ?3"][columns - 2];
                let mut insert = transaction.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
                let mut select = source.prepare(&format!("SELECT * FROM {table}"))?;
                let mut rows = select.query([])?;
                while let Some(row) = rows.next()? {
                    let values =
                        (0..columns).map(|i| row.get::<_, Value>(i)).collect::<Result<Vec<_>, _>>()?;
                    insert.execute(params_from_iter(values))?;
                }
            }
            transaction.commit()
        })();
        copied.map_err(|error| database(&self.place, &error))?;
        (self.revision, self.next) = (batches, events);
        Ok(())
    }

    fn put(&mut self) -> rusqlite::Result<()> {
        #[expect(clippy::cast_possible_wrap, reason = "nobody lives to see so many batches")]
        let revision = self.revision as i64;
        let transaction = self.connection.transaction()?;
        transaction.execute("INSERT INTO batch VALUES (?1, ?2)", params![revision, self.batch.line])?;
        {
            let mut insert = transaction.prepare("INSERT INTO row VALUES (?1, ?2, ?3)")?;
            // The rows are JSON text, in which a line end is escaped.
            let rows = self.batch.rows.strip_suffix(b"\n").unwrap_or_default().split(|b| *b == b'\n');
            for (number, row) in (0_i64..).zip(rows) {
                insert.execute(params![revision, number, str::from_utf8(row)?])?;
            }
        }
        transaction.commit()
    }
}

fn opened(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn database(place: &str, error: &rusqlite::Error) -> StoreError {
    StoreError::Database { place: place.to_owned(), message: error.to_string() }
}

impl Store for SqliteStore {
    fn append(&mut self, batch: &[Rc<Event>]) -> Result<(), StoreError> {
        if let Some((expected, found)) = gap(self.next, batch) {
            return Err(StoreError::Hole { place: self.place.clone(), expected, found });
        }
        if batch.is_empty() {
            return Ok(());
        }
        let encoded = self.batch.encode(batch, self.revision, self.packed);
        let mut wrote = encoded.map_err(|error| failed(self.place.clone(), error.into()))?;
        // What was not committed is rolled back by SQLite.
        self.put().map_err(|error| database(&self.place, &error))?;
        wrote.bytes = self.batch.rows.len() as u64 - wrote.rows;
        self.revision += 1;
        self.next += wrote.events;
        self.written += wrote;
        Ok(())
    }

    fn written(&self) -> Written {
        self.written
    }

    fn next(&self) -> Seq {
        self.next
    }
}
