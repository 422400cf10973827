//! Everything that a child writes goes to its log; the end of it is kept in memory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Lines kept for an error message.
const KEPT: usize = 12;

/// Bytes of a line kept for an error message; a traceback's line is shorter.
const WIDTH: usize = 400;

/// A log and its last lines.
#[derive(Debug)]
pub(super) struct Tail {
    log: File,
    last: VecDeque<String>,
}

impl Tail {
    pub(super) fn create(path: &Path) -> std::io::Result<Tail> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Tail { log: File::create(path)?, last: VecDeque::new() })
    }

    pub(super) fn write(&mut self, line: &str) {
        // A full disk must not end the child; what is kept in memory still says what it said last.
        let _ = writeln!(self.log, "{line}");
        if line.trim().is_empty() {
            return;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line.chars().take(WIDTH).collect());
    }

    pub(super) fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }
}
