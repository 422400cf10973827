//! `git:REV:PATH`: a result as some revision has it. Revision and path are handed to git as data: no shell, no options.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::error::CompareError;
use super::source::{Files, may_be_result};

/// A revision, and a path as git reads it: from the root of the repository, or with `./` from here.
pub(super) struct Asked {
    rev: String,
    path: String,
}

/// What `git:REV:PATH` asks for; nothing of a source that is no such thing.
pub(super) fn asked(source: &str) -> Result<Option<Asked>, CompareError> {
    let Some(rest) = source.strip_prefix("git:") else { return Ok(None) };
    match rest.split_once(':') {
        Some((rev, path)) if !rev.is_empty() && !path.is_empty() => {
            Ok(Some(Asked { rev: rev.to_owned(), path: path.to_owned() }))
        }
        _ => Err(CompareError::GitForm { asked: source.to_owned() }),
    }
}

/// The file, or the files of the folder.
pub(super) fn texts(source: &str, asked: &Asked) -> Result<Files, CompareError> {
    let Asked { rev, path } = asked;
    let commit = format!("{rev}^{{commit}}");
    let found = git(source, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
    if !found.status.success() {
        // Either there is no such revision, or there is no repository to have one.
        let inside = git(source, &["rev-parse", "--is-inside-work-tree"])?;
        if !inside.status.success() {
            return Err(CompareError::Git {
                asked: source.to_owned(),
                why: "this is no git repository".into(),
            });
        }
        return Err(CompareError::Revision { asked: source.to_owned(), rev: rev.clone() });
    }
    let commit = text(source, found)?.trim().to_owned();
    let object = format!("{commit}:{path}");
    let kind = git(source, &["cat-file", "-t", &object])?;
    if !kind.status.success() {
        let missing =
            CompareError::Missing { asked: source.to_owned(), rev: rev.clone(), path: path.clone() };
        return Err(missing);
    }
    if text(source, kind)?.trim() != "tree" {
        return Ok(Files::One(PathBuf::from(source), blob(source, &object)?));
    }
    let listed = git(source, &["ls-tree", "-z", "--name-only", &object])?;
    let listed = text(source, listed)?;
    let files = listed.split('\0').filter(|name| may_be_result(name)).map(|name| {
        let object = format!("{}/{name}", object.trim_end_matches('/'));
        Ok((Path::new(source).join(name), blob(source, &object)?))
    });
    Ok(Files::Folder(files.collect::<Result<_, CompareError>>()?))
}

fn blob(source: &str, object: &str) -> Result<String, CompareError> {
    let shown = git(source, &["cat-file", "blob", object])?;
    if !shown.status.success() {
        let why = String::from_utf8_lossy(&shown.stderr).trim().to_owned();
        return Err(CompareError::Git { asked: source.to_owned(), why });
    }
    text(source, shown)
}

fn text(source: &str, output: Output) -> Result<String, CompareError> {
    let not_text = |_| CompareError::Git { asked: source.to_owned(), why: "it is no text".into() };
    String::from_utf8(output.stdout).map_err(not_text)
}

fn git(source: &str, args: &[&str]) -> Result<Output, CompareError> {
    let mut command = Command::new("git");
    // Nothing is fetched, and nobody is asked.
    command.args(args).env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.stdin(std::process::Stdio::null());
    command.output().map_err(|error| {
        let why = format!("git does not run: {error}");
        CompareError::Git { asked: source.to_owned(), why }
    })
}
