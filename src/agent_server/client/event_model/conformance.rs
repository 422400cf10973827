//! Agreement with the real packages: every frame of the fixture, put through every release of it, has to end
//! as it did there, with the same errors at the same places in the same order.
//!
//! `scenarios/corpus.jsonl` and `tests/fixtures/python/frames.jsonl` are the frames, a text or the parts
//! that it is made of (`["[", 20000]` repeats). `verdicts.json` has what became of each in the wheels of
//! `versions`, run by run: `[[3, 1], [0, 18]]` is verdict 3 in the first release and verdict 0 in the rest.
//! Names say where a frame comes from: `x_` systematic edits of valid frames, `p_` edges of pydantic and of
//! `json.loads`, `p_fuzz_` random edits. Python 3.13.0 and pydantic 2.14.4; 2.12.5 for 1.18.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{EventModel, Options};
use crate::unit::Release;
use crate::wire::json::MAX_DEPTH;

/// Python 3.13.0 raises a `RecursionError` beyond this nesting. Frames between [`MAX_DEPTH`] and this are the
/// only ones in which we are meant to differ: we call them too deep and it does not.
const PYTHON_DEPTH: usize = 9998;

#[derive(Deserialize)]
struct Frame {
    name: String,
    raw: Raw,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Raw {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Text(String),
    Repeat(String, usize),
}

impl Raw {
    fn text(&self) -> String {
        match self {
            Raw::Text(text) => text.clone(),
            Raw::Parts(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.clone(),
                    Part::Repeat(text, times) => text.repeat(*times),
                })
                .collect(),
        }
    }
}

/// Class, exception, and the errors of a `ValidationError` as type and place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Verdict(Option<String>, Option<String>, Vec<(String, String)>);

#[derive(Deserialize)]
struct Truth {
    versions: Vec<String>,
    verdicts: Vec<Verdict>,
    frames: BTreeMap<String, Vec<(usize, usize)>>,
}

impl Truth {
    fn of(&self, frame: &str, version: &str) -> &Verdict {
        let version = self.versions.iter().position(|v| v == version).unwrap();
        let mut runs = self.frames[frame].iter().flat_map(|(verdict, n)| std::iter::repeat_n(*verdict, *n));
        &self.verdicts[runs.nth(version).unwrap()]
    }
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn json<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

fn frames() -> Vec<(String, String)> {
    let all = include_str!("../../../../scenarios/corpus.jsonl").to_owned() + &fixture("python/frames.jsonl");
    all.lines().map(json::<Frame>).map(|frame| (frame.name, frame.raw.text())).collect()
}

fn truth() -> Truth {
    json(&fixture("python/verdicts.json"))
}

fn model(version: &str) -> EventModel {
    let release: Release = version.parse().unwrap();
    let delta_is_event = release.stages() != "AB";
    EventModel::at(&release, Options { delta_is_event, ..Options::default() }).unwrap()
}

fn ours(model: &EventModel, text: &str) -> Verdict {
    match model.decode(text) {
        Ok(decoded) => Verdict(Some(decoded.kind), None, Vec::new()),
        Err(rejection) => {
            let details =
                rejection.details.into_iter().map(|(kind, place)| (kind.to_owned(), place)).collect();
            Verdict(None, Some(rejection.error.as_str().to_owned()), details)
        }
    }
}

fn nesting(text: &str) -> usize {
    let depth = |(now, most): (usize, usize), byte: u8| match byte {
        b'[' | b'{' => (now + 1, most.max(now + 1)),
        b']' | b'}' => (now.saturating_sub(1), most),
        _ => (now, most),
    };
    text.bytes().fold((0, 0), depth).1
}

fn beyond_us(text: &str) -> bool {
    (MAX_DEPTH + 1..=PYTHON_DEPTH).contains(&nesting(text))
}

/// One line for each frame in which the `ours` release does not end as `theirs` did.
fn disagreements(truth: &Truth, ours_at: &str, theirs: &str) -> Vec<String> {
    let model = model(ours_at);
    let mut lines = Vec::new();
    for (name, text) in frames().iter().filter(|(_, text)| !beyond_us(text)) {
        let (said, expected) = (ours(&model, text), truth.of(name, theirs));
        if said != *expected {
            lines.push(format!("{theirs} {name}\n    real {expected:?}\n    ours {said:?}"));
        }
    }
    lines
}

#[test]
fn every_frame_ends_as_in_the_real_package() {
    let truth = truth();
    let lines: Vec<String> = truth.versions.iter().flat_map(|v| disagreements(&truth, v, v)).collect();
    let shown = lines.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(lines.is_empty(), "{} disagreements, the first:\n{shown}", lines.len());
}

#[test]
fn the_fixture_is_all_there() {
    let (truth, frames) = (truth(), frames());
    assert_eq!(truth.versions.len(), 19);
    assert_eq!(frames.len(), truth.frames.len());
    assert!(frames.len() >= 1200, "{}", frames.len());
    for runs in truth.frames.values() {
        assert_eq!(runs.iter().map(|(_, n)| n).sum::<usize>(), truth.versions.len());
    }
    let left_out: Vec<&str> =
        frames.iter().filter(|(_, text)| beyond_us(text)).map(|(name, _)| name.as_str()).collect();
    assert_eq!(left_out, ["x_deep_state_value_900", "x_deep_state_value_990", "x_deep_state_value_2000"]);
    let verdicts = truth.verdicts.iter();
    let classes: std::collections::BTreeSet<_> = verdicts.filter_map(|v| v.0.as_deref()).collect();
    assert_eq!(classes.len(), model("1.58.2").kinds().count(), "every kind is taken somewhere");
}

#[test]
fn a_model_of_another_release_is_found_out() {
    let truth = truth();
    let wrong = disagreements(&truth, "1.30.0", "1.43.1");
    assert!(wrong.len() > 20, "{}", wrong.len());
    assert!(wrong.iter().any(|line| line.contains("delta_explicit_nulls")), "parent_id is what divides them");
    assert!(!disagreements(&truth, "1.58.2", "1.57.0").is_empty(), "strings instead of objects");
    assert!(!disagreements(&truth, "1.43.1+AB", "1.43.1").is_empty(), "deltas");
    assert!(disagreements(&truth, "1.45.0", "1.44.1").is_empty(), "these two are alike");
}

#[test]
fn what_is_too_deep_for_us_is_said_so() {
    let model = model("1.58.2");
    for (name, text) in frames().iter().filter(|(_, text)| beyond_us(text)) {
        let rejection = model.decode(text).unwrap_err();
        assert_eq!(rejection.reason.as_str(), "too_deep", "{name}");
    }
}

#[test]
fn a_decoded_frame_is_the_frame() {
    let text = r#"{"id":"i","timestamp":"t","content":"Hel","kind":"StreamingDeltaEvent"}"#;
    let decoded = model("1.43.1").decode(text).unwrap();
    assert_eq!((decoded.kind.as_str(), &decoded.value), ("StreamingDeltaEvent", &json::<Value>(text)));
}
