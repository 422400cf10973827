//! What a GitHub workflow is told of a run: the summary of its step, and annotations.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::record::Run;
use crate::report::{STEP_SUMMARY_BYTES, StoreError, annotations, markdown};

/// A step of a workflow.
pub(super) struct GitHub {
    /// The file of its summary, which other commands of the step write to as well.
    summary: Option<PathBuf>,
}

impl GitHub {
    /// The step that this process is a part of; none elsewhere.
    pub(super) fn here() -> Option<GitHub> {
        if std::env::var_os("GITHUB_ACTIONS")? != "true" {
            return None;
        }
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        Some(GitHub { summary: summary.map(PathBuf::from) })
    }

    /// Writes annotations to standard error, where the runner reads them as well, and appends to the summary. `scenarios` are
    /// as they were asked for: by name or by file.
    pub(super) fn tell(&self, run: &Run, scenarios: &[String]) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        // Writing into memory does not fail.
        let _ = annotations(run, &files(scenarios), &mut lines);
        eprint!("{}", String::from_utf8_lossy(&lines));
        match &self.summary {
            Some(path) => append(path, run).map_err(|error| StoreError { path: path.clone(), error }),
            None => Ok(()),
        }
    }
}

/// Adds the Markdown to what is in the file, in the room that is left there.
fn append(path: &Path, run: &Run) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let there = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut text = Vec::new();
    markdown(&[run], STEP_SUMMARY_BYTES.saturating_sub(there), &mut text)?;
    file.write_all(&text)
}

/// Scenarios that were given as files, by their names.
fn files(scenarios: &[String]) -> BTreeMap<String, String> {
    let file = |given: &String| {
        let path = Path::new(given);
        let stem = path.extension().is_some().then(|| path.file_stem())??;
        Some((stem.to_str()?.to_owned(), given.clone()))
    };
    scenarios.iter().filter_map(file).collect()
}
