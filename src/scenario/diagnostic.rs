//! Faults at their place in the file, and how they are shown.

use std::fmt;
use std::ops::Range;

use super::problem::Problem;
use crate::agent_server::profile::ProfileError;
use crate::caret::Caret;

/// A mistake and the bytes of the file that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Byte range in the file.
    pub span: Range<usize>,
    /// What is wrong there.
    pub problem: Problem,
}

/// A scenario, or a selection of its cells, that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ScenarioError {
    /// No scenario that comes with skewlab has that name.
    #[error("no scenario is called `{name}`{hint} (a path ends in .toml or contains a `/`)")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest names, or all, ready to print.
        hint: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {message}")]
    Read {
        /// Where.
        path: String,
        /// The operating system's words.
        message: String,
    },
    /// A file with mistakes in it: all of them, in file order.
    #[error("{}", Rendered(self))]
    Invalid {
        /// File name.
        path: String,
        /// Its text.
        text: String,
        /// What is wrong, never empty.
        faults: Vec<Fault>,
    },
    /// A server or client was selected that no profile describes.
    #[error(transparent)]
    Party(#[from] ProfileError),
    /// `python@same` on a server whose own client nobody has described.
    #[error("`{asked}` on server `{server}`: {source}")]
    Same {
        /// As written in the axis.
        asked: String,
        /// The server.
        server: String,
        /// Why there is no such client.
        source: Box<ProfileError>,
    },
    /// The pattern that picks cells by id is no glob.
    #[error("`{pattern}` is no pattern for cell ids: {message}")]
    Only {
        /// The pattern.
        pattern: String,
        /// The glob reader's words.
        message: String,
    },
}

impl ScenarioError {
    /// The faults of an invalid file.
    pub fn faults(&self) -> &[Fault] {
        match self {
            ScenarioError::Invalid { faults, .. } => faults,
            _ => &[],
        }
    }

    /// The error with terminal colours; `Display` is the same without.
    pub fn styled(&self) -> String {
        match self {
            ScenarioError::Invalid { .. } => self.render(true),
            other => other.to_string(),
        }
    }

    fn render(&self, styled: bool) -> String {
        let ScenarioError::Invalid { path, text, faults } = self else { return String::new() };
        let shown: Vec<String> = faults.iter().map(|f| f.render(path, text, styled)).collect();
        shown.join("\n\n")
    }
}

struct Rendered<'a>(&'a ScenarioError);

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.render(false))
    }
}

impl Fault {
    fn render(&self, path: &str, text: &str, styled: bool) -> String {
        let caret = Caret { path, text, span: (self.span.start, self.span.end) };
        caret.show(&self.problem.to_string(), self.problem.help().as_deref(), styled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(text: &str, span: Range<usize>, problem: Problem) -> ScenarioError {
        ScenarioError::Invalid {
            path: "s.toml".into(),
            text: text.into(),
            faults: vec![Fault { span, problem }],
        }
    }

    #[test]
    fn the_caret_stands_under_the_character() {
        let text = "a = 1\né = \"漢\" # b\n";
        let at = text.find('b').unwrap();
        let shown = invalid(text, at..at + 1, Problem::BareToken).to_string();
        assert!(shown.starts_with("error: this token has neither"), "{shown}");
        assert!(shown.contains("s.toml:2:11"), "{shown}");
        assert!(shown.contains("help: an empty token"), "{shown}");
    }

    #[test]
    fn spans_outside_of_the_text_do_not_panic() {
        for (text, span) in [("", 0..0), ("é", 1..1), ("a", 5..9), ("a\n", 2..2)] {
            assert!(invalid(text, span, Problem::NoQuestion).to_string().contains("s.toml"), "{text:?}");
        }
    }

    #[test]
    fn colours_are_asked_for() {
        let error = invalid("a = 1", 0..1, Problem::NoQuestion);
        assert!(error.styled().contains("\u{1b}[") && !error.to_string().contains('\u{1b}'));
    }
}
