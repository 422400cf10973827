//! `skewlab baseline`: runs that are kept to compare later ones with.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};

use super::compare::{self, CompareError, CompareFormat, Compared};
use super::error::CliError;
use super::known;
use crate::agent_server::profile::nearest;
use crate::judge::ExitCode;
use crate::judge::compare::{Rules, compare_runs};
use crate::record::StoredError;
use crate::record::baseline::Baseline;
use crate::record::comparison::Change;
use crate::report;

/// Where baselines are, and what they are called.
#[derive(Debug, ClapArgs)]
pub(super) struct Place {
    /// Name of the baseline: its file is NAME.jsonl
    #[arg(long, value_name = "NAME", default_value = "matrix", value_parser = name)]
    name: String,
    /// Folder of the baselines
    #[arg(long, value_name = "DIR", default_value = "reports/baseline")]
    dir: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// Keep a run under a name that is not taken
    Save {
        /// The run: a run.json, its folder, or git:REV:PATH
        #[arg(value_name = "RUN")]
        run: String,
        #[command(flatten)]
        place: Place,
    },
    /// List the baselines, or show what one of them holds
    Show {
        /// Its name
        #[arg(value_name = "NAME", value_parser = name)]
        name: Option<String>,
        /// Folder of the baselines
        #[arg(long, value_name = "DIR", default_value = "reports/baseline")]
        dir: PathBuf,
    },
    /// Put a newer run in the place of one that is kept, and say what changes
    Update {
        /// The run: a run.json, its folder, or git:REV:PATH
        #[arg(value_name = "RUN")]
        run: String,
        #[command(flatten)]
        place: Place,
        /// Take over what got worse, what is gone, and cells whose scenario or budgets changed
        #[arg(long)]
        accept: bool,
    },
}

/// A name is one part of a path, and the same file on every system.
fn name(text: &str) -> Result<String, String> {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if begins && text.len() <= 64 && text.chars().all(fine) {
        return Ok(text.to_owned());
    }
    Err("expected up to 64 of a-z, 0-9, `.`, `_` and `-`, a letter or a digit first; .jsonl is added"
        .to_owned())
}

pub(super) fn run(command: &BaselineCommand) -> Result<ExitCode, CliError> {
    match command {
        BaselineCommand::Save { run, place } => save(run, place),
        BaselineCommand::Show { name: None, dir } => list(dir),
        BaselineCommand::Show { name: Some(name), dir } => show(name, dir),
        BaselineCommand::Update { run, place, accept } => update(run, place, *accept),
    }
}

fn file(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.jsonl"))
}

/// A run that may be kept: one with cells, and without a fault of the rig.
fn of(source: &str) -> Result<Baseline, CliError> {
    let found = compare::load(source, &|why| eprintln!("{}", report::harmless(why)))?;
    let run = found.into_iter().find_map(|found| match found.result {
        Compared::Run(run) => Some(run),
        _ => None,
    });
    let Some(run) = run else {
        return Err(CliError::Usage(format!("{source}: no run; a baseline is made of a run.json")));
    };
    if run.cells.is_empty() {
        return Err(CliError::NothingRan(format!(": {source} is empty")));
    }
    Ok(*run)
}

/// The code and the message of a run with faults of the rig, which no later run should be held against.
fn faulty(run: &Baseline) -> Option<ExitCode> {
    let faults = run.cells.iter().filter(|cell| cell.verdict.is_rig_fault()).count();
    (faults > 0).then(|| {
        eprintln!("error: {faults} of its cells did not run or are invalid: that is no baseline; nothing was written");
        ExitCode::RigInvalid
    })
}

