//! What skewlab ships, keeps and writes is valid by its schemas.

use std::path::PathBuf;

use serde_json::Value;
use skewlab::agent_server::profile::{CLIENT_FILES, SERVER_FILES};
use skewlab::record::certificate::ISSUED;
use skewlab::scenario::SHIPPED;

use super::{faults, of_toml, validator};
use crate::fixtures;
use crate::runs::{DEFAULT, Folder, ended, matrix, plan, run, skewlab};

fn valid(name: &str, what: &str, value: &Value) {
    let faults = faults(&validator(name), value);
    assert!(faults.is_empty(), "{what} by schema {name}: {faults:#?}");
}

fn folder(path: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, String)> =
        paths.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect();
    files.sort();
    assert!(!files.is_empty(), "{path}");
    files
}

#[test]
fn every_shipped_scenario_is_valid_by_the_schema_of_its_subject() {
    let mut subjects = [0, 0];
    for (path, text) in SHIPPED {
        let value = of_toml(text);
        let feed = value["subject"] == "session-feed";
        valid(if feed { "feed-scenario" } else { "scenario" }, path, &value);
        let other = if feed { "scenario" } else { "feed-scenario" };
        assert!(!validator(other).is_valid(&value), "{path} by {other}");
        subjects[usize::from(feed)] += 1;
    }
    assert!(subjects.iter().all(|n| *n >= 2), "{subjects:?}");
}

#[test]
fn every_shipped_profile_and_variant_is_valid() {
    for (name, files) in [("server-profile", SERVER_FILES), ("client-profile", CLIENT_FILES)] {
        for (path, text) in files {
            valid(name, path, &of_toml(text));
        }
    }
    for (path, text) in folder("scenarios/feeds") {
        valid("feed-variant", &path, &of_toml(&text));
    }
}

#[test]
fn every_certificate_and_every_kept_result_is_valid() {
    for (name, text) in ISSUED {
        valid("certificate", name, &serde_json::from_str(text).unwrap());
    }
    let mut kept = 0;
    for (path, text) in folder("tests/fixtures/results").iter().filter(|(path, _)| !path.contains("README")) {
        let name = path.rsplit('/').next().unwrap().rsplit_once("_v").unwrap().0;
        valid(name, path, &serde_json::from_str(text).unwrap());
        kept += 1;
    }
    assert!(kept >= 8, "{kept}");
}

#[test]
fn a_fresh_run_is_valid() {
    let json = |run: &skewlab::record::Run| serde_json::to_value(run).unwrap();
    valid("run", "the default run", &json(&matrix(&DEFAULT, &[], &[])));
    valid(
        "run",
        "a run of the session feed",
        &json(&matrix(&["session-feed"], &[], &["stale-plugin", "persistence"])),
    );
    // What a healthy run has none of: text that was added, several subscribers, budgets of which one is not measured.
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+twice", "1.58.2", "[mutant]\nrepeat_every = 2");
    let text = "servers = [\"1.58.2+twice\"]\nclients = [\"python-1.58.2\"]\nsubscribers = 2\n\
                [budget]\nlog_lines = 0\ncpu_ratio_vs = { server = \"1.43.1\", max = 1.0 }\n";
    let odd = folder.scenario("odd", text);
    let text = "servers = [\"1.43.1+AB\"]\nclients = [\"python@same\"]\n[budget]\nframes_per_token = 0\n\
                [[expect]]\nverdict = \"silent_loss\"\n";
    let costly = folder.scenario("costly", text);
    let found = run(&plan(&[&odd, &costly], &[], &[], &folder.catalogue()), 1, 1);
    assert!(found.cells.iter().any(|cell| cell.hops.iter().any(|hop| !hop.added.is_empty())));
    valid("run", "odd cells", &json(&found));
}

#[test]
fn fresh_benches_and_an_idle_answer_are_valid() {
    let printed = |args: &[&str]| {
        let (code, out, err) = ended(skewlab(args).args(["--format", "json"]));
        serde_json::from_str::<Value>(&out).unwrap_or_else(|e| panic!("{args:?}: {code} {e} {err}"))
    };
    let fanout =
        ["bench", "fanout", "--server", "1.44.1", "--subscribers", "0,1", "--tokens", "50", "--repeats", "2"];
    valid("bench", "bench fanout", &printed(&fanout));
    valid(
        "feed-bench",
        "bench feed",
        &printed(&["bench", "feed", "--chunks", "20", "--repeats", "2", "--store", "memory"]),
    );
    valid(
        "idle",
        "idle",
        &printed(&["idle", "--server", "1.43.1", "--server", "1.36.1", "--duration", "2m"]),
    );
}

#[test]
fn a_fresh_search_and_its_capsules_are_valid() {
    let folder = Folder::new();
    folder.profile("servers", "mine", "1.58.2", "[mutant]\ndrop_every = 2");
    let (out, profiles) = (folder.arg("out"), folder.arg(""));
    let args = [
        "explore",
        "--budget",
        "60",
        "--capsules",
        "8",
        "--out",
        &out,
        "--format",
        "json",
        "--profiles",
        &profiles,
    ];
    let (code, stdout, stderr) = ended(skewlab(&args).args(["--servers", "mine,1.43.1"]));
    assert_eq!(code, 10, "{stderr}");
    valid("explore", "a search", &serde_json::from_str(&stdout).unwrap());
    let mut kept = 0;
    for entry in std::fs::read_dir(folder.path("out")).unwrap() {
        let path = entry.unwrap().path();
        let capsule = of_toml(&std::fs::read_to_string(&path).unwrap());
        valid("capsule", &path.display().to_string(), &capsule);
        // It is a scenario as well, and a scenario is no capsule.
        valid("scenario", &path.display().to_string(), &capsule);
        let mut plain = capsule;
        plain.as_object_mut().unwrap().shift_remove("capsule");
        assert!(!validator("capsule").is_valid(&plain), "{}", path.display());
        kept += 1;
    }
    assert_eq!(kept, 8);
}

#[test]
fn a_kept_file_is_of_a_version_that_has_a_schema() {
    // The other way round: every schema with a version has its kept file.
    for schema in skewlab::suite::schemas::all().iter().filter(|schema| schema.file.contains(".v")) {
        let version = schema.file.trim_start_matches(schema.name).trim_start_matches(".v");
        let file = format!("results/{}_v{}.json", schema.name, version.trim_end_matches(".schema.json"));
        assert!(fixtures::path(&file).exists(), "{file}");
    }
}
