//! The server's half of the ledger, read off the wire.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Capture;
use crate::live::tap::{Side, WireSocket};
use crate::probe::trace::{LinkTrace, Origin, ServerTrace, Stopped};
use crate::record::observation::Piece;
use crate::record::{Class, Hop, Reason};
use crate::wire::DELTA_KIND;

/// A piece that no frame on the wire carried.
const NOT_ON_THE_WIRE: Reason = Reason::new("not_on_the_wire");

/// What is known of the server's side of one client's connection.
pub(super) struct Wired {
    pub(super) server: ServerTrace,
    pub(super) link: LinkTrace,
    /// The frames that the server sent, each with the id of the event that it carries, if any.
    pub(super) frames: Vec<WiredFrame>,
    pub(super) faults: Vec<String>,
}

/// One frame from the server.
pub(super) struct WiredFrame {
    pub(super) at: f64,
    pub(super) id: Option<String>,
    pub(super) value: Value,
}

/// The frames of the client's sockets, in the order in which they passed. A client that reconnects has several.
pub(super) fn frames(sockets: &[WireSocket]) -> Vec<WiredFrame> {
    let from_server = sockets.iter().flat_map(|socket| &socket.frames).filter(|f| f.from == Side::Server);
    from_server
        .map(|frame| {
            let value: Value = serde_json::from_str(&frame.text).unwrap_or_default();
            let id = event(&value).get("id").and_then(Value::as_str).map(str::to_owned);
            WiredFrame { at: frame.at, id, value }
        })
        .collect()
}

/// The event of a frame: the frame itself, or what a session frame holds.
pub(super) fn event(frame: &Value) -> &Value {
    frame.get("event").filter(|_| frame.get("type").is_some()).unwrap_or(frame)
}

/// Joins the model's chunks with the frames on the wire.
pub(super) fn wired(capture: &Capture, status: &str, events: &[Value]) -> Wired {
    let frames = frames(&capture.sockets);
    let produced: Vec<Piece> = capture.chunks.iter().flatten().cloned().collect();
    let mut faults: Vec<String> = capture
        .sockets
        .iter()
        .filter_map(|s| s.unreadable.as_ref().map(|why| format!("the tap: {why}")))
        .collect();
    let reply = events.iter().rev().find(|e| is_reply(e));
    let server = ServerTrace {
        durables: events.len() as u64,
        replied_at: reply.and_then(|r| place(events, r)).map_or(0, |at| at as u64 + 1),
        reply: reply.map(reply_text).unwrap_or_default(),
        completed: status == "finished",
        ..ServerTrace { produced, ..ServerTrace::default() }
    };
    let mut link =
        LinkTrace { dispatched: (0..count(server.produced.len())).collect(), ..LinkTrace::default() };
    let mut first_seen: BTreeSet<&str> = BTreeSet::new();
    let mut next = 0;
    for frame in &frames {
        let origin = match pieces(&frame.value) {
            Some(carried) => {
                if let Some(at) = find(&server.produced, next, &carried) {
                    next = at + carried.len();
                    Origin::Delta { first: count(at), count: count(carried.len()) }
                } else {
                    let what = brief(&frame.value);
                    faults.push(format!("a delta on the wire that the model did not send: {what}"));
                    Origin::Other
                }
            }
            None => match frame.id.as_deref().and_then(|id| events.iter().find(|e| e["id"] == id)) {
                // A replay of what was sent before is no second event.
                Some(durable) if first_seen.insert(durable["id"].as_str().unwrap_or_default()) => {
                    Origin::Durable { reply: reply.is_some_and(|r| r["id"] == durable["id"]) }
                }
                _ => Origin::Other,
            },
        };
        link.sent.push(origin);
    }
    let sent = |piece: u32| {
        link.sent
            .iter()
            .any(|o| matches!(o, Origin::Delta { first, count } if (*first..first + count).contains(&piece)))
    };
    let session = capture.sockets.iter().any(|s| s.path.contains("/sockets/session/"));
    let unsent: Vec<Stopped> = (0..count(server.produced.len()))
        .filter(|piece| !sent(*piece))
        .map(|piece| {
            let empty = server.produced[piece as usize].class == Class::Empty;
            let reason = if session && empty { Reason::EMPTY_WITHHELD } else { NOT_ON_THE_WIRE };
            Stopped { piece, hop: Hop::Sent, reason }
        })
        .collect();
    link.stopped = unsent;
    close(&mut link, &capture.sockets);
    link.joined_after = joined(events, &frames, &link);
    Wired { server, link, frames, faults }
}

/// How the connection ended, or why there was none: of several the last one counts.
fn close(link: &mut LinkTrace, sockets: &[WireSocket]) {
    let open = sockets.iter().any(|socket| socket.status == Some(101));
    let last = sockets.last();
    if !open {
        // Nothing was handed to a socket that never was.
        link.dispatched.clear();
        link.stopped.clear();
        link.refused = last.and_then(|socket| socket.status);
    }
    let closed = last.and_then(|socket| socket.closed.as_ref()).filter(|c| c.by == Side::Server);
    link.closed = closed.map(|c| (c.code, c.reason.clone()));
}

/// Durable events before the first that this client was sent. Where none was sent, all that come from its own turn on
/// were due: those after the person's message.
fn joined(events: &[Value], frames: &[WiredFrame], link: &LinkTrace) -> Option<u64> {
    if link.refused.is_some() || frames.is_empty() {
        return None;
    }
    let sent =
        |event: &&Value| frames.iter().any(|f| f.id.is_some() && f.id.as_deref() == event["id"].as_str());
    let first = events.iter().position(|event| sent(&event));
    let asked = events.iter().position(|event| event["kind"] == "MessageEvent" && event["source"] == "user");
    Some(first.or(asked).unwrap_or(events.len()) as u64)
}

/// The pieces that a delta frame carries, reasoning first; `None` for every other frame.
pub(super) fn pieces(frame: &Value) -> Option<Vec<Piece>> {
    let text = |key: &str| frame.get(key).and_then(Value::as_str);
    if text("kind") == Some(DELTA_KIND) {
        let reasoning = text("reasoning_content").map(|t| piece(t, true));
        return Some(reasoning.into_iter().chain(text("content").map(|t| piece(t, false))).collect());
    }
    if text("type") == Some("delta") {
        let reasoning = text("kind") == Some("reasoning");
        return Some(text("content").map(|t| piece(t, reasoning)).into_iter().collect());
    }
    None
}

pub(super) fn piece(text: &str, reasoning: bool) -> Piece {
    Piece { class: crate::probe::trace::class_of(text, reasoning), text: text.to_owned() }
}

/// Where the pieces stand in what the model sent, from `next` on. What lies between was not sent.
fn find(produced: &[Piece], next: usize, carried: &[Piece]) -> Option<usize> {
    if carried.is_empty() {
        return None;
    }
    produced.get(next..)?.windows(carried.len()).position(|window| window == carried).map(|at| at + next)
}

/// Whether an event is the agent's reply: its message, or the finish tool's action.
fn is_reply(event: &Value) -> bool {
    let agent = event["source"] == "agent";
    agent && (event["kind"] == "MessageEvent" || event["tool_name"] == "finish")
}

fn reply_text(event: &Value) -> String {
    if let Some(message) = event["action"]["message"].as_str() {
        return message.to_owned();
    }
    let content = event["llm_message"]["content"].as_array();
    content.into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
}

fn place(events: &[Value], event: &Value) -> Option<usize> {
    events.iter().position(|e| e["id"] == event["id"])
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

pub(super) fn brief(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}