fn save(source: &str, place: &Place) -> Result<ExitCode, CliError> {
    let file = file(&place.dir, &place.name);
    if file.exists() {
        return Err(CliError::Usage(format!(
            "{} is there already; `skewlab baseline update` shows what changes before it is written over",
            file.display()
        )));
    }
    let run = of(source)?;
    if let Some(code) = faulty(&run) {
        return Ok(code);
    }
    // What cannot be compared with itself is no baseline: a cell that stands in it twice, say.
    compare_runs(&run, &run, &Rules::default()).map_err(|e| CliError::Usage(format!("{source}: {e}")))?;
    write(&file, &run)?;
    Ok(ExitCode::AllAsExpected)
}

fn write(file: &Path, run: &Baseline) -> Result<(), CliError> {
    report::write_atomically(file, |out| report::baseline_lines(run, out))?;
    eprintln!("{} cells are kept in {}", run.cells.len(), file.display());
    Ok(())
}

/// The names of the baselines in a folder.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names =
        entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".jsonl")?.to_owned()));
    let mut names: Vec<String> = names.filter(|found| name(found).is_ok()).collect();
    names.sort();
    names
}

fn kept(dir: &Path, name: &str) -> Result<Baseline, CliError> {
    let file = file(dir, name);
    if !file.exists() {
        let names = names(dir);
        let near = nearest(name, names.iter().map(String::as_str));
        let there = match (near.is_empty(), names.is_empty()) {
            (false, _) => near,
            (true, true) => "; there is none yet: `skewlab baseline save RUN` makes one".to_owned(),
            (true, false) => format!("; there are {}", names.join(", ")),
        };
        return Err(CliError::Usage(format!("no baseline `{name}` in {}{there}", dir.display())));
    }
    let text = std::fs::read_to_string(&file)
        .map_err(|error| CompareError::from(StoredError::Read { path: file.clone(), error }))?;
    Ok(Baseline::parse(&file, &text).map_err(CompareError::from)?)
}

fn list(dir: &Path) -> Result<ExitCode, CliError> {
    let names = names(dir);
    if names.is_empty() {
        return Err(CliError::Usage(format!(
            "no baseline in {}; `skewlab baseline save RUN` makes one",
            dir.display()
        )));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for name in names {
        let of = kept(dir, &name)?;
        let faulty = of.cells.iter().filter(|cell| !cell.verdict.is_healthy()).count();
        let (cells, clock, seed) = (of.cells.len(), &of.head.clock, of.head.seed);
        writeln!(out, "{name}  {cells} cells, {faulty} of them not healthy, {clock} clock, seed {seed}")?;
    }
    out.flush()?;
    Ok(ExitCode::AllAsExpected)
}

fn show(name: &str, dir: &Path) -> Result<ExitCode, CliError> {
    let of = kept(dir, name)?;
    let mut out = BufWriter::new(anstream::stdout().lock());
    report::baseline_table(name, &of, &mut out)?;
    out.flush()?;
    Ok(ExitCode::AllAsExpected)
}

fn update(source: &str, place: &Place, accept: bool) -> Result<ExitCode, CliError> {
    let base = kept(&place.dir, &place.name)?;
    let run = of(source)?;
    if let Some(code) = faulty(&run) {
        return Ok(code);
    }
    // That a scenario changed is a reason to update, and none to refuse it; a budget that changed is shown.
    let rules = Rules { skip_changed: true, today: known::today(), ..Rules::default() };
    let comparison = compare_runs(&base, &run, &rules).map_err(CompareError::from)?;
    compare::print(std::slice::from_ref(&comparison), CompareFormat::Table)?;
    let code = compare::code(&comparison);
    // A stale entry is the scenario's, and no reason to keep an older run.
    let got_worse = !matches!(code, ExitCode::AllAsExpected | ExitCode::Stale);
    let rejudged = comparison.changes.iter().any(|cell| cell.change == Change::Rejudged);
    if (got_worse || rejudged || !comparison.skipped.is_empty()) && !accept {
        eprintln!("nothing was written: --accept takes this over");
        return Ok(if got_worse { code } else { ExitCode::Unexpected });
    }
    write(&file(&place.dir, &place.name), &run)?;
    Ok(ExitCode::AllAsExpected)
}
