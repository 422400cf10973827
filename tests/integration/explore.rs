//! `skewlab explore` and `skewlab replay`: what was planted is found once and kept small, what is well raises no alarm, and a
//! capsule is replayed byte for byte or refused.

use std::fs;

use serde_json::Value;
use skewlab::agent_server::profile::Catalogue;
use skewlab::scenario::capsule::Capsule;
use skewlab::suite::explore::PATIENCE;
use skewlab::suite::replay::replay;

use crate::runs::{Folder, ended, skewlab};

/// Runs a search over the folder's profiles; exit code, report, and what went to standard error.
fn explore(folder: &Folder, args: &[&str]) -> (i32, Value) {
    let (out, profiles) = (folder.arg("out"), folder.arg(""));
    let mut command = skewlab(&["explore", "--format", "json", "--out", &out, "--profiles", &profiles]);
    let (code, stdout, stderr) = ended(command.args(args));
    let report = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    (code, report)
}

/// A folder whose server `mine` is 1.58.2 with a mutant.
fn broken(mutant: &str) -> Folder {
    let folder = Folder::new();
    folder.profile("servers", "mine", "1.58.2", &format!("[mutant]\n{mutant}"));
    folder
}

const PAIR: [&str; 4] = ["--servers", "mine", "--clients", "python-1.58.2"];

fn groups<'a>(report: &'a Value, reason: &str) -> Vec<&'a Value> {
    // One client in eight listens on a list of its own, and is a group of its own.
    let plain =
        |group: &&Value| group["reason"] == reason && !group["client"].as_str().unwrap().contains('/');
    report["groups"].as_array().unwrap().iter().filter(plain).collect()
}

/// Names of all files under a folder; nothing for one that does not exist.
fn files(folder: &Folder, name: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.path(name)) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_planted_loss_is_found_once_shrunk_and_replayed_ten_times() {
    let folder = broken("drop_every = 5");
    let (code, report) = explore(&folder, &[&PAIR[..], &["--budget", "60", "--capsules", "100"]].concat());
    assert_eq!(code, 10);
    let found = groups(&report, "mutant_drop");
    let silent: Vec<&&Value> = found.iter().filter(|group| group["verdict"] == "silent_loss").collect();
    assert_eq!(silent.len(), 1, "{found:?}");
    let group = silent[0];
    assert!(group["cells"].as_u64().unwrap() > 1, "{group}");
    assert_eq!((&group["lost_at"], &group["client"]), (&"sent".into(), &"python-1.58.2".into()));
    let shrunk = &group["example"]["shrunk"];
    // The fifth delta is lost, whatever else there is.
    let to = serde_json::json!({ "tokens": 5, "faults": 0, "clients": 1, "steps": 0, "traits": 0 });
    assert_eq!(shrunk["to"], to);
    assert!(shrunk["runs"].as_u64().unwrap() <= 200, "{shrunk}");
    // The capsule brings the profile: nobody names the folder any more.
    let file = folder.arg(&format!("out/{}", group["example"]["capsule"].as_str().unwrap()));
    let (code, stdout, stderr) = ended(&mut skewlab(&["replay", &file, "--times", "10"]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("run 10 times") && stdout.contains("silent_loss"), "{stdout}");
    // And it is a scenario.
    let profiles = folder.arg("");
    let (code, stdout, _) = ended(&mut skewlab(&["matrix", &file, "--profiles", &profiles]));
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("1 cell: 1 as expected"), "{stdout}");
}

#[test]
fn every_capsule_replays_as_it_was_and_one_of_another_cell_does_not() {
    let folder = Folder::new();
    let (_, report) = explore(&folder, &["--budget", "120", "--seed", "7", "--capsules", "12"]);
    let kept = files(&folder, "out");
    assert!(kept.len() > 5, "{kept:?}");
    for name in &kept {
        let path = folder.arg(&format!("out/{name}"));
        let mut capsule = Capsule::read(&path, Catalogue::embedded().unwrap()).unwrap();
        for _ in 0..10 {
            let replayed = replay(&capsule, PATIENCE).unwrap();
            assert!(replayed.differs.is_empty(), "{name}: {:?}", replayed.differs);
            assert_eq!(replayed.found, capsule.head.found, "{name}");
        }
        // The same head over a cell without what went wrong.
        capsule.cell.subscribers = 2;
        capsule.cell = capsule.cell.identified();
        let other = replay(&capsule, PATIENCE).unwrap();
        assert!(other.differs.iter().any(|line| line.contains("its hash is")), "{:?}", other.differs);
    }
    let runs =
        report["groups"].as_array().unwrap().iter().filter_map(|g| g["example"]["shrunk"]["runs"].as_u64());
    assert!(runs.max().unwrap() <= 200);
}

