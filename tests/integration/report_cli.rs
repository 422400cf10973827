//! `skewlab report`, `--report`, and what a GitHub workflow is told.

use skewlab::record::{Run, Totals};

use crate::report_formats::every_outcome;
use crate::runs::{Folder, ONE, agreeing, ended, skewlab};

const FORMATS: [&str; 7] = ["terminal", "json", "junit", "markdown", "sarif", "openmetrics", "csv"];

/// A run on disk, under this name.
fn stored(folder: &Folder, name: &str, run: &Run) -> String {
    folder.write(name, &serde_json::to_string(&agreeing(run)).unwrap())
}

/// A scenario whose one cell is not as it says.
fn red(folder: &Folder) -> String {
    let text = "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]\n\
                [[expect]]\nverdict = \"silent_loss\"\nbecause = \"a test wants red\"\n";
    folder.scenario("red", text)
}

#[test]
fn every_format_is_written_beside_the_result_and_says_the_same_later() {
    let folder = Folder::new();
    let out = folder.arg("kept");
    let mut command = skewlab(&ONE);
    command.args(["--out", &out]);
    for format in FORMATS {
        command.args(["--report", &format!("{format}={}", folder.arg(&format!("r/{format}")))]);
    }
    let (code, table, stderr) = ended(&mut command);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(folder.path("r/terminal")).unwrap(), table);
    for format in FORMATS {
        let written = std::fs::read_to_string(folder.path(&format!("r/{format}"))).unwrap();
        // From the folder, and from the file in it.
        for run in [out.clone(), format!("{out}/run.json")] {
            let (code, again, stderr) = ended(&mut skewlab(&["report", &run, "--format", format]));
            assert_eq!((code, stderr.as_str()), (0, ""), "{format}");
            assert_eq!(again, written, "{format}");
        }
        let to = folder.arg("again");
        let (code, stdout, _) = ended(&mut skewlab(&["report", &out, "--format", format, "--out", &to]));
        assert_eq!((code, stdout.as_str()), (0, ""), "{format}");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), written, "{format}");
    }
}

#[test]
fn a_report_that_cannot_be_written_stops_no_other_and_hides_no_verdict() {
    let folder = Folder::new();
    let blocked = format!("junit={}/x.xml", folder.write("file", ""));
    let fine = format!("csv={}", folder.arg("cells.csv"));
    let (code, table, stderr) = ended(skewlab(&ONE).args(["--report", &blocked, "--report", &fine]));
    assert!(code == 1 && stderr.contains("cannot write") && stderr.contains("x.xml"), "{code} {stderr}");
    assert!(table.contains("1 cell:") && folder.path("cells.csv").exists());
    // The run's own code wins where it is one of failure.
    let red = red(&folder);
    let (code, _, stderr) = ended(&mut skewlab(&["matrix", &red, "--report", &blocked]));
    assert!(code == 10 && stderr.contains("cannot write"), "{code} {stderr}");
    let run = stored(&folder, "run.json", &every_outcome());
    let (code, _, stderr) =
        ended(&mut skewlab(&["report", &run, "--out", &format!("{}/y", folder.arg("file"))]));
    assert!(code == 1 && stderr.contains("cannot write"), "{code} {stderr}");
}

#[test]
fn what_is_asked_wrongly_is_said_before_anything_runs() {
    let folder = Folder::new();
    for (report, why) in [
        ("junti=x", "did you mean `junit`?"),
        ("report.xml", "expected FORMAT=PATH"),
        ("csv=", "no path"),
        ("sarif=-", "name a file"),
    ] {
        let (code, stdout, stderr) = ended(skewlab(&ONE).args(["--report", report]));
        assert!(code == 2 && stdout.is_empty() && stderr.contains(why), "{report}: {code} {stderr}");
    }
    let same = folder.arg("same");
    let (json, csv) = (format!("json={same}"), format!("csv={same}"));
    let (code, stdout, stderr) = ended(skewlab(&ONE).args(["--report", &json, "--report", &csv]));
    assert!(code == 2 && stdout.is_empty() && stderr.contains("would both be written"), "{stderr}");
    assert!(!folder.path("same").exists());
}

