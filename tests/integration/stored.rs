//! Result files are a promise to readers: yesterday's file still reads, and today's comes back as it went out.

use std::path::Path;

use serde_json::Value;
use skewlab::record::bench::BENCH_SCHEMA;
use skewlab::record::stored::SCHEMAS;
use skewlab::record::{Document, Run, SCHEMA};

use crate::fixtures;
use crate::runs::{DEFAULT, ended, matrix, skewlab};

/// The kept file of a schema version.
fn kept(schema: &str) -> String {
    let (family, version) = schema.rsplit_once('/').unwrap();
    format!("results/{}_v{version}.json", family.strip_prefix("skewlab.").unwrap())
}

fn written(document: &Document) -> Value {
    match document {
        Document::Run(run) => serde_json::to_value(run),
        Document::Bench(bench) => serde_json::to_value(bench),
        Document::FeedBench(bench) => serde_json::to_value(bench),
        Document::LiveBench(bench) => serde_json::to_value(bench),
        Document::LiveIdle(report) => serde_json::to_value(report),
        Document::Idle(report) => serde_json::to_value(report),
        Document::Attach(report) => serde_json::to_value(report),
        Document::Certificate(certificate) => serde_json::to_value(certificate),
        Document::ClientBench(bench) => serde_json::to_value(bench),
        Document::Interleaved(interleaved) => serde_json::to_value(interleaved),
        Document::Comparison(comparison) => serde_json::to_value(comparison),
        Document::Contract(contract) => serde_json::to_value(contract),
        Document::Explore(report) => serde_json::to_value(report),
    }
    .unwrap()
}

#[test]
fn a_file_of_every_schema_version_reads_and_comes_back_unchanged() {
    for schema in SCHEMAS {
        let file = kept(schema);
        let document = Document::read(&fixtures::path(&file)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(document.schema(), schema);
        let value = fixtures::json(&file);
        assert_eq!(written(&document), value, "{file}: nothing is lost, and no field is new");
        let mut newer = value;
        newer["surprise"] = 1.into();
        let refused = Document::parse(Path::new("x.json"), &newer.to_string()).unwrap_err().to_string();
        assert!(refused.contains("unknown field `surprise`"), "{file}: {refused}");
    }
}

#[test]
fn the_kept_files_hold_what_they_are_kept_for() {
    let Document::Run(run) = Document::read(&fixtures::path(&kept(SCHEMA))).unwrap() else {
        panic!("no run")
    };
    let verdicts: Vec<&str> = run.cells.iter().map(|c| c.verdict.as_str()).collect();
    assert_eq!(verdicts, ["delivered", "silent_loss", "loud_loss"]);
    let Document::Bench(bench) = Document::read(&fixtures::path(&kept(BENCH_SCHEMA))).unwrap() else {
        panic!("no bench")
    };
    assert_eq!((bench.points.len(), bench.delivery.len()), (4, 4));
    assert!(bench.ratios.iter().any(|r| r.vs == "raw-tcp/write"));
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
fn the_kept_run_is_what_the_same_command_gives_today() {
    let stored: Run = serde_json::from_value(fixtures::json(&kept(SCHEMA))).unwrap();
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
