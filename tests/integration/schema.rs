//! `run.json` is a promise to readers: yesterday's file still reads, today's comes back as it went out, and
//! its shape changes only together with `schemas/run.v1.txt`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use skewlab::record::bench::{BENCH_SCHEMA, Bench};
use skewlab::record::idle::IdleReport;
use skewlab::record::{Run, SCHEMA};

use crate::fixtures;
use crate::runs::{DEFAULT, Folder, ended, matrix, plan, run, skewlab};

/// Objects whose keys are data: reasons, classes, message keys.
const MAPS: [&str; 6] = [".dropped", ".added", ".rejected", ".classes", ".log", ".figures"];

/// Every path of a value with the type at its end: `cells[].hops[].in.frames number`.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => {
            for item in items {
                paths(item, &format!("{at}[]"), found);
            }
            "array"
        }
        Value::Object(fields) => {
            let is_map = MAPS.iter().any(|map| at.ends_with(map));
            for (key, value) in fields {
                let key = if is_map { "*" } else { key };
                let dot = if at.is_empty() { "" } else { "." };
                paths(value, &format!("{at}{dot}{key}"), found);
            }
            "object"
        }
    };
    if !at.is_empty() {
        found.insert(format!("{at} {kind}"));
    }
}

fn shape(run: &Run) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    paths(&serde_json::to_value(run).unwrap(), "", &mut found);
    found
}

/// A cell with what a healthy run has none of: text that was added, an outcome that needs a word, several
/// subscribers, and budgets, of which one is not measured.
fn with_optional_fields() -> Run {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+twice", "1.58.2", "[mutant]\nrepeat_every = 2");
    let text = "servers = [\"1.58.2+twice\"]\nclients = [\"python-1.58.2\"]\nsubscribers = 2\n\
                [budget]\nlog_lines = 0\ncpu_ratio_vs = { server = \"1.43.1\", max = 1.0 }\n";
    let file = folder.scenario("odd", text);
    // A loss that is expected over a cost that is not.
    let text = "servers = [\"1.43.1+AB\"]\nclients = [\"python@same\"]\n[budget]\nframes_per_token = 0\n\
                [[expect]]\nverdict = \"silent_loss\"\n";
    let costly = folder.scenario("costly", text);
    run(&plan(&[&file, &costly], &[], &[], &folder.catalogue()), 1, 1)
}

#[test]
fn the_shape_of_a_run_is_the_documented_one() {
    let mut found = shape(&matrix(&DEFAULT, &[], &[]));
    found.extend(shape(&with_optional_fields()));
    // What only the session feed has: figures, limits on them, and the oracle.
    found.extend(shape(&matrix(&["session-feed"], &[], &["stale-plugin", "persistence"])));
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "schemas", "run.v1.txt"].iter().collect();
    let text = found.iter().fold(String::new(), |text, line| text + line + "\n");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let documented: BTreeSet<String> =
        std::fs::read_to_string(&path).unwrap_or_default().lines().map(str::to_owned).collect();
    let (new, gone): (Vec<_>, Vec<_>) =
        (found.difference(&documented).collect(), documented.difference(&found).collect());
    assert!(
        new.is_empty() && gone.is_empty(),
        "run.json has changed its shape.\n  new: {new:#?}\n  gone: {gone:#?}\nA field that is gone or of another \
         type needs a new schema version; for a new one run\n  UPDATE_SCHEMA=1 cargo test --test integration schema\n\
         and commit schemas/run.v1.txt"
    );
}

#[test]
fn a_stored_run_still_reads() {
    let value = fixtures::json("run_v1.json");
    let run: Run = serde_json::from_value(value.clone()).unwrap();
    assert_eq!((run.schema.as_str(), run.cells.len()), (SCHEMA, 3));
    let verdicts: Vec<&str> = run.cells.iter().map(|c| c.verdict.as_str()).collect();
    assert_eq!(verdicts, ["delivered", "silent_loss", "loud_loss"]);
    assert_eq!(serde_json::to_value(&run).unwrap(), value, "nothing is lost on the way through");
    let mut newer = value;
    newer["cells"][0]["surprise"] = 1.into();
    assert!(serde_json::from_value::<Run>(newer).is_err(), "a field that nobody knows is refused");
}

#[test]
fn a_fresh_run_comes_back_as_it_went_out() {
    let run = matrix(&DEFAULT, &[], &[]);
    let text = serde_json::to_string(&run).unwrap();
    let back: Run = serde_json::from_str(&text).unwrap();
    assert!(back == run);
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}

#[test]
fn the_stored_run_is_what_the_same_command_gives_today() {
    let stored: Run = serde_json::from_value(fixtures::json("run_v1.json")).unwrap();
    let clients = ["--client", "python-1.58.2", "--client", "python@same", "--client", "browser-session"];
    let args = ["matrix", "release-skew", "--server", "1.43.1+AB", "--format", "json"];
    let (_, stdout, _) = ended(skewlab(&args).args(clients));
    let fresh: Run = serde_json::from_str(&stdout).unwrap();
    // Version, words and times may move on; what was measured may not.
    for (stored, fresh) in stored.cells.iter().zip(&fresh.cells) {
        let measured = |c: &skewlab::record::CellResult| {
            (c.id.clone(), c.verdict, c.hops.clone(), c.side_effects.clone())
        };
        assert_eq!(measured(stored), measured(fresh));
    }
    assert_eq!(stored.cells.len(), fresh.cells.len());
}

/// Reads a stored file, and says whether it comes back as it went in; then adds a field that nobody knows.
fn held<T: serde::Serialize + serde::de::DeserializeOwned>(file: &str) -> T {
    let value = fixtures::json(file);
    let read: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), value, "{file}: nothing is lost, and no field is new");
    let mut newer = value;
    newer["surprise"] = 1.into();
    assert!(serde_json::from_value::<T>(newer).is_err(), "{file}: a field that nobody knows is refused");
    read
}

#[test]
fn a_stored_bench_still_reads() {
    let bench: Bench = held("bench_v1.json");
    assert_eq!((bench.schema.as_str(), bench.points.len(), bench.delivery.len()), (BENCH_SCHEMA, 4, 4));
    assert!(bench.ratios.iter().any(|r| r.vs == "raw-tcp/write"));
}

#[test]
fn a_stored_idle_answer_still_reads() {
    let idle: IdleReport = held("idle_v1.json");
    assert_eq!((idle.schema.as_str(), idle.servers.len()), ("skewlab.idle/1", 2));
    assert_eq!(idle.servers.iter().filter(|s| s.reaped_at_s.is_some()).count(), 1);
}
