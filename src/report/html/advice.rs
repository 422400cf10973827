//! What to do next, with commands that can be pasted.

use super::wording::spaced;
use crate::record::{CellResult, Outcome, Run, Subject, holds_certificate};
use crate::report::words;
use crate::scenario::SHIPPED;
use crate::wire::Mutation;

/// One step.
pub(super) struct Step {
    /// What to do.
    pub title: &'static str,
    /// Why, or what it means.
    pub text: String,
    /// What to type, or to write into a file; one line or several.
    pub code: Option<String>,
}

/// The beginning of the command that runs a cell of a scenario again; the cell's id follows. None for a run that was
/// judged from a recording, whose folder nobody wrote down.
pub(super) fn reproduce(run: &Run, scenario: &str) -> Option<String> {
    let file = file(scenario);
    // Only a released server has side effects that nobody could look at.
    let live = run.cells.iter().any(|cell| cell.scenario == scenario && cell.side_effects.foreign);
    match run.clock.as_str() {
        "recorded" => None,
        "wall" if live => Some(format!("skewlab live matrix --scenario {file} --only ")),
        "wall" => Some(format!("skewlab matrix {file} --clock wall --only ")),
        _ => Some(format!("skewlab matrix {file} --only ")),
    }
}

/// The end of that command, where the seed is none that goes without saying.
pub(super) fn seed_flag(run: &Run) -> Option<String> {
    (run.seed != 1 && run.clock != "recorded").then(|| format!(" --seed {}", run.seed))
}

/// A scenario as an argument: shipped ones by name, a user's own by its file.
fn file(scenario: &str) -> String {
    let path = format!("scenarios/{scenario}.toml");
    let shipped = SHIPPED.iter().any(|(shipped, _)| *shipped == path);
    quoted(&if shipped { scenario.to_owned() } else { format!("{scenario}.toml") })
}

/// A word of a command line, in quotes where a shell would read something into it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+@=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The steps after a run whose worst cell is `worst`; none where all is as expected.
pub(super) fn advice(run: &Run, worst: Option<&CellResult>) -> Vec<Step> {
    match worst {
        Some(cell) => broken(run, cell),
        None => sound(run),
    }
}

fn broken(run: &Run, cell: &CellResult) -> Vec<Step> {
    let explained = words::explain(cell.verdict);
    let mut steps = Vec::new();
    if let Some(command) = reproduce(run, &cell.scenario) {
        let title = "Reproduce the worst cell alone";
        let text = "The same seed gives the same frames.".to_owned();
        let id = format!("'{}'", cell.id.replace('\'', r"'\''"));
        steps.push(Step {
            title,
            text,
            code: Some(format!("{command}{id}{}", seed_flag(run).unwrap_or_default())),
        });
    }
    let text = format!("{} {}", explained.meaning, explained.next);
    let code = Some(format!("skewlab explain {}", cell.verdict.as_str()));
    steps.push(Step { title: "Understand it", text, code });
    if cell.outcome == Outcome::Stale {
        let text = format!("Take its `[[known]]` out of {}.toml, or give it a new date.", cell.scenario);
        steps.push(Step { title: "Tidy up", text, code: None });
    } else if !cell.verdict.is_rig_fault() {
        steps.push(Step {
            title: "Or declare it, if it is meant",
            text: format!(
                "In {}.toml, before the rules that match as well. What is to be mended later is a `[[known]]` with \
                 `reason`, `link` and `expires`.",
                cell.scenario
            ),
            code: Some(declaration(run, cell)),
        });
    }
    steps
}