#[test]
fn what_is_no_run_is_refused_with_the_reason_and_nothing_is_written() {
    let folder = Folder::new();
    let good = stored(&folder, "good/run.json", &every_outcome());
    let text = std::fs::read_to_string(&good).unwrap();
    let to = folder.arg("out");
    for (name, text, why) in [
        ("cut.json", &text[..text.len() / 2], "the file ends here"),
        ("foreign.json", r#"{"schema":"bencher/1"}"#, "no result of skewlab"),
        ("newer.json", r#"{"schema":"skewlab.run/2"}"#, "newer than `skewlab.run/1`"),
        ("text.json", "garbage", "expected value at line 1"),
    ] {
        let bad = folder.write(name, text);
        for format in FORMATS {
            let (code, stdout, stderr) =
                ended(&mut skewlab(&["report", &good, &bad, "--format", format, "--out", &to]));
            assert!(code == 2 && stdout.is_empty(), "{name} {format}: {code} {stdout}");
            assert!(stderr.contains(why) && stderr.contains(name), "{stderr}");
            assert!(!folder.path("out").exists());
        }
    }
    let (code, _, stderr) = ended(&mut skewlab(&["report", &folder.arg("absent")]));
    assert!(code == 2 && stderr.contains("cannot read"), "{stderr}");
}

#[test]
fn other_results_are_shown_and_hold_no_cells() {
    let folder = Folder::new();
    let file = folder.arg("idle.json");
    let (code, _, stderr) =
        ended(&mut skewlab(&["idle", "--server", "1.58.2", "--duration", "1m", "--out", &file]));
    assert!(code == 0, "{stderr}");
    let (code, stdout, _) = ended(&mut skewlab(&["report", &file]));
    assert!(code == 0 && stdout.contains("1.58.2"), "{stdout}");
    let (code, stdout, _) = ended(&mut skewlab(&["report", &file, "--format", "json"]));
    assert_eq!((code, stdout), (0, std::fs::read_to_string(&file).unwrap()));
    for format in &FORMATS[2..] {
        let (code, stdout, stderr) = ended(&mut skewlab(&["report", &file, "--format", format]));
        assert!(code == 2 && stdout.is_empty() && stderr.contains("skewlab.idle/"), "{format}: {stderr}");
    }
}

#[test]
fn a_run_without_cells_is_rendered_and_is_no_success() {
    let folder = Folder::new();
    let mut run = every_outcome();
    (run.cells, run.totals) = (Vec::new(), Totals::default());
    let empty = stored(&folder, "run.json", &run);
    for format in FORMATS {
        let to = folder.arg(format);
        let (code, _, stderr) = ended(&mut skewlab(&["report", &empty, "--format", format, "--out", &to]));
        assert!(code == 4 && stderr.contains("holds no cell"), "{format}: {code} {stderr}");
        assert!(folder.path(format).exists());
    }
}

#[test]
fn several_runs_are_one_document_unless_their_cells_are_the_same() {
    let folder = Folder::new();
    let one = every_outcome();
    let mut two = one.clone();
    two.cells.iter_mut().for_each(|cell| cell.id = cell.id.replace("release-skew/", "other/"));
    two.digest = "f".repeat(64);
    let (one, two) = (stored(&folder, "one.json", &one), stored(&folder, "two.json", &two));
    for format in FORMATS {
        let (code, both, stderr) = ended(&mut skewlab(&["report", &one, &two, "--format", format]));
        assert_eq!((code, stderr.as_str()), (0, ""), "{format}");
        assert!(!both.is_empty());
        let (code, _, stderr) = ended(&mut skewlab(&["report", &one, &one, "--format", format]));
        match format {
            "terminal" | "json" | "markdown" => assert_eq!(code, 0, "{stderr}"),
            _ => assert!(code == 2 && stderr.contains("cannot tell them apart"), "{format}: {stderr}"),
        }
    }
    let (_, text, _) = ended(&mut skewlab(&["report", &one, &two, "--format", "csv"]));
    let rows = csv::Reader::from_reader(text.as_bytes()).records().map(Result::unwrap).count();
    assert_eq!(rows, 2 * every_outcome().cells.len());
}

#[test]
fn the_first_screen_answers_what_broke_and_its_command_runs_that_cell() {
    let folder = Folder::new();
    let (server, client) = ("1.58.2+step7", "python-1.58.2");
    let (code, table, _) =
        ended(&mut skewlab(&["matrix", "release-skew", "--server", server, "--client", client]));
    assert!(code == 0 && !table.contains("what broke"), "{table}");
    let red = red(&folder);
    let (code, table, _) = ended(&mut skewlab(&["matrix", &red]));
    assert_eq!(code, 10);
    let first: Vec<&str> = table.lines().take(12).collect();
    assert!(first[0].starts_with("what broke: 1 of 1 cells"), "{table}");
    assert!(first.iter().any(|line| line.contains("skewlab explain delivered")), "{table}");
    assert!(first.iter().any(|line| line.contains("[[expect]]")), "{table}");
    // Of every broken cell of a shipped scenario: the command as it stands there runs it, and no other.
    let run = stored(&folder, "run.json", &every_outcome());
    let (_, text, _) = ended(&mut skewlab(&["report", &run]));
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("skewlab matrix ")).collect();
    assert!(!commands.is_empty(), "{text}");
    for command in commands {
        let words: Vec<&str> = ["matrix"].into_iter().chain(command.split(' ')).collect();
        let (_, json, stderr) = ended(skewlab(&words).args(["--format", "json"]));
        let again: Run = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{command}: {e} {stderr}"));
        assert_eq!(again.cells.len(), 1, "{command}");
        assert!(command.contains(&again.cells[0].id), "{command}");
    }
}

#[test]
fn colours_are_for_those_who_want_them() {
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = skewlab(&ONE);
        command.envs(variables.iter().copied());
        ended(&mut command).1.contains('\u{1b}')
    };
    assert!(!coloured(&[]), "a pipe");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
    let folder = Folder::new();
    let report = format!("terminal={}", folder.arg("table"));
    ended(skewlab(&ONE).args(["--report", &report]).env("CLICOLOR_FORCE", "1"));
    assert!(!std::fs::read_to_string(folder.path("table")).unwrap().contains('\u{1b}'), "a file has none");
}

