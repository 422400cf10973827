//! `skewlab init`: a scenario to start from, its schema for the editor, a list of known failures, and a workflow.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::error::CliError;
use crate::judge::ExitCode;
use crate::report::{StoreError, write_atomically};
use crate::suite::schemas;

#[derive(Debug, ClapArgs)]
pub(super) struct Init {
    /// The repository to start in
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

const SCENARIO: &str = "skewlab/streaming.toml";

/// What is written, by its place in the repository.
pub(super) fn files() -> Vec<(&'static str, String)> {
    let fill = |text: &str| {
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@RUST@", env!("CARGO_PKG_RUST_VERSION"))
    };
    let mut files = vec![
        (SCENARIO, include_str!("init/streaming.toml").to_owned()),
        ("skewlab/known.toml", include_str!("init/known.toml").to_owned()),
        (".github/workflows/skewlab.yml", fill(include_str!("init/workflow.yml"))),
    ];
    // The scenario's first line names it.
    let schema = schemas::all().into_iter().find(|schema| schema.name == "scenario");
    files.extend(schema.map(|schema| ("skewlab/scenario.schema.json", schema.text())));
    files
}

pub(super) fn run(args: &Init) -> Result<ExitCode, CliError> {
    let files = files();
    refuse_taken(&args.dir, &files)?;
    write_all(&args.dir, &files)?;
    let mut out = std::io::stdout().lock();
    for (file, _) in &files {
        writeln!(out, "{}", args.dir.join(file).display())?;
    }
    let scenario = args.dir.join(SCENARIO);
    eprintln!(
        "\nnext\n  skewlab matrix {0}    runs it; it is green as it is\n  edit {0}: ask your own question of your own \
         releases (skewlab list servers, skewlab list clients)\n  commit all of it, and set the repository variable \
         SKEWLAB_GIT, which the workflow installs skewlab from",
        scenario.display()
    );
    Ok(ExitCode::AllAsExpected)
}

/// Whether there is anything, a link to nowhere included: that is somebody's too.
fn there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The folders on the way to a file, the nearest first, `dir` last.
fn folders<'a>(dir: &'a Path, file: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    Path::new(file).ancestors().skip(1).map(|folder| dir.join(folder))
}

/// Refuses before anything is written: files that are there, and things in the place of a folder that are none.
fn refuse_taken(dir: &Path, files: &[(&str, String)]) -> Result<(), CliError> {
    if there(dir) && !dir.is_dir() {
        let why = "it is no folder; name the repository's";
        return Err(CliError::Usage(format!("{}: {why}", dir.display())));
    }
    let in_the_way = |path: &PathBuf| there(path) && !path.is_dir();
    let mut taken = BTreeSet::new();
    for (file, _) in files {
        taken.extend(
            folders(dir, file)
                .filter(in_the_way)
                .map(|path| format!("{}, which is no folder", path.display())),
        );
        taken.extend(Some(dir.join(file)).filter(|path| there(path)).map(|path| path.display().to_string()));
    }
    if taken.is_empty() {
        return Ok(());
    }
    let taken: Vec<String> = taken.into_iter().collect();
    let taken = taken.join("\n  ");
    Err(CliError::Usage(format!(
        "nothing was written, as there is already\n  {taken}\nmove away what you do not need, or start in another folder: \
         skewlab init DIR"
    )))
}

/// Writes all of them, or none: what was made before one that cannot be written goes again.
fn write_all(dir: &Path, files: &[(&str, String)]) -> Result<(), StoreError> {
    let mut made: Vec<PathBuf> = files.iter().flat_map(|(file, _)| folders(dir, file)).collect();
    made.retain(|folder| !there(folder));
    made.sort();
    made.dedup();
    let mut written = Vec::new();
    for (file, text) in files {
        let path = dir.join(file);
        if let Err(error) = write_atomically(&path, |out| out.write_all(text.as_bytes())) {
            // The first error is the one to report. A folder that somebody else has put something into stays.
            for path in &written {
                let _ = std::fs::remove_file(path);
            }
            for folder in made.iter().rev() {
                let _ = std::fs::remove_dir(folder);
            }
            return Err(error);
        }
        written.push(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_files_that_cannot_all_be_written_none_is() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("new/repository");
        let long = format!("deep/{}", "x".repeat(300));
        let files =
            [("a/b/one", String::from("1")), ("two", String::from("2")), (long.as_str(), String::new())];
        let failed = write_all(&dir, &files).unwrap_err().to_string();
        assert!(failed.contains("cannot write") && failed.contains("xxx"), "{failed}");
        assert!(!dir.exists(), "the folder was made for it, and goes with it");
        // What was there stays.
        std::fs::create_dir_all(dir.join("a")).unwrap();
        std::fs::write(dir.join("a/mine"), "mine").unwrap();
        write_all(&dir, &files).unwrap_err();
        let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["a"]);
        assert_eq!(std::fs::read_dir(dir.join("a")).unwrap().count(), 1);
        write_all(&dir, &files[..2]).unwrap();
        assert_eq!(std::fs::read_to_string(dir.join("a/b/one")).unwrap(), "1");
    }
}
