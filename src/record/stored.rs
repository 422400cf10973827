//! Reading a result file of any kind: what it is, and what to say of one that is none.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::attach::{ATTACH_SCHEMA, AttachReport};
use super::bench::{BENCH_SCHEMA, Bench};
use super::certificate::{CERTIFICATE_SCHEMA, Certificate};
use super::client_bench::{CLIENT_BENCH_SCHEMA, ClientBench};
use super::comparison::{COMPARISON_SCHEMA, Comparison};
use super::contract::{CONTRACT_SCHEMA, ContractReport};
use super::explore::{EXPLORE_SCHEMA, ExploreReport};
use super::feed_bench::{FEED_BENCH_SCHEMA, FeedBench};
use super::idle::{IDLE_SCHEMA, IdleReport};
use super::interleaved::{INTERLEAVED_SCHEMA, Interleaved};
use super::live_bench::{LIVE_BENCH_SCHEMA, LIVE_IDLE_SCHEMA, LiveBench, LiveIdleReport};
use super::run::{Run, SCHEMA};
use super::seal::Contradiction;

/// A result as some command wrote it.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// `matrix`, `live matrix`, `judge`.
    Run(Box<Run>),
    /// `bench fanout`.
    Bench(Box<Bench>),
    /// `bench feed`.
    FeedBench(Box<FeedBench>),
    /// `live bench`.
    LiveBench(Box<LiveBench>),
    /// `live idle`.
    LiveIdle(Box<LiveIdleReport>),
    /// `idle`.
    Idle(Box<IdleReport>),
    /// `attach`.
    Attach(Box<AttachReport>),
    /// `calibrate`.
    Certificate(Box<Certificate>),
    /// `bench client`.
    ClientBench(Box<ClientBench>),
    /// `bench … --against`.
    Interleaved(Box<Interleaved>),
    /// `compare`.
    Comparison(Box<Comparison>),
    /// `contract`.
    Contract(Box<ContractReport>),
    /// `explore`.
    Explore(Box<ExploreReport>),
}

/// A file that holds no result that can be read.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// It cannot be read at all.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// It ends in the middle.
    #[error("{}:{line}:{column}: the file ends here, in the middle: it was cut off while it was written or copied", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// It is no JSON, or it is and does not have the shape that its schema promises.
    #[error("{}: {error}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's words, with line and column.
        error: serde_json::Error,
    },
    /// It is JSON and somebody else's.
    #[error("{}: no result of skewlab: {why}; expected a file that `skewlab … --out` or `--format json` wrote", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What speaks against it.
        why: String,
    },
    /// It says one thing in one place and another in another: it was edited, merged, or cut.
    #[error("{}: {place}: {why}; the file does not agree with itself, so nothing is said of it: write it anew with the command that made it", path.display())]
    Contradicts {
        /// The file.
        path: PathBuf,
        /// The place in it.
        place: String,
        /// What speaks against it.
        why: String,
    },
    /// It was written by a later skewlab.
    #[error("{}: schema `{found}` is newer than `{known}`, the newest that this skewlab {} reads; use a later skewlab", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// Ours.
        known: &'static str,
    },
}

/// Every schema of a result.
pub const SCHEMAS: [&str; 13] = [
    SCHEMA,
    BENCH_SCHEMA,
    FEED_BENCH_SCHEMA,
    LIVE_BENCH_SCHEMA,
    LIVE_IDLE_SCHEMA,
    IDLE_SCHEMA,
    ATTACH_SCHEMA,
    CERTIFICATE_SCHEMA,
    CLIENT_BENCH_SCHEMA,
    INTERLEAVED_SCHEMA,
    COMPARISON_SCHEMA,
    CONTRACT_SCHEMA,
    EXPLORE_SCHEMA,
];

/// The one thing that every result has.
#[derive(Debug, Deserialize)]
struct Head {
    schema: Option<String>,
}

