//! `--out` and `--resume`: the journal of a run in its folder.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::CliError;
use super::talk;
use crate::record::{Run, Verdict};
use crate::run::CellRun;
use crate::suite::{Journal, JournalError, Journalled};

/// Begins the journal of a run that is kept, or takes up that of one that was broken off.
pub(super) fn open(
    out: Option<&Path>,
    resume: Option<&Path>,
    of: &Journalled,
) -> Result<(Option<Journal>, Vec<CellRun>), CliError> {
    match (out, resume) {
        (_, Some(dir)) => {
            let (journal, finished) = Journal::resume(dir, of)?;
            talk::note(&format!(
                "{}: {} cells are finished and do not run again",
                dir.display(),
                finished.len()
            ));
            Ok((Some(journal), finished))
        }
        (Some(dir), None) => Ok((Some(Journal::begin(dir, of)?), Vec::new())),
        (None, None) => Ok((None, Vec::new())),
    }
}

/// Ends it. It stays where a cell is left to run, and says how to go on after Ctrl-C.
pub(super) fn close(journal: Option<Journal>, run: &Run, stop: &AtomicBool) -> Result<(), JournalError> {
    let Some(journal) = journal else { return Ok(()) };
    let left = run.cells.iter().filter(|cell| cell.verdict == Verdict::NotRun).count();
    if left > 0 && stop.load(Ordering::Relaxed) {
        let dir = journal.dir().display().to_string();
        talk::note(&format!("{left} cells were not run; go on with --resume {dir} instead of --out"));
    }
    journal.end(left == 0)
}
