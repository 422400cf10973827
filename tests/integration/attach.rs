//! `skewlab attach` beside emulated servers on loopback.

use serde_json::{Value, json};
use skewlab::record::attach::AttachReport;

use crate::runs::{Folder, ended, skewlab};
use crate::serve::Served;

const KEY: &str = "s3cret-key+1";

/// A server of that release with a fault. Its turn has nine deltas with a character, and one without.
fn served(release: &str, mutant: &str, more: &[&str]) -> Served {
    let folder = Folder::new();
    folder.profile("servers", "under-test", release, mutant);
    let script = folder.scenario("words", "servers = [\"1.58.2\"]\nclients = [\"python-1.58.2\"]\n");
    let profiles = folder.arg("");
    let args = ["--server", "under-test", "--profiles", &profiles, "--script", &script];
    Served::start(&[&args[..], more].concat())
}

fn attach(served: &Served, more: &[&str]) -> (i32, String, String) {
    let url = format!("http://{}", served.address);
    let args = ["attach", &url, "--conversation", &served.conversation, "--for", "1s"];
    ended(skewlab(&[&args[..], more].concat()).env("SKEWLAB_TEST_KEY", KEY))
}

fn found(served: &Served, more: &[&str]) -> (i32, AttachReport) {
    let (code, out, err) = attach(served, &[&["--format", "json"], more].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}")))
}

/// The findings as verdict and number of clients.
fn verdicts(report: &AttachReport) -> Vec<(&str, u64)> {
    report.findings.iter().map(|finding| (finding.verdict.as_str(), finding.clients)).collect()
}

#[test]
fn a_healthy_server_reaches_everybody() {
    let served = served("1.58.2", "", &[]);
    let (code, report) = found(&served, &["--clients", "5", "--say", "hi"]);
    assert_eq!((code, verdicts(&report)), (0, vec![("delivered", 5)]), "{report:#?}");
    let seen = &report.seen;
    assert_eq!((seen.deltas, seen.replies, seen.unidentified, seen.complete), (9, 1, 0, true));
    assert_eq!((seen.spread.count, seen.first_delta.unwrap().count), (9 * 4, 5), "four others a delta");
    assert_eq!(seen.gap.count, 8 * 5);
    assert!(seen.since_own_timestamp.unwrap().max_ns < 5_000_000_000, "{seen:#?}");
    for client in &seen.clients {
        assert!(client.joined && client.ready && client.closed.is_none() && client.extensions.is_none());
        assert_eq!((client.wire.due, client.wire.got, client.replies.judged), (9, 9, 1));
        assert_eq!(client.delivered.frames, 9);
        // A frame costs a head of two or four bytes, and the handshake its answer.
        let heads = client.bytes_read - client.text_bytes;
        assert!((client.frames * 2 + 100..client.frames * 4 + 400).contains(&heads), "{client:#?}");
    }
    let (code, out, err) = attach(&served, &["--clients", "2"]);
    assert!(code == 4 && err.contains("--say") && out.contains("nothing streamed"), "{out}{err}");
}

#[test]
fn every_socket_and_family_is_judged_alike() {
    let served = served("1.58.2", "", &[]);
    for (profile, deltas) in [("browser-session", 8), ("browser-1.20.0", 9), ("typescript-1.39.0", 9)] {
        let (code, report) = found(&served, &["--clients", "3", "--profile", profile, "--say", "hi"]);
        assert_eq!((code, verdicts(&report)), (0, vec![("delivered", 3)]), "{profile}: {report:#?}");
        assert_eq!(report.seen.deltas, deltas, "{profile}");
        assert_eq!(report.seen.since_own_timestamp.is_none(), profile == "browser-session");
    }
    let (code, report) = found(&served, &["--profile", "browser-1.0.0-alpha.10", "--say", "hi"]);
    assert_eq!((code, verdicts(&report)), (0, vec![("by_design", 10)]), "{report:#?}");
}

#[test]
fn what_every_client_misses_shows_beside_the_durable_end() {
    let served = served("1.58.2", "[mutant]\ndrop_every = 2", &[]);
    let (code, report) = found(&served, &["--clients", "3", "--say", "hi"]);
    assert_eq!((code, verdicts(&report)), (10, vec![("silent_loss", 3)]), "{report:#?}");
    assert_eq!(report.seen.deltas, 5, "all of them came to all");
    // `hmm `, `, `, `ha` and ` world`.
    let lost = report.seen.clients.iter().map(|client| client.replies.short_chars);
    assert_eq!(lost.collect::<Vec<_>>(), [14; 3]);
}

#[test]
fn wrong_and_repeated_text_and_lost_ends_are_told_apart() {
    for (mutant, verdict) in [
        ("repeat_every = 3", "duplicated"),
        ("alter_every = 3", "corrupted"),
        ("drop_durable_every = 1", "not_run"),
    ] {
        let served = served("1.58.2", &format!("[mutant]\n{mutant}"), &[]);
        let (code, report) = found(&served, &["--clients", "2", "--say", "hi"]);
        let wanted = if verdict == "not_run" { (0, "delivered") } else { (10, verdict) };
        // An end that nobody got is not known to have been.
        assert_eq!((code, verdicts(&report)), (wanted.0, vec![(wanted.1, 2)]), "{mutant}: {report:#?}");
    }
}

