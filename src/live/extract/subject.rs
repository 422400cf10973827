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
}
