//! Imports go down only, and siblings of a floor do not know each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Module and floor, as in `ARCHITECTURE.md`.
const FLOORS: [(&str, u8); 18] = [
    ("unit", 0),
    ("seed", 0),
    ("caret", 0),
    ("schema", 0),
    ("wire", 1),
    ("record", 1),
    ("openapi", 1),
    ("probe", 2),
    ("agent_server", 3),
    ("session_feed", 3),
    ("live", 3),
    ("swarm", 3),
    ("scenario", 4),
    ("run", 5),
    ("judge", 5),
    ("suite", 6),
    ("report", 6),
    ("cli", 7),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The top-level modules of this crate that a text names.
fn named(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut names = Vec::new();
    for start in ["crate::", "skewlab::"] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            let word =
                |s: &str| s.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            match rest.strip_prefix('{') {
                Some(group) => names.extend(group.split('}').next().unwrap().split(',').map(word)),
                None => names.push(word(rest)),
            }
        }
    }
    names
}

/// Every import that goes up or sideways, as `file: module`.
fn offences(files: &[(String, String)]) -> Vec<String> {
    let floors: BTreeMap<&str, u8> = FLOORS.into_iter().collect();
    let mut found = Vec::new();
    for (file, text) in files {
        let own = file.split(['/', '.']).next().unwrap();
        let Some(floor) = floors.get(own) else {
            if !["lib", "main"].contains(&own) {
                found.push(format!("{file}: `{own}` is on no floor"));
            }
            continue;
        };
        for module in named(text) {
            if let Some(other) = floors.get(module.as_str())
                && module != own
                && other >= floor
            {
                found.push(format!("{file}: {module}"));
            }
        }
    }
    found
}

#[test]
fn imports_go_down_only() {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "src"].iter().collect();
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let files: Vec<(String, String)> = paths
        .iter()
        .map(|p| (p.strip_prefix(&root).unwrap().display().to_string(), std::fs::read_to_string(p).unwrap()))
        .collect();
    assert!(files.len() > 30, "only {} files were read", files.len());
    assert_eq!(offences(&files), Vec::<String>::new());
}

#[test]
fn an_import_that_goes_up_or_sideways_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let bad = [
        file("wire/a.rs", "use crate::record::Hop;"),
        file("judge/b.rs", "use crate::{record::Run, run::Plan};"),
        file("unit.rs", "let x = crate::cli::main();"),
        file("nowhere.rs", ""),
    ];
    assert_eq!(offences(&bad).len(), 4, "{:?}", offences(&bad));
    let good = [
        file("run/a.rs", "use crate::{agent_server::link, unit::Tally};\n// use crate::cli;"),
        file("wire/b.rs", "use super::event; use crate::wire::json;"),
    ];
    assert_eq!(offences(&good), Vec::<String>::new());
}

#[test]
fn files_hold_one_idea() {
    let mut paths = Vec::new();
    for dir in ["src", "tests", "benches"] {
        sources(&[env!("CARGO_MANIFEST_DIR"), dir].iter().collect::<PathBuf>(), &mut paths);
    }
    for path in paths {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 700, "{} has {lines} lines: look for the second idea in it", path.display());
    }
}
