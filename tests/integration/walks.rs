//! What the README and the pages beside it promise is what happens.

use std::path::{Path, PathBuf};
use std::process::Command;

use skewlab::judge::ExitCode;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The lines of the first code block behind `<!-- walk: NAME -->`.
fn walk(name: &str) -> Vec<String> {
    let readme = readme();
    let mark = format!("<!-- walk: {name} -->");
    let behind = readme.split_once(&mark).unwrap_or_else(|| panic!("README.md has no {mark}")).1;
    let block = behind.trim_start().strip_prefix("```console\n").unwrap();
    block.split_once("\n```").unwrap().0.lines().map(str::to_owned).collect()
}

/// A folder to walk in, with what the README names.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("examples"), dir.path().join("examples")).unwrap();
    dir
}

/// Runs a command line as a shell does, with this skewlab first on the path: its code, and both of its outputs.
fn shell(dir: &Path, line: &str, variables: &[(&str, &str)]) -> (i32, String) {
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_skewlab"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", bin.parent().unwrap().display());
    let mut command = Command::new("bash");
    command
        .args(["-c", line])
        .current_dir(dir)
        .env("PATH", path)
        .env_remove("GITHUB_ACTIONS")
        .env("NO_COLOR", "1");
    let out = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.code().unwrap_or(-1), text)
}

/// Blanks do not count: the README shows less of a table than there is.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Walks it: every line that is shown has to come, in its order, and the code of the last command is the one that is shown.
fn walked(name: &str) {
    let dir = folder();
    let (mut code, mut said) = (0, Vec::<String>::new());
    let mut commands = 0;
    for line in walk(name) {
        match line.strip_prefix("$ ") {
            Some("echo $?") => said = vec![code.to_string()],
            Some(command) => {
                let (ended, text) = shell(dir.path(), command, &[]);
                assert!(ended != 2 && ended != 127, "{name}: {command}: {text}");
                (code, said) = (ended, text.lines().map(words).collect());
                commands += 1;
            }
            None => {
                let at = said.iter().position(|there| *there == words(&line));
                let at = at.unwrap_or_else(|| panic!("{name}: no line `{line}` in {said:#?}"));
                said.drain(..=at);
            }
        }
    }
    assert!(commands > 0, "{name} walks nowhere");
}

#[test]
fn a_frame_change_is_asked_about_as_the_readme_says() {
    walked("frame");
}

#[test]
fn a_bus_change_is_measured_as_the_readme_says() {
    walked("bus");
}

#[test]
fn a_release_is_gated_as_the_readme_says() {
    walked("gate");
}

#[test]
fn the_table_of_exit_codes_is_that_of_the_code() {
    let readme = readme();
    let table = readme.split_once("### Exit codes").unwrap().1.split_once("### ").unwrap().0;
    let documented: Vec<u8> =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect();
    let all = [
        ExitCode::AllAsExpected,
        ExitCode::Internal,
        ExitCode::Usage,
        ExitCode::NothingRan,
        ExitCode::Unexpected,
        ExitCode::Stale,
        ExitCode::OverBudget,
        ExitCode::RigInvalid,
    ];
    assert_eq!(documented, all.map(ExitCode::code));
    assert!(table.contains("first of 13, 10, 12, 11 that applies"));
}

#[test]
fn the_gate_of_a_pipeline_ends_with_the_code_of_the_run_or_of_the_comparison() {
    let dir = folder();
    let gate = format!("bash {}", root().join("docs/ci/gate.sh").display());
    let one = ("ARGUMENTS", "--client python@same");
    let scenario = ("SCENARIOS", "release-skew");
    let (code, text) = shell(dir.path(), &gate, &[one, scenario, ("OUT", "base")]);
    assert_eq!(code, 0, "{text}");
    for file in ["run.json", "junit.xml", "skew.html", "skew.sarif", "summary.md"] {
        assert!(dir.path().join("base").join(file).exists(), "{file}");
    }
    let same = [one, scenario, ("OUT", "now"), ("BASELINE", "base")];
    let summary = dir.path().join("step.md");
    let summary = ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    let (code, text) = shell(dir.path(), &gate, &[&same[..], &[summary]].concat());
    assert!(code == 0 && text.contains("Nothing changed"), "{text}");
    assert!(std::fs::read_to_string(dir.path().join("step.md")).unwrap().contains("Nothing changed"));
    // A pair that goes quiet, and an argument that is none.
    let odd = ("ARGUMENTS", "--profiles examples/profiles --server no-source --client browser-1.20.0");
    assert_eq!(shell(dir.path(), &gate, &[odd, scenario, ("OUT", "odd")]).0, 10);
    assert_eq!(shell(dir.path(), &gate, &[("ARGUMENTS", "--surprise"), scenario]).0, 2);
    // The run is as it was to be, and cells are gone that the baseline has.
    let fewer = [
        ("ARGUMENTS", "--client python@same --server 1.58.2"),
        scenario,
        ("OUT", "few"),
        ("BASELINE", "base"),
    ];
    assert_eq!(shell(dir.path(), &gate, &fewer).0, 10);
}

#[test]
fn pages_that_are_linked_are_there() {
    for page in ["README.md", "docs/ci.md", "docs/reading-a-verdict.md", "docs/limits.md"] {
        let file = root().join(page);
        let text = std::fs::read_to_string(&file).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let path = link.split('#').next().unwrap();
            assert!(file.parent().unwrap().join(path).exists(), "{page}: {link}");
        }
    }
}
