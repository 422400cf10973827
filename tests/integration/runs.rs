//! Whole runs: the shipped scenarios through the library, and a folder with a user's own files.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chrono::NaiveDate;
use skewlab::agent_server::profile::Catalogue;
use skewlab::record::{CellResult, Outcome, Run, Totals};
use skewlab::run::{ClockKind, Options};
use skewlab::scenario::Selection;
use skewlab::seed::Seed;
use skewlab::suite::Plan;
use tempfile::TempDir;

/// What `skewlab matrix` runs when nothing is named.
pub(crate) const DEFAULT: [&str; 2] = ["release-skew", "frame-mutants"];

/// One cell: `release-skew/1.58.2/python-1.58.2/chat/none`.
pub(crate) const ONE: [&str; 6] =
    ["matrix", "release-skew", "--server", "1.58.2", "--client", "python-1.58.2"];

pub(crate) fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// Plans and runs scenarios on the virtual clock; empty lists keep the scenario's own axes.
pub(crate) fn matrix(scenarios: &[&str], servers: &[&str], clients: &[&str]) -> Run {
    let plan = plan(scenarios, servers, clients, &Catalogue::embedded().unwrap());
    run(&plan, 1, 2)
}

pub(crate) fn plan(scenarios: &[&str], servers: &[&str], clients: &[&str], catalogue: &Catalogue) -> Plan {
    let selection = Selection { servers: owned(servers), clients: owned(clients), only: None };
    Plan::of(&owned(scenarios), &selection, catalogue).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn run(plan: &Plan, seed: u64, jobs: usize) -> Run {
    let options = Options { clock: ClockKind::Virtual, seed: Seed(seed), jobs };
    let today = NaiveDate::from_ymd_opt(2026, 12, 1).unwrap();
    plan.run(options, today, &AtomicBool::new(false), &|_| {})
}

pub(crate) fn at<'a>(run: &'a Run, id: &str) -> &'a CellResult {
    run.cells.iter().find(|c| c.id == id).unwrap_or_else(|| panic!("no cell `{id}`"))
}

/// A run whose cells a test has changed, made to say the same of itself everywhere again: headlines, totals, digest.
pub(crate) fn agreeing(run: &Run) -> Run {
    let mut run = run.clone();
    for cell in &mut run.cells {
        if let Some(first) = cell.findings.first_mut() {
            (first.verdict, first.scope, first.lost_at) = (cell.verdict, cell.scope, cell.lost_at);
            (first.reason, first.signal) = (cell.reason.clone(), cell.signal);
        }
        if cell.outcome == Outcome::Expected {
            cell.expected = cell.verdict;
        }
    }
    run.totals = Totals::of(&run.cells);
    (run.timing.cell_micros, run.timing.cell_times) = (vec![1000; run.cells.len()], Vec::new());
    run.seal();
    run
}

/// The binary, with a seat of its own at standard input and outputs.
pub(crate) fn skewlab(args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_skewlab"));
    // Whoever runs the tests in a workflow, or with colours forced, is no part of them.
    for name in ["GITHUB_ACTIONS", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command.args(args).timeout(std::time::Duration::from_mins(2));
    command
}

/// What a run of the binary left: exit code, standard output, standard error.
pub(crate) fn ended(command: &mut assert_cmd::Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A folder with profiles and scenarios that exist for one test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder, or something in it, as an argument.
    pub(crate) fn arg(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.arg(name)
    }

    /// A profile that is `extended` but for `changes`; `kind` is `servers` or `clients`.
    pub(crate) fn profile(&self, kind: &str, name: &str, extended: &str, changes: &str) {
        let text =
            format!("name = \"{name}\"\nextends = \"{extended}\"\nsummary = \"for a test\"\n\n{changes}\n");
        self.write(&format!("{kind}/{name}.toml"), &text);
    }

    /// A scenario of one workload, `[workload.w]`, whose axes and rules are `text`.
    pub(crate) fn scenario(&self, name: &str, text: &str) -> String {
        const WORKLOAD: &str = "[workload.w]\ntokens = [{ text = \"\" }, { reasoning = \"hmm \" }, { text = \"Hello\" }, \
             { text = \", \" }, { text = \"ha\", repeat = 3 }, { text = \" world\" }, { text = \".\" }]\n";
        let text = format!("question = \"q\"\nworkloads = [\"w\"]\n{text}\n{WORKLOAD}");
        self.write(&format!("{name}.toml"), &text)
    }

    pub(crate) fn catalogue(&self) -> Catalogue {
        Catalogue::embedded().unwrap().with_dir(self.0.path()).unwrap_or_else(|e| panic!("{e}"))
    }
}
