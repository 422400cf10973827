//! `skewlab compare` on files, folders and revisions, and what it says of bad ones.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use skewlab::judge::compare::{Rules, compare_runs, reduced};
use skewlab::record::Run;
use skewlab::report;

use crate::runs::{Folder, agreeing, ended, matrix, skewlab};

/// Four cells; one of them is a silent loss.
fn sample() -> Run {
    matrix(&["release-skew"], &["1.43.1", "1.58.2"], &["python-1.55.1", "python-1.21.1"])
}

fn json(run: &Run) -> String {
    let mut out = Vec::new();
    report::json(&agreeing(run), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The sample, and the same with its first healthy cell changed.
fn pair(change: impl Fn(&mut skewlab::record::CellResult)) -> (String, String, String) {
    let base = sample();
    let mut head = base.clone();
    let cell = head.cells.iter_mut().find(|cell| cell.verdict.is_healthy()).unwrap();
    change(cell);
    let id = cell.id.clone();
    (json(&base), json(&head), id)
}

fn compare(base: &str, head: &str, more: &[&str]) -> (i32, String, String) {
    ended(skewlab(&["compare", base, head]).args(more))
}

#[test]
fn a_run_beside_itself_is_one_sentence() {
    let folder = Folder::new();
    let file = folder.write("run.json", &json(&sample()));
    let (code, said, errors) = compare(&file, &file, &[]);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    assert!(said.starts_with("Nothing changed: 4 cells compared") && said.lines().count() == 1, "{said}");
}

#[test]
fn a_verdict_that_changed_comes_first_and_a_count_behind_it() {
    let folder = Folder::new();
    let (base, head, id) = pair(|cell| {
        cell.verdict = skewlab::record::Verdict::SilentLoss;
        cell.side_effects.webhook.posts += 1;
    });
    let (base, head) = (folder.write("base.json", &base), folder.write("head.json", &head));
    let out = folder.arg("comparison.json");
    let (code, said, _) = compare(&base, &head, &["--out", &out]);
    assert_eq!(code, 10, "{said}");
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("{text}: {said}"));
    assert!(at("newly silent (1)") < at("webhook posts: "), "{said}");
    assert!(said.contains(&id) && said.contains("→ silent_loss"), "{said}");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!((&written["schema"], &written["exit"]), (&"skewlab.comparison/1".into(), &10.into()));
    assert_eq!(written["changes"][0]["change"], "newly_silent");
    let (code, markdown, _) = compare(&base, &head, &["--format", "markdown"]);
    assert!(code == 10 && markdown.starts_with("### skewlab: something got worse"), "{markdown}");
    // The other way round it healed, and nothing of it is red.
    let (code, said, _) = compare(&head, &base, &[]);
    assert!(code == 0 && said.contains("healed (1)"), "{code} {said}");
}

#[test]
fn a_cost_that_went_up_has_a_code_of_its_own_and_a_cell_that_is_gone_fails() {
    let folder = Folder::new();
    let (base, head, _) = pair(|cell| cell.side_effects.costs.serialisations += 3);
    let (base, head) = (folder.write("base.json", &base), folder.write("head.json", &head));
    assert_eq!(compare(&base, &head, &[]).0, 12);
    assert_eq!(compare(&head, &base, &[]).0, 0);
    let mut less = sample();
    less.cells.pop();
    let less = folder.write("less.json", &json(&less));
    let (code, said, _) = compare(&base, &less, &[]);
    assert!(code == 10 && said.contains("gone (1)"), "{code} {said}");
    assert_eq!(compare(&base, &less, &["--allow-gone"]).0, 0);
    assert_eq!(compare(&less, &base, &[]).0, 0, "what is new is listed");
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let folder = Folder::new();
    let text = json(&sample());
    let file = folder.write("run.json", &text);
    let mut changed = sample();
    changed.cells[0].hash = "0000000000000000".to_owned();
    let mut seeded = sample();
    seeded.seed = 2;
    let mut walled = sample();
    walled.clock = "wall".to_owned();
    let mut empty = sample();
    empty.cells.clear();
    let mut twice = sample();
    twice.cells.push(twice.cells[0].clone());
    for (name, other, code, parts) in [
        ("changed", json(&changed), 2, &["1 of the cells", "--changed skip"][..]),
        ("seeded", json(&seeded), 2, &["the seed is `1` in BASE and `2` in HEAD"]),
        ("walled", json(&walled), 2, &["the clock"]),
        ("empty", json(&empty), 4, &["HEAD is empty"]),
        ("twice", json(&twice), 2, &["twice.json: cells[4]", "the same cell stands before it"]),
        ("truncated", text[..text.len() / 2].to_owned(), 2, &["truncated.json:", "the file ends here"]),
        ("newer", text.replacen("skewlab.run/1", "skewlab.run/9", 1), 2, &["newer than `skewlab.run/1`"]),
        ("foreign", "{\"a\":1}".to_owned(), 2, &["no result of skewlab"]),
        ("garbage", "garbage".to_owned(), 2, &["garbage.json", "line 1 column 1"]),
    ] {
        let other = folder.write(&format!("{name}.json"), &other);
        let (is, said, errors) = compare(&file, &other, &[]);
        assert_eq!((is, said.as_str()), (code, ""), "{name}: {errors}");
        for part in parts {
            assert!(errors.contains(part), "{name}: {part}: {errors}");
        }
    }
    let changed = folder.arg("changed.json");
    let (code, said, _) = compare(&file, &changed, &["--changed", "skip"]);
    assert!(code == 0 && said.contains("another scenario's cell now (1)"), "{said}");
    let (code, _, errors) = compare(&file, &folder.arg("nowhere.json"), &[]);
    assert!(code == 2 && errors.contains("nowhere.json"), "{errors}");
}

#[test]
fn folders_are_compared_kind_by_kind() {
    let folder = Folder::new();
    let text = json(&sample());
    for side in ["a", "b"] {
        folder.write(&format!("{side}/run.json"), &text);
        folder.write(&format!("{side}/other.json"), "{\"name\":\"not ours\"}");
    }
    let (code, said, errors) = compare(&folder.arg("a"), &folder.arg("b"), &[]);
    assert!(code == 0 && said.starts_with("Nothing changed"), "{said} {errors}");
    assert!(errors.contains("left out: ") && errors.contains("other.json"), "{errors}");
    folder.write("b/again.json", &text);
    let (code, _, errors) = compare(&folder.arg("a"), &folder.arg("b"), &[]);
    assert!(code == 2 && errors.contains("are both a run: name the file"), "{errors}");
    std::fs::create_dir(folder.path("c")).unwrap();
    let (code, _, errors) = compare(&folder.arg("a"), &folder.arg("c"), &[]);
    assert!(code == 2 && errors.contains("no result in this folder"), "{errors}");
}

fn git(dir: &Path, args: &[&str]) {
    let named = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(named).args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_side_may_be_a_revision() {
    let folder = Folder::new();
    let (base, head, _) = pair(|cell| cell.side_effects.costs.serialisations += 3);
    folder.write("repo/reports/run.json", &base);
    let repo = folder.path("repo");
    git(&repo, &["init", "-q"]);
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-q", "-m", "a run"]);
    let head = folder.write("repo/reports/run.json", &head);
    let from = |source: &str| {
        let mut command = skewlab(&["compare", source, &head]);
        ended(command.current_dir(&repo))
    };
    for source in ["git:HEAD:reports/run.json", "git:main:reports", "git:main:./reports/run.json"] {
        let (code, said, errors) = from(source);
        assert_eq!(code, 12, "{source}: {said}{errors}");
    }
    for (source, part) in [
        ("git:nowhere:reports/run.json", "no revision `nowhere`"),
        ("git:HEAD:reports/no.json", "has no `reports/no.json`"),
        ("git:HEAD", "expected git:REV:PATH"),
        ("git::x", "expected git:REV:PATH"),
        ("git:--output=evil:x", "no revision `--output=evil`"),
        ("git:$(touch evil):x", "no revision `$(touch evil)`"),
    ] {
        let (code, _, errors) = from(source);
        assert!(code == 2 && errors.contains(part), "{source}: {errors}");
    }
    assert!(!repo.join("evil").exists());
    let mut outside = skewlab(&["compare", "git:HEAD:x", &head]);
    let elsewhere = tempfile::tempdir().unwrap();
    let (code, _, errors) = ended(outside.current_dir(elsewhere.path()).env("GIT_CEILING_DIRECTORIES", "/"));
    assert!(code == 2 && errors.contains("no git repository"), "{errors}");
}

#[test]
fn a_whole_matrix_beside_itself_has_no_difference() {
    let run = matrix(&["release-skew", "session-feed"], &[], &[]);
    let today = chrono::NaiveDate::from_ymd_opt(2026, 12, 1).unwrap();
    let rules = Rules { today, ..Rules::default() };
    let found = compare_runs(&reduced(&run), &reduced(&run), &rules).unwrap();
    assert!(found.changes.is_empty() && found.counts.is_empty());
    assert_eq!((found.compared, found.exit), (run.cells.len() as u64, 0));
}

#[test]
fn a_budget_that_went_with_its_expectation_is_told_and_red() {
    let folder = Folder::new();
    let scenario = |side: &str, rules: &str| {
        let axes = "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]\n";
        let file = folder.scenario(&format!("{side}/spends"), &format!("{axes}{rules}"));
        let out = folder.arg(&format!("{side}/run"));
        let (code, said, errors) = ended(&mut skewlab(&["matrix", &file, "--out", &out]));
        assert_eq!(code, 0, "{said}{errors}");
        out
    };
    let limited = scenario(
        "a",
        "[[expect]]\nverdict = \"over_budget\"\nbecause = \"frames are not free\"\n[budget]\nframes_per_token = 0\n",
    );
    let free = scenario("b", "");
    let (code, said, _) = compare(&limited, &free, &[]);
    assert!(
        code == 10 && said.contains("judged by another budget (1)") && !said.contains("healed"),
        "{code} {said}"
    );
    assert!(said.contains("budgets: frames_per_token <= 0 is gone"), "{said}");
    assert_eq!(compare(&limited, &free, &["--changed", "skip"]).0, 0, "somebody said so");
    let (code, markdown, _) = compare(&limited, &free, &["--format", "markdown"]);
    assert!(code == 10 && markdown.contains("budgets: <code>frames"), "{markdown}");
    let baseline =
        |args: &[&str]| ended(skewlab(&[&["baseline"], args].concat()).args(["--dir", &folder.arg("kept")]));
    assert_eq!(baseline(&["save", &free]).0, 0);
    let (code, said, errors) = baseline(&["update", &limited]);
    assert!(code == 10 && errors.contains("--accept"), "{said}{errors}");
    assert_eq!(baseline(&["update", &limited, "--accept"]).0, 0);
    let (code, said, errors) = baseline(&["update", &free]);
    assert!(
        code == 10 && said.contains("judged by another budget") && errors.contains("--accept"),
        "{said}{errors}"
    );
}

#[test]
fn a_new_cell_that_is_red_fails_and_lines_of_somebody_else_stop_nothing() {
    let folder = Folder::new();
    let mut base = sample();
    let mut added = base.cells.pop().unwrap();
    added.outcome = skewlab::record::Outcome::Unexpected;
    let mut head = base.clone();
    head.cells.push(added);
    folder.write("a/run.json", &json(&base));
    folder.write("b/run.json", &json(&head));
    folder.write("b/lines.jsonl", "{\"token\":1}\n{\"token\":2}\n");
    folder.write("b/words.jsonl", "no JSON at all\n");
    let (a, b) = (folder.arg("a"), folder.arg("b"));
    let (code, said, errors) = compare(&a, &b, &[]);
    assert!(code == 10 && said.contains("added (1)"), "{code} {said}{errors}");
    for name in ["lines.jsonl", "words.jsonl"] {
        assert!(errors.contains(name) && errors.contains("left out"), "{errors}");
    }
    // What is named is not left out.
    let (code, _, errors) = compare(&a, &folder.arg("b/lines.jsonl"), &[]);
    assert!(code == 2 && errors.contains("lines.jsonl"), "{errors}");
}

#[test]
fn a_comparison_is_written_over_nothing_that_it_is_made_of() {
    let folder = Folder::new();
    let text = json(&sample());
    for side in ["a", "b"] {
        folder.write(&format!("{side}/run.json"), &text);
    }
    let known = folder.write("known.toml", "");
    let (a, b) = (folder.arg("a"), folder.arg("b"));
    std::os::unix::fs::symlink(folder.path("b/run.json"), folder.path("link.json")).unwrap();
    for (out, what) in [
        ("a/run.json", "is BASE itself"),
        ("b/../b/run.json", "is HEAD itself"),
        ("link.json", "is HEAD itself"),
        ("known.toml", "is the file of known failures itself"),
    ] {
        let (code, said, errors) = compare(&a, &b, &["--known", &known, "--out", &folder.arg(out)]);
        assert!(code == 2 && said.is_empty() && errors.contains(what), "{out}: {code} {errors}");
    }
    for side in ["a", "b"] {
        assert_eq!(std::fs::read_to_string(folder.path(&format!("{side}/run.json"))).unwrap(), text);
    }
    assert_eq!(compare(&a, &b, &["--out", &folder.arg("a/comparison.json")]).0, 0, "beside it is no harm");
}
