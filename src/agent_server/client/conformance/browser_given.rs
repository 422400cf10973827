//! `browser.json`: 27 frames and 12 scenarios recorded earlier, which are the stores of 1.6.1 and 1.14.0.

use serde_json::Value;

use super::browser_scenarios::scenarios;
use super::{Bench, corpus_frame};
use crate::probe::Fate;

const VERSIONS: [&str; 2] = ["browser-1.6.1", "browser-1.14.0"];

/// One name stands for two frames. The row of that name was recorded on a frame with *both* payload fields
/// null; the corpus frame of that name has text and only its reasoning is null, and every released canvas
/// draws it. The row is held to the frame that it was recorded on, and the corpus frame to the packages.
const RECORDED_ON: (&str, &str) = (
    "delta_explicit_nulls",
    r#"{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-30T07:45:00.123456","source":"agent","content":null,"reasoning_content":null,"kind":"StreamingDeltaEvent"}"#,
);

fn given() -> Value {
    serde_json::from_str(include_str!("../../../../tests/fixtures/verdicts/browser.json")).unwrap()
}

/// `[guard, events, ui, drawn as a delta]`.
fn row(version: &str, raw: &str) -> (bool, u64, u64, bool) {
    let mut bench = Bench::of(version);
    bench.take(raw);
    bench.tick();
    let guarded = matches!(&bench.trace.receipts[0].fate,
        Fate::Stopped { reason, .. } if reason.as_str().starts_with("guard_"));
    let store = bench.snapshot();
    let len = |v: &Value| v.as_array().unwrap().len() as u64;
    (!guarded, len(&store.events), len(&store.ui), store.as_delta)
}

#[test]
fn all_27_rows_hold() {
    let given = given();
    let rows = given["frames"].as_object().unwrap();
    assert_eq!(rows.len(), 27);
    for version in VERSIONS {
        for (name, want) in rows {
            let raw = if name == RECORDED_ON.0 { RECORDED_ON.1.to_owned() } else { corpus_frame(name) };
            let want = (
                want["guard"].as_bool().unwrap(),
                want["events"].as_u64().unwrap_or(0),
                want["ui"].as_u64().unwrap_or(0),
                want["rendered_as_delta"].as_bool().unwrap_or(false),
            );
            assert_eq!(row(version, &raw), want, "{version} {name}");
        }
        assert_eq!(row(version, &corpus_frame(RECORDED_ON.0)), (true, 1, 1, true), "{version}");
    }
}

#[test]
fn all_12_scenarios_hold() {
    let (given, scenarios) = (given(), scenarios());
    let rows = given["scenarios"].as_object().unwrap();
    assert_eq!(rows.len(), 12);
    for version in VERSIONS {
        for (name, want) in rows {
            let store = scenarios[name].play(version, |_, _| {}).snapshot();
            assert_eq!(store.events, want["events"], "{version} {name}");
            assert_eq!(store.ui, want["ui"], "{version} {name}");
            assert_eq!(store.ids as u64, want["ids"].as_u64().unwrap(), "{version} {name}");
            assert!(want["err"].is_null());
        }
    }
}
