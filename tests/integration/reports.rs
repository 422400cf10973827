//! One snapshot a format: a change to what a person reads shows up in review.
//!
//! `INSTA_UPDATE=always cargo test --test integration reports` writes them anew.

use crate::fixtures;
use crate::runs::{ended, skewlab};

/// Standard output without the lines that hold a time.
fn shown(args: &[&str]) -> String {
    let (_, stdout, stderr) = ended(&mut skewlab(args));
    assert_eq!(stderr, "");
    let timeless = |line: &&str| !line.contains(" cells/s");
    stdout.lines().filter(timeless).fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_matrix_as_a_table() {
    let servers = ["--server", "1.43.1", "--server", "1.43.1+AB", "--server", "1.58.2+step7"];
    let clients = ["--client", "python-1.30.0", "--client", "python@same", "--client", "browser-*"];
    insta::assert_snapshot!(shown(&[&["matrix", "release-skew"], &servers[..], &clients[..]].concat()));
}

#[test]
fn mutated_frames_as_a_table() {
    let clients = ["--client", "python-1.58.2", "--client", "typescript-1.39.0", "--client", "browser-1.4.0"];
    insta::assert_snapshot!(shown(&[&["matrix", "frame-mutants"], &clients[..]].concat()));
}

#[test]
fn checked_frames_as_a_table() {
    let corpus = fixtures::corpus().display().to_string();
    let clients = ["--clients", "python-1.30.0,python-1.58.2,typescript-1.39.0,browser-1.14.0"];
    insta::assert_snapshot!(shown(&[&["check", &corpus], &clients[..]].concat()));
}

#[test]
fn explanations() {
    let explained = |what| shown(&["explain", what]);
    insta::assert_snapshot!(explained("silent_loss") + &explained("1.43.1+AB") + &explained("python-1.47.0"));
}

#[test]
fn the_session_feed_as_a_table() {
    insta::assert_snapshot!(shown(&["matrix", "session-feed", "--only", "hey"]));
}

#[test]
fn explanations_of_the_session_feed() {
    let explained = |what| shown(&["explain", what]);
    insta::assert_snapshot!(
        explained("divergent") + &explained("mirror-removed") + &explained("stale-plugin")
    );
}

#[test]
fn costs_as_a_table() {
    let servers = ["--server", "1.43.1", "--server", "1.43.1+AB", "--server", "1.58.2"];
    let all = shown(&[&["matrix", "bus-split"], &servers[..]].concat());
    // How many events a turn has besides its deltas is pinned elsewhere, on the captures.
    let deltas = |line: &&str| !line.contains(" events in ");
    let text = all.lines().filter(deltas).fold(String::new(), |text, line| text + line + "\n");
    insta::assert_snapshot!(text);
}

#[test]
fn idle_clocks_as_a_table() {
    let servers =
        ["--server", "1.36.1", "--server", "1.43.1*", "--server", "1.44.1*", "--server", "1.58.2+step7"];
    let load = ["--duration", "25m", "--rate", "0.5", "--warm-up", "1"];
    insta::assert_snapshot!(shown(&[&["idle"], &servers[..], &load[..]].concat()));
}
