//! `skewlab init`: a scenario to start from, its schema for the editor, a list of known failures, and a workflow.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::error::CliError;
use crate::judge::ExitCode;
use crate::report::write_atomically;
use crate::suite::schemas;

#[derive(Debug, ClapArgs)]
pub(super) struct Init {
    /// The repository to start in
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

const SCENARIO: &str = "skewlab/streaming.toml";

/// What is written, by its place in the repository.
fn files() -> Vec<(&'static str, String)> {
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
    if args.dir.exists() && !args.dir.is_dir() {
        let why = "it is no folder; name the repository's";
        return Err(CliError::Usage(format!("{}: {why}", args.dir.display())));
    }
    // A link to nowhere is somebody's too.
    let there = |path: &Path| path.symlink_metadata().is_ok();
    let taken: Vec<String> = files
        .iter()
        .map(|(file, _)| args.dir.join(file))
        .filter(|path| there(path))
        .map(|path| format!("\n  {}", path.display()))
        .collect();
    if !taken.is_empty() {
        return Err(CliError::Usage(format!(
            "nothing was written, as there is already{}\nmove away what you do not need, or start in another folder: \
             skewlab init DIR",
            taken.concat()
        )));
    }
    let mut out = std::io::stdout().lock();
    for (file, text) in &files {
        let path = args.dir.join(file);
        write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
        writeln!(out, "{}", path.display())?;
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
