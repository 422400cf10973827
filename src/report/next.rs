//! What to do about a cell that is not as it should be, as commands and lines that can be pasted.

use super::broken::{Broken, Trouble};
use super::escape::line;
use super::words;
use crate::record::{CellResult, Run, Subject};

/// The next steps for cells that are broken alike.
pub(super) struct Next {
    /// What to look at, in a sentence.
    pub(super) look: String,
    /// Commands: what the verdict means, and one of the cells alone.
    pub(super) commands: Vec<String>,
    /// What to write into the scenario if all is as somebody wants it.
    pub(super) declare: Option<String>,
}

/// The next steps.
pub(super) fn next(again: &Again<'_>, broken: &Broken<'_>) -> Next {
    let verdict = broken.verdict.as_str();
    let cell = broken.cells.first();
    let alone = cell.and_then(|cell| {
        let live = || format!("the same `skewlab live matrix` again with --only {}", quoted(&pattern(cell)));
        again.command(cell).or_else(|| (again.run.clock == "wall").then(live))
    });
    let explain = format!("skewlab explain {verdict}");
    let (look, declare) = match broken.trouble {
        Trouble::Stale => {
            let look = "The failure is known and passes now, or its entry expired: remove its [[known]] from the \
                        scenario, or look at the link again and set a new `expires`.";
            (look.to_owned(), None)
        }
        Trouble::Rig => (words::explain(broken.verdict).next.to_owned(), None),
        Trouble::Unexpected => {
            let declare = format!(
                "meant to be so: an [[expect]] with verdict = \"{verdict}\" and because; tolerated for a while: a \
                 [[known]] with verdict, reason, link and expires"
            );
            (words::explain(broken.verdict).next.to_owned(), Some(declare))
        }
    };
    Next { look, commands: std::iter::once(explain).chain(alone).collect(), declare }
}

/// How cells of a run are run again.
pub(super) struct Again<'a> {
    run: &'a Run,
    live: bool,
}

impl<'a> Again<'a> {
    /// Looks once at the whole run.
    pub(super) fn of(run: &'a Run) -> Again<'a> {
        Again { run, live: is_live(run) }
    }

    /// The command that runs this cell and no other. None for a recording, which is judged and not run, and for released
    /// packages, which need what they were set up with; a scenario that was given as a file is named by its name.
    pub(super) fn command(&self, cell: &CellResult) -> Option<String> {
        let run = self.run;
        if self.live {
            return None;
        }
        let of = |name: &str| run.scenarios.iter().find(|scenario| scenario.name == name);
        let (server, client) = match of(&cell.scenario).map(|scenario| scenario.subject) {
            Some(Subject::SessionFeed) => ("--variant", "--consumer"),
            _ => ("--server", "--client"),
        };
        let mut command = format!(
            "skewlab matrix {} {server} {} {client} {} --only {}",
            quoted(&cell.scenario),
            quoted(&cell.server_release),
            quoted(&cell.client_release),
            quoted(&pattern(cell)),
        );
        if run.seed != 1 {
            command = format!("{command} --seed {}", run.seed);
        }
        if run.clock == "wall" {
            command.push_str(" --clock wall");
        }
        Some(command)
    }
}

/// The pattern that picks this cell and no other.
fn pattern(cell: &CellResult) -> String {
    glob::Pattern::escape(&cell.id)
}

/// Whether released packages took part: a server whose inside nobody saw, or a party that says that it is emulated.
fn is_live(run: &Run) -> bool {
    let emulated = |name: &str| name.starts_with("emulated:");
    let live = |cell: &CellResult| {
        cell.side_effects.foreign || emulated(&cell.server_release) || emulated(&cell.client_release)
    };
    run.clock == "recorded" || run.cells.iter().any(live)
}

/// A word of a shell, in quotes where it needs them.
fn quoted(word: &str) -> String {
    let word = line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+@:,=%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_read_is_quoted() {
        assert_eq!(quoted("release-skew/1.43.1+AB"), "release-skew/1.43.1+AB");
        assert_eq!(quoted("a'; rm b"), "'a'\\''; rm b'");
        assert_eq!(quoted("$(x)"), "'$(x)'");
        assert_eq!(quoted(""), "''");
    }
}
