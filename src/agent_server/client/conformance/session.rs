//! The client of the session socket, which nobody has released: held to the protocol's contract.

use serde_json::json;

use super::super::Client;
use super::Bench;
use crate::probe::Fate;
use crate::record::{Class, Signal};
use crate::wire::event::Message;
use crate::wire::session::SessionDelta;
use crate::wire::{Event, EventBody, SessionFrame, Source};

fn started(attempt: u32) -> SessionFrame {
    SessionFrame::ItemStarted { item_id: "item".to_owned(), attempt, anchor_seq: None }
}

fn delta(attempt: u32, order: u32, content: &str) -> SessionFrame {
    SessionFrame::Delta(SessionDelta {
        item_id: "item".to_owned(),
        attempt,
        order,
        reasoning: false,
        content: content.to_owned(),
        chunk: None,
    })
}

fn durable(seq: i64, id: &str, text: &str) -> SessionFrame {
    let body = EventBody::Message(Message {
        role: "assistant".to_owned(),
        text: text.to_owned(),
        reasoning_content: None,
        llm_response_id: None,
    });
    let event = Event {
        id: id.to_owned(),
        timestamp: "2026-11-30T07:45:00".to_owned(),
        source: Source::Agent,
        parent_id: None,
        body,
    };
    SessionFrame::Durable { seq, event }
}

fn play(frames: &[SessionFrame]) -> Bench {
    let mut bench = Bench::of("browser-session");
    for frame in frames {
        bench.take(&frame.encode());
    }
    bench
}

fn view(mut bench: Bench) -> String {
    bench.client.finish(&mut bench.trace);
    bench.trace.view.unwrap()
}

fn stop(bench: &Bench, at: usize) -> &str {
    match &bench.trace.receipts[at].fate {
        Fate::Stopped { reason, .. } => reason.as_str(),
        Fate::Reached { .. } => "reached",
    }
}

#[test]
fn a_slot_streams_and_its_durable_event_takes_its_place() {
    let sync = SessionFrame::Sync { from_seq: None, through_seq: None };
    let mut frames = vec![sync, started(1), delta(1, 0, "Hel"), delta(1, 1, "lo")];
    assert_eq!(view(play(&frames)), "Hello");
    frames.push(durable(0, "item", "Hello"));
    let bench = play(&frames);
    let text: String = bench.trace.delivered.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(text, "Hello");
    assert_eq!(bench.trace.loudest(), Signal::None);
    assert_eq!(view(bench), "Hello");
}

#[test]
fn deltas_are_drawn_with_the_animation_frame_or_before_any_other_frame() {
    let mut bench = play(&[started(1), delta(1, 0, "a")]);
    assert_eq!((stop(&bench, 1), bench.client.next_tick().is_some()), ("never_drawn", true));
    bench.tick();
    assert_eq!((stop(&bench, 1), bench.client.next_tick().is_some()), ("reached", false));
    bench.take(&delta(1, 1, "b").encode());
    bench.take(&durable(0, "other", "x").encode());
    assert_eq!(stop(&bench, 2), "reached");
}

#[test]
fn a_delta_without_an_open_slot_is_dropped_without_a_sound() {
    let bench = play(&[delta(1, 0, "Hel")]);
    assert_eq!((stop(&bench, 0), bench.trace.loudest()), ("no_open_slot", Signal::None));
}

#[test]
fn a_higher_attempt_starts_anew_and_a_lower_one_is_ignored() {
    let frames = [started(1), delta(1, 0, "wrong"), started(2), delta(2, 0, "right"), delta(1, 1, "late")];
    let bench = play(&frames);
    assert_eq!(stop(&bench, 4), "old_attempt");
    assert_eq!(view(bench), "right");
    assert_eq!(view(play(&[started(1), delta(1, 0, "wrong"), delta(2, 0, "right")])), "right");
}

#[test]
fn an_aborted_item_leaves_the_chat() {
    let aborted =
        SessionFrame::ItemAborted { item_id: "item".to_owned(), attempt: 1, reason: "cancelled".to_owned() };
    let bench = play(&[started(1), delta(1, 0, "Hel"), aborted]);
    assert_eq!(bench.trace.delivered.len(), 1);
    assert_eq!(view(bench), "");
}

#[test]
fn a_close_takes_slots_and_queue_with_it() {
    let mut bench = play(&[started(1), delta(1, 0, "Hel")]);
    bench.client.closed(1013, "slow_consumer", &mut bench.trace);
    assert_eq!(bench.trace.surfaced, ["connection error banner: 1013 slow_consumer"]);
    assert_eq!(stop(&bench, 1), "never_drawn");
    assert!(bench.trace.delivered.is_empty());
    assert_eq!(view(bench), "");
}

#[test]
fn what_it_does_not_know_is_ignored_and_errors_show() {
    let mut bench = Bench::of("browser-session");
    for frame in [json!({"type": "later"}), json!({"kind": "StreamingDeltaEvent"}), json!([])] {
        bench.take(&frame.to_string());
    }
    assert_eq!([stop(&bench, 0), stop(&bench, 1), stop(&bench, 2)], ["unknown_type", "no_type", "no_type"]);
    assert_eq!(bench.trace.loudest(), Signal::None);
    let error = SessionFrame::Error { code: "ValidationError".to_owned(), detail: "boom".to_owned() };
    bench.take(&error.encode());
    assert_eq!(bench.trace.surfaced, ["error banner: boom"]);
}

#[test]
fn the_event_inside_is_guarded_and_its_state_counts() {
    let mut bench = Bench::of("browser-session");
    let event = json!({"id": "s", "timestamp": "t", "source": "environment", "key": "execution_status",
        "value": "finished", "kind": "ConversationStateUpdateEvent"});
    let mut bad = event.clone();
    bad["source"] = json!("server");
    bench.take(&json!({"type": "durable", "seq": 1, "event": bad}).to_string());
    assert_eq!((stop(&bench, 0), bench.client.saw_end()), ("guard_source", false));
    bench.take(&json!({"type": "durable", "seq": 2, "event": event}).to_string());
    assert!(bench.client.saw_end());
}

#[test]
fn reasoning_is_shown_and_is_no_part_of_the_reply() {
    let mut bench = play(&[started(1)]);
    let frame =
        json!({"type": "delta", "item_id": "item", "attempt": 1, "kind": "reasoning", "content": "why"});
    bench.take(&frame.to_string());
    bench.tick();
    assert_eq!(bench.trace.delivered[0].class, Class::Reasoning);
    assert_eq!(view(bench), "");
}

#[test]
fn the_cursor_moves_over_unbroken_runs_only() {
    let mut bench = play(&[SessionFrame::Sync { from_seq: Some(4), through_seq: Some(5) }]);
    for (seq, cursor) in [(5, 5), (7, 5), (6, 7)] {
        bench.take(&durable(seq, &format!("e{seq}"), "x").encode());
        assert_eq!(bench.client.cursor(), Some(cursor));
    }
}

#[test]
fn a_choice_has_no_lists() {
    let choice = super::choice("browser-session");
    let error = Client::new(&choice.profile, Some("callbacks")).unwrap_err().to_string();
    assert!(error.contains("none"), "{error}");
}
