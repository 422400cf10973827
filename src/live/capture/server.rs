//! The server's half of the ledger, read off the wire.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Capture;
use super::late::is_final;
use super::placing::Placing;
use crate::live::tap::{Side, WireSocket};
use crate::probe::trace::{LinkTrace, Origin, ServerTrace, Stopped};
use crate::record::observation::Piece;
use crate::record::{Class, CutShort, Hop, Reason};
use crate::wire::DELTA_KIND;

/// A piece that no frame on the wire carried.
const NOT_ON_THE_WIRE: Reason = Reason::new("not_on_the_wire");

/// The server's word for a turn that ended as it should.
const FINISHED: &str = "finished";

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
pub(super) fn wired(capture: &Capture, status: &str, events: &[Value], fails: bool) -> Wired {
    let frames = frames(&capture.sockets);
    let produced: Vec<Piece> = capture.chunks.iter().flatten().cloned().collect();
    let mut faults = Vec::new();
    let reply = events.iter().rev().find(|e| is_reply(e));
    faults.extend(unfinished(&produced, status, reply.is_some(), &frames));
    // A model that sent text, and was not meant to fail, is owed a reply in the log: where there is none it is due, and was
    // not sent.
    let owed = reply.is_none() && !fails && produced.iter().any(|p| p.class == Class::Text);
    let durables = events.len() as u64 + u64::from(owed);
    let replied_at = reply.and_then(|r| place(events, r)).map_or(0, |at| at as u64 + 1);
    let server = ServerTrace {
        durables,
        replied_at: if owed { durables } else { replied_at },
        reply: reply.map(reply_text).unwrap_or_default(),
        completed: status == FINISHED,
        cut: cut(status),
        ..ServerTrace { produced, ..ServerTrace::default() }
    };
    let mut link =
        LinkTrace { dispatched: (0..count(server.produced.len())).collect(), ..LinkTrace::default() };
    let mut first_seen: BTreeSet<&str> = BTreeSet::new();
    let mut placing = Placing::new(&server.produced);
    let mut on_the_wire = vec![false; server.produced.len()];
    for frame in &frames {
        let origin = match pieces(&frame.value) {
            Some(carried) => {
                if let Some(at) = placing.place(frame.id.as_deref(), &carried) {
                    on_the_wire[at..at + carried.len()].fill(true);
                    Origin::Delta { first: count(at), count: count(carried.len()) }
                } else {
                    let what = brief(&frame.value);
                    // A frame of a server's own without a character changes nobody's text.
                    let silent = carried.iter().all(|p| p.class == Class::Empty);
                    faults.extend(
                        (!silent).then(|| format!("a delta on the wire that the model did not send: {what}")),
                    );
                    Origin::Other
                }
            }
            None => match frame.id.as_deref().and_then(|id| events.iter().find(|e| e["id"] == id)) {
                // A replay of what was sent before is no second event.
                Some(durable) if first_seen.insert(durable["id"].as_str().unwrap_or_default()) => {
                    Origin::Durable { reply: reply.is_some_and(|r| r["id"] == durable["id"]), number: 0 }
                }
                _ => Origin::Other,
            },
        };
        link.sent.push(origin);
    }
    let unsent: Vec<Stopped> = on_the_wire
        .iter()
        .enumerate()
        .filter(|(_, sent)| !**sent)
        .map(|(piece, _)| {
            // Released servers make no frame of an empty chunk but the first (1.58.2); there is no text in it to lose.
            let empty = server.produced[piece].class == Class::Empty;
            let reason = if empty { Reason::EMPTY_WITHHELD } else { NOT_ON_THE_WIRE };
            Stopped { piece: count(piece), hop: Hop::Sent, reason }
        })
        .collect();
    link.stopped = unsent;
    close(&mut link, &capture.sockets);
    link.joined_after = joined(events, &frames, &link);
    Wired { server, link, frames, faults }
}

/// How a run ended that a server says this of.
fn cut(status: &str) -> Option<CutShort> {
    match status {
        FINISHED => None,
        "error" | "stuck" => Some(CutShort::Failed),
        "paused" => Some(CutShort::Cancelled),
        _ => Some(CutShort::Unended),
    }
}

/// What cannot be where a turn went as the rig meant it: the model sent all that it was to send.
fn unfinished(produced: &[Piece], status: &str, replied: bool, frames: &[WiredFrame]) -> Vec<String> {
    let mut faults = Vec::new();
    if replied && status != FINISHED && !produced.is_empty() {
        faults.push(format!("the server says `{status}` of a turn that has its reply"));
    }
    if !replied && frames.iter().any(is_final) {
        faults.push("the reply passed on the wire and is not in the server's log".to_owned());
    }
    faults
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

/// Durable events before the first that was due to this client: the first that it was sent, and at the latest the
/// person's message. Every client is there before that is said, so its own turn is due to it as a whole.
fn joined(events: &[Value], frames: &[WiredFrame], link: &LinkTrace) -> Option<u64> {
    if link.refused.is_some() || frames.is_empty() {
        return None;
    }
    let sent =
        |event: &&Value| frames.iter().any(|f| f.id.is_some() && f.id.as_deref() == event["id"].as_str());
    let first = events.iter().position(|event| sent(&event));
    let asked = events.iter().position(|event| event["kind"] == "MessageEvent" && event["source"] == "user");
    Some(first.into_iter().chain(asked).min().unwrap_or(events.len()) as u64)
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

/// Whether an event is the agent's reply: its message, or the finish tool's action.
pub(super) fn is_reply(event: &Value) -> bool {
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
