//! Recorded live runs: what was seen of every cell, kept so that it can be judged again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::error::CliError;
use crate::report;
use crate::suite::live::{LiveOutcome, LivePlan};

/// Schema name and version of a recording's table of contents.
pub(in crate::cli) const RECORD_SCHEMA: &str = "skewlab.record/1";

/// File that holds it.
pub(in crate::cli) const CONTENTS: &str = "record.json";

/// A recording's table of contents.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct Contents {
    /// [`RECORD_SCHEMA`].
    pub(in crate::cli) schema: String,
    /// Version of skewlab that wrote it.
    pub(in crate::cli) skewlab: String,
    /// Every cell of the plan.
    pub(in crate::cli) cells: Vec<Kept>,
}

/// One cell of a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct Kept {
    /// Its id.
    pub(in crate::cli) id: String,
    /// Its scenario, by name or file.
    pub(in crate::cli) scenario: String,
    /// The server's name, and the profile that its expectations come from.
    pub(in crate::cli) server: [String; 2],
    /// The same of the client, with its callback list.
    pub(in crate::cli) client: [String; 2],
    /// The file with what was seen; absent when the cell did not get that far.
    pub(in crate::cli) file: Option<PathBuf>,
}

/// Writes a recording: one file a cell, and the table of contents last.
pub(super) fn keep(
    dir: &Path,
    scenarios: &[String],
    plan: &LivePlan,
    outcome: &LiveOutcome,
) -> Result<(), CliError> {
    let mut cells = Vec::new();
    for (index, (task, capture)) in plan.tasks.iter().zip(&outcome.captures).enumerate() {
        let cell = &task.cell;
        let file = match capture {
            Some(capture) => {
                let file = PathBuf::from(format!("cell-{index:04}.json"));
                report::write_atomically(&dir.join(&file), |out| {
                    serde_json::to_writer_pretty(&mut *out, capture).map_err(std::io::Error::other)?;
                    writeln!(out)
                })?;
                Some(file)
            }
            None => None,
        };
        // A scenario that was given as a file is asked for as a file again.
        let asked = scenarios
            .iter()
            .find(|name| Path::new(name).file_stem().is_some_and(|stem| stem == cell.scenario.as_str()));
        let [server, client] = task.known_as.clone();
        cells.push(Kept {
            id: cell.id.clone(),
            scenario: asked.unwrap_or(&cell.scenario).clone(),
            server: [cell.server.clone(), server],
            client: [cell.client.clone(), client],
            file,
        });
    }
    let contents =
        Contents { schema: RECORD_SCHEMA.to_owned(), skewlab: env!("CARGO_PKG_VERSION").to_owned(), cells };
    report::write_atomically(&dir.join(CONTENTS), |out| {
        serde_json::to_writer_pretty(&mut *out, &contents).map_err(std::io::Error::other)?;
        writeln!(out)
    })?;
    Ok(())
}