#[test]
fn a_client_that_refuses_what_came_loses_it_in_silence() {
    let served = served("1.58.2", "", &[]);
    let args = ["--clients", "2", "--profile", "python-1.58.2+AB", "--say", "hi"];
    let (code, report) = found(&served, &args);
    assert_eq!((code, verdicts(&report)), (10, vec![("silent_loss", 2)]), "{report:#?}");
    let finding = &report.findings[0];
    assert_eq!((finding.signal.as_str(), finding.lost_at.unwrap().as_str()), ("log", "decoded"));
    assert_eq!((finding.amount.frames, finding.reason.as_ref().unwrap().as_str()), (16, "unknown_kind"));
    let client = &report.seen.clients[0];
    assert_eq!((client.wire.got, client.delivered.frames, client.log_lines), (9, 0, 9));
    let (_, out, _) = attach(&served, &args);
    assert!(out.contains("SILENT") && out.contains("`decoded` because `unknown_kind`"), "{out}");
}

#[test]
fn a_full_conversation_closes_those_that_come_late() {
    let served = served("1.58.2", "", &[]);
    let (code, report) = found(&served, &["--clients", "60", "--say", "hi"]);
    assert_eq!((code, verdicts(&report)), (13, vec![("not_run", 11), ("delivered", 49)]), "{report:#?}");
    let closed = report.seen.clients.iter().filter_map(|client| client.closed.as_ref());
    let reasons: Vec<_> = closed.map(|c| (c.code, c.reason.as_str())).collect();
    assert_eq!(reasons, [(1013, "Too many connections for this conversation"); 11]);
    let (_, out, _) = attach(&served, &["--clients", "60"]);
    assert!(out.contains("ready       49") && out.contains("closed      11  1013"), "{out}");
    assert!(out.contains("released servers take 50 subscribers") && out.contains("--clients"), "{out}");
    let (_, out, _) = ended(&mut skewlab(&["attach", "--help"]));
    assert!(out.contains("49 clients at most") && out.contains("1013"), "{out}");
}

#[test]
fn closes_and_refusals_say_which() {
    let served = served("1.58.2", "", &["--key", KEY]);
    let url = format!("http://{}", served.address);
    let stranger = "00000000-0000-4000-8000-000000000000";
    let args =
        ["attach", &url, "--conversation", stranger, "--key-env", "SKEWLAB_TEST_KEY", "--clients", "2"];
    let (code, out, _) = ended(skewlab(&args).env("SKEWLAB_TEST_KEY", KEY));
    assert!(code == 13 && out.contains("closed      2  4004") && !out.contains("subscribers"), "{out}");
    // The legacy client puts a wrong key into the query, and the handshake is refused.
    let (code, out, _) = ended(skewlab(&args).env("SKEWLAB_TEST_KEY", "wrong-s3cret"));
    assert!(code == 13 && out.contains("HTTP 403") || out.contains("4001"), "{out}");
    assert!(!out.contains("s3cret"), "{out}");
}

#[test]
fn a_key_comes_from_a_variable_or_a_file_and_appears_nowhere() {
    let served = served("1.58.2", "", &["--key", KEY]);
    let folder = Folder::new();
    let (file, kept) = (folder.write("key", &format!("{KEY}\n")), folder.arg("kept.json"));
    for with in [["--key-env", "SKEWLAB_TEST_KEY"], ["--key-file", &file]] {
        for format in ["table", "json"] {
            let more = ["--clients", "2", "--say", "hi", "--format", format, "--out", &kept];
            let (code, out, err) = attach(&served, &[&with[..], &more].concat());
            assert_eq!(code, 0, "{out}{err}");
            let kept = std::fs::read_to_string(&kept).unwrap();
            assert!(format == "table" || kept == out, "the file is what is printed");
            assert!(!format!("{out}{err}{kept}").contains("s3cret"), "{out}{err}");
        }
    }
    let (code, _, err) = attach(&served, &["--key-env", "SKEWLAB_NO_SUCH_KEY"]);
    assert!(code == 2 && err.contains("SKEWLAB_NO_SUCH_KEY"), "{err}");
}

#[test]
fn bad_input_is_2_and_nobody_at_home_is_13() {
    for (args, said) in [
        (&["http://192.0.2.1:9", "--conversation", "x"][..], "--allow-remote"),
        (&["http://127.0.0.1:9", "--conversation", "x", "--profile", "python-1.58.3"], "`python-1.58.2`"),
        (&["http://127.0.0.1:9", "--conversation", "x", "--clients", "0"], "--clients"),
        (&["http://127.0.0.1:9", "--conversation", "x/y"], "--conversation"),
        (&["http://127.0.0.1:9?session_api_key=s3cret", "--conversation", "x"], "--key-env"),
        (&["http://127.0.0.1:9"], "--conversation"),
    ] {
        let (code, out, err) = ended(&mut skewlab(&[&["attach"], args].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(said) && !err.contains("s3cret"), "{args:?}: {err}");
    }
    let nobody = ["attach", "http://127.0.0.1:1", "--conversation", "x", "--clients", "3"];
    let (code, out, err) = ended(&mut skewlab(&nobody));
    assert_eq!((code, out.as_str()), (13, ""));
    assert!(err.contains("cannot reach 127.0.0.1:1"), "{err}");
}

#[test]
fn the_schema_holds_no_more_than_it_says() {
    let served = served("1.43.1", "", &[]);
    let (_, out, _) = attach(&served, &["--clients", "1", "--say", "hi", "--format", "json"]);
    let mut value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["schema"], "skewlab.attach/1");
    value["seen"]["clients"][0]["more"] = json!(1);
    assert!(serde_json::from_value::<AttachReport>(value).is_err(), "an unknown field is refused");
}
