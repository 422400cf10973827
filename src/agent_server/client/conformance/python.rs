//! The recorded verdicts of six released Python clients on the corpus, at the level of outcome, class and
//! log line. Needs the real event model.

use serde_json::Value;

use super::super::{CheckOutcome, check};
use super::{Bench, choice, corpus_frame};
use crate::probe::Fate;

fn given() -> Value {
    serde_json::from_str(include_str!("../../../../tests/fixtures/verdicts/python.json")).unwrap()
}

#[test]
fn all_50_frames_hold_on_six_releases() {
    let given = given();
    let frames = given["frames"].as_object().unwrap();
    assert_eq!(frames.len(), 50);
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, by_release) in frames {
        for (release, want) in by_release.as_object().unwrap() {
            let client = format!("python-{release}");
            let raw = corpus_frame(name);
            let got = check(&choice(&client), &raw).unwrap();
            let accepted = want["verdict"] == "accept";
            let outcome = if accepted { CheckOutcome::Delivered } else { CheckOutcome::Rejected };
            if got.outcome != outcome || got.as_.as_deref() != want["class"].as_str() {
                wrong.push(format!("{client} {name}: {got:?} not {want}"));
            }
            let mut bench = Bench::of(&client);
            bench.take(&raw);
            let lines = want["log"].as_array().unwrap();
            let key = lines.first().and_then(|l| l[1].as_str());
            let logged = key.map_or(bench.log_lines() == 0, |k| bench.trace.log.get(k) == Some(&1));
            if !logged || bench.log_lines() != lines.len() as u64 {
                wrong.push(format!("{client} {name}: log {:?} not {want}", bench.trace.log));
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 300);
    assert!(wrong.is_empty(), "{} in {compared}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_bad_frame_names_the_exception_that_was_recorded() {
    let given = given();
    for (name, by_release) in given["frames"].as_object().unwrap() {
        for (release, want) in by_release.as_object().unwrap() {
            let Some(error) = want["error"].as_str() else { continue };
            let got = check(&choice(&format!("python-{release}")), &corpus_frame(name)).unwrap();
            assert!(got.detail.starts_with(error), "{release} {name}: {} not {error}", got.detail);
        }
    }
}

/// A run ends, and the client reads its events again over REST (run by calibrate: 1.30.0 in front of 1.58.2).
#[test]
fn a_run_whose_events_are_refused_raises_when_it_ends() {
    let end = r#"{"id":"e","timestamp":"t","source":"environment","key":"execution_status","value":"finished","kind":"ConversationStateUpdateEvent"}"#;
    let raised = |client: &str, frames: &[&str]| {
        let mut bench = Bench::of(client);
        for frame in frames {
            bench.take(frame);
        }
        bench.client.finish(&mut bench.trace);
        bench.trace.surfaced
    };
    let message = corpus_frame("message_agent");
    let told = raised("python-1.30.0", &[&message, end]);
    assert_eq!(told, ["ValidationError: an event of the run is refused"]);
    // Nothing is read again before the end, a delta is not among what is read, and a newer model takes the message.
    assert!(raised("python-1.30.0", &[&message]).is_empty());
    assert!(raised("python-1.30.0", &[&corpus_frame("delta_extra_seq"), end]).is_empty());
    assert!(raised("python-1.58.2", &[&message, end]).is_empty());
}

#[test]
fn parent_id_costs_an_old_client_its_delta_and_a_line_in_the_log() {
    let mut old = Bench::of("python-1.30.0");
    old.take(&corpus_frame("delta_explicit_nulls"));
    assert!(matches!(old.trace.receipts[0].fate, Fate::Stopped { .. }));
    assert_eq!(old.trace.log["ws_event_processing_error"], 1);
    let mut new = Bench::of("python-1.31.0");
    new.take(&corpus_frame("delta_explicit_nulls"));
    assert_eq!(new.trace.delivered[0].text, "Hel");
}