#[test]
fn a_workflow_gets_a_summary_and_annotations_and_the_result_stays_alone() {
    let folder = Folder::new();
    let (red, summary) = (red(&folder), folder.write("summary.md", "before\n"));
    let workflow = |args: &[&str]| {
        let mut command = skewlab(args);
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary);
        ended(&mut command)
    };
    let (code, stdout, stderr) = workflow(&["matrix", &red]);
    assert_eq!(code, 10);
    assert!(!stdout.contains("::error"), "{stdout}");
    let annotations: Vec<&str> = stderr.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(annotations.len(), 1, "{stderr}");
    let file = red.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
    let wanted = format!("::error file={file},title=delivered%3A 1.58.2 and python-1.58.2::red: ");
    assert!(annotations[0].starts_with(&wanted), "{stderr}");
    let text = || std::fs::read_to_string(folder.path("summary.md")).unwrap();
    assert!(text().starts_with("before\n## skewlab: 1 of 1 cells"), "{}", text());
    // Appended once more, and no annotation of what is as expected.
    let (code, _, stderr) = workflow(&ONE);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(text().matches("## skewlab: ").count(), 2);
    let before = text();
    let (code, _, stderr) = workflow(&["matrix", &red, "--no-github"]);
    assert_eq!((code, stderr.as_str(), text()), (10, "", before));
    // A summary that cannot be written is said, and hides nothing.
    let blocked = format!("{red}/x");
    let mut command = skewlab(&ONE);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &blocked);
    let (code, stdout, stderr) = ended(&mut command);
    assert!(code == 1 && stdout.contains("1 cell:") && stderr.contains("cannot write"), "{code} {stderr}");
}

#[test]
fn a_step_has_no_more_annotations_than_are_shown() {
    let folder = Folder::new();
    let words: Vec<String> = (0..14)
        .map(|n| format!("[workload.w{n}]\ntokens = [{{ text = \"{}\" }}]\n", "x".repeat(n + 1)))
        .collect();
    let names: Vec<String> = (0..14).map(|n| format!("\"w{n}\"")).collect();
    let text = format!(
        "question = \"q\"\nworkloads = [{}]\nservers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]\n\
         [[expect]]\nverdict = \"silent_loss\"\nbecause = \"b\"\n{}",
        names.join(", "),
        words.concat()
    );
    let many = folder.write("many.toml", &text);
    let (code, _, stderr) = ended(skewlab(&["matrix", &many]).env("GITHUB_ACTIONS", "true"));
    assert_eq!(code, 10, "{stderr}");
    assert_eq!(stderr.lines().filter(|line| line.starts_with("::error")).count(), 10, "{stderr}");
    assert!(stderr.contains("and 4 more like this"), "{stderr}");
}
