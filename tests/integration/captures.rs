//! The same turn that was recorded on the real servers: kinds and delta texts on both sockets.
//!
//! The order of stats, final message and status at the end of a turn differed between recordings, and so
//! did the order of the user's message and its state update: those are compared as sets.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::fixtures::{self, KEY, connect, drain, send, server};

fn name(frame: &Value) -> String {
    let event = frame.get("event").unwrap_or(frame);
    let text = |v: &Value| v.as_str().unwrap_or("-").to_owned();
    let mut name = text(&frame["type"]);
    for part in [&event["kind"], &event["key"], &event["code"]] {
        name = format!("{name}/{}", text(part));
    }
    if event["key"] == "execution_status" {
        name = format!("{name}/{}", text(&event["value"]));
    }
    name
}

fn counts(frames: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for frame in frames {
        *counts.entry(name(frame)).or_default() += 1;
    }
    counts
}

fn is_delta(frame: &Value) -> bool {
    frame["kind"] == "StreamingDeltaEvent" || frame["type"] == "delta"
}

/// What must agree frame by frame: everything that a delta says, ids and times apart.
fn deltas(frames: &[Value]) -> Vec<Value> {
    let strip = |frame: &Value| {
        let mut frame = frame.as_object().unwrap().clone();
        for unstable in ["id", "timestamp", "item_id", "chunk_id"] {
            if let Some(value) = frame.get_mut(unstable) {
                *value = "…".into();
            }
        }
        Value::Object(frame)
    };
    frames.iter().filter(|f| is_delta(f)).map(strip).collect()
}

fn keys_of_deltas(frames: &[Value]) -> Vec<Vec<String>> {
    frames.iter().filter(|f| is_delta(f)).map(|f| f.as_object().unwrap().keys().cloned().collect()).collect()
}

/// Where the stream begins and ends among the other frames.
fn stable_order(frames: &[Value]) -> Vec<String> {
    let names: Vec<String> = frames.iter().map(name).collect();
    let first = frames.iter().position(is_delta).unwrap_or(0);
    let last = frames.iter().rposition(is_delta).unwrap_or(0);
    let mut order =
        vec![names[0].clone(), names[first].clone(), names[last].clone(), names[names.len() - 1].clone()];
    order.push(format!("{} deltas in one stretch", last + 1 - first));
    order
}

fn recorded(capture: &Value, socket: &str) -> Vec<Value> {
    let frames = capture["cap"][socket].as_array().unwrap().iter();
    frames.map(|f| serde_json::from_str(f["raw"].as_str().unwrap()).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn every_recorded_server_sends_what_the_real_one_sent() {
    for release in ["1.43.1", "1.44.1", "1.45.0", "1.47.0", "1.58.2"] {
        let capture = fixtures::json(&format!("captures/e2e_{release}.json"));
        let (server, dialer, id) = server(release).await;
        let mut legacy =
            connect(&dialer, &format!("/sockets/events/{id}?resend_mode=all"), Some(KEY)).await.unwrap();
        let session = connect(&dialer, &format!("/sockets/session/{id}?after_seq=-1"), Some(KEY)).await;
        let (mut session, refused) = match session {
            Ok(socket) => (Some(socket), None),
            Err(status) => (None, Some(status)),
        };
        let bad = ["not json", "[1]"];
        for text in bad {
            send(&mut legacy, text).await;
            if let Some(session) = &mut session {
                send(session, text).await;
            }
        }
        // The errors come before the turn in the recordings, and must here.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        send(&mut legacy, r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#).await;
        let ours = drain(&mut legacy).await.0;
        server.idle().await;
        compare(release, "events", &ours, &recorded(&capture, "events"));
        if let Some(mut socket) = session {
            compare(release, "session", &drain(&mut socket).await.0, &recorded(&capture, "session"));
        } else {
            assert_eq!(refused, Some(403), "{release}");
            assert!(capture["closes"]["session"].as_str().unwrap().contains("403"), "{release}");
        }
        rest_and_webhooks(release, &server, &dialer, &id, &capture).await;
    }
}

fn compare(release: &str, socket: &str, ours: &[Value], real: &[Value]) {
    assert_eq!(counts(ours), counts(real), "{release} {socket}");
    assert_eq!(deltas(ours), deltas(real), "{release} {socket}");
    assert_eq!(keys_of_deltas(ours), keys_of_deltas(real), "{release} {socket}: field order");
    assert_eq!(stable_order(ours), stable_order(real), "{release} {socket}");
}

async fn rest_and_webhooks(
    release: &str,
    server: &skewlab::agent_server::server::Server,
    dialer: &skewlab::agent_server::server::Dialer,
    id: &str,
    capture: &Value,
) {
    let mut socket =
        connect(dialer, &format!("/sockets/events/{id}?resend_mode=all"), Some(KEY)).await.unwrap();
    let mut log: Vec<String> =
        drain(&mut socket).await.0[1..].iter().map(|e| e["kind"].as_str().unwrap().to_owned()).collect();
    let mut real: Vec<String> =
        capture["rest_kinds"].as_array().unwrap().iter().map(|k| k.as_str().unwrap().to_owned()).collect();
    log.sort();
    real.sort();
    assert_eq!(log, real, "{release}: what is persisted");
    let hooks = capture["hooks"].as_array().unwrap().iter().filter_map(|h| h["kinds"].as_array());
    let real_deltas = hooks.flatten().filter(|k| *k == "StreamingDeltaEvent").count() as u64;
    tokio::time::sleep(std::time::Duration::from_secs(31)).await;
    assert_eq!(server.side_effects().webhook.deltas, real_deltas, "{release}: deltas in webhooks");
}
