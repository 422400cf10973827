//! `--report FORMAT=PATH`: the result in other formats, beside what goes to standard output.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use super::error::CliError;
use super::github::GitHub;
use crate::agent_server::profile::nearest;
use crate::judge::ExitCode;
use crate::record::{Document, Run};
use crate::report::{self, StoreError};
use crate::suite::{JOURNAL, JournalError};

/// A format that a result is rendered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// Tables for a person
    Terminal,
    /// The result as skewlab keeps it; several are one after the other
    Json,
    /// `JUnit` XML: one suite a scenario, one case a cell
    #[value(name = "junit")]
    JUnit,
    /// One self-contained page: the grids, every cell's way hop by hop, costs and idle clocks
    Html,
    /// For a pull request: what broke, what to do, and grids that are folded where they are green
    Markdown,
    /// SARIF 2.1.0: one rule a verdict, one result a finding
    Sarif,
    /// `OpenMetrics` text: gauges for Prometheus
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// One row a cell; texts that a spreadsheet would calculate begin with an apostrophe
    Csv,
}

impl ReportFormat {
    const ALL: [ReportFormat; 8] = [
        ReportFormat::Terminal,
        ReportFormat::Json,
        ReportFormat::JUnit,
        ReportFormat::Html,
        ReportFormat::Markdown,
        ReportFormat::Sarif,
        ReportFormat::OpenMetrics,
        ReportFormat::Csv,
    ];

    /// As it is typed.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ReportFormat::Terminal => "terminal",
            ReportFormat::Json => "json",
            ReportFormat::JUnit => "junit",
            ReportFormat::Html => "html",
            ReportFormat::Markdown => "markdown",
            ReportFormat::Sarif => "sarif",
            ReportFormat::OpenMetrics => "openmetrics",
            ReportFormat::Csv => "csv",
        }
    }

    /// Whether it has a form for this result.
    pub(super) fn shows(self, document: &Document) -> bool {
        match self {
            ReportFormat::Terminal | ReportFormat::Json | ReportFormat::Html => true,
            ReportFormat::Markdown => {
                matches!(document, Document::Run(_) | Document::Comparison(_) | Document::Explore(_))
            }
            // They hold cells.
            ReportFormat::JUnit | ReportFormat::Sarif | ReportFormat::OpenMetrics | ReportFormat::Csv => {
                matches!(document, Document::Run(_))
            }
        }
    }

    /// The formats that have a form for this result.
    pub(super) fn that_show(document: &Document) -> impl Iterator<Item = ReportFormat> {
        ReportFormat::ALL.into_iter().filter(|format| format.shows(document))
    }

    /// Whether several runs become one document in which cells are known by their ids.
    pub(super) fn is_one_document(self) -> bool {
        use ReportFormat::{Csv, JUnit, OpenMetrics, Sarif};
        matches!(self, JUnit | Sarif | OpenMetrics | Csv)
    }
}

/// Renders results. What a format has no form for is left out of it; who lets files in has looked before.
pub(super) fn render(
    format: ReportFormat,
    documents: &[Document],
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let runs: Vec<&Run> = documents
        .iter()
        .filter_map(|document| match document {
            Document::Run(run) => Some(&**run),
            _ => None,
        })
        .collect();
    match format {
        ReportFormat::Terminal => {
            for (at, document) in documents.iter().enumerate() {
                if documents.len() > 1 {
                    let gap = if at == 0 { "" } else { "\n" };
                    writeln!(out, "{gap}=== result {} of {}\n", at + 1, documents.len())?;
                }
                report::document_table(document, width, out)?;
            }
            Ok(())
        }
        ReportFormat::Json => documents.iter().try_for_each(|document| report::document_json(document, out)),
        ReportFormat::JUnit => report::junit(&runs, out),
        ReportFormat::Html => report::html(documents, out),
        ReportFormat::Markdown => {
            if !runs.is_empty() {
                report::markdown(&runs, report::STEP_SUMMARY_BYTES, out)?;
            }
            documents.iter().try_for_each(|document| match document {
                Document::Comparison(comparison) => report::compare_markdown(comparison, out),
                Document::Explore(found) => report::explore_markdown(found, out),
                _ => Ok(()),
            })
        }
        ReportFormat::Sarif => report::sarif(&runs, out),
        ReportFormat::OpenMetrics => report::openmetrics(&runs, out),
        ReportFormat::Csv => report::csv(&runs, out),
    }
}

/// The same for a file, which has no colours.
pub(super) fn plain(format: ReportFormat, documents: &[Document], out: &mut dyn Write) -> io::Result<()> {
    if format != ReportFormat::Terminal {
        return render(format, documents, None, out);
    }
    let mut stripped = anstream::AutoStream::never(Vec::new());
    render(format, documents, None, &mut stripped)?;
    out.write_all(&stripped.into_inner())
}

/// One report that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    format: ReportFormat,
    path: PathBuf,
}

/// Reports of a command that runs cells.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct Reports {
    /// Write the result in this format into this file too, as in csv=cells.csv; may be repeated. Formats: those of
    /// `skewlab report --format`
    #[arg(long = "report", value_name = "FORMAT=PATH", value_parser = wanted)]
    wanted: Vec<Wanted>,
    /// In a GitHub workflow, write neither annotations nor the summary of the step
    #[arg(long)]
    no_github: bool,
}

/// What became of the files of a run.
#[must_use]
pub(super) struct Kept {
    failed: Vec<StoreError>,
    journal: Option<JournalError>,
}

