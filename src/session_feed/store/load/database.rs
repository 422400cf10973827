//! Reads a log out of an SQLite database. Its batches are there or not, so nothing is ever dropped: what does not fit is refused.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use super::super::frame::{Frame, Header};
use super::fault::{Kept, Position, Problem, plain};
use super::gather::{Declared, Fault, Gather};
use super::lines::header;

/// A connection that writes nothing into the database. With a write-ahead log beside it, which a crash leaves, SQLite makes
/// the index of that log (`-shm`) anew; without one, no file is touched.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match path.to_str() {
        Some(name) if !Path::new(&beside).exists() => {
            let name = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            // An absolute path begins with the slash that ends the authority.
            let root = if path.is_absolute() { "//" } else { "" };
            let uri = format!("file:{root}{name}?immutable=1");
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        _ => Connection::open_with_flags(path, flags),
    }
}

/// The header, and the events of every batch.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(Header, Gather), Fault> {
    whole(bytes).map_err(|problem| (Position::File, problem))?;
    let connection = reader(path).map_err(|error| broken(Position::File, &error))?;
    let check: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| broken(Position::File, &error))?;
    if check != "ok" {
        return Err((Position::File, Problem::Database(plain(&check))));
    }
    let lines = texts(&connection, "SELECT rowid, line FROM header", Position::File)?;
    let [(_, line)] = &lines[..] else { return Err((Position::File, Problem::NotALog)) };
    let header = header(trimmed(line)).map_err(|problem| (Position::File, problem))?;
    let mut gather = Gather::default();
    let batches = texts(&connection, "SELECT revision, line FROM batch ORDER BY revision", Position::File)?;
    for (batch, (revision, line)) in (0..).zip(batches) {
        let at = Position::Row { batch, row: 0 };
        let found = u64::try_from(revision).unwrap_or(u64::MAX);
        let frame = Frame::read(trimmed(&line));
        let frame = frame.ok_or((at, Problem::FrameLine { frame: batch, why: Kept::Atomic }))?;
        for found in [found, frame.number] {
            if found != batch {
                return Err((at, Problem::Frame { expected: batch, found }));
            }
        }
        one(&connection, &mut gather, batch, revision, &frame)?;
    }
    let rows: u64 = connection
        .query_row("SELECT count(*) FROM row", [], |row| row.get::<_, i64>(0))
        .map_err(|error| broken(Position::File, &error))?
        .unsigned_abs();
    if rows != gather.read.rows {
        let frame = gather.read.batches;
        let claim = Problem::Count { frame, what: "rows in all", expected: gather.read.rows, found: rows };
        return Err((Position::File, claim));
    }
    Ok((header, gather))
}

/// The rows of one batch.
fn one(
    connection: &Connection,
    gather: &mut Gather,
    batch: u64,
    revision: i64,
    frame: &Frame,
) -> Result<(), Fault> {
    let at = Position::Row { batch, row: 0 };
    let select = format!("SELECT number, text FROM row WHERE revision = {revision} ORDER BY number");
    let rows = texts(connection, &select, at)?;
    let mut crc = crc32fast::Hasher::new();
    for (_, row) in &rows {
        crc.update(row);
        crc.update(b"\n");
    }
    let found = crc.finalize();
    if found != frame.crc {
        let problem = Problem::Checksum { frame: batch, expected: frame.crc, found, why: Kept::Atomic };
        return Err((at, problem));
    }
    let declared = Declared { at, number: batch, first: frame.first, events: frame.events, ends: frame.ends };
    let placed = (0..).zip(&rows).map(|(row, (_, text))| (Position::Row { batch, row }, &text[..]));
    gather.batch(&declared, &placed.collect::<Vec<_>>())?;
    gather.read.bytes += rows.iter().map(|(_, row)| row.len() as u64).sum::<u64>();
    Ok(())
}

/// The number and the text of each row that a query gives.
fn texts(connection: &Connection, query: &str, at: Position) -> Result<Vec<(i64, Vec<u8>)>, Fault> {
    let text = |row: &Row<'_>| match row.get_ref(1)? {
        ValueRef::Text(text) => Ok((row.get(0)?, text.to_vec())),
        other => Err(rusqlite::Error::InvalidColumnType(1, "text".to_owned(), other.data_type())),
    };
    let read = || {
        let mut statement = connection.prepare(query)?;
        let rows = statement.query_map([], text)?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| broken(at, &error))
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn broken(at: Position, error: &rusqlite::Error) -> Fault {
    (at, Problem::Database(plain(&error.to_string())))
}

/// Whether the file is as long as its header says: SQLite itself may notice only at the page that is not there.
fn whole(bytes: &[u8]) -> Result<(), Problem> {
    let found = bytes.len() as u64;
    let Some(head) = bytes.get(..100) else { return Err(Problem::Truncated { expected: 100, found }) };
    // Offsets 16 and 28 of the file format: the page size, where 1 stands for 65,536, and the number of pages.
    let page = match u64::from(u16::from_be_bytes([head[16], head[17]])) {
        1 => 65_536,
        size => size,
    };
    let pages = u32::from_be_bytes([head[28], head[29], head[30], head[31]]);
    let expected = page * u64::from(pages);
    if found < expected { Err(Problem::Truncated { expected, found }) } else { Ok(()) }
}
