//! Handshakes, authentication, replay, caps and bad input, against what the real 1.58.2 was measured to do
//! (`probe_1.58.2.json`) and what the facts say of earlier eras.

use serde_json::{Value, json};
use skewlab::agent_server::link::Target;
use skewlab::agent_server::rest;
use skewlab::agent_server::server::Dialer;

use crate::fixtures::{KEY, connect, drain, send, server};

const AUTH: &str = r#"{"type":"auth","session_api_key":"k-test"}"#;

/// Runs one turn and waits for its end, so that the log has events.
async fn with_history(release: &str) -> (skewlab::agent_server::server::Server, Dialer, String) {
    let (server, dialer, id) = server(release).await;
    let mut socket = connect(&dialer, &format!("/sockets/events/{id}"), Some(KEY)).await.unwrap();
    send(&mut socket, r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#).await;
    drain(&mut socket).await;
    server.idle().await;
    (server, dialer, id)
}

fn names(frames: &[Value]) -> Vec<String> {
    frames
        .iter()
        .map(|f| {
            let event = f.get("event").unwrap_or(f);
            let kind = event["kind"].as_str().unwrap_or("-");
            match (f["type"].as_str(), event["key"].as_str()) {
                (Some(t), _) => {
                    format!("{t}:{}", f["seq"].as_i64().map_or(kind.to_owned(), |s| s.to_string()))
                }
                (None, Some(key)) => key.to_owned(),
                (None, None) => kind.to_owned(),
            }
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn three_ways_to_authenticate_and_their_refusals() {
    let (_, dialer, id) = server("1.58.2").await;
    for socket in ["events", "session"] {
        let path = format!("/sockets/{socket}/{id}");
        let with_key = format!("{path}?session_api_key={KEY}");
        for (path, header, frame) in [
            (&path, None, Some(AUTH)),
            (&with_key, None, None),
            (&path, Some(KEY), None),
            (&with_key, None, Some(AUTH)),
        ] {
            let mut ws = connect(&dialer, path, header).await.unwrap();
            if let Some(frame) = frame {
                send(&mut ws, frame).await;
            }
            let (frames, closed) = drain(&mut ws).await;
            let expected = if socket == "events" { 1 } else { 2 };
            assert_eq!((frames.len(), closed), (expected, None), "{path} {header:?} {frame:?}: {frames:?}");
        }
        assert_eq!(connect(&dialer, &format!("{path}?session_api_key=bad"), None).await.err(), Some(403));
        assert_eq!(connect(&dialer, &path, Some("bad")).await.err(), Some(403));
        assert_eq!(
            connect(&dialer, &format!("/sockets/{socket}/not-a-uuid"), Some(KEY)).await.err(),
            Some(403)
        );
        for frame in [r#"{"type":"auth","session_api_key":"bad"}"#, "not json", r#"{"type":"hello"}"#, "[]"] {
            let mut ws = connect(&dialer, &path, None).await.unwrap();
            send(&mut ws, frame).await;
            assert_eq!(drain(&mut ws).await, (vec![], Some(4001)), "{frame}");
        }
        let mut silent = connect(&dialer, &path, None).await.unwrap();
        assert_eq!(drain(&mut silent).await, (vec![], Some(4001)), "silence for ten seconds");
        let other = "11111111-1111-4111-8111-111111111111";
        let mut ws = connect(&dialer, &format!("/sockets/{socket}/{other}"), Some(KEY)).await.unwrap();
        assert_eq!(drain(&mut ws).await, (vec![], Some(4004)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_session_socket_is_refused_before_it_existed() {
    for (release, status) in
        [("1.22.0", Some(403)), ("1.44.1", Some(403)), ("1.45.0", None), ("1.58.2", None)]
    {
        let (_, dialer, id) = server(release).await;
        let refused = connect(&dialer, &format!("/sockets/session/{id}"), Some(KEY)).await.err();
        assert_eq!(refused, status, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn history_comes_as_it_was_asked_for() {
    let (_, dialer, id) = with_history("1.58.2").await;
    let ask = async |path: &str| {
        let mut ws = connect(&dialer, &format!("/sockets/{path}"), Some(KEY)).await.unwrap();
        names(&drain(&mut ws).await.0)
    };
    let events = [
        "SystemPromptEvent",
        "MessageEvent",
        "last_user_message_id",
        "execution_status",
        "MessageEvent",
        "execution_status",
        "stats",
    ];
    let all = ask(&format!("events/{id}?resend_mode=all")).await;
    assert_eq!(all[0], "full_state");
    assert_eq!(all[1..], events);
    assert_eq!(ask(&format!("events/{id}?resend_all=true")).await, all);
    assert_eq!(ask(&format!("events/{id}?resend_mode=since&after_timestamp=2026-11-30T07:45:00")).await, all);
    assert_eq!(
        ask(&format!("events/{id}?resend_mode=since&after_timestamp=2027-01-01T00:00:00")).await,
        all[..1]
    );
    assert_eq!(ask(&format!("events/{id}?resend_mode=since")).await, all[..1], "since without a timestamp");
    assert_eq!(ask(&format!("session/{id}")).await, ["sync:-", "transient:ConversationStateUpdateEvent"]);
    let from = async |after: i64| ask(&format!("session/{id}?after_seq={after}")).await;
    for (after, first) in [(-1, 0), (-5, 0), (0, 1), (2, 3), (6, 7), (99, 100)] {
        let frames = from(after).await;
        let durables: Vec<String> = (first..7).map(|s| format!("durable:{s}")).collect();
        assert_eq!(frames[1..frames.len() - 1], durables, "after_seq={after}");
        assert_eq!(frames.last().unwrap(), "transient:ConversationStateUpdateEvent");
    }
    for bad in [
        "events/{id}?resend_mode=some",
        "events/{id}?resend_mode=since&after_timestamp=x",
        "session/{id}?after_seq=abc",
    ] {
        let path = format!("/sockets/{}", bad.replace("{id}", &id));
        assert_eq!(connect(&dialer, &path, Some(KEY)).await.err(), Some(403), "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn sync_says_what_the_log_holds() {
    let (_, dialer, id) = server("1.58.2").await;
    let first = async |dialer: &Dialer, id: &str, query: &str| {
        let path = format!("/sockets/session/{id}{query}");
        drain(&mut connect(dialer, &path, Some(KEY)).await.unwrap()).await.0.remove(0)
    };
    assert_eq!(first(&dialer, &id, "").await, json!({"type": "sync"}));
    assert_eq!(first(&dialer, &id, "?after_seq=-1").await, json!({"type": "sync", "from_seq": -1}));
    let (_, dialer, id) = with_history("1.58.2").await;
    assert_eq!(first(&dialer, &id, "").await, json!({"type": "sync", "through_seq": 6}));
    assert_eq!(
        first(&dialer, &id, "?after_seq=3").await,
        json!({"type": "sync", "from_seq": 3, "through_seq": 6})
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_during_a_turn_is_taken_and_starts_no_second_one() {
    let (server, dialer, id) = server("1.58.2").await;
    let mut ws = connect(&dialer, &format!("/sockets/events/{id}"), Some(KEY)).await.unwrap();
    for said in ["one", "two"] {
        let message = json!({"role": "user", "content": [{"type": "text", "text": said}], "run": true});
        send(&mut ws, &message.to_string()).await;
    }
    let (frames, _) = drain(&mut ws).await;
    server.idle().await;
    let said = |source: &str| {
        let of = |f: &&Value| f["kind"] == "MessageEvent" && f["source"] == source;
        let text = |f: &Value| f["llm_message"]["content"][0]["text"].as_str().unwrap().to_owned();
        frames.iter().filter(of).map(text).collect::<Vec<_>>()
    };
    assert_eq!(said("user"), ["one", "two"]);
    assert_eq!(said("agent").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_used_is_answered_and_the_socket_stays_open() {
    for (socket, code_at) in [("events", "kind"), ("session", "type")] {
        let (_, dialer, id) = server("1.58.2").await;
        let mut ws = connect(&dialer, &format!("/sockets/{socket}/{id}"), Some(KEY)).await.unwrap();
        for bad in [
            "not json",
            "[1]",
            r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
            r#"{"type":"auth","session_api_key":"k-test","extra":1}"#,
        ] {
            send(&mut ws, bad).await;
        }
        send(&mut ws, AUTH).await;
        let (frames, closed) = drain(&mut ws).await;
        let errors: Vec<&str> =
            frames.iter().filter(|f| !f["code"].is_null()).map(|f| f["code"].as_str().unwrap()).collect();
        assert_eq!(
            errors,
            ["JSONDecodeError", "ValidationError", "AssertionError", "ValidationError"],
            "{socket}"
        );
        assert_eq!(closed, None);
        let error = frames.iter().find(|f| !f["code"].is_null()).unwrap();
        assert_eq!(error[code_at], if socket == "events" { "ServerErrorEvent" } else { "error" });
    }
}

#[tokio::test(start_paused = true)]
async fn the_cap_counts_internal_subscribers() {
    // The idle clock and one webhook take two places; the measured 49 had the idle clock alone.
    let (_, dialer, id) = server("1.58.2").await;
    let mut open = Vec::new();
    loop {
        let mut ws = connect(&dialer, &format!("/sockets/events/{id}"), Some(KEY)).await.unwrap();
        let (frames, closed) = drain(&mut ws).await;
        if closed.is_some() {
            assert_eq!((frames.len(), closed), (0, Some(1013)));
            break;
        }
        open.push(ws);
    }
    assert_eq!(open.len(), 50 - 2);
    let (_, dialer, id) = server("1.22.0").await;
    for _ in 0..60 {
        let mut ws = connect(&dialer, &format!("/sockets/events/{id}"), Some(KEY)).await.unwrap();
        assert_eq!(drain(&mut ws).await.1, None, "no cap before 1.22.1");
        open.push(ws);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stands_still_loses_the_session_socket_and_keeps_the_legacy_one() {
    let (_, dialer, id) = server("1.58.2").await;
    let mut legacy = connect(&dialer, &format!("/sockets/events/{id}"), Some(KEY)).await.unwrap();
    let mut session = connect(&dialer, &format!("/sockets/session/{id}"), Some(KEY)).await.unwrap();
    // 40 messages of 1 MiB that start no turn, as in the measured run; neither socket is read meanwhile.
    let target = Target { dialer, conversation: id, key: Some(KEY.into()) };
    for _ in 0..40 {
        rest::post_message(&target, &"x".repeat(1 << 20), false).await.unwrap();
    }
    let (frames, closed) = drain(&mut session).await;
    assert_eq!(closed, Some(1013));
    assert!(frames.len() < 120, "{}", frames.len());
    let (frames, closed) = drain(&mut legacy).await;
    assert_eq!(closed, None);
    let messages = frames.iter().filter(|f| f["kind"] == "MessageEvent" && f["source"] == "user").count();
    assert_eq!(messages, 40, "the legacy socket keeps everything in memory");
}

#[tokio::test(start_paused = true)]
async fn a_frame_over_the_limit_closes_every_replay_past_it() {
    let (_, dialer, id) = server("1.58.2").await;
    let target = Target { dialer: dialer.clone(), conversation: id.clone(), key: Some(KEY.into()) };
    rest::post_message(&target, &"x".repeat(5 << 20), false).await.unwrap();
    for _ in 0..2 {
        let mut ws =
            connect(&dialer, &format!("/sockets/session/{id}?after_seq=-1"), Some(KEY)).await.unwrap();
        let (frames, closed) = drain(&mut ws).await;
        assert_eq!(names(&frames), ["sync:-", "durable:0"]);
        assert_eq!(closed, Some(1013));
    }
}