impl Kept {
    /// What became of the journal.
    pub(super) fn journal(&mut self, ended: Result<(), JournalError>) {
        self.journal = ended.err();
    }

    /// Says what could not be written. The code of the run, which a file that is missing does not hide; a run without a
    /// fault of its own ends with 1.
    pub(super) fn code(self, of_run: ExitCode) -> ExitCode {
        for error in &self.failed {
            anstream::eprintln!("error: {error}");
        }
        if let Some(error) = &self.journal {
            anstream::eprintln!("error: {error}");
        }
        match of_run {
            ExitCode::AllAsExpected if !self.failed.is_empty() || self.journal.is_some() => {
                ExitCode::Internal
            }
            own => own,
        }
    }
}

impl Reports {
    /// What can be said before the work: two reports in one file, or one in a file of the run's own folder.
    pub(super) fn check(&self, out: Option<&Path>) -> Result<(), CliError> {
        let own = out.into_iter().flat_map(|dir| ["run.json", JOURNAL].map(|name| (name, dir.join(name))));
        let mut taken: Vec<(&str, PathBuf)> = own.map(|(name, path)| (name, plain_path(&path))).collect();
        taken.extend(summary().map(|path| ("the summary of the step", plain_path(&path))));
        for one in &self.wanted {
            let (format, path) = (one.format.as_str(), plain_path(&one.path));
            if let Some((other, _)) = taken.iter().find(|(_, there)| *there == path) {
                let path = one.path.display();
                let why = format!("--report: {other} and {format} would both be written to {path}");
                return Err(CliError::Usage(why));
            }
            taken.push((format, path));
        }
        Ok(())
    }

    /// Writes `run.json` into the folder, if there is one, and every report; one that cannot be written stops no other.
    /// In a GitHub workflow, tells that too; `scenarios` are as they were asked for.
    pub(super) fn keep(&self, run: Run, out: Option<&Path>, scenarios: &[String]) -> (Run, Kept) {
        let mut failed = Vec::new();
        if let Some(dir) = out {
            failed
                .extend(report::write_atomically(&dir.join("run.json"), |out| report::json(&run, out)).err());
        }
        let documents = [Document::Run(Box::new(run))];
        for Wanted { format, path } in &self.wanted {
            let write = |out: &mut dyn Write| plain(*format, &documents, out);
            failed.extend(report::write_atomically(path, write).err());
        }
        if let Some(step) = GitHub::here().filter(|_| !self.no_github)
            && let [Document::Run(run)] = &documents
        {
            failed.extend(step.tell(run, scenarios).err());
        }
        let [Document::Run(run)] = documents else { unreachable!("it was put in as a run") };
        (*run, Kept { failed, journal: None })
    }
}

/// The file that a GitHub step's summary goes to, in a workflow.
fn summary() -> Option<PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The path as everybody would write it: absolute, links followed as far as it exists, no `.` and no `..`.
pub(super) fn plain_path(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    let name = plain.file_name().map(ToOwned::to_owned);
    match (plain.canonicalize(), plain.parent().map(Path::canonicalize), name) {
        (Ok(there), ..) => there,
        (Err(_), Some(Ok(dir)), Some(name)) => dir.join(name),
        _ => plain,
    }
}

/// Reads `csv=cells.csv`.
fn wanted(text: &str) -> Result<Wanted, String> {
    let all = || ReportFormat::ALL.map(ReportFormat::as_str).join(", ");
    let Some((name, path)) = text.split_once('=') else {
        return Err(format!("expected FORMAT=PATH, as in csv=cells.csv; formats are {}", all()));
    };
    let Some(format) = ReportFormat::ALL.into_iter().find(|format| format.as_str() == name) else {
        let hint = nearest(name, ReportFormat::ALL.iter().map(|format| format.as_str()));
        return Err(format!("no format `{name}`{hint}; formats are {}", all()));
    };
    match path {
        "" => Err(format!("no path behind `{name}=`")),
        "-" => Err("`-` is no file: standard output is for what `--format` asks, so name a file".to_owned()),
        path => Ok(Wanted { format, path: path.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_format_and_a_path() {
        let path = |text| wanted(text).unwrap().path;
        assert_eq!(path("csv=a=b.csv"), PathBuf::from("a=b.csv"));
        for (bad, why) in [
            ("cells.csv", "expected FORMAT=PATH"),
            ("opnmetrics=x", "did you mean `openmetrics`?"),
            ("csv=", "no path"),
            ("csv=-", "name a file"),
            ("=x", "no format ``"),
        ] {
            let told = wanted(bad).unwrap_err();
            assert!(told.contains(why), "{bad}: {told}");
        }
        let names: Vec<String> = ReportFormat::value_variants()
            .iter()
            .map(|format| format.to_possible_value().unwrap().get_name().to_owned())
            .collect();
        assert_eq!(names, ReportFormat::ALL.map(ReportFormat::as_str), "typed alike in both places");
    }

    #[test]
    fn two_reports_need_two_files() {
        let both =
            |b| Reports { wanted: vec![wanted("csv=a").unwrap(), wanted(b).unwrap()], ..Reports::default() };
        let out = Path::new("o");
        assert!(both("json=b").check(Some(out)).is_ok());
        for same in ["json=a", "json=./a", "json=x/../a"] {
            let told = both(same).check(None).unwrap_err().to_string();
            assert!(told.contains("csv and json"), "{same}: {told}");
        }
        for own in ["json=o/run.json", "json=./o/cells.jsonl"] {
            let told = both(own).check(Some(out)).unwrap_err().to_string();
            assert!(told.contains("would both be written"), "{own}: {told}");
        }
    }
}
