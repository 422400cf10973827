//! `skewlab bench client` beside `skewlab serve`.

use serde_json::Value;

use crate::runs::{Folder, ended, skewlab};
use crate::serve::Served;

/// A server of 1.58.2 with a fault, a scenario to stream, and the URL of its socket.
fn served(mutant: &str, more: &[&str]) -> (Served, String) {
    let folder = Folder::new();
    folder.profile("servers", "under-test", "1.58.2", mutant);
    let script = folder.scenario("words", "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]\n");
    let profiles = folder.arg("");
    let args = ["--server", "under-test", "--profiles", &profiles, "--script", &script];
    let served = Served::start(&[&args[..], more].concat());
    let url = format!("ws://{}{}", served.address, served.events());
    (served, url)
}

fn client(url: &str, more: &[&str]) -> (i32, String, String) {
    client_of("20", url, more)
}

fn client_of(sockets: &str, url: &str, more: &[&str]) -> (i32, String, String) {
    ended(&mut skewlab(&[&["bench", "client", url, "--sockets", sockets, "--for", "500ms"], more].concat()))
}

fn json(url: &str, more: &[&str]) -> (i32, Value) {
    let (code, out, err) = client(url, &[&["--format", "json"], more].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}")))
}

#[test]
fn a_healthy_server_is_read_and_nothing_is_missing() {
    let (_served, url) = served("", &[]);
    let (code, found) = json(&url, &["--say", "hi"]);
    assert_eq!(code, 0, "{found:#}");
    assert_eq!((&found["ready"], &found["reading"]), (&20.into(), &"full".into()));
    let replies = found["counts"]["replies"].as_u64().unwrap();
    assert!(replies >= 20 && replies.is_multiple_of(20), "{found:#}");
    // Nine pieces a turn of which one is reasoning; all are deltas.
    assert_eq!(found["counts"]["deltas"].as_u64().unwrap(), replies * 9);
    assert_eq!(found["replies_due"], found["counts"]["replies"]);
    assert!(found["cpu_us_per_message"].as_f64().unwrap() > 0.0);
    assert!(found["heap_bytes_per_socket"].as_f64().unwrap() < 1024.0, "{found:#}");
    let (code, out, _) = client(&url, &["--say", "hi"]);
    assert!(code == 0 && out.contains("missing    nothing"), "{out}");
    let (code, out, err) = client(&url, &[]);
    assert_eq!(code, 4, "{out}");
    assert!(err.contains("--say"), "{err}");
}

#[test]
fn what_was_found_is_kept_and_shown_again() {
    let (_served, url) = served("", &[]);
    let folder = Folder::new();
    let file = folder.arg("client.json");
    let (code, shown, _) = client(&url, &["--say", "hi", "--out", &file]);
    assert_eq!(code, 0, "{shown}");
    let (code, again, err) = ended(&mut skewlab(&["report", &file]));
    assert_eq!((code, again, err.as_str()), (0, shown, ""));
    let blocked = format!("{file}/x.json");
    let (code, shown, err) = client(&url, &["--say", "hi", "--out", &blocked]);
    assert!(
        code == 1 && shown.contains("missing    nothing") && err.contains("cannot write"),
        "{code} {err}"
    );
}

#[test]
fn a_fault_of_the_server_is_10_and_says_how_it_was_noticed() {
    let (_served, url) = served("[mutant]\ndrop_every = 9", &[]);
    let (code, out, _) = client(&url, &["--say", "hi"]);
    assert_eq!(code, 10, "{out}");
    assert!(out.contains("characters that the durable end holds"), "{out}");
}

#[test]
fn text_that_comes_twice_is_as_wrong_as_text_that_does_not_come() {
    let (_served, url) = served("[mutant]\nrepeat_every = 9", &[]);
    let (code, out, _) = client(&url, &["--say", "hi"]);
    assert!(code == 10 && out.contains("beyond the durable end"), "{out}");
}

#[test]
fn sockets_that_fail_are_13_with_their_reasons() {
    let (_served, url) = served("", &[]);
    let (code, out, err) = client_of("60", &url, &["--say", "hi", "--format", "json"]);
    let found: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!((code, &found["ready"]), (13, &49.into()), "{found:#}");
    assert_eq!(found["refused"]["before the first frame: closed by the server with code 1013"], 11);
    let nobody = url.replace(&url["ws://".len()..url.find("/sockets").unwrap()], "127.0.0.1:1");
    let (code, out, _) = client(&nobody, &[]);
    assert!(code == 13 && out.contains("connection refused"), "{out}");
    assert!(!out.contains("of a core") && !out.contains("interrupted"), "nothing was read: {out}");
}

#[test]
fn raw_reading_has_bytes_and_no_messages() {
    let (_served, url) = served("", &[]);
    let (code, found) = json(&url, &["--raw"]);
    assert_eq!((code, &found["reading"], &found["messages"]), (4, &"raw".into(), &Value::Null), "{found:#}");
}

#[test]
fn a_key_comes_from_a_variable_or_a_file_and_appears_nowhere() {
    let (_served, url) = served("", &["--key", "s3cret-key"]);
    let folder = Folder::new();
    let file = folder.write("key", "s3cret-key\n");
    let ask = |more: &[&str]| {
        let args =
            [&["bench", "client", &url, "--sockets", "3", "--for", "200ms", "--say", "hi"], more].concat();
        ended(skewlab(&args).env("SKEWLAB_TEST_KEY", "s3cret-key"))
    };
    for more in [&["--key-env", "SKEWLAB_TEST_KEY"][..], &["--key-file", &file]] {
        let (code, out, err) = ask(more);
        assert_eq!(code, 0, "{out}{err}");
        assert!(!format!("{out}{err}").contains("s3cret"), "{out}{err}");
    }
    let (code, _, err) = ask(&["--key-env", "SKEWLAB_NO_SUCH_KEY"]);
    assert!(code == 2 && err.contains("SKEWLAB_NO_SUCH_KEY"), "{err}");
    let (code, _, err) =
        ended(&mut skewlab(&["bench", "client", &format!("{url}?session_api_key=s3cret-key")]));
    assert!(code == 2 && err.contains("--key-env") && !err.contains("s3cret"), "{err}");
}

#[test]
fn bad_input_is_2() {
    for (args, said) in [
        (&["ws://127.0.0.1:9/sockets/events/x", "--sockets", "0"][..], "--sockets"),
        (&["ws://127.0.0.1:9/sockets/events/x", "--for", "-1s"], "--for"),
        (&["ws://127.0.0.1:9/sockets/events/x", "--sockets", "900000"], "--sockets 900000"),
        (&["ws://192.0.2.1:9/sockets/events/x"], "--allow-remote"),
    ] {
        let (code, out, err) = ended(&mut skewlab(&[&["bench", "client"], args].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}
