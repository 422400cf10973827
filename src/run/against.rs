//! One block of a bench, measured by a build of skewlab in a process of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::record::{Document, StoredError};

/// A build that did not measure.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// It does not start.
    #[error("--against {}: it does not run: {error}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// It ended without a result.
    #[error("{}: it ended without a result ({ended}): {said}", program.display())]
    Ended {
        /// The program.
        program: PathBuf,
        /// How it ended.
        ended: String,
        /// The last line of what it said.
        said: String,
    },
    /// What it printed is no result that can be read.
    #[error("{}: what it printed cannot be read: {error}", program.display())]
    Printed {
        /// The program.
        program: PathBuf,
        /// Why not.
        error: StoredError,
    },
}

/// Exit codes with which a bench has printed a result all the same.
const WITH_RESULT: [i32; 4] = [0, 10, 12, 13];

/// Runs the program with these arguments, which ask for JSON, and reads what it prints.
pub fn measure_with(program: &Path, args: &[OsString]) -> Result<Document, BuildError> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    let output =
        command.output().map_err(|error| BuildError::Start { program: program.to_owned(), error })?;
    let code = output.status.code();
    if !code.is_some_and(|code| WITH_RESULT.contains(&code)) || output.stdout.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        // Somebody else's words on our terminal.
        let said = said.chars().filter(|c| !c.is_control()).collect();
        let (program, ended) = (program.to_owned(), output.status.to_string());
        return Err(BuildError::Ended { program, ended, said });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Document::parse(Path::new("its output"), &text)
        .map_err(|error| BuildError::Printed { program: program.to_owned(), error })
}
