//! A process of its own that writes a session log until it is killed: this program once more.
//!
//! It plays a whole session, agent loop and all, or the events of a [`crash::Plan`] alone. Time is the events' own either way,
//! so that its file holds byte for byte what memory holds at that point.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::play::Sent;
use super::store::StoreError;
use super::store::crash::{self, CrashError, FEED_WRITER, Kill, Survived, Told};

/// What a writer plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// A session, up to where its fault kills it.
    Session(Box<Sent>),
    /// Events, up to where the plan says.
    Log(crash::Plan),
}

/// Starts `program`, which is skewlab, as a writer of the new file `file`, ends it with SIGKILL and loads what it left.
pub fn written_by_child(
    program: &Path,
    writes: &Writes,
    file: &Path,
    kill: Kill,
) -> Result<Survived, CrashError> {
    // Plain data always serialises; what does not would be refused by the child, which says so.
    let line = serde_json::to_string(writes).unwrap_or_default();
    crash::killed_child(program, &line, file, kill)
}

/// Why a writer ended before it was killed.
#[derive(Debug, thiserror::Error)]
enum WriterError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the plan on standard input: {0}")]
    Plan(#[from] serde_json::Error),
    #[error("standard input or output: {0}")]
    Pipe(#[from] io::Error),
    #[error("the session came to its end, and nothing killed it")]
    Alive,
}

/// Plays the plan that is on the first line of standard input into a new file, and says on standard output how far it is. Then
/// waits until standard input is closed, so that it does not outlive whoever should have killed it.
pub fn write_as_planned(file: &Path) -> ExitCode {
    match write(file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{FEED_WRITER}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(file: &Path) -> Result<(), WriterError> {
    let mut stdin = io::stdin().lock();
    let mut line = String::new();
    stdin.read_line(&mut line)?;
    let mut stdout = io::stdout().lock();
    let mut tell = |told: Told| -> Result<(), WriterError> {
        writeln!(stdout, "{told}")?;
        Ok(stdout.flush()?)
    };
    // What plays is kept until the end: dropping it would tidy up, which a killed process does not.
    match serde_json::from_str(&line)? {
        Writes::Session(sent) => {
            let stopped = sent.play_until_killed(file)?.ok_or(WriterError::Alive)?;
            for told in [Told::Appended(stopped.appended()), Told::Durable(stopped.durable()), Told::Stopped]
            {
                tell(told)?;
            }
            io::copy(&mut stdin, &mut io::sink())?;
            drop(stopped);
        }
        Writes::Log(plan) => {
            let store = plan.store.create(file, &plan.session, plan.packed)?;
            let writer = plan.play::<_, WriterError>(store, tell)?;
            io::copy(&mut stdin, &mut io::sink())?;
            drop(writer);
        }
    }
    Ok(())
}
