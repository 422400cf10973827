//! What can be wrong with a profile, or with the name of one.

use std::path::PathBuf;

/// A profile that cannot be used. Every variant names the file or the name it is about.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProfileError {
    /// No profile has that name and no era covers that release.
    #[error("no {what} profile is called `{name}` and none covers it{hint}")]
    Unknown {
        /// `server` or `client`.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The nearest names, ready to print, or nothing.
        hint: String,
    },
    /// A party of the other subject that does not exist.
    #[error("no {what} is called `{name}`{hint}")]
    NoParty {
        /// `variant` or `consumer`.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The nearest names, ready to print.
        hint: String,
    },
    /// A file contradicts itself.
    #[error("{path}: {message}")]
    Invalid {
        /// File name.
        path: String,
        /// What is wrong and where, several lines.
        message: String,
    },
    /// The file is no TOML, or a trait has a value that does not exist: the place, shown.
    #[error("{shown}")]
    Faulty {
        /// The error, the line with a caret, and help.
        shown: String,
    },
    /// A trait that was laid over a profile does not exist there, or takes no such value.
    #[error("traits laid over server `{server}`: {message}")]
    Laid {
        /// The server.
        server: String,
        /// What is wrong.
        message: String,
        /// `did you mean …?`, or nothing.
        hint: String,
    },
    /// `extends` leads nowhere or in a circle.
    #[error("{path}: `extends = \"{name}\"` {problem}")]
    Extends {
        /// File name.
        path: String,
        /// The profile that it extends.
        name: String,
        /// What is wrong with that.
        problem: String,
    },
    /// Two files with one name.
    #[error(
        "{path}: a profile called `{name}` exists already; profiles extend each other, they do not replace each other"
    )]
    Taken {
        /// File name.
        path: String,
        /// The name.
        name: String,
    },
    /// The client has no such callback list.
    #[error("`{client}` has no callback list called `{list}`; it has {known}")]
    List {
        /// Client name.
        client: String,
        /// The list asked for.
        list: String,
        /// The lists that exist, ready to print.
        known: String,
    },
    /// A folder or file that cannot be read.
    #[error("{}: {message}", path.display())]
    Read {
        /// Where.
        path: PathBuf,
        /// The operating system's words.
        message: String,
    },
}

/// `; did you mean …?` for the names nearest to `wanted`, or an empty string.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = names.map(|n| (strsim::jaro_winkler(wanted, n), n)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let close: Vec<String> =
        scored.iter().take_while(|(s, _)| *s > 0.75).take(3).map(|(_, n)| format!("`{n}`")).collect();
    match close.len() {
        0 => String::new(),
        _ => format!("; did you mean {}?", close.join(", ")),
    }
}
