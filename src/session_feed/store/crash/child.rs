//! The writer's side: this program once more, writing a log until it is killed.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use super::super::StoreError;
use super::Plan;

/// The word on the command line that makes this program a writer: `skewlab feed-writer FILE`. It is in no help text: nobody
/// but skewlab starts one.
pub const FEED_WRITER: &str = "feed-writer";

/// Why a writer ended before it was killed.
#[derive(Debug, thiserror::Error)]
enum WriterError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the plan on standard input: {0}")]
    Plan(#[from] serde_json::Error),
    #[error("standard input or output: {0}")]
    Pipe(#[from] io::Error),
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
    let plan: Plan = serde_json::from_str(&line)?;
    let store = plan.store.create(file, &plan.session, plan.packed)?;
    let mut stdout = io::stdout().lock();
    // Kept until the end: dropping it would tidy up, which a killed process does not.
    let _writer = plan.play::<_, WriterError>(store, |told| {
        writeln!(stdout, "{told}")?;
        Ok(stdout.flush()?)
    })?;
    io::copy(&mut stdin, &mut io::sink())?;
    Ok(())
}
