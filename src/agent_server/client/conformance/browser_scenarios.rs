//! 86 sequences of frames on eight versions of the canvas: what a person sees after each step, and the
//! store at the end.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Bench;

#[derive(Deserialize)]
pub(super) struct Scenario {
    batch: bool,
    frames: Vec<Value>,
    by: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    versions: Vec<String>,
    got: Got,
}

#[derive(Deserialize)]
struct Got {
    steps: Vec<Step>,
    events: Value,
    ui: Value,
    ids: usize,
}

#[derive(Deserialize)]
struct Step {
    /// `[who, text]`; null when the error page is up.
    seen: Value,
    #[serde(default)]
    console: u64,
}

pub(super) fn scenarios() -> BTreeMap<String, Scenario> {
    serde_json::from_str(include_str!("../../../../tests/fixtures/browser/scenarios.json")).unwrap()
}

impl Scenario {
    /// Plays it on a client, calling `step` after each step.
    pub(super) fn play(&self, name: &str, mut step: impl FnMut(usize, &Bench)) -> Bench {
        let mut bench = Bench::of(name);
        for (at, frame) in self.frames.iter().enumerate() {
            match frame.as_str() {
                Some("FRAME") => bench.tick(),
                Some(text) => bench.take(text),
                None => bench.take(&on_its_socket(frame)),
            }
            if !self.batch {
                bench.tick();
            }
            step(at, &bench);
        }
        bench
    }
}

/// The planning agent's socket marks its events with a flag on their way into the store.
fn on_its_socket(frame: &Value) -> String {
    let Some(event) = frame.get("planning") else { return frame.to_string() };
    let mut event = event.clone();
    event["isFromPlanningAgent"] = json!(true);
    event.to_string()
}

/// The recording names the source of other messages, and has the property that a bubble was given; of what
/// is no string the renderer of that build draws nothing.
fn drawn(seen: &Value) -> Value {
    let Some(list) = seen.as_array() else { return Value::Null };
    let who = |w: &Value| match w.as_str() {
        Some("environment" | "hook") => json!("other"),
        _ => w.clone(),
    };
    list.iter().map(|s| json!([who(&s[0]), s[1].as_str().unwrap_or_default()])).collect()
}

#[test]
fn every_step_shows_what_it_showed_in_the_released_canvas() {
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), 86);
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, scenario) in &scenarios {
        for group in &scenario.by {
            for version in &group.versions {
                let got = &group.got;
                let mut lines = 0;
                let bench = scenario.play(&format!("browser-{version}"), |at, bench| {
                    let (want, seen) = (drawn(&got.steps[at].seen), bench.snapshot().seen);
                    if seen != want {
                        wrong.push(format!("{version} {name} step {at}: {seen} not {want}"));
                    }
                    if bench.log_lines() - lines != got.steps[at].console {
                        wrong.push(format!("{version} {name} step {at}: console"));
                    }
                    lines = bench.log_lines();
                });
                let store = bench.snapshot();
                for (part, have, want) in [("events", &store.events, &got.events), ("ui", &store.ui, &got.ui)]
                {
                    if have != want {
                        wrong.push(format!("{version} {name} {part}: {have} not {want}"));
                    }
                }
                if store.ids != got.ids {
                    wrong.push(format!("{version} {name} ids: {} not {}", store.ids, got.ids));
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 86 * 8);
    assert!(wrong.is_empty(), "{} in {compared}:\n{}", wrong.len(), wrong.join("\n"));
}
