//! Patterns over names and cell ids.

use glob::{MatchOptions, Pattern};

/// A glob over names, in which `*` and `?` stay within a path component, or over cell ids, in which they cross
/// them. A name always matches itself, so that a mutation such as `content=["a"]` need not be escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    glob: Option<Pattern>,
}

/// Why a pattern is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GlobError {
    /// What is wrong.
    pub message: &'static str,
}

const ID: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: false,
};

const NAME: MatchOptions = MatchOptions { require_literal_separator: true, ..ID };

impl Glob {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Glob, GlobError> {
        let glob = if is_literal(text) {
            None
        } else {
            Some(Pattern::new(text).map_err(|e| GlobError { message: e.msg })?)
        };
        Ok(Glob { text: text.to_owned(), glob })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it can match one name only.
    pub fn is_literal(&self) -> bool {
        self.glob.is_none()
    }

    /// Whether it matches the whole of `name`.
    pub fn matches(&self, name: &str) -> bool {
        self.text == name || self.glob.as_ref().is_some_and(|g| g.matches_with(name, NAME))
    }

    /// Whether it picks the cell with that id: any one component of it, or all of it when the pattern has a `/`.
    pub fn picks(&self, id: &str) -> bool {
        if !self.text.contains('/') {
            return id.split('/').any(|part| self.matches(part));
        }
        self.text == id || self.glob.as_ref().is_some_and(|g| g.matches_with(id, ID))
    }
}

/// Whether `text` has no character that a glob reads specially.
pub(super) fn is_literal(text: &str) -> bool {
    !text.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::new(text).unwrap()
    }

    #[test]
    fn a_star_stays_within_a_component() {
        assert!(glob("python-*").matches("python-1.43.1+AB"));
        assert!(!glob("python-*").matches("python-1.55.1/token_callbacks"));
        assert!(glob("python-*/*").matches("python-1.55.1/token_callbacks"));
        assert!(!glob("python-*+AB").matches("python-1.43.1+ABC"));
    }

    #[test]
    fn ids_are_picked_by_component_or_as_a_whole() {
        let id = "release-skew/1.58.2/python-1.55.1/chat/none";
        let by_path =
            ["release-skew/*", "*/none", "*/1.58.2/*", "*/1.58.2/*/*/*", "release-skew/**", "**/none", id];
        for yes in ["1.58.2", "python-*", "none"].iter().chain(&by_path) {
            assert!(glob(yes).picks(id), "{yes}");
        }
        for no in ["1.58", "python", "1.58.2/python-1.55.1", "*/chat", "1.58.2/*", "**/chat"] {
            assert!(!glob(no).picks(id), "{no}");
        }
    }

    #[test]
    fn a_name_matches_itself_whatever_it_holds() {
        assert!(glob("content=[\"a\"]").matches("content=[\"a\"]"));
        assert!(!glob("1.58.2").matches("1x58x2"));
    }

    #[test]
    fn what_is_no_glob_says_why() {
        assert!(Glob::new("a**").unwrap_err().to_string().contains("path component"));
        assert!(Glob::new("[a").is_err());
    }
}
