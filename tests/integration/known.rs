//! `--known FILE`: failures beside those that scenarios list, and entries that have to go.

use crate::runs::{Folder, ended, skewlab};

/// A client that loses all text under a scenario that expects it to be delivered.
fn loses(folder: &Folder, more: &str) -> String {
    let text = format!("servers = [\"1.58.2\"]\nclients = [\"python-1.21.1\", \"python-1.58.2\"]\n{more}");
    folder.scenario("loses", &text)
}

fn entry(cell: &str, verdict: &str, expires: &str) -> String {
    format!(
        "[[known]]\ncell = \"{cell}\"\nverdict = \"{verdict}\"\nwhy = \"too old\"\nlink = \"https://x/1\"\nexpires = {expires}\n"
    )
}

const OLD: &str = "*/python-1.21.1/*";
const LATER: &str = "2999-01-01";

#[test]
fn a_listed_failure_is_tolerated_and_a_stale_entry_is_not() {
    let folder = Folder::new();
    let scenario = loses(&folder, "");
    let verdict = {
        let (code, said, _) = ended(&mut skewlab(&["matrix", &scenario, "--format", "json"]));
        assert_eq!(code, 10, "{said}");
        let run: serde_json::Value = serde_json::from_str(&said).unwrap();
        run["cells"][0]["verdict"].as_str().unwrap().to_owned()
    };
    let with = |text: &str, more: &[&str]| {
        let known = folder.write("known.toml", text);
        ended(skewlab(&["matrix", &scenario, "--known", &known]).args(more))
    };
    let listed = entry(OLD, &verdict, LATER);
    let (code, said, errors) = with(&listed, &[]);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    assert!(said.contains("1 known"), "{said}");
    for (text, line, why) in [
        (entry(OLD, &verdict, "2020-01-01"), "known.toml:1", "expired on 2020-01-01"),
        (format!("{listed}{}", entry("*/python-1.58.2/*", &verdict, LATER)), "known.toml:7", "passes now"),
        (format!("{listed}{}", entry("*/no-such/*", &verdict, LATER)), "known.toml:7", "it picks no cell"),
        (format!("{listed}{listed}"), "known.toml:7", "is listed before it"),
    ] {
        let (code, _, errors) = with(&text, &[]);
        assert_eq!(code, 11, "{why}: {errors}");
        assert!(errors.contains(line) && errors.contains(why), "{why}: {errors}");
    }
    let other = if verdict == "corrupted" { "leaked" } else { "corrupted" };
    assert_eq!(with(&entry(OLD, other, LATER), &[]).0, 10, "another failure is not the known one");
    // An entry about a cell that was not asked for says nothing.
    let (code, _, errors) = with(&listed, &["--client", "python-1.58.2"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let (code, _, errors) = with(&listed.replace("verdict", "verdit"), &[]);
    assert!(
        code == 2 && errors.contains("known.toml:3:1") && errors.contains("did you mean `verdict`"),
        "{errors}"
    );
}

#[test]
fn an_entry_that_picks_nothing_is_in_every_report_before_it_is_in_the_exit_code() {
    let folder = Folder::new();
    let scenario = folder.scenario("fine", "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]\n");
    let known = folder.write("known.toml", &entry("*/no-such/*", "silent_loss", LATER));
    let (junit, markdown) = (folder.arg("junit.xml"), folder.arg("summary.md"));
    let (out, step) = (folder.arg("run"), folder.write("step.md", ""));
    let mut command = skewlab(&["matrix", &scenario, "--known", &known, "--out", &out]);
    command.args(["--report", &format!("junit={junit}"), "--report", &format!("markdown={markdown}")]);
    let (code, table, errors) =
        ended(command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &step));
    assert_eq!(code, 11, "{table}{errors}");
    let said = "known failures, line 1: */no-such/*: it picks no cell";
    assert!(
        table.starts_with("what broke: 1 entry of the known failures has to go") && table.contains(said),
        "{table}"
    );
    assert!(
        errors.contains("::warning title=stale known failure::") && errors.contains("known.toml:1"),
        "{errors}"
    );
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert!(read(&junit).contains("failures=\"1\"") && read(&junit).contains(said), "{}", read(&junit));
    for path in [&markdown, &step] {
        assert!(read(path).contains("has to go") && read(path).contains("line 1"), "{}", read(path));
    }
    // The kept run says it later, too, and is still one that agrees with itself.
    let (code, later, errors) = ended(&mut skewlab(&["report", &out]));
    assert_eq!((code, later), (0, table), "{errors}");
    let run: serde_json::Value = serde_json::from_str(&read(&folder.arg("run/run.json"))).unwrap();
    assert_eq!((&run["stale"][0]["line"], &run["totals"]["stale"]), (&1.into(), &0.into()));
}

#[test]
fn what_a_scenario_lists_itself_goes_before() {
    let folder = Folder::new();
    let bare = loses(&folder, "");
    let (_, said, _) = ended(&mut skewlab(&["matrix", &bare, "--format", "json"]));
    let run: serde_json::Value = serde_json::from_str(&said).unwrap();
    let verdict = run["cells"][0]["verdict"].as_str().unwrap();
    let own = format!(
        "[[known]]\nclient = \"python-1.21.1\"\nverdict = \"{verdict}\"\nreason = \"own\"\nlink = \"https://x/2\"\nexpires = 2999-01-01\n"
    );
    let scenario = loses(&folder, &own);
    let known = folder.write("known.toml", &entry(OLD, verdict, LATER));
    let (code, said, errors) = ended(&mut skewlab(&["matrix", &scenario, "--known", &known]));
    assert!(code == 11 && errors.contains("is listed before it, by its scenario"), "{errors}");
    assert!(said.contains("https://x/2") && !said.contains("https://x/1"), "{said}");
}
