//! A run that says one thing in one place and another in another is refused, wherever it is read; one that was broken off or
//! written by an older skewlab is not.

use std::sync::atomic::AtomicBool;

use skewlab::agent_server::profile::Catalogue;
use skewlab::record::{Document, Outcome, Reason, Run, Verdict};
use skewlab::run::{ClockKind, Options};
use skewlab::seed::Seed;

use crate::fixtures;
use crate::runs::{Folder, agreeing, ended, matrix, plan, skewlab};

fn sample() -> Run {
    matrix(&["release-skew"], &["1.43.1", "1.58.2"], &["python-1.55.1", "python-1.21.1"])
}

/// What somebody did to a file, and what is said of it.
type Edit = (&'static str, fn(&mut Run), &'static [&'static str]);

const EDITS: [Edit; 12] = [
    ("total", |run| run.totals.unexpected = 3, &["totals: `unexpected` is 3, and the cells make it 0"]),
    ("removed", |run| drop(run.cells.pop()), &["totals: `cells` is 4, and the cells make it 3"]),
    ("twice", |run| run.cells.push(run.cells[1].clone()), &["cells[4] (`", "the same cell stands before it"]),
    (
        "headline",
        |run| run.cells[0].verdict = Verdict::LoudLoss,
        &["cells[0] (`release-skew/1.43.1/", "its headline is `loud_loss`, and its first finding `"],
    ),
    (
        "reason",
        |run| run.cells[2].reason = Some(Reason::new("r")),
        &["cells[2] (`", "its `reason` is not that of"],
    ),
    ("found", |run| run.cells[1].findings.clear(), &["cells[1] (`", "it has no finding"]),
    (
        "worse",
        |run| {
            let mut worse = run.cells[3].findings[0].clone();
            worse.verdict = Verdict::Leaked;
            run.cells[3].findings.push(worse);
        },
        &["cells[3] (`", "the worse finding `leaked`"],
    ),
    (
        "expected",
        |run| run.cells[0].expected = Verdict::Corrupted,
        &["cells[0] (`", "its outcome is `expected`, and it is `", "where `corrupted` was expected"],
    ),
    (
        "scenario",
        |run| run.scenarios.clear(),
        &["cells[0] (`", "its scenario `release-skew` is not among `scenarios`"],
    ),
    ("times", |run| run.timing.cell_micros.truncate(3), &["timing: `cell_micros` has 3 entries for 4 cells"]),
    (
        "count",
        |run| run.cells[0].side_effects.webhook.posts += 1,
        &["digest: it is `", "what the file holds has `"],
    ),
    ("digest", |run| run.digest = "0".repeat(64), &["digest: it is `0000"]),
];

#[test]
fn a_run_that_contradicts_itself_is_refused_by_every_reader() {
    let folder = Folder::new();
    let good = agreeing(&sample());
    let text = |run: &Run| serde_json::to_string(run).unwrap();
    let fine = folder.write("fine.json", &text(&good));
    assert_eq!(ended(&mut skewlab(&["report", &fine])).0, 0);
    let (out, kept) = (folder.arg("out"), folder.arg("kept"));
    for (name, edit, parts) in EDITS {
        let mut run = good.clone();
        edit(&mut run);
        let bad = folder.write(&format!("{name}.json"), &text(&run));
        for args in [
            &["report", &bad, "--format", "junit", "--out", &out][..],
            &["report", &fine, &bad, "--out", &out],
            &["compare", &bad, &fine, "--out", &out],
            &["compare", &fine, &bad, "--out", &out],
            &["baseline", "save", &bad, "--dir", &kept],
        ] {
            let (code, said, errors) = ended(&mut skewlab(args));
            assert!(code == 2 && said.is_empty(), "{name}: {args:?}: {code} {said}");
            for part in parts.iter().chain(&[name, ".json: ", "does not agree with itself"]) {
                assert!(errors.contains(part), "{name}: {part}: {errors}");
            }
        }
        assert!(!folder.path("out").exists() && !folder.path("kept").exists(), "{name}");
    }
}

#[test]
fn a_run_that_was_broken_off_agrees_with_itself() {
    let plan = plan(&["release-skew"], &["1.58.2"], &[], &Catalogue::embedded().unwrap());
    let options = Options { clock: ClockKind::Virtual, seed: Seed(1), jobs: 2 };
    let today = chrono::NaiveDate::from_ymd_opt(2026, 12, 1).unwrap();
    let run = plan.run(options, today, &AtomicBool::new(true), &|_| {});
    assert!(run.cells.iter().all(|cell| cell.verdict == Verdict::NotRun), "nothing may have run");
    let text = serde_json::to_string(&run).unwrap();
    let read = Document::parse(std::path::Path::new("run.json"), &text).unwrap();
    assert_eq!(read, Document::Run(Box::new(run)));
}

#[test]
fn an_older_file_is_read_without_its_digest_and_held_to_everything_else() {
    let kept = fixtures::json("results/run_v1.json");
    assert!(kept.get("sealed").is_none(), "it was written before");
    let reads =
        |value: &serde_json::Value| Document::parse(std::path::Path::new("old.json"), &value.to_string());
    let mut other = kept.clone();
    other["digest"] = "0".into();
    assert!(reads(&kept).is_ok() && reads(&other).is_ok(), "nobody can take its fingerprint again");
    other["totals"]["cells"] = 7.into();
    assert!(reads(&other).unwrap_err().to_string().contains("totals: `cells` is 7"));
}

#[test]
fn what_a_hostile_file_is_called_is_no_command_to_a_workflow() {
    let folder = Folder::new();
    let mut run = sample();
    run.cells[0].id = "a\n::error::b\u{1b}[2J".to_owned();
    run.cells[0].findings.clear();
    let bad = folder.write("bad.json", &serde_json::to_string(&run).unwrap());
    for args in [&["report", &bad][..], &["compare", &bad, &bad]] {
        let (code, _, errors) = ended(&mut skewlab(args));
        assert!(code == 2 && errors.contains("error::b"), "{errors}");
        assert!(
            !errors.contains('\u{1b}') && errors.lines().all(|line| !line.trim_start().starts_with("::")),
            "{errors}"
        );
    }
}

#[test]
fn a_fresh_run_with_a_known_failure_keeps_its_day() {
    let folder = Folder::new();
    let scenario = folder.scenario(
        "loses",
        "servers = [\"1.58.2\"]\nclients = [\"python-1.21.1\"]\n[[known]]\nverdict = \"durable_loss\"\nreason = \"old\"\n\
         link = \"https://x/1\"\nexpires = 2999-01-01\n",
    );
    let out = folder.arg("run");
    let (code, said, errors) = ended(&mut skewlab(&["matrix", &scenario, "--out", &out]));
    let run: Run =
        serde_json::from_str(&std::fs::read_to_string(folder.path("run/run.json")).unwrap()).unwrap();
    assert_eq!((code, run.cells[0].outcome), (0, Outcome::Known), "{said}{errors}");
    assert_eq!(run.cells[0].known.as_ref().unwrap().expires.to_string(), "2999-01-01");
    // The same run after that day: nobody ran it again, and it is not green any more.
    let mut later = run.clone();
    later.cells[0].known.as_mut().unwrap().expires = chrono::NaiveDate::from_ymd_opt(2020, 1, 1).unwrap();
    let (run, later) = (
        folder.write("now.json", &serde_json::to_string(&run).unwrap()),
        folder.write("later.json", &serde_json::to_string(&agreeing(&later)).unwrap()),
    );
    assert_eq!(ended(&mut skewlab(&["compare", &run, &run])).0, 0);
    let (code, said, _) = ended(&mut skewlab(&["compare", &run, &later]));
    assert!(code == 11 && said.contains("expired on 2020-01-01: old (https://x/1)"), "{code} {said}");
}
