//! What a run has finished, kept while it goes on: so that one that was killed can be taken up again.
//!
//! One line a cell, written when the cell is finished. A line is evidence, not a verdict, and everything is judged at the end
//! as if it had run in one go. A cell without evidence (it hung, or nobody could start it) is not kept: it runs again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::record::Observation;
use crate::run::CellRun;

/// The file in the folder of a run that is not at its end.
pub const JOURNAL: &str = "cells.jsonl";
/// Schema name and version of its first line.
const SCHEMA: &str = "skewlab.journal/2";

/// What a run is of: only the same one can be taken up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journalled {
    schema: String,
    skewlab: String,
    /// SHA-256 over the program: a version alone does not say what its cells mean. Set when the journal is opened; only then
    /// is the program read. Version 1 has none.
    #[serde(default)]
    build: String,
    clock: String,
    seed: u64,
    /// SHA-256 over the ids and hashes of all cells, in plan order.
    plan: String,
    cells: usize,
}

impl Journalled {
    /// A run of these cells, each with its id and its content hash, in plan order.
    pub fn of<'a>(clock: &str, seed: u64, cells: impl Iterator<Item = (&'a str, &'a str)>) -> Journalled {
        let (mut sha, mut count) = (Sha256::new(), 0);
        for (id, hash) in cells {
            sha.update(format!("{id}\n{hash}\n"));
            count += 1;
        }
        let plan = hex(sha);
        let (schema, skewlab) = (SCHEMA.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let build = String::new();
        Journalled { schema, skewlab, build, clock: clock.to_owned(), seed, plan, cells: count }
    }

    /// The same, by this build.
    fn by_this_build(&self) -> Result<Journalled, JournalError> {
        Ok(Journalled { build: build()?.to_owned(), ..self.clone() })
    }

    /// What is not the same in the run that a journal is of.
    fn differs(&self, other: &Journalled) -> Option<String> {
        let differs = |what: &str, theirs: &dyn std::fmt::Display, ours: &dyn std::fmt::Display| {
            Some(format!("{what} {theirs}, and this is {ours}"))
        };
        if self.schema != other.schema {
            differs("schema", &other.schema, &self.schema)
        } else if self.skewlab != other.skewlab {
            differs("skewlab", &other.skewlab, &self.skewlab)
        } else if self.build != other.build {
            let name = |build: &str| build.get(..12).unwrap_or(build).to_owned();
            differs("another build of this version,", &name(&other.build), &name(&self.build))
        } else if self.clock != other.clock {
            differs("the clock", &other.clock, &self.clock)
        } else if self.seed != other.seed {
            differs("seed", &other.seed, &self.seed)
        } else if self.plan != other.plan {
            let cells = |n: usize| format!("{n} cells");
            Some(if self.cells == other.cells {
                "other cells: a scenario, a profile or the selection has changed".to_owned()
            } else {
                format!("{}, and this is of {}", cells(other.cells), cells(self.cells))
            })
        } else {
            None
        }
    }
}

/// One finished cell.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Its place in the plan.
    index: usize,
    micros: u64,
    clients: Vec<Observation>,
}

/// A journal that cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The folder holds no run that was broken off.
    #[error("{}: there is no {JOURNAL}, so there is no run to take up; start one with `--out`", dir.display())]
    Nothing {
        /// The folder.
        dir: PathBuf,
    },
    /// It is of another run.
    #[error("{}: this run was begun with {what}; ask for the same cells, seed and clock with the same program, or start anew with `--out`", path.display())]
    Other {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A line in it is none.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The journal.
        path: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The file, or what went wrong with it: nothing more is written then.
    out: Mutex<Result<File, io::Error>>,
}

