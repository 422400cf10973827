//! `check` on the frames whose verdicts a person would look up first.

use super::super::{CheckOutcome, Checked, check};
use super::browser_frames::extended;
use super::{choice, corpus, corpus_frame};
use crate::record::Signal;

use CheckOutcome::{Corrupted, Delivered, Dropped, PassedThrough, Rejected};

const CLIENTS: [&str; 5] =
    ["typescript-1.39.0", "browser-1.0.0-alpha.10", "browser-1.0.0", "browser-1.20.0", "browser-session"];

fn checked(client: &str, frame: &str) -> Checked {
    let raw = extended().get(frame).cloned().unwrap_or_else(|| corpus_frame(frame));
    check(&choice(client), &raw).unwrap()
}

#[test]
fn each_client_says_what_it_does() {
    // Outcomes in the order of `CLIENTS`.
    let rows = [
        ("delta_content", [Delivered, PassedThrough, Delivered, Delivered, Dropped]),
        ("delta_both", [Delivered, PassedThrough, Delivered, Delivered, Dropped]),
        ("delta_reasoning", [PassedThrough, PassedThrough, Delivered, Delivered, Dropped]),
        ("delta_no_payload", [PassedThrough, PassedThrough, Delivered, Delivered, Dropped]),
        ("delta_empty_content", [PassedThrough, PassedThrough, Delivered, Delivered, Dropped]),
        ("x_both_payload_null", [PassedThrough, PassedThrough, Dropped, Dropped, Dropped]),
        ("delta_content_int", [Corrupted, PassedThrough, Corrupted, Corrupted, Dropped]),
        ("x_reasoning_only_num", [PassedThrough, PassedThrough, Corrupted, Corrupted, Dropped]),
        ("delta_no_source", [Delivered, Dropped, Dropped, Dropped, Dropped]),
        ("unknown_kind", [PassedThrough, PassedThrough, PassedThrough, PassedThrough, Dropped]),
        ("message_agent", [PassedThrough, Delivered, Delivered, Delivered, Dropped]),
        ("server_error", [PassedThrough, Delivered, Delivered, Delivered, Dropped]),
        ("state_full", [PassedThrough, Delivered, Delivered, Delivered, Dropped]),
        ("session_sync", [PassedThrough, Dropped, Dropped, Dropped, Delivered]),
        ("session_durable", [PassedThrough, Dropped, Dropped, Dropped, Delivered]),
        ("session_item_started", [PassedThrough, Dropped, Dropped, Dropped, Delivered]),
        ("session_delta", [PassedThrough, Dropped, Dropped, Dropped, Dropped]),
        ("session_error", [PassedThrough, Dropped, Dropped, Dropped, Delivered]),
        ("not_json", [Rejected, Dropped, Dropped, Dropped, Dropped]),
        ("json_array", [PassedThrough, Dropped, Dropped, Dropped, Dropped]),
    ];
    let mut wrong = Vec::new();
    for (frame, outcomes) in rows {
        for (client, want) in CLIENTS.into_iter().zip(outcomes) {
            let got = checked(client, frame);
            if got.outcome != want {
                wrong.push(format!("{client} {frame}: {got:?} not {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn signals_and_reasons_come_along() {
    let say = |client: &str, frame: &str| {
        let c = checked(client, frame);
        (c.signal, c.reason.unwrap_or_default())
    };
    let reason = |signal, text: &str| (signal, text.to_owned());
    assert_eq!(say("browser-1.20.0", "delta_no_source"), reason(Signal::None, "guard_source"));
    assert_eq!(say("browser-1.20.0", "not_json"), reason(Signal::Log, "not_json"));
    assert_eq!(say("browser-1.20.0", "x_both_payload_null"), reason(Signal::None, "nothing_to_show"));
    assert_eq!(say("browser-1.20.0", "server_error"), reason(Signal::Surfaced, ""));
    assert_eq!(say("browser-1.20.0", "delta_content_int"), reason(Signal::Surfaced, "render_error"));
    assert_eq!(say("typescript-1.39.0", "not_json"), reason(Signal::Surfaced, "not_json"));
    assert_eq!(say("browser-session", "delta_content"), reason(Signal::None, "no_type"));
    assert_eq!(say("browser-session", "session_delta"), reason(Signal::None, "no_open_slot"));
    assert_eq!(say("python-1.58.2", "not_json"), reason(Signal::Log, "not_json"));
    assert_eq!(checked("python-1.58.2", "delta_content").as_.as_deref(), Some("StreamingDeltaEvent"));
    assert_eq!(checked("typescript-1.39.0", "unknown_kind").as_.as_deref(), Some("TokenDelta"));
}

#[test]
fn every_frame_gets_an_answer_from_every_client() {
    let names = ["python-1.30.0", "python-1.58.2", "python-1.58.2+ABC"].into_iter().chain(CLIENTS);
    for client in names {
        let choice = choice(client);
        for (name, raw) in corpus().into_iter().chain(extended()) {
            let got = check(&choice, &raw).unwrap();
            let stopped = matches!(got.outcome, Rejected | Dropped);
            assert!(!stopped || got.reason.is_some(), "{client} {name}: {got:?}");
        }
    }
}
