//! `skewlab idle` as a person drives it: the JSON, the defaults, and what a typing error is told.

use serde_json::Value;
use skewlab::agent_server::profile::Catalogue;
use skewlab::record::idle::{IDLE_SCHEMA, IdleReport};

use crate::runs::{Folder, ended, skewlab};

fn json(args: &[&str]) -> IdleReport {
    let (code, stdout, stderr) = ended(skewlab(&["idle", "--format", "json"]).args(args));
    assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}"))
}

#[test]
fn without_arguments_it_asks_every_server_for_forty_minutes() {
    let report = json(&[]);
    assert_eq!(report.schema, IDLE_SCHEMA);
    let settings = &report.settings;
    assert_eq!((settings.tokens, settings.clients.len(), settings.warm_up), (2400, 4, 0));
    assert!((settings.rate - 1.0).abs() < 1e-9 && (settings.reap_after_s - 1200.0).abs() < 1e-9);
    let catalogue = Catalogue::embedded().unwrap();
    let every: Vec<&str> = catalogue.servers().all().map(|a| a.name.as_str()).collect();
    assert_eq!(report.servers.iter().map(|s| s.server.as_str()).collect::<Vec<_>>(), every);
    let what_ifs = report.servers.iter().filter(|s| s.what_if).count();
    assert_eq!(what_ifs, 5);
    // A question, not a gate: the code is 0 although servers are reaped.
    assert!(report.servers.iter().any(|s| s.reaped_at_s.is_some()));
}

#[test]
fn the_json_has_null_where_nothing_happened() {
    let (_, stdout, _) =
        ended(skewlab(&["idle", "--format", "json", "--server", "1.36.1", "--duration", "90s"]).args([
            "--client",
            "python-1.34.0",
            "--client",
            "browser-1.4.0",
            "--clients",
            "3",
        ]));
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let server = &report["servers"][0];
    assert_eq!((server["tokens"].as_u64(), server["writes"]["process"].as_u64()), (Some(90), Some(90)));
    for absent in [&server["reaped_at_s"], &server["evicted_at_s"], &server["writes"]["eviction"]] {
        assert!(absent.is_null(), "{server}");
    }
    let clients: Vec<&str> =
        server["clients"].as_array().unwrap().iter().map(|c| c["client"].as_str().unwrap()).collect();
    assert_eq!(clients, ["python-1.34.0", "browser-1.4.0", "python-1.34.0"], "taken in turn");
}

#[test]
fn the_same_question_has_the_same_answer_and_a_file_holds_it_too() {
    let folder = Folder::new();
    let out = folder.arg("deep/idle.json");
    let args =
        ["--server", "1.44.*", "--server", "1.47.0", "--duration", "25m", "--warm-up", "3", "--out", &out];
    let report = json(&args);
    assert_eq!(report, json(&args));
    assert_eq!(report, serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap());
    let names: Vec<&str> = report.servers.iter().map(|s| s.server.as_str()).collect();
    assert_eq!(names, ["1.44.1", "1.44.1+per-token", "1.44.1+throttled", "1.44.1+heartbeat", "1.47.0"]);
    assert_eq!(report.servers[4].profile, "1.58.2");
}

#[test]
fn what_cannot_be_asked_is_told_where_and_what_to_write() {
    for (args, said) in [
        (&["--duration", "0s"][..], "--duration"),
        (&["--duration", "-5m"], "90s, 40m or 2h"),
        (&["--duration", "40"], "90s, 40m or 2h"),
        (&["--reap-after", "0m"], "--reap-after"),
        (&["--rate", "0"], "more than 0 tokens"),
        (&["--rate", "-1"], "--rate"),
        (&["--rate", "fast"], "as in 1 or 0.5"),
        (&["--rate", "1000", "--duration", "2h"], "at most 200000"),
        (&["--rate", "0.01", "--duration", "1s"], "less than one token"),
        (&["--rate", "1e-300"], "less than one token"),
        (&["--server", "1.58.3"], "`1.58.2`"),
        (&["--server", "1.44.1+throtled"], "`1.44.1+throttled`"),
        (&["--server", "9.*"], "no profile matches"),
        (&["--client", "pyton-1.58.2"], "`python-1.58.2`"),
        (&["--clients", "-1"], "--clients"),
        (&["--warm-up", "-1"], "--warm-up"),
        (&["--profiles", "/nowhere/at/all"], "no such folder"),
    ] {
        let (code, stdout, stderr) = ended(skewlab(&["idle"]).args(args));
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

#[test]
fn traits_that_contradict_each_other_are_told_before_anything_runs() {
    let folder = Folder::new();
    folder.profile("servers", "mine", "1.44.1", "[idle]\ndelta_throttle_s = 30");
    let (code, _, stderr) = ended(&mut skewlab(&["idle", "--profiles", &folder.arg(""), "--server", "mine"]));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("`mine`") && stderr.contains("add \"idle\" to `bus.deltas_to`"), "{stderr}");
}

#[test]
fn a_server_that_never_ends_its_turn_is_an_error_of_its_own() {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+hang", "1.58.2", "[mutant]\nhang = true");
    let args = ["idle", "--profiles", &folder.arg(""), "--server", "1.58.2+hang", "--duration", "90s"];
    let (code, stdout, stderr) = ended(&mut skewlab(&args));
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.contains("1.58.2+hang") && stderr.contains("did not end"), "{stderr}");
}
