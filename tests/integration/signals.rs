//! A run that is told to end takes its folders with it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::runs::Folder;

/// A run with stores on disk, each in a folder below `folder`.
fn started(folder: &Folder, args: &[&str]) -> Child {
    std::fs::create_dir(folder.path("tmp")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_skewlab"))
        .args(args)
        .env("TMPDIR", folder.path("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn scratch(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_mins(1), "{what} never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn terminate(child: &Child) {
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success(), "it had ended before it was told to");
}

#[test]
fn a_run_that_is_terminated_ends_in_order_and_leaves_no_folder() {
    let folder = Folder::new();
    let mut child = started(&folder, &["matrix", "crash", "--clock", "wall", "--jobs", "1"]);
    until("a folder", || !scratch(&folder).is_empty());
    terminate(&child);
    let code = child.wait().unwrap().code();
    assert_eq!((code, scratch(&folder)), (Some(13), Vec::new()), "not every cell ran, and it says so");
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(said.contains("stopping; what is finished is kept"), "{said}");
}

#[test]
fn one_that_is_told_twice_ends_at_once_and_leaves_none_either() {
    let folder = Folder::new();
    // One block of it takes minutes.
    let args = ["bench", "feed", "--store", "disk", "--chunks", "10000000", "--repeats", "1"];
    let mut child = started(&folder, &args);
    until("a folder", || !scratch(&folder).is_empty());
    terminate(&child);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line.starts_with("stopping;")), "the first one was not seen");
    assert_eq!(scratch(&folder).len(), 1, "it is still at work");
    terminate(&child);
    assert_eq!((child.wait().unwrap().code(), scratch(&folder)), (Some(143), Vec::new()));
}