impl Journal {
    /// Begins one in the folder; what was there of an earlier run is replaced.
    pub fn begin(dir: &Path, of: &Journalled) -> Result<Journal, JournalError> {
        let path = dir.join(JOURNAL);
        let of = &of.by_this_build()?;
        let attempt = || {
            fs::create_dir_all(dir)?;
            let mut out = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            alone(&out)?;
            out.set_len(0)?;
            // From here on the folder is this run's: an earlier result beside half a run would be taken for its own.
            match fs::remove_file(dir.join("run.json")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            out.write_all(&line(of)?)?;
            Ok(out)
        };
        match attempt() {
            Ok(out) => Ok(Journal { path, out: Mutex::new(Ok(out)) }),
            Err(error) => Err(JournalError::File { path, error }),
        }
    }

    /// Takes one up: what is finished, by place in the plan, and the journal, which goes on. A last line that was cut off is
    /// taken out of the file.
    pub fn resume(dir: &Path, of: &Journalled) -> Result<(Journal, Vec<CellRun>), JournalError> {
        let path = dir.join(JOURNAL);
        if !path.exists() {
            return Err(JournalError::Nothing { dir: dir.to_owned() });
        }
        let of = &of.by_this_build()?;
        let failed = |error| JournalError::File { path: path.clone(), error };
        let text = fs::read(&path).map_err(failed)?;
        // Every whole line ends with one; what does not was being written when the process died.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let at = |line: usize, why: String| JournalError::Line { path: path.clone(), line, why };
        let mut lines = (1..).zip(text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()));
        let (_, head) = lines.next().ok_or_else(|| at(1, "it has no first line".to_owned()))?;
        let head: Journalled = serde_json::from_slice(head).map_err(|error| at(1, error.to_string()))?;
        if let Some(what) = of.differs(&head) {
            return Err(JournalError::Other { path, what });
        }
        let mut finished = Vec::new();
        for (number, line) in lines {
            let Line { index, micros, clients } =
                serde_json::from_slice(line).map_err(|error| at(number, error.to_string()))?;
            if index >= of.cells || clients.is_empty() {
                return Err(at(number, format!("there is no cell {index} with this evidence")));
            }
            finished.push(CellRun { index, result: Ok(clients), micros });
        }
        let attempt = || {
            let mut out = OpenOptions::new().write(true).open(&path)?;
            alone(&out)?;
            out.set_len(whole as u64)?;
            io::Seek::seek(&mut out, io::SeekFrom::End(0))?;
            Ok(out)
        };
        let out = attempt().map_err(failed)?;
        Ok((Journal { path, out: Mutex::new(Ok(out)) }, finished))
    }

    /// Keeps a finished cell. From the first line that cannot be written on nothing is; [`end`](Journal::end) says so.
    pub fn keep(&self, run: &CellRun) {
        let Ok(clients) = &run.result else { return };
        let kept = Kept { index: run.index, micros: run.micros, clients };
        let mut out = self.out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Ok(file) = &mut *out
            && let Err(error) = line(&kept).and_then(|line| file.write_all(&line))
        {
            *out = Err(error);
        }
    }

    /// The folder of the run.
    pub fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The run is over. One that is complete needs no journal any more. An error is that of a line that was not written.
    pub fn end(self, complete: bool) -> Result<(), JournalError> {
        let Journal { path, out } = self;
        let out = out.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let ended = if complete { fs::remove_file(&path) } else { out.map(drop) };
        ended.map_err(|error| JournalError::File { path, error })
    }
}

/// SHA-256 over this program, read once a process.
fn build() -> Result<&'static str, JournalError> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(known) = BUILD.get() {
        return Ok(known);
    }
    // Under Linux this is the program that runs, even where its file was replaced meanwhile.
    let own = Path::new("/proc/self/exe");
    let path = if own.exists() {
        own.to_owned()
    } else {
        std::env::current_exe().unwrap_or_else(|_| own.to_owned())
    };
    let read = || {
        let (mut program, mut sha, mut some) = (File::open(&path)?, Sha256::new(), vec![0; 1 << 16]);
        loop {
            match io::Read::read(&mut program, &mut some)? {
                0 => return Ok(hex(sha)),
                read => sha.update(&some[..read]),
            }
        }
    };
    let build = read().map_err(|error| JournalError::File { path: path.clone(), error })?;
    Ok(BUILD.get_or_init(|| build))
}

fn hex(sha: Sha256) -> String {
    sha.finalize().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Two runs in one folder would take each other's journal for their own. The lock goes with the process.
fn alone(journal: &File) -> io::Result<()> {
    journal.try_lock().map_err(|error| match error {
        fs::TryLockError::WouldBlock => io::Error::other("another run is writing into this folder"),
        fs::TryLockError::Error(error) => error,
    })
}

/// A [`Line`] that is written.
#[derive(Serialize)]
struct Kept<'a> {
    index: usize,
    micros: u64,
    clients: &'a [Observation],
}

