//! `skewlab report`: results that were kept, in the format that somebody needs.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::error::CliError;
use super::reports::{ReportFormat, plain, plain_path, render};
use super::screen::columns;
use crate::judge::ExitCode;
use crate::record::Document;
use crate::report;

/// Show results that were kept: as tables, or in a format that other tools read.
#[derive(Debug, ClapArgs)]
pub(super) struct Report {
    /// Results: a run.json, a folder with one, or another file that skewlab wrote (those as terminal, json or html; a
    /// comparison and a search as markdown too)
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// What they become
    #[arg(long, value_enum, default_value_t = ReportFormat::Terminal)]
    format: ReportFormat,
    /// Write it into this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Report) -> Result<ExitCode, CliError> {
    let files: Vec<PathBuf> = args.runs.iter().map(|path| file(path)).collect();
    if let Some(out) = &args.out
        && let Some(input) = files.iter().find(|file| plain_path(file) == plain_path(out))
    {
        let why =
            format!("--out {} is the result that is to be rendered; name another file", input.display());
        return Err(CliError::Usage(why));
    }
    // All are read before anything is written.
    let mut results: Vec<(&Path, Document)> = Vec::new();
    for file in &files {
        results.extend(Document::read_all(file)?.into_iter().map(|document| (file.as_path(), document)));
    }
    fits(args.format, &results)?;
    let (places, documents): (Vec<&Path>, Vec<Document>) = results.into_iter().unzip();
    match &args.out {
        Some(path) => report::write_atomically(path, |out| plain(args.format, &documents, out))?,
        None if args.format == ReportFormat::Terminal => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            render(args.format, &documents, columns(), &mut out)?;
            out.flush()?;
        }
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            render(args.format, &documents, None, &mut out)?;
            out.flush()?;
        }
    }
    let empty = |document: &Document| matches!(document, Document::Run(run) if run.cells.is_empty());
    match documents.iter().position(empty) {
        Some(at) => Err(CliError::NothingRan(format!(": {} has none", places[at].display()))),
        None => Ok(ExitCode::AllAsExpected),
    }
}

/// The file that was meant: of a folder its `run.json`.
fn file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("run.json") } else { path.to_owned() }
}

/// Whether the format can hold these results; one document for several runs needs cells that can be told apart.
fn fits(format: ReportFormat, results: &[(&Path, Document)]) -> Result<(), CliError> {
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for (file, document) in results {
        if !format.shows(document) {
            let can: Vec<&str> = ReportFormat::that_show(document).map(ReportFormat::as_str).collect();
            return Err(CliError::Usage(format!(
                "{}: the format `{}` has no form for a result of schema `{}`; these have: {}",
                file.display(),
                format.as_str(),
                document.schema(),
                can.join(", "),
            )));
        }
        let Document::Run(run) = document else { continue };
        for cell in run.cells.iter().filter(|_| format.is_one_document()) {
            if let Some(before) = seen.insert(&cell.id, file) {
                let (before, now) = (before.display(), file.display());
                let both = if before.to_string() == now.to_string() { "twice" } else { "too" };
                return Err(CliError::Usage(format!(
                    "{now}: cell `{}` is in {before} {both}, and one document of format `{}` cannot tell them apart; \
                     render the runs one by one",
                    cell.id,
                    format.as_str(),
                )));
            }
        }
    }
    Ok(())
}
