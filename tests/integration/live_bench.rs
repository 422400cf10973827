//! `skewlab live bench` and `skewlab live idle` with what cannot be measured: it is said before anything starts.

use crate::runs::{Folder, ended, skewlab};

/// The exit code and the message of a command on an empty cache.
fn refused(args: &[&str]) -> (i32, String) {
    let cache = Folder::new();
    let dir = cache.arg("cache");
    let (code, stdout, stderr) = ended(skewlab(args).args(["--cache", &dir]));
    assert_eq!(stdout, "", "{args:?}");
    (code, stderr)
}

#[test]
fn more_sockets_than_a_conversation_takes_are_refused_with_the_reason() {
    let (code, said) = refused(&["live", "bench", "fanout", "--subscribers", "0,50"]);
    assert_eq!(code, 2);
    for part in ["--subscribers 50", "at most 49", "one of them itself", "1013"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn an_emulated_server_has_commands_of_its_own() {
    for command in [&["live", "bench", "fanout"][..], &["live", "idle"]] {
        let (code, said) = refused(&[command, &["--servers", "emulated:1.58.2"]].concat());
        assert_eq!(code, 2);
        assert!(said.contains("skewlab bench fanout") && said.contains("skewlab idle"), "{said}");
    }
}

#[test]
fn without_an_environment_the_command_that_makes_one_is_named() {
    let (code, said) = refused(&["live", "idle", "--servers", "1.58.2"]);
    assert_eq!(code, 13);
    assert!(said.contains("skewlab live setup --servers 1.58.2"), "{said}");
    let (code, said) = refused(&["live", "bench", "fanout"]);
    assert_eq!(code, 2);
    assert!(said.contains("no server is set up"), "{said}");
}

#[test]
fn figures_that_say_nothing_are_refused() {
    for (args, part) in [
        (&["live", "idle", "--rate", "0"][..], "more than 0 tokens"),
        (&["live", "idle", "--duration", "50"], "unit"),
        (&["live", "idle", "--rate", "10000", "--duration", "1h"], "100000"),
        (&["live", "bench", "fanout", "--tokens", "2"], "20..="),
        (&["live", "bench", "fanout", "--repeats", "0"], "1..="),
    ] {
        let (code, said) = refused(args);
        assert_eq!(code, 2, "{args:?}");
        assert!(said.contains(part), "{part}: {said}");
    }
}
