//! Why an environment cannot be used or set up.

use std::path::{Path, PathBuf};

/// An environment that is not there, or could not be made. Every variant names the version or the place it is about.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// What was typed is no version.
    #[error("`{said}` is no {what}; write {expected}{hint}")]
    Word {
        /// `server` or `client`.
        what: &'static str,
        /// As typed.
        said: String,
        /// The forms that there are.
        expected: &'static str,
        /// The nearest ones, ready to print, or nothing.
        hint: String,
    },
    /// Nobody released that version.
    #[error("there is no {package} {version}{hint}")]
    NoVersion {
        /// The package.
        package: String,
        /// The version asked for.
        version: String,
        /// The nearest ones, ready to print, or nothing.
        hint: String,
    },
    /// A wheel or checkout that is none of the four packages, or is not there.
    #[error("{}: {problem}", path.display())]
    Source {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// It was never set up.
    #[error("{name} is not set up in {}; run `{command}`", cache.display())]
    Missing {
        /// The environment.
        name: String,
        /// The cache.
        cache: PathBuf,
        /// The command that sets it up.
        command: String,
    },
    /// It is there, and may not be used.
    #[error("{} may not be used: {problem}; run `{command}`", path.display())]
    Unfit {
        /// Its folder.
        path: PathBuf,
        /// Why not.
        problem: String,
        /// The command that redoes it.
        command: String,
    },
    /// Which version `latest` is has never been asked on this machine.
    #[error("which release `{said}` is has not been asked yet; run `{command}`")]
    NeverAsked {
        /// As typed.
        said: String,
        /// The command that asks and sets it up.
        command: String,
    },
    /// A program that is needed is not on this machine.
    #[error("no {program} found; looked at {looked}; {mend}")]
    NoProgram {
        /// What is missing.
        program: &'static str,
        /// Where it was looked for.
        looked: String,
        /// What to do.
        mend: String,
    },
    /// An installer said no.
    #[error("{name}: {step} failed ({how}):\n  {}\nthe whole output is in {}", said.join("\n  "), log.display())]
    Installer {
        /// The environment.
        name: String,
        /// What was being done.
        step: String,
        /// `exit status 1`, say.
        how: String,
        /// The installer's own words, shortened.
        said: Vec<String>,
        /// All of them.
        log: PathBuf,
    },
    /// The index did not answer.
    #[error("cannot ask which versions of {package} there are{proxy}:\n  {}", said.join("\n  "))]
    Index {
        /// The package.
        package: String,
        /// A word on the proxy in use, or nothing.
        proxy: String,
        /// What the package manager said, shortened.
        said: Vec<String>,
    },
    /// No room is left.
    #[error(
        "the disk under {} is full while setting up {name}; make room there, or name another place with --cache DIR",
        path.display()
    )]
    Full {
        /// The environment.
        name: String,
        /// The cache.
        path: PathBuf,
    },
    /// The operating system said no.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Ctrl-C.
    #[error("interrupted while setting up {name}; it is not used, and the next set-up begins it again")]
    Interrupted {
        /// The environment.
        name: String,
    },
    /// The shipped data contradicts itself.
    #[error("scenarios/environments.toml: {0}")]
    Recipe(String),
}

impl EnvError {
    /// Whether whoever typed the command is asked to type another one; otherwise the machine could not do it.
    pub fn is_usage(&self) -> bool {
        matches!(self, EnvError::Word { .. } | EnvError::NoVersion { .. } | EnvError::Source { .. })
    }

    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> EnvError + '_ {
        move |error| EnvError::Io { path: path.to_owned(), error }
    }
}

/// `; did you mean …?` for the names nearest to `wanted`, or an empty string.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = names.map(|n| (strsim::jaro_winkler(wanted, n), n)).collect();
    // Of two that are as near the one named first wins: lists of versions begin with the newest.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let close: Vec<String> =
        scored.iter().take_while(|(s, _)| *s > 0.75).take(3).map(|(_, n)| format!("`{n}`")).collect();
    match close.len() {
        0 => String::new(),
        _ => format!("; did you mean {}?", close.join(", ")),
    }
}