#[test]
fn the_same_seed_prints_the_same_and_another_one_does_not() {
    let folder = Folder::new();
    let out = folder.arg("out");
    let print = |seed: &str, jobs: &str| {
        let args =
            ["explore", "--budget", "60", "--seed", seed, "--jobs", jobs, "--capsules", "4", "--out", &out];
        let (code, stdout, stderr) = ended(&mut skewlab(&args));
        assert_eq!(code, 10, "{stderr}");
        stdout
    };
    let first = print("1", "1");
    let texts = |folder: &Folder| {
        let mut names = files(folder, "out");
        names.sort();
        names
            .iter()
            .map(|name| fs::read_to_string(folder.path(&format!("out/{name}"))).unwrap())
            .collect::<Vec<_>>()
    };
    let capsules = texts(&folder);
    assert_eq!((print("1", "2"), texts(&folder)), (first.clone(), capsules));
    assert!(first.starts_with("60 drawn cells, seed 1: "), "{first}");
    assert!(first.contains("changed trait × client: "), "{first}");
    assert_ne!(print("2", "2"), first);
}

#[test]
fn healthy_pairs_raise_no_alarm() {
    let folder = Folder::new();
    let (code, report) = explore(&folder, &["--healthy", "300"]);
    assert_eq!((code, report["groups"].as_array().unwrap().len()), (0, 0), "{}", report["groups"]);
    assert_eq!((&report["cells"], &report["healthy"]), (&300.into(), &300.into()));
    assert_eq!(report["drawn"], "healthy_pairs");
    assert!(files(&folder, "out").is_empty());
}

#[test]
fn a_pair_that_has_to_be_well_and_is_not_ends_the_search() {
    let folder = broken("repeat_every = 2");
    let (code, report) =
        explore(&folder, &["--healthy", "2000", "--servers", "mine", "--clients", "typescript-1.39.0"]);
    assert_eq!((code, groups(&report, "text_twice").len()), (10, 1), "{}", report["groups"]);
    assert!(report["cells"].as_u64().unwrap() < 2000, "{}", report["cells"]);
    assert_eq!(files(&folder, "out"), ["duplicated-text_twice-typescript-1.39.0.toml"]);
    let args = ["explore", "--healthy", "5", "--servers", "1.58.2+step7", "--out", &folder.arg("none")];
    let (code, _, stderr) = ended(&mut skewlab(&args));
    assert_eq!(code, 2);
    assert!(stderr.contains("called good by the facts"), "{stderr}");
}

#[test]
fn a_panic_and_a_hang_are_findings_and_end_nothing() {
    for (mutant, verdict, reason) in
        [("panic = true", "invalid", "panicked"), ("hang = true", "not_run", "deadline")]
    {
        let folder = broken(mutant);
        let (code, report) = explore(&folder, &[&PAIR[..], &["--budget", "20", "--capsules", "4"]].concat());
        let found = groups(&report, reason);
        assert_eq!(
            (code, found.len(), &found[0]["verdict"]),
            (13, 1, &verdict.into()),
            "{}",
            report["groups"]
        );
        assert_eq!(report["cells"], 20);
        // A cell that is too slow on a busy machine is a group of its own, and must not take the only capsule.
        // Not even one of these is expected by its own scenario, but it is replayed.
        let kept = found[0]["example"]["capsule"].as_str().unwrap_or_else(|| panic!("{}", report["groups"]));
        let file = folder.arg(&format!("out/{kept}"));
        let (code, stdout, stderr) = ended(&mut skewlab(&["replay", &file]));
        assert_eq!(code, 0, "{stdout}{stderr}");
    }
}

