//! Encoded bytes against those that the real classes wrote, per release.

use serde_json::{Value, json};
use skewlab::agent_server::profile::Catalogue;
use skewlab::wire::event::{Action, Message, Observation};
use skewlab::wire::session::SessionDelta;
use skewlab::wire::{Dialect, Event, EventBody, SessionFrame, Source};

use crate::fixtures;

fn id(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn event(n: u32, source: Source, parent: Option<u32>, body: EventBody) -> Event {
    let timestamp = "2026-11-30T07:45:00.123456".to_owned();
    Event { id: id(n), timestamp, source, parent_id: parent.map(id), body }
}

fn delta(n: u32, content: Option<&str>, reasoning: Option<&str>) -> Event {
    let body = EventBody::StreamingDelta {
        content: content.map(str::to_owned),
        reasoning_content: reasoning.map(str::to_owned),
    };
    event(n, Source::Agent, None, body)
}

fn message(role: &str, text: &str, reasoning: Option<&str>, response: Option<&str>) -> EventBody {
    EventBody::Message(Message {
        role: role.into(),
        text: text.into(),
        reasoning_content: reasoning.map(str::to_owned),
        llm_response_id: response.map(str::to_owned),
    })
}

fn state(key: &str, value: Value) -> EventBody {
    EventBody::StateUpdate { key: key.into(), value }
}

fn action(thought: Option<&str>, text: &str, arguments: &str, response: &str) -> EventBody {
    EventBody::Action(Action {
        thought: thought.map(str::to_owned),
        reasoning_content: None,
        action: json!({"message": text, "kind": "FinishAction"}),
        tool_name: "finish".into(),
        tool_call_id: "call_1".into(),
        arguments: arguments.into(),
        llm_response_id: response.into(),
    })
}

fn observation(text: &str) -> EventBody {
    EventBody::Observation(Observation {
        tool_name: "finish".into(),
        tool_call_id: "call_1".into(),
        text: text.into(),
        kind: "FinishObservation".into(),
        action_id: id(12),
    })
}

fn server_error() -> EventBody {
    EventBody::ServerError { code: "ValidationError".into(), detail: "boom".into() }
}

fn by_name(name: &str) -> Option<Event> {
    let escapes = "\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}\u{85}\u{2028}<&>";
    Some(match name {
        "delta_content" => delta(1, Some("Hel"), None),
        "delta_reasoning" => delta(2, None, Some("think")),
        "delta_empty_content" => delta(3, Some(""), None),
        "delta_both" => delta(4, Some("a"), Some("b")),
        "delta_nothing" => delta(5, None, None),
        "delta_unicode" => delta(6, Some("é😀"), None),
        "delta_escapes" => delta(7, Some(escapes), None),
        "system_prompt" => event(9, Source::Agent, None, EventBody::SystemPrompt { text: "sys".into() }),
        "message_user" => event(10, Source::User, None, message("user", "hi", None, None)),
        "message_agent" => {
            event(11, Source::Agent, Some(10), message("assistant", "Hello", None, Some("chatcmpl-1")))
        }
        "message_agent_reasoning" => {
            event(11, Source::Agent, Some(10), message("assistant", "Hello", Some("hmm"), Some("chatcmpl-1")))
        }
        "action_finish" => {
            let body = action(None, "done", "{\"message\": \"done\"}", "chatcmpl-1");
            event(12, Source::Agent, Some(10), body)
        }
        "observation_finish" => event(13, Source::Environment, Some(12), observation("done")),
        "state_execution_status" => {
            event(14, Source::Environment, None, state("execution_status", json!("running")))
        }
        "state_last_user_message_id" => {
            event(16, Source::Environment, None, state("last_user_message_id", json!(id(10))))
        }
        "server_error" => event(15, Source::Environment, None, server_error()),
        _ => return None,
    })
}

#[test]
fn every_release_writes_the_bytes_of_its_real_classes() {
    let catalogue = Catalogue::embedded().unwrap();
    let fixture = fixtures::json("wire_by_release.json");
    let (mut sockets, mut webhooks) = (0, 0);
    for (release, frames) in fixture.as_object().unwrap() {
        let dialect = catalogue.server(release).unwrap().traits.wire;
        for (name, texts) in frames.as_object().unwrap() {
            let Some(event) = by_name(name) else {
                assert!(name.starts_with("session_"), "{release} {name} is not compared");
                continue;
            };
            assert_eq!(event.encode(dialect), texts["socket"].as_str().unwrap(), "{release} {name}");
            sockets += 1;
            if let Some(body) = texts["webhook"].as_str() {
                assert_eq!(format!("[{}]", event.encode(dialect.webhook())), body, "{release} {name}");
                webhooks += 1;
            }
        }
    }
    assert!(sockets >= 13 * 16 && webhooks >= 13 * 12, "{sockets} socket and {webhooks} webhook texts");
}

#[test]
fn the_given_wire_files_are_matched_byte_by_byte() {
    let mut legacy = vec![
        ("legacy_delta_content", by_name("delta_content").unwrap()),
        ("legacy_delta_reasoning", by_name("delta_reasoning").unwrap()),
        ("legacy_delta_empty_content", by_name("delta_empty_content").unwrap()),
        ("legacy_delta_both", by_name("delta_both").unwrap()),
        ("legacy_message_user", by_name("message_user").unwrap()),
        ("legacy_message_agent", by_name("message_agent").unwrap()),
        ("legacy_state_execution_status", by_name("state_execution_status").unwrap()),
        ("server_error", by_name("server_error").unwrap()),
    ];
    let arguments = "{\"message\":\"All done\"}";
    let finish = action(Some("Done."), "All done", arguments, "chatcmpl-2");
    legacy.push(("legacy_action_finish", event(12, Source::Agent, Some(11), finish)));
    let answer = observation("All done");
    legacy.push(("legacy_observation_finish", event(13, Source::Environment, Some(12), answer)));
    let full = fixtures::json("frames/legacy_state_full_state.json");
    legacy.push((
        "legacy_state_full_state",
        Event {
            id: full["id"].as_str().unwrap().into(),
            timestamp: full["timestamp"].as_str().unwrap().into(),
            source: Source::Environment,
            parent_id: None,
            body: state("full_state", full["value"].clone()),
        },
    ));
    for (name, event) in &legacy {
        let wire = fixtures::text(&format!("frames/{name}.wire.txt"));
        assert_eq!(event.encode(Dialect::CURRENT), wire.trim_end(), "{name}");
    }
    let sessions = session_frames();
    for (name, frame) in &sessions {
        let wire = fixtures::text(&format!("frames/{name}.wire.txt"));
        assert_eq!(frame.encode(), wire.trim_end(), "{name}");
    }
    let given = std::fs::read_dir(fixtures::path("frames")).unwrap();
    let given = given.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "txt")).count();
    assert_eq!(legacy.len() + sessions.len(), given, "a given wire file is not compared");
}

