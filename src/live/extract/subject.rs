//! What can be extracted, as it is typed.

use std::path::{Path, PathBuf};

use super::ExtractError;
use crate::unit::Release;

/// What is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A release that an environment has.
    Release(String),
    /// A wheel, laid over an environment.
    Wheel(PathBuf),
    /// A source tree, laid over an environment.
    Tree(PathBuf),
    /// A document that was stored by an earlier extraction.
    Document(PathBuf),
}

impl Subject {
    /// Reads what was typed: `1.58.2`, `FILE.whl`, `path:DIR`, `FILE.json`.
    ///
    /// Errors when it is none of them.
    pub fn parse(word: &str) -> Result<Subject, ExtractError> {
        let has =
            |extension: &str| Path::new(word).extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        if let Some(dir) = word.strip_prefix("path:") {
            return Ok(Subject::Tree(PathBuf::from(dir)));
        }
        if has("whl") {
            return Ok(Subject::Wheel(PathBuf::from(word)));
        }
        if has("json") {
            return Ok(Subject::Document(PathBuf::from(word)));
        }
        // A version of Python's kind (`1.59.0rc1`) is as good as one of ours.
        if word.parse::<Release>().is_ok()
            || word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
        {
            return Ok(Subject::Release(word.to_owned()));
        }
        Err(ExtractError::Word { word: word.to_owned() })
    }
}

/// The interpreter of the environment that has `release`.
///
/// The one place that knows where environments are: `envs/python-RELEASE` in skewlab's cache.
/// Errors when there is none that was set up to its end.
pub fn python_of(release: &str) -> Result<PathBuf, ExtractError> {
    python_in(&cache(), release)
}

fn python_in(cache: &Path, release: &str) -> Result<PathBuf, ExtractError> {
    let home = cache.join("envs").join(format!("python-{release}"));
    let python = home.join("bin/python");
    // Written last by the set-up: without it the environment is half done.
    if home.join("READY.json").is_file() && python.exists() {
        return Ok(python);
    }
    Err(ExtractError::NoEnvironment { release: release.to_owned(), looked: home })
}

fn cache() -> PathBuf {
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    var("SKEWLAB_CACHE")
        .or_else(|| Some(var("XDG_CACHE_HOME")?.join("skewlab")))
        .or_else(|| Some(var("HOME")?.join(".cache/skewlab")))
        .unwrap_or_else(|| PathBuf::from(".skewlab-cache"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        let parse = |word: &str| Subject::parse(word).unwrap();
        assert_eq!(parse("1.58.2"), Subject::Release("1.58.2".into()));
        assert_eq!(parse("1.59.0rc1"), Subject::Release("1.59.0rc1".into()));
        assert_eq!(parse("d/openhands_sdk-1.59.0-py3-none-any.whl"), {
            Subject::Wheel("d/openhands_sdk-1.59.0-py3-none-any.whl".into())
        });
        assert_eq!(parse("path:/src/1.0"), Subject::Tree("/src/1.0".into()));
        assert_eq!(parse("old/1.43.1.json"), Subject::Document("old/1.43.1.json".into()));
        assert!(
            Subject::parse("lastest").unwrap_err().to_string().contains("`lastest` is nothing to extract")
        );
    }

    #[test]
    fn an_environment_counts_when_it_is_ready() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("envs/python-1.58.2");
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::write(home.join("bin/python"), "").unwrap();
        let error = python_in(dir.path(), "1.58.2").unwrap_err().to_string();
        assert!(error.contains("no environment has 1.58.2") && error.contains("--python"), "{error}");
        std::fs::write(home.join("READY.json"), "{}").unwrap();
        assert_eq!(python_in(dir.path(), "1.58.2").unwrap(), home.join("bin/python"));
    }
}
