//! 248 frames on eight versions of the canvas, each alone and after a user message.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Bench, corpus};
use crate::probe::Fate;

#[derive(Deserialize)]
struct Frames {
    columns: Vec<String>,
    raw: BTreeMap<String, String>,
    verdicts: BTreeMap<String, Vec<Group>>,
}

#[derive(Deserialize)]
struct Group {
    versions: Vec<String>,
    row: Vec<Value>,
}

fn frames() -> Frames {
    serde_json::from_str(include_str!("../../../../tests/fixtures/browser/frames.json")).unwrap()
}

/// The extended corpus, by name.
pub(super) fn extended() -> BTreeMap<String, String> {
    frames().raw
}

const SEED: &str = r#"{"id":"seed-user","timestamp":"2026-11-30T07:44:00.000000","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi-seed"}],"thinking_blocks":[]},"activated_skills":[],"extended_content":[],"kind":"MessageEvent"}"#;

/// The columns of the fixture, from the emulation.
fn row(version: &str, raw: &str) -> Vec<Value> {
    let mut alone = Bench::of(&format!("browser-{version}"));
    alone.take(raw);
    alone.tick();
    let passed = !matches!(&alone.trace.receipts[0].fate,
        Fate::Stopped { reason, .. } if reason.as_str().starts_with("guard_") || reason.as_str() == "not_json");
    let threw = matches!(&alone.trace.receipts[0].fate,
        Fate::Stopped { reason, .. } if reason.as_str() == "handler_threw");
    let store = alone.snapshot();
    let len = |v: &Value| v.as_array().unwrap().len();

    let mut seeded = Bench::of(&format!("browser-{version}"));
    seeded.take(SEED);
    seeded.take(raw);
    seeded.tick();
    let chat = seeded.snapshot();
    let mut seen: Vec<Value> = chat.seen.as_array().cloned().unwrap_or_default();
    let after = seen.iter().position(|s| *s == json!(["user", "hi-seed"]));
    if let Some(at) = after {
        seen.remove(at);
    }
    let texts = |who: &str| {
        let texts: Vec<&str> = seen.iter().filter(|s| s[0] == who).map(|s| s[1].as_str().unwrap()).collect();
        if texts.is_empty() { Value::Null } else { json!(texts.join("\n")) }
    };
    let banner = seeded.trace.surfaced.iter().find_map(|s| s.strip_prefix("error banner: "));
    vec![
        json!(passed),
        json!(threw),
        json!(len(&store.events)),
        json!(len(&store.ui)),
        json!(store.as_delta),
        json!(len(&chat.ui)),
        json!(seeded.log_lines()),
        json!(banner),
        texts("agent"),
        texts("thinking"),
        json!(chat.seen.is_null()),
        json!(after.is_some_and(|at| at > 0)),
    ]
}

#[test]
fn every_frame_does_what_it_did_in_the_released_canvas() {
    let frames = frames();
    let raws: BTreeMap<String, String> = corpus().into_iter().chain(frames.raw).collect();
    assert_eq!(frames.verdicts.len(), 248);
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, groups) in &frames.verdicts {
        for group in groups {
            for version in &group.versions {
                let got = row(version, &raws[name]);
                compared += 1;
                for (at, column) in frames.columns.iter().enumerate() {
                    if got[at] != group.row[at] {
                        wrong.push(format!("{version} {name} {column}: {} not {}", got[at], group.row[at]));
                    }
                }
            }
        }
    }
    assert_eq!(compared, 248 * 8);
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
}