impl Document {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Document, StoredError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| StoredError::Read { path: path.to_owned(), error })?;
        Document::parse(path, &text)
    }

    /// Reads a file that may hold several: `compare` writes a list where it compared results of several kinds. An error in
    /// one of them names its place, from 0: `compared.json[1]`.
    pub fn read_all(path: &Path) -> Result<Vec<Document>, StoredError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| StoredError::Read { path: path.to_owned(), error })?;
        if !text.trim_start().starts_with('[') {
            return Ok(vec![Document::parse(path, &text)?]);
        }
        let all: Vec<Value> =
            serde_json::from_str(&text).map_err(|error| StoredError::of_json(path, error))?;
        if all.is_empty() {
            return Err(StoredError::Foreign { path: path.to_owned(), why: "it is an empty list".into() });
        }
        let one = |(at, value): (usize, &Value)| {
            Document::parse(Path::new(&format!("{}[{at}]", path.display())), &value.to_string())
        };
        all.iter().enumerate().map(one).collect()
    }

    /// Reads the text of a file. What it is comes first: nothing else is said of a file of another schema. A run or a
    /// search that contradicts itself is refused.
    pub fn parse(path: &Path, text: &str) -> Result<Document, StoredError> {
        let failed = |error| StoredError::of_json(path, error);
        let foreign = |why: String| StoredError::Foreign { path: path.to_owned(), why };
        let head = match serde_json::from_str::<Head>(text) {
            Ok(head) => head,
            // JSON, but no object, or one whose `schema` is no string.
            Err(error) if error.is_data() => {
                return Err(foreign("its `schema` is missing or no text".into()));
            }
            Err(error) => return Err(failed(error)),
        };
        let Some(found) = head.schema else { return Err(foreign("it has no `schema`".into())) };
        let Some(known) = SCHEMAS.into_iter().find(|known| *known == found) else {
            return Err(unknown(path, &found));
        };
        match known {
            SCHEMA => {
                let mut run: Box<Run> = of(text).map_err(failed)?;
                return agreeing(path, run.contradiction()).map(|()| Document::Run(run));
            }
            EXPLORE_SCHEMA => {
                let mut report: Box<ExploreReport> = of(text).map_err(failed)?;
                return agreeing(path, report.contradiction()).map(|()| Document::Explore(report));
            }
            BENCH_SCHEMA => of(text).map(Document::Bench),
            FEED_BENCH_SCHEMA => of(text).map(Document::FeedBench),
            LIVE_BENCH_SCHEMA => of(text).map(Document::LiveBench),
            LIVE_IDLE_SCHEMA => of(text).map(Document::LiveIdle),
            IDLE_SCHEMA => of(text).map(Document::Idle),
            ATTACH_SCHEMA => of(text).map(Document::Attach),
            CERTIFICATE_SCHEMA => of(text).map(Document::Certificate),
            CLIENT_BENCH_SCHEMA => of(text).map(Document::ClientBench),
            INTERLEAVED_SCHEMA => of(text).map(Document::Interleaved),
            COMPARISON_SCHEMA => of(text).map(Document::Comparison),
            _ => of(text).map(Document::Contract),
        }
        .map_err(failed)
    }

    /// Its schema.
    pub fn schema(&self) -> &'static str {
        match self {
            Document::Run(_) => SCHEMA,
            Document::Bench(_) => BENCH_SCHEMA,
            Document::FeedBench(_) => FEED_BENCH_SCHEMA,
            Document::LiveBench(_) => LIVE_BENCH_SCHEMA,
            Document::LiveIdle(_) => LIVE_IDLE_SCHEMA,
            Document::Idle(_) => IDLE_SCHEMA,
            Document::Attach(_) => ATTACH_SCHEMA,
            Document::Certificate(_) => CERTIFICATE_SCHEMA,
            Document::ClientBench(_) => CLIENT_BENCH_SCHEMA,
            Document::Interleaved(_) => INTERLEAVED_SCHEMA,
            Document::Comparison(_) => COMPARISON_SCHEMA,
            Document::Contract(_) => CONTRACT_SCHEMA,
            Document::Explore(_) => EXPLORE_SCHEMA,
        }
    }
}

fn of<T: DeserializeOwned>(text: &str) -> Result<Box<T>, serde_json::Error> {
    serde_json::from_str(text).map(Box::new)
}

/// Nothing, if a result says the same of itself everywhere.
fn agreeing(path: &Path, found: Option<Contradiction>) -> Result<(), StoredError> {
    match found {
        None => Ok(()),
        Some(Contradiction { place, why }) => {
            Err(StoredError::Contradicts { path: path.to_owned(), place, why })
        }
    }
}

impl StoredError {
    /// What a parser's error says of a file: it ends in the middle, or it is none.
    pub(super) fn of_json(path: &Path, error: serde_json::Error) -> StoredError {
        let path = path.to_owned();
        if error.is_eof() {
            StoredError::Truncated { path, line: error.line(), column: error.column() }
        } else {
            StoredError::Json { path, error }
        }
    }

    /// What to say of a schema that is not `known`: it is newer, or somebody else's.
    pub(super) fn other_schema(path: &Path, found: &str, known: &'static str) -> StoredError {
        let path = path.to_owned();
        if family(found) == family(known) && version(found) > version(known) {
            return StoredError::Newer { path, found: found.to_owned(), known };
        }
        StoredError::Foreign { path, why: format!("its schema is `{found}`") }
    }
}

/// The number behind the schema's name.
fn version(schema: &str) -> Option<u32> {
    schema.rsplit_once('/').and_then(|(_, version)| version.parse().ok())
}

/// The schema's name without its number.
fn family(schema: &str) -> Option<&str> {
    schema.rsplit_once('/').map(|(family, _)| family)
}

/// A schema that is none of ours, or a later version of one.
fn unknown(path: &Path, found: &str) -> StoredError {
    let ours = SCHEMAS.into_iter().find(|known| family(known) == family(found));
    StoredError::other_schema(path, found, ours.unwrap_or(SCHEMA))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        Document::parse(Path::new("dir/run.json"), text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_result_is_told_from_what_was_cut_off_and_what_is_newer() {
        assert!(said("").contains("dir/run.json:1:0: the file ends here"), "{}", said(""));
        assert!(said(r#"{"schema":"skewlab.run/1","seed":1,"#).contains(":1:35: the file ends here"));
        assert!(said("garbage").contains("dir/run.json: expected value at line 1 column 1"));
        for foreign in ["[]", "3", r#"{"schema":3}"#, r#"{"a":1}"#, r#"{"schema":"bencher/1"}"#] {
            assert!(said(foreign).contains("no result of skewlab"), "{foreign}: {}", said(foreign));
        }
        let newer = said(r#"{"schema":"skewlab.run/2","anything":true}"#);
        assert!(newer.contains("`skewlab.run/2` is newer than `skewlab.run/1`"), "{newer}");
        assert!(said(r#"{"schema":"skewlab.run/1"}"#).contains("missing field"));
        assert!(said(r#"{"schema":"skewlab.run/1","surprise":1}"#).contains("unknown field `surprise`"));
    }
}