#[test]
fn counts_that_do_not_add_up_are_found_and_kept() {
    let folder = broken("forget_every = 3");
    let (code, report) = explore(&folder, &[&PAIR[..], &["--budget", "30", "--capsules", "1"]].concat());
    let found = groups(&report, "rig_fault");
    assert_eq!((code, &found[0]["verdict"]), (13, &"invalid".into()));
    assert_eq!(found[0]["example"]["shrunk"]["to"]["tokens"], 3);
}

#[test]
fn a_capsule_that_is_not_as_it_was_written_is_refused_with_its_place() {
    let folder = broken("drop_every = 2");
    explore(&folder, &[&PAIR[..], &["--budget", "30", "--capsules", "1"]].concat());
    let name = files(&folder, "out").pop().unwrap();
    let text = fs::read_to_string(folder.path(&format!("out/{name}"))).unwrap();
    let line_of = |what: &str| text.lines().position(|line| line.starts_with(what)).unwrap() + 1;
    let half = text.floor_char_boundary(text.len() / 2);
    let cases = [
        (
            text.replace("rate = ", "rate = 1"),
            format!("bad.toml:{}:1", line_of("rate = ")),
            "not as it was written",
        ),
        (
            text.replace("user = ", "user == "),
            format!("bad.toml:{}:1", line_of("user = ")),
            "not as it was written",
        ),
        (text[..half].to_owned(), format!("bad.toml:{}:1", text[..half].lines().count()), "cut off"),
        (text.trim_end().trim_end_matches('"').to_owned(), "bad.toml:".to_owned(), "cut off"),
        (
            text.replace("skewlab.capsule/1", "skewlab.capsule/2"),
            "`skewlab.capsule/2`".to_owned(),
            "a later skewlab",
        ),
        (
            text.replace("skewlab.capsule/1", "skewlab.capsule/0"),
            "`skewlab.capsule/0`".to_owned(),
            "find it again",
        ),
        (String::new(), "bad.toml:1:1".to_owned(), "cut off"),
        ("question = \"q\"\n".to_owned(), "bad.toml".to_owned(), "has no `[capsule]`"),
    ];
    for (bad, place, why) in cases {
        let path = folder.write("replays/bad.toml", &bad);
        let (code, stdout, stderr) = ended(&mut skewlab(&["replay", &path]));
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains(&place) && stderr.contains(why), "{place}: {stderr}");
        assert_eq!(files(&folder, "replays"), ["bad.toml"]);
    }
    let (code, _, stderr) = ended(&mut skewlab(&["replay", &folder.arg("nowhere.toml")]));
    assert_eq!(code, 2);
    assert!(stderr.contains("cannot read") && stderr.contains("nowhere.toml"), "{stderr}");
}

#[test]
fn what_a_capsule_says_is_held_against_what_comes_of_it() {
    let folder = broken("drop_every = 2");
    explore(&folder, &[&PAIR[..], &["--budget", "30", "--capsules", "1"]].concat());
    let name = files(&folder, "out").pop().unwrap();
    let capsule = Capsule::read(&folder.arg(&format!("out/{name}")), Catalogue::embedded().unwrap()).unwrap();
    let mut head = capsule.head.clone();
    head.found.hops[3] = "sent: in 9/9, out 9/9".to_owned();
    let path = folder.write("other.toml", &Capsule::text(&capsule.cell, &head, "by hand"));
    let (code, stdout, stderr) = ended(&mut skewlab(&["replay", &path]));
    assert_eq!((code, stderr.as_str()), (10, ""));
    assert!(
        stdout.contains("is not as the capsule says") && stdout.contains("sent: in 9/9, out 9/9"),
        "{stdout}"
    );
}

#[test]
fn what_cannot_be_drawn_from_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let file = folder.write("file", "");
    for (args, said) in [
        (&["--servers", "1.58.3"][..], "--servers 1.58.3: no profile matches; did you mean `1.58.2`"),
        (
            &["--clients", "python-1.58.3"],
            "--clients python-1.58.3: no profile matches; did you mean `python-1.58.2`",
        ),
        (&["--budget", "0"], "--budget"),
        (&["--seconds", "1", "--healthy", "5"], "cannot be used with"),
        (&["--out", &file], "this is a file"),
    ] {
        let (code, stdout, stderr) = ended(skewlab(&["explore"]).current_dir(folder.path("")).args(args));
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
    }
    assert_eq!(files(&folder, ""), ["file"]);
}
