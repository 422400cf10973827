//! SQLite databases that are damaged.

use std::path::Path;

use rand::RngExt as _;
use rusqlite::Connection;

use super::super::load::{LoadError, Position, Problem, load};
use super::super::{SqliteStore, Store as _};
use super::session;
use crate::seed::Seed;

fn database(path: &Path) -> Vec<u8> {
    let events = session(11, 120);
    let mut store = SqliteStore::create(path, "s", true).unwrap();
    for batch in [&events[..50], &events[50..100], &events[100..]] {
        store.append(batch).unwrap();
    }
    drop(store);
    std::fs::read(path).unwrap()
}

fn problem(path: &Path) -> (Position, Problem) {
    match load(path) {
        Err(LoadError::Refused { at, problem, .. }) => (at, problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_truncated_database_is_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let bytes = database(&path);
    for cut in [16, 60, 99, 100, 4096, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let expected = if cut < 100 { 100 } else { bytes.len() as u64 };
        let wanted = Problem::Truncated { expected, found: cut as u64 };
        assert_eq!(problem(&path), (Position::File, wanted), "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_never_changes_an_event() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.db");
    let bytes = database(&path);
    let events = session(11, 120);
    let mut rng = Seed(5).derive("bits").rng();
    let (mut refused, mut harmless) = (0, 0);
    for _ in 0..2000 {
        let bit = rng.random_range(0..bytes.len() * 8);
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &flipped).unwrap();
        match load(&path) {
            Ok(loaded) => {
                // Unused space of a page, or a field that nobody reads.
                assert_eq!(loaded.stored_events(), events, "bit {bit}");
                harmless += 1;
            }
            Err(LoadError::Refused { .. }) => refused += 1,
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
    assert!(refused > 500 && harmless > 0, "{refused} refused, {harmless} harmless");
}

/// Whether it is the problem that is wanted.
type Wanted = fn(&Problem) -> bool;

#[test]
fn what_somebody_changed_with_sql_is_refused_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let changes: [(&str, Wanted); 6] = [
        ("DELETE FROM batch WHERE revision = 1", |p| matches!(p, Problem::Frame { expected: 1, found: 2 })),
        ("DELETE FROM batch WHERE revision = 2", |p| matches!(p, Problem::Count { what: "rows in all", .. })),
        ("DELETE FROM row WHERE revision = 1 AND number = 3", |p| {
            matches!(p, Problem::Checksum { frame: 1, .. })
        }),
        ("UPDATE row SET text = text || ' '", |p| matches!(p, Problem::Checksum { frame: 0, .. })),
        ("UPDATE batch SET line = replace(line, '50', '51')", |p| {
            matches!(p, Problem::FrameLine { frame: 0, .. })
        }),
        ("DROP TABLE header", |p| matches!(p, Problem::Database(text) if text.contains("header"))),
    ];
    for (at, (sql, wanted)) in changes.into_iter().enumerate() {
        let path = dir.path().join(format!("{at}.db"));
        database(&path);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let (_, problem) = problem(&path);
        assert!(wanted(&problem), "{sql}: {problem}");
    }
}
