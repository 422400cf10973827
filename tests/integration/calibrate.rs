//! `skewlab calibrate` with a client that is a script: what differs is found, what cannot be asked is told.

use std::path::Path;

use serde_json::{Value, json};

use crate::fixtures;
use crate::runs::{ended, skewlab};

/// A cache in which the environment of 1.58.2 has this text for an interpreter.
fn cache(interpreter: &str) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let environment = dir.path().join("envs/python-1.58.2");
    std::fs::create_dir_all(environment.join("bin")).unwrap();
    let python = environment.join("bin/python");
    std::fs::write(&python, interpreter).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ready = json!({"schema": 1, "release": "1.58.2", "runtime": "3.12.9",
        "packages": {"openhands-sdk": "1.58.2"}, "hashes": {}, "pins": [], "set_up": "2026-11-30T18:20:00Z"});
    std::fs::write(environment.join("READY.json"), ready.to_string()).unwrap();
    dir
}

fn calibrate(cache: &Path, args: &[&str]) -> (i32, String, String) {
    let cache = cache.display().to_string();
    ended(&mut skewlab(&[&["calibrate", "--cache", &cache], args].concat()))
}

#[test]
fn a_client_that_takes_what_it_should_refuse_differs_and_the_certificate_says_where() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: there is no python3");
        return;
    }
    let cache = cache(&fixtures::text("calibrate/client.py"));
    let out = cache.path().join("out");
    let args = ["--clients", "python-1.58.2", "--out", &out.display().to_string()];
    let (code, stdout, stderr) = calibrate(cache.path(), &args);
    assert_eq!(code, 10, "{stdout}{stderr}");
    assert!(stdout.contains("DIFFERS"), "{stdout}");
    let text = std::fs::read_to_string(out.join("python-1.58.2.json")).unwrap();
    let certificate: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(certificate["asked"], json!({"corpus": 50, "mutation": 336, "socket": 50, "turn": 3}));
    let differs = certificate["disagreements"].as_array().unwrap();
    let has = |case: &str, what: &str| differs.iter().any(|d| d["case"] == case && d["what"] == what);
    // A strict event model refuses the extra field, by itself and on the socket; both take the plain delta.
    assert!(has("delta_extra_seq", "outcome") && has("delta_extra_seq on a socket", "outcome"), "{text}");
    assert!(has("delta_extra_seq on a socket", "signal"), "{text}");
    assert!(!differs.iter().any(|d| d["case"] == "delta_content on a socket"), "{text}");
    assert!(has("delta_content", "text"), "it keeps the text to itself: {text}");
    // Both refuse what is no JSON, with the same exception.
    assert!(!has("not_json", "outcome") && !has("not_json", "type"), "{text}");
}

#[test]
fn a_package_that_cannot_be_asked_is_told_and_is_no_agreement() {
    let cache = cache("#!/bin/sh\necho no such module >&2\nexit 3\n");
    let (code, _, stderr) = calibrate(cache.path(), &["--clients", "python-1.58.2"]);
    assert_eq!(code, 13);
    assert!(
        stderr.contains("python-1.58.2 could not be asked") && stderr.contains("no such module"),
        "{stderr}"
    );
    let (code, _, stderr) = calibrate(cache.path(), &["--clients", "python-1.55.1"]);
    assert_eq!(code, 13);
    assert!(stderr.contains("skewlab live setup --clients python-1.55.1"), "{stderr}");
}

#[test]
fn names_that_mean_nothing_are_refused_with_the_nearest_ones() {
    let cache = cache("#!/bin/sh\nexit 3\n");
    for (said, near) in [("pyton-1.58.2", "python"), ("python-latest", "names one release")] {
        let (code, _, stderr) = calibrate(cache.path(), &["--clients", said]);
        assert_eq!(code, 2, "{stderr}");
        assert!(
            stderr.contains(said) && (stderr.contains(near) || stderr.contains("one release")),
            "{stderr}"
        );
    }
}