fn session_frames() -> Vec<(&'static str, SessionFrame)> {
    let item = || id(11);
    let part = |attempt, order, reasoning, content: &str, chunk: bool| {
        let chunk = chunk.then(|| ("chatcmpl-1".to_owned(), 0));
        SessionFrame::Delta(SessionDelta {
            item_id: item(),
            attempt,
            order,
            reasoning,
            content: content.into(),
            chunk,
        })
    };
    let started = |anchor_seq| SessionFrame::ItemStarted { item_id: item(), attempt: 1, anchor_seq };
    let sync = |from_seq, through_seq| SessionFrame::Sync { from_seq, through_seq };
    let detail = "Expecting value: line 1 column 1 (char 0)".to_owned();
    let running = by_name("state_execution_status").unwrap();
    let reason = "cancelled".to_owned();
    vec![
        ("session_delta_text", part(1, 0, false, "Hel", true)),
        ("session_delta_reasoning", part(2, 0, true, "hmm", true)),
        ("session_delta_acp", part(1, 1, false, "lo", false)),
        (
            "session_durable_message",
            SessionFrame::Durable { seq: 7, event: by_name("message_agent").unwrap() },
        ),
        ("session_transient_state", SessionFrame::Transient { event: running }),
        ("session_item_started", started(Some(6))),
        ("session_item_started_no_anchor", started(None)),
        ("session_item_aborted", SessionFrame::ItemAborted { item_id: item(), attempt: 1, reason }),
        ("session_error", SessionFrame::Error { code: "JSONDecodeError".into(), detail }),
        ("session_sync_empty_log", sync(None, None)),
        ("session_sync_live_only", sync(None, Some(6))),
        ("session_sync_replay_all", sync(Some(-1), Some(6))),
    ]
}