fn line(of: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(of)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::sample::healthy;
    use crate::run::CellFault;

    fn of(seed: u64) -> Journalled {
        Journalled::of("virtual", seed, [("a/b", "1"), ("a/c", "2"), ("a/d", "3")].into_iter())
    }

    fn run(index: usize) -> CellRun {
        CellRun { index, result: Ok(vec![healthy()]), micros: 7 }
    }

    fn indices(dir: &Path) -> Vec<usize> {
        Journal::resume(dir, &of(1)).unwrap().1.iter().map(|run| run.index).collect()
    }

    #[test]
    fn what_is_finished_comes_back_and_a_line_that_was_cut_off_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::begin(dir.path(), &of(1)).unwrap();
        journal.keep(&run(2));
        journal.keep(&CellRun { result: Err(CellFault::Interrupted), ..run(1) });
        journal.end(false).unwrap();
        let path = dir.path().join(JOURNAL);
        let mut text = fs::read(&path).unwrap();
        text.extend(b"{\"index\":0,\"micros\":1,\"cli");
        fs::write(&path, text).unwrap();
        let (journal, finished) = Journal::resume(dir.path(), &of(1)).unwrap();
        assert_eq!((finished.len(), finished[0].index, finished[0].micros), (1, 2, 7));
        assert!(finished[0].result == Ok(vec![healthy()]));
        journal.keep(&run(0));
        journal.end(false).unwrap();
        assert_eq!(indices(dir.path()), [2, 0]);
        Journal::resume(dir.path(), &of(1)).unwrap().0.end(true).unwrap();
        let nothing = Journal::resume(dir.path(), &of(1)).unwrap_err().to_string();
        assert!(nothing.contains("no run to take up"), "{nothing}");
    }

    #[test]
    fn a_folder_is_one_runs_at_a_time_and_an_earlier_result_goes_when_it_begins() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("run.json"), "old").unwrap();
        let first = Journal::begin(dir.path(), &of(1)).unwrap();
        first.keep(&run(0));
        assert!(!dir.path().join("run.json").exists());
        for second in
            [Journal::begin(dir.path(), &of(2)).map(drop), Journal::resume(dir.path(), &of(1)).map(drop)]
        {
            let refused = second.unwrap_err().to_string();
            assert!(refused.contains("another run is writing"), "{refused}");
        }
        first.end(false).unwrap();
        assert_eq!(indices(dir.path()), [0], "the second one took nothing away");
    }

    #[test]
    fn another_run_and_a_broken_line_are_refused_with_the_place() {
        let dir = tempfile::tempdir().unwrap();
        Journal::begin(dir.path(), &of(1)).unwrap().keep(&run(0));
        let refused = |of: &Journalled| Journal::resume(dir.path(), of).unwrap_err().to_string();
        assert!(refused(&of(2)).contains("begun with seed 1, and this is 2"), "{}", refused(&of(2)));
        let wall = Journalled { clock: "wall".to_owned(), ..of(1) };
        assert!(refused(&wall).contains("the clock virtual, and this is wall"));
        let fewer = Journalled::of("virtual", 1, [("a/b", "1")].into_iter());
        assert!(refused(&fewer).contains("3 cells, and this is of 1 cells"));
        let changed = Journalled::of("virtual", 1, [("a/b", "1"), ("a/c", "2"), ("a/d", "4")].into_iter());
        assert!(refused(&changed).contains("a scenario, a profile or the selection has changed"));
        let path = dir.path().join(JOURNAL);
        let text = fs::read_to_string(&path).unwrap();
        let own = build().unwrap();
        assert!(own.len() == 64 && text.contains(own), "{text}");
        fs::write(&path, text.replace(own, &"0".repeat(64))).unwrap();
        let told = refused(&of(1));
        assert!(
            told.contains(&format!(
                "another build of this version, 000000000000, and this is {}",
                &own[..12]
            )),
            "{told}"
        );
        // One of a version that knew no builds.
        fs::write(
            &path,
            text.replace(&format!("\"build\":\"{own}\","), "").replace("journal/2", "journal/1"),
        )
        .unwrap();
        assert!(refused(&of(1)).contains("schema skewlab.journal/1, and this is skewlab.journal/2"));
        fs::write(&path, text).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("\"index\":0", "\"index\":3");
        fs::write(&path, text).unwrap();
        assert!(refused(&of(1)).contains(":2: there is no cell 3"), "{}", refused(&of(1)));
        fs::write(&path, "").unwrap();
        assert!(refused(&of(1)).contains(":1: it has no first line"));
    }
}
