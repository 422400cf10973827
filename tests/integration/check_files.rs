//! `skewlab check` on files that are not as they should be: bad lines, nothing at all, huge, deep, hostile.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::check_cli::{check, corpus};
use crate::runs::{Folder, ended, skewlab};

const DELTA: &str = r#"{"id":"a","timestamp":"2026-11-30T07:45:00.123456","source":"agent","content":"Hel","kind":"StreamingDeltaEvent"}"#;

#[test]
fn a_bad_line_is_reported_by_its_number_and_the_rest_is_checked() {
    let folder = Folder::new();
    let labelled = json!({"name": "mine", "raw": DELTA}).to_string();
    let file =
        folder.write("mixed.jsonl", &format!("{labelled}\nnot json\n\n{DELTA}\r\n{{\"raw\":7}}\n{DELTA}"));
    let (code, stdout, stderr) = ended(&mut skewlab(&[
        "check",
        &file,
        "--clients",
        "python-1.55.0,browser-1.14.0",
        "--format",
        "json",
    ]));
    assert_eq!(code, 2);
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(
        lines[0].contains("mixed.jsonl:2: not JSON") && lines[1].contains("mixed.jsonl:5: `raw`"),
        "{stderr}"
    );
    let found: Value = serde_json::from_str(&stdout).unwrap();
    let frames = found["frames"].as_array().unwrap();
    let names: Vec<&str> = frames.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["mine", "line 4", "line 6"]);
    for frame in frames {
        assert_eq!(frame["clients"]["python-1.55.0"]["outcome"], "delivered");
        assert_eq!(frame["clients"]["browser-1.14.0"]["as"], "StreamingDeltaEvent");
    }
}

#[test]
fn files_that_hold_nothing_or_do_not_exist() {
    let folder = Folder::new();
    let empty = folder.write("empty.jsonl", "\n");
    let (code, _, stderr) = ended(&mut skewlab(&["check", &empty]));
    assert!(code == 4 && stderr.contains("no frame"), "{code} {stderr}");
    let (code, stdout, stderr) = ended(&mut skewlab(&["check", &folder.arg("none.jsonl")]));
    assert!(code == 2 && stdout.is_empty() && stderr.contains("none.jsonl"), "{code} {stderr}");
    let (code, stdout, _) = ended(skewlab(&["check", "-", "--format", "json"]).write_stdin(DELTA));
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, found["frames"][0]["clients"].as_object().unwrap().len()), (0, 17), "every profile");
    let (code, stdout, stderr) = ended(&mut skewlab(&["check", &corpus(), "--clients", "python-1.58.3"]));
    assert!(code == 2 && stdout.is_empty() && stderr.contains("`python-1.58.2`"), "{stderr}");
    let latin = folder.path("latin.jsonl");
    std::fs::write(&latin, b"{\"a\":\"\xe9\"}\n").unwrap();
    let (code, _, stderr) = ended(&mut skewlab(&["check", latin.to_str().unwrap()]));
    assert!(code == 2 && stderr.contains("latin.jsonl:1: not UTF-8"), "{code} {stderr}");
}

#[test]
fn frames_of_64_mib_and_a_million_levels_take_nothing_down() {
    let folder = Folder::new();
    let big = DELTA.replace("Hel", &"x".repeat(64 << 20));
    let deep = |name: &str, open: &str, close: &str| {
        let raw = format!("{}{}", open.repeat(1_000_000), close.repeat(1_000_000));
        json!({"name": name, "raw": raw}).to_string()
    };
    let mut lines = format!("{big}\n");
    writeln!(lines, "{}\n{}", deep("lists", "[", "]"), deep("objects", "{\"a\":", "}")).unwrap();
    let bare = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    writeln!(lines, "{bare}\n{}", DELTA.replace("\"Hel\"", "1e999")).unwrap();
    writeln!(lines, "{}", json!({"name": "after", "raw": DELTA})).unwrap();
    let file = folder.write("heavy.jsonl", &lines);
    drop(lines);
    let started = Instant::now();
    let clients = ["python-1.58.2", "typescript-1.39.0", "browser-1.20.0", "browser-session"];
    let found = check(&file, &clients);
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
    assert_eq!(found.len(), 6);
    assert_eq!(
        found["line 1"]["python-1.58.2"]["reason"], "frame_too_large",
        "the client's own limit is 1 MiB"
    );
    assert_eq!(found["line 1"]["browser-1.20.0"]["outcome"], "delivered");
    for name in ["lists", "objects", "line 4"] {
        assert!(
            found[name].values().all(|a| ["rejected", "dropped"].iter().any(|o| a["outcome"] == *o)),
            "{name}"
        );
    }
    let huge = &found["line 5"];
    assert_eq!(
        (&huge["python-1.58.2"]["outcome"], &huge["browser-1.20.0"]["outcome"]),
        (&"rejected".into(), &"corrupted".into())
    );
    assert_eq!(found["after"]["python-1.58.2"]["outcome"], "delivered");
}

#[test]
fn what_a_frame_says_to_a_terminal_is_not_passed_on() {
    let folder = Folder::new();
    let frame = DELTA.replace("StreamingDeltaEvent", "\\u001b]0;owned\\u0007\\u001b[2J");
    let line = json!({"name": "\u{1b}[31mred\u{7}\u{9b}", "raw": frame}).to_string();
    let file =
        folder.write("escapes.jsonl", &format!("{line}\n{}\n", DELTA.replace("\"Hel\"", "[\"\\u001b[2J\"]")));
    let (code, stdout, _) = ended(&mut skewlab(&["check", &file]));
    assert_eq!(code, 0);
    let raw: Vec<char> = stdout.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert_eq!(raw, Vec::<char>::new(), "{stdout:?}");
    assert!(stdout.contains("\\u{1b}[31mred"), "{stdout}");
}
