//! Why two results were not compared.

use std::path::PathBuf;

use crate::judge::ExitCode;
use crate::judge::compare::Incomparable;
use crate::record::StoredError;

/// A comparison that did not come about.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum CompareError {
    #[error(transparent)]
    Stored(#[from] StoredError),
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    #[error(
        "{}: `{schema}` is not compared; expected a run (matrix, live matrix, judge), a baseline, or a result of bench fanout or \
         bench feed",
        place.display()
    )]
    Kind { place: PathBuf, schema: &'static str },
    #[error(
        "{asked}: no result in this folder can be compared; expected a run.json, a bench.json or a baseline"
    )]
    NoResult { asked: String },
    #[error("{} and {} are both a {kind}: name the file", one.display(), other.display())]
    Two { kind: &'static str, one: PathBuf, other: PathBuf },
    #[error("--out {} is {what} itself; name another file", out.display())]
    Over { out: PathBuf, what: &'static str },
    #[error("BASE is a {base} and HEAD a {head}: two of one kind are compared")]
    Kinds { base: String, head: String },
    #[error("`{asked}`: expected git:REV:PATH, as in git:main:reports/baseline/matrix.jsonl")]
    GitForm { asked: String },
    #[error("`{asked}`: no revision `{rev}` here; `git branch -a` and `git tag` list names")]
    Revision { asked: String, rev: String },
    #[error(
        "`{asked}`: revision `{rev}` has no `{path}`; a path counts from the root of the repository, or with ./ from here"
    )]
    Missing { asked: String, rev: String, path: String },
    #[error("`{asked}`: {why}")]
    Git { asked: String, why: String },
}

impl CompareError {
    pub(in crate::cli) fn code(&self) -> ExitCode {
        match self {
            CompareError::Incomparable(Incomparable::Empty { .. }) => ExitCode::NothingRan,
            _ => ExitCode::Usage,
        }
    }
}
