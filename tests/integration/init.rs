//! `skewlab init` in an empty folder, and in one that is not.

use std::collections::BTreeSet;
use std::path::Path;

use crate::runs::{Folder, ended, skewlab};

const FILES: [&str; 4] = [
    ".github/workflows/skewlab.yml",
    "skewlab/known.toml",
    "skewlab/scenario.schema.json",
    "skewlab/streaming.toml",
];

/// Every file below a folder, with its text.
fn all(folder: &Path) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    all(folder).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn what_it_writes_runs_green_and_is_valid() {
    let folder = Folder::new();
    let home = folder.path("mine");
    let (code, out, err) = ended(&mut skewlab(&["init", &folder.arg("mine")]));
    assert_eq!(code, 0, "{err}");
    assert_eq!(names(&home), FILES);
    assert_eq!(out.lines().count(), FILES.len(), "{out}");
    let next: Vec<&str> = err.split_once("next\n").unwrap().1.lines().collect();
    assert_eq!(next.len(), 3, "{err}");
    assert!(next[0].contains("skewlab matrix") && next[0].contains("streaming.toml"), "{err}");

    let (code, out, err) =
        ended(skewlab(&["matrix", "skewlab/streaming.toml", "--format", "json"]).current_dir(&home));
    assert_eq!(code, 0, "{err}");
    let run: skewlab::record::Run = serde_json::from_str(&out).unwrap();
    assert!(run.cells.len() >= 5, "{}", run.cells.len());
    assert!(run.cells.iter().all(|cell| cell.verdict == skewlab::record::Verdict::Delivered), "{out}");

    // The line for the editor leads to a schema by which the file is valid.
    let scenario = std::fs::read_to_string(home.join("skewlab/streaming.toml")).unwrap();
    let schema = scenario.lines().next().unwrap().strip_prefix("#:schema ").unwrap();
    let schema = std::fs::read_to_string(home.join("skewlab").join(schema)).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let value: serde_json::Value = toml::from_str(&scenario).unwrap();
    assert!(jsonschema::is_valid(&schema, &value));
    // Nothing is known to fail yet.
    let known = std::fs::read_to_string(home.join("skewlab/known.toml")).unwrap();
    assert!(known.parse::<toml::Table>().unwrap().is_empty());
}

#[test]
fn what_is_commented_out_reads_once_it_is_not() {
    let folder = Folder::new();
    ended(&mut skewlab(&["init", &folder.arg("")]));
    let text = std::fs::read_to_string(folder.path("skewlab/streaming.toml")).unwrap();
    let is_toml = |line: &str| line.starts_with("# [") || (line.starts_with("# ") && line.contains(" = "));
    let (mut open, mut opened) = (String::new(), 0);
    for line in text.lines() {
        let shown = if is_toml(line) { &line[2..] } else { line };
        opened += usize::from(is_toml(line));
        open.push_str(shown);
        open.push('\n');
    }
    assert!(opened >= 12, "{opened}");
    // The consumers stand before the tables, as a key of the file.
    let file = folder.write("open.toml", &open);
    let (code, out, err) = ended(&mut skewlab(&["plan", &file]));
    assert!(code == 0 && !out.is_empty(), "{err}\n{open}");
}

#[test]
fn nothing_that_is_there_is_lost() {
    let folder = Folder::new();
    folder.write("skewlab/known.toml", "mine");
    folder.write("skewlab/other.toml", "mine too");
    let before = all(&folder.path(""));
    let (code, out, err) = ended(&mut skewlab(&["init", &folder.arg("")]));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(
        err.contains("known.toml") && !err.contains("other.toml") && !err.contains("skewlab.yml"),
        "{err}"
    );
    assert_eq!(all(&folder.path("")), before);
    let file = folder.write("file", "");
    let (code, _, err) = ended(&mut skewlab(&["init", &file]));
    assert!(code == 2 && err.contains("no folder"), "{err}");
    let second = || ended(&mut skewlab(&["init", &folder.arg("fresh")])).0;
    assert_eq!((second(), second()), (0, 2));
}

#[test]
fn what_stands_in_the_place_of_a_folder_is_refused_and_nothing_is_left() {
    for (place, link) in
        [(".github", true), (".github/workflows", true), ("skewlab", true), (".github", false)]
    {
        let folder = Folder::new();
        let at = folder.path(place);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        if link {
            std::os::unix::fs::symlink("nowhere", &at).unwrap();
        } else {
            folder.write(place, "mine");
        }
        let (code, out, err) = ended(&mut skewlab(&["init", &folder.arg("")]));
        assert_eq!((code, out.as_str()), (2, ""), "{place}: {err}");
        assert!(err.contains(&format!("{place}, which is no folder")), "{place}: {err}");
        std::fs::remove_file(&at).unwrap();
        assert_eq!(names(&folder.path("")), Vec::<String>::new(), "{place}");
        assert!(!folder.path("nowhere").exists(), "{place}");
    }
    // A repository that is a link to nowhere.
    let folder = Folder::new();
    std::os::unix::fs::symlink("nowhere", folder.path("home")).unwrap();
    let (code, _, err) = ended(&mut skewlab(&["init", &folder.arg("home")]));
    assert!(code == 2 && err.contains("no folder") && !folder.path("nowhere").exists(), "{err}");
}

/// The command lines of the workflow are ones that this build takes, and its actions are pinned.
#[test]
fn the_workflow_says_what_can_be_typed() {
    let folder = Folder::new();
    ended(&mut skewlab(&["init", &folder.arg("")]));
    let text = std::fs::read_to_string(folder.path(".github/workflows/skewlab.yml")).unwrap();
    assert!(
        !text.contains('@') || text.lines().all(|l| !l.contains("@VERSION@") && !l.contains("@RUST@")),
        "{text}"
    );
    for action in text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "))
    {
        let version = action.split_once("@v").unwrap().1;
        assert_eq!(version.split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 3, "{action}");
    }
    let lines: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("run: skewlab ")).collect();
    assert_eq!(lines.len(), 2);
    let (_, help, _) = ended(&mut skewlab(&["--help"]));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        // A build without the command has nothing to hold its options against.
        if !help.contains(&format!("\n  {} ", words[0])) {
            assert_eq!(words[0], "compare");
            continue;
        }
        let (_, options, _) = ended(&mut skewlab(&[words[0], "--help"]));
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(options.contains(option) || *option == "--known", "{line}: {option}");
        }
    }
}
