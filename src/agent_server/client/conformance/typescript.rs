//! The TypeScript client: 25 frames in sequence on four releases, and 248 frames each on a fresh client.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::Incoming;
use super::browser_frames::extended;
use super::{Bench, corpus, corpus_frame};
use crate::probe::Fate;
use crate::record::{Hop, Reason};

/// The releases of the recording. Its fifth entry, `1.39.0_plain_node20`, never connects: node has no
/// `WebSocket` there, so it has no frames.
const RELEASES: [&str; 4] = ["1.36.1", "1.38.0", "1.38.1", "1.39.0"];

/// The recording's own frames of these names had ids of their own; the corpus frames share one.
const FRESH_IDS: [&str; 4] =
    ["delta_no_timestamp", "delta_no_source", "delta_source_bad", "delta_content_int"];

/// Recorded on the package's socket client alone. `RemoteConversation` puts a state callback before the application's,
/// which throws on `null`: no callback, and a second error (run by calibrate on 1.39.0).
const BARE_SOCKET: &str = "json_null";

/// What is recorded of one frame: callbacks, errors, and values added to the list.
fn row(bench: &mut Bench, frame: Incoming<'_>) -> (u64, u64, u64) {
    let cached = |bench: &Bench| bench.client.app.cached() as u64;
    let kept = cached(bench);
    bench.trace.surfaced.clear();
    bench.client.receive(frame, &mut bench.trace);
    let fate = &bench.trace.receipts.last().unwrap().fate;
    let called = !matches!(fate, Fate::Stopped { hop: Hop::Parsed | Hop::Decoded, .. });
    (u64::from(called), bench.trace.surfaced.len() as u64, cached(bench) - kept)
}

fn raw(name: &str) -> String {
    let raw = match name {
        "delta_no_id_2" => corpus_frame("delta_no_id"),
        "delta_dup_id" | "binary_json" => corpus_frame("delta_content"),
        name => corpus_frame(name),
    };
    if !FRESH_IDS.contains(&name) {
        return raw;
    }
    let mut frame: Value = serde_json::from_str(&raw).unwrap();
    frame["id"] = Value::from(name);
    frame.to_string()
}

#[test]
fn all_25_rows_hold_on_all_four_releases() {
    let given: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/verdicts/typescript.json")).unwrap();
    for release in RELEASES {
        let rows = given["versions"][release]["frames"].as_object().unwrap();
        assert_eq!(rows.len(), 25);
        let mut bench = Bench::of(&format!("typescript-{release}"));
        for (name, want) in rows {
            let raw = raw(name);
            let binary = name == "binary_json";
            let frame = if binary { Incoming::Binary(raw.as_bytes()) } else { Incoming::Text(&raw) };
            let got = row(&mut bench, frame);
            let errors = want["errors"].as_array().unwrap().len() as u64;
            let (callback, cached) = (want["callback"].as_u64(), want["cached_delta"].as_u64());
            let want = (callback.unwrap(), errors, cached.unwrap());
            let want = if name == BARE_SOCKET { (0, want.1 + 1, want.2) } else { want };
            assert_eq!(got, want, "{release} {name}");
        }
    }
}

#[test]
fn all_frames_hold_on_a_fresh_client() {
    type Row = (u64, u64, u64);
    let rows: BTreeMap<String, Row> =
        serde_json::from_str(include_str!("../../../../tests/fixtures/browser/typescript_1.39.0.json"))
            .unwrap();
    let frames: BTreeMap<String, String> = corpus().into_iter().chain(extended()).collect();
    assert_eq!(rows.len(), 248);
    for (name, want) in rows {
        let got = row(&mut Bench::of("typescript-1.39.0"), Incoming::Text(&frames[&name]));
        let want = if name == BARE_SOCKET { (0, want.1 + 1, want.2) } else { want };
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn the_application_appends_the_content_of_literal_deltas_and_no_reasoning() {
    let mut bench = Bench::of("typescript-1.39.0");
    for name in ["delta_content", "unknown_kind", "delta_both", "delta_reasoning", "delta_content_int"] {
        bench.take(&corpus_frame(name));
    }
    let text: Vec<&str> = bench.trace.delivered.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(text, ["Hel", "a", "7"]);
    let missing = |at: usize| match &bench.trace.receipts[at].fate {
        Fate::Reached { missing, .. } => missing.clone(),
        Fate::Stopped { reason, .. } => panic!("stopped: {reason}"),
    };
    assert_eq!(missing(1), Reason::new("not_a_delta"));
    assert_eq!(missing(3), Reason::CLASS_NOT_SHOWN);
}
