//! Where a side of a comparison is read from: a file, a folder, or a revision of a git repository.

use std::path::{Path, PathBuf};

use super::error::CompareError;
use super::git;
use crate::judge::compare::reduced;
use crate::record::baseline::Baseline;
use crate::record::bench::Bench;
use crate::record::comparison::Kind;
use crate::record::feed_bench::FeedBench;
use crate::record::{Document, StoredError};
use crate::suite::JOURNAL;

/// A result that can be compared.
pub(in crate::cli) enum Compared {
    Run(Box<Baseline>),
    Bench(Box<Bench>),
    FeedBench(Box<FeedBench>),
}

impl Compared {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Compared::Run(_) => Kind::Run,
            Compared::Bench(_) => Kind::Bench,
            Compared::FeedBench(_) => Kind::FeedBench,
        }
    }
}

/// A result and where it was found.
pub(in crate::cli) struct Found {
    pub(super) place: PathBuf,
    pub(in crate::cli) result: Compared,
}

/// All results of a side: one of a file, one a kind of a folder. `told` hears of files in a folder that are none.
pub(in crate::cli) fn load(source: &str, told: &dyn Fn(&str)) -> Result<Vec<Found>, CompareError> {
    let files = match git::asked(source)? {
        Some(asked) => git::texts(source, &asked)?,
        None => texts(Path::new(source))?,
    };
    match files {
        Files::One(place, text) => match read(&place, &text)? {
            Read::Comparable(result) => Ok(vec![Found { place, result }]),
            Read::Other(schema) => Err(CompareError::Kind { place, schema }),
        },
        Files::Folder(files) => of_folder(source, files, told),
    }
}

/// What stands behind a source.
pub(super) enum Files {
    One(PathBuf, String),
    Folder(Vec<(PathBuf, String)>),
}

/// Whether a file of a folder may hold a result, by its name.
pub(super) fn may_be_result(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|e| e.to_str());
    !name.starts_with('.') && matches!(ending, Some("json" | "jsonl"))
}

fn texts(path: &Path) -> Result<Files, CompareError> {
    let failed = |path: &Path, error| StoredError::Read { path: path.to_owned(), error };
    if !path.is_dir() {
        let text = std::fs::read_to_string(path).map_err(|error| failed(path, error))?;
        return Ok(Files::One(path.to_owned(), text));
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| failed(path, error))? {
        let entry = entry.map_err(|error| failed(path, error))?;
        if entry.file_name().to_str().is_some_and(may_be_result) && entry.path().is_file() {
            names.push(entry.path());
        }
    }
    names.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
        Ok((path, text))
    };
    Ok(Files::Folder(names.into_iter().map(read).collect::<Result<_, StoredError>>()?))
}

enum Read {
    Comparable(Compared),
    /// A result of another kind, by its schema.
    Other(&'static str),
}

fn read(place: &Path, text: &str) -> Result<Read, StoredError> {
    if Baseline::is_meant(text) {
        return Ok(Read::Comparable(Compared::Run(Box::new(Baseline::parse(place, text)?))));
    }
    Ok(match Document::parse(place, text)? {
        Document::Run(run) => Read::Comparable(Compared::Run(Box::new(reduced(&run)))),
        Document::Bench(bench) => Read::Comparable(Compared::Bench(bench)),
        Document::FeedBench(bench) => Read::Comparable(Compared::FeedBench(bench)),
        other => Read::Other(other.schema()),
    })
}

fn of_folder(
    source: &str,
    files: Vec<(PathBuf, String)>,
    told: &dyn Fn(&str),
) -> Result<Vec<Found>, CompareError> {
    let mut all: Vec<Found> = Vec::new();
    for (place, text) in files {
        // The journal of a run that is not at its end is no result, and its run.json stands beside it.
        if place.file_name().is_some_and(|name| name == JOURNAL) {
            continue;
        }
        // Of lines of JSON the only result is a baseline; what else is in the folder is somebody's own.
        if place.extension().is_some_and(|ending| ending == "jsonl") && !Baseline::is_meant(&text) {
            told(&format!("left out: {}: its first line is not that of a baseline", place.display()));
            continue;
        }
        let result = match read(&place, &text) {
            Ok(Read::Comparable(result)) => result,
            Ok(Read::Other(schema)) => {
                told(&format!("{}: `{schema}` is not compared", place.display()));
                continue;
            }
            Err(error @ StoredError::Foreign { .. }) => {
                told(&format!("left out: {error}"));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(there) = all.iter().find(|there| there.result.kind() == result.kind()) {
            let kind = result.kind().as_str();
            return Err(CompareError::Two { kind, one: there.place.clone(), other: place });
        }
        all.push(Found { place, result });
    }
    if all.is_empty() { Err(CompareError::NoResult { asked: source.to_owned() }) } else { Ok(all) }
}
