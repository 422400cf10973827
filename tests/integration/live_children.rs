//! Children of a live run: one that ends at once tells its last words, and none outlives skewlab.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

/// A cache with one environment, whose Python is a shell script.
fn cache(script: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("envs/python-1.58.2");
    std::fs::create_dir_all(home.join("bin")).unwrap();
    let python = home.join("bin/python");
    std::fs::write(&python, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ready = json!({
        "schema": 1, "release": "1.58.2", "runtime": "3.12.1", "packages": {}, "hashes": {}, "pins": [],
        "set_up": "2026-11-30T00:00:00Z",
    });
    std::fs::write(home.join("READY.json"), ready.to_string()).unwrap();
    dir
}

fn matrix(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skewlab"));
    command.args(["live", "matrix", "--servers", "1.58.2", "--clients", "emulated:python-1.58.2"]);
    command.arg("--cache").arg(cache).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Processes that run and have this word in their command line; a zombie only waits to be noticed.
fn running(word: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        (line.contains(word) && state != 'Z').then_some(pid)
    });
    processes.collect()
}

fn until(what: &str, within: Duration, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + within;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {within:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn a_server_that_ends_at_once_is_red_and_its_last_words_are_told() {
    let cache = cache("echo 'ImportError: no module named flux' >&2; exit 3");
    let output = matrix(cache.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(13), "{text}");
    assert!(text.contains("NOT RUN") && text.contains("ImportError: no module named flux"), "{text}");
    assert!(text.contains("exit status: 3"), "{text}");
}

#[test]
fn no_child_is_left_whatever_ends_skewlab() {
    for how in [Signal::INT, Signal::KILL] {
        // The script's own child and grandchild have to go as well.
        let mark = format!("skewlab-test-{}-{}", std::process::id(), how.as_raw());
        let cache = cache(&format!("sh -c 'sleep 1000; : {mark}' & exec sh -c 'sleep 1000; : {mark}'"));
        let mut child = matrix(cache.path()).spawn().unwrap();
        until("the server is started", Duration::from_secs(20), || running(&mark).len() >= 2);
        signal(&child, how);
        let status = child.wait().unwrap();
        if how == Signal::INT {
            assert_eq!(status.code(), Some(13));
        }
        until("the children are gone", Duration::from_secs(20), || running(&mark).is_empty());
    }
}

#[test]
fn a_warden_hands_on_the_exit_code_of_its_child() {
    let warden = |code: &str| {
        let parent = std::process::id().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_skewlab"));
        command.args(["warden", &parent, "--", "sh", "-c", code]).stdin(Stdio::null());
        command.status().unwrap().code()
    };
    assert_eq!((warden("exit 0"), warden("exit 7")), (Some(0), Some(7)));
    // A parent that it was not started by is no parent: it starts nothing.
    let other =
        Command::new(env!("CARGO_BIN_EXE_skewlab")).args(["warden", "1", "--", "true"]).status().unwrap();
    assert_eq!(other.code(), Some(127));
}
