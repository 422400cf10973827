//! What is wrong with a document, and where.

use std::path::PathBuf;

/// A document that cannot be read. Every variant names it, and the place in it.
#[derive(Debug, thiserror::Error)]
pub enum ContractFileError {
    /// A file that cannot be read at all.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// It ends in the middle.
    #[error("{name}:{line}:{column}: the document ends here, in the middle: it was cut off")]
    Truncated {
        /// The file, or where it came from.
        name: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// It is no JSON.
    #[error("{name}: no JSON: {error}")]
    Json {
        /// The file, or where it came from.
        name: String,
        /// The parser's words, with line and column.
        error: serde_json::Error,
    },
    /// It is JSON, and something in it is wrong.
    #[error("{name}: {at}: {problem}")]
    Wrong {
        /// The file, or where it came from.
        name: String,
        /// The place, as a path of keys: `components.schemas.Event.oneOf.3`.
        at: String,
        /// What is wrong there, and what was expected.
        problem: String,
    },
    /// A file or folder without generated types.
    #[error("{}: {problem}", path.display())]
    Types {
        /// The file or folder.
        path: PathBuf,
        /// What is missing, and what was expected.
        problem: String,
    },
}

impl ContractFileError {
    /// What the parser said of `name`.
    pub(super) fn parsed(name: &str, error: serde_json::Error) -> ContractFileError {
        let name = name.to_owned();
        if error.is_eof() {
            let (line, column) = (error.line(), error.column());
            return ContractFileError::Truncated { name, line, column };
        }
        ContractFileError::Json { name, error }
    }
}

/// A name from somebody's document as it may stand in a message: what moves a cursor is written out, and it is cut.
pub fn quoted(name: &str) -> String {
    const MOST: usize = 120;
    let escaped: String = name
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if escaped.chars().count() <= MOST {
        return escaped;
    }
    escaped.chars().take(MOST).chain(['…']).collect()
}

/// `; did you mean …?` for the name nearest to `wanted`, or nothing.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let scored = names.map(|n| (strsim::jaro_winkler(wanted, n), n));
    let best =
        scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)));
    best.map_or(String::new(), |(_, name)| format!("; did you mean `{}`?", quoted(name)))
}