/// The rule that would make the cell expected.
fn declaration(run: &Run, cell: &CellResult) -> String {
    let feed =
        run.scenarios.iter().any(|ran| ran.name == cell.scenario && ran.subject == Subject::SessionFeed);
    let [server, client] = if feed { ["variant", "consumer"] } else { ["server", "client"] };
    // A basic string of TOML takes every escape that JSON writes.
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut lines = vec![
        "[[expect]]".to_owned(),
        format!("{server} = {}", text(&cell.server_release)),
        format!("{client} = {}", text(&cell.client_release)),
    ];
    if !feed {
        let (mutation, fault) = bent(&cell.mutation);
        for (axis, name) in [("mutation", mutation), ("fault", fault)] {
            lines.extend(name.map(|name| format!("{axis} = {}", text(name))));
        }
    }
    lines.push(format!("verdict = {}", text(cell.verdict.as_str())));
    lines.push("because = \"…\"".to_owned());
    lines.join("\n")
}

/// The frame mutation and the fault of what a cell calls its mutation: one of them, or both with a `+` between. No name of a
/// fault reads as a mutation.
fn bent(what: &str) -> (Option<&str>, Option<&str>) {
    let reads = |text: &str| text.parse::<Mutation>().is_ok();
    match what.rsplit_once(" + ") {
        _ if what == "none" => (None, None),
        _ if reads(what) => (Some(what), None),
        Some((mutation, fault)) if reads(mutation) => (Some(mutation), Some(fault)),
        _ => (None, Some(what)),
    }
}

fn sound(run: &Run) -> Vec<Step> {
    let mut steps = Vec::new();
    let declared = run.cells.iter().filter(|cell| !cell.verdict.is_healthy()).min_by_key(|cell| cell.verdict);
    if let Some(cell) = declared {
        steps.push(Step {
            title: "Read what is declared",
            text: format!(
                "As expected is not the same as well: {} is in the grid because a scenario says so, with a reason.",
                spaced(cell.verdict.as_str())
            ),
            code: Some(format!("skewlab explain {}", cell.verdict.as_str())),
        });
    }
    if let Some(code) = calibration(run) {
        steps.push(Step {
            title: "Prove what is unproven",
            text: "An emulation counts for as much as its agreement with the released package.".to_owned(),
            code: Some(code),
        });
    }
    if run.totals.cells > 0 {
        steps.push(Step {
            title: "Gate on it",
            text: "The exit code is 0 as long as every cell is as the scenarios say.".to_owned(),
            code: None,
        });
    }
    steps
}

/// The command that would hold the parties of unproven cells against their packages.
fn calibration(run: &Run) -> Option<String> {
    let feed = |cell: &CellResult| {
        run.scenarios.iter().any(|ran| ran.name == cell.scenario && ran.subject == Subject::SessionFeed)
    };
    let mut args = [Vec::new(), Vec::new()];
    for cell in run.cells.iter().filter(|cell| !cell.proven && !feed(cell)) {
        let client = cell.client.split('/').next().unwrap_or_default();
        for (list, name) in args.iter_mut().zip([cell.server.as_str(), client]) {
            // What stands after a `+` was never released, so that there is nothing to hold it against.
            if !holds_certificate(name) && !name.contains('+') && !list.contains(&name) {
                list.push(name);
            }
        }
    }
    let [servers, clients] = args;
    let flag = |flag: &str, names: &[&str]| {
        if names.is_empty() { String::new() } else { format!(" --{flag} {}", quoted(&names.join(","))) }
    };
    let all = flag("servers", &servers) + &flag("clients", &clients);
    (!all.is_empty()).then(|| format!("skewlab calibrate{all} --out certificates"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_the_axis_that_what_goes_wrong_is_on() {
        assert_eq!(bent("none"), (None, None));
        assert_eq!(bent("-id -timestamp"), (Some("-id -timestamp"), None));
        assert_eq!(bent("does-not-read"), (None, Some("does-not-read")));
        assert_eq!(bent("-source + close"), (Some("-source"), Some("close")));
        assert_eq!(bent("a + b"), (None, Some("a + b")));
    }

    #[test]
    fn a_word_of_a_command_means_itself() {
        assert_eq!(quoted("release-skew"), "release-skew");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(x)'"), r"'$(x)'\'''");
        assert_eq!(file("release-skew"), "release-skew");
        assert_eq!(file("mine; rm"), "'mine; rm.toml'");
    }
}
