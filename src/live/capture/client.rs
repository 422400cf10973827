//! The client's half of the ledger, from what a library's driver reported.
//!
//! A report and a frame belong together by the event's id. A frame without a report stopped; where the library logged an
//! exception between the reports of its neighbours, that is why.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::late::is_final;
use super::observe::Seated;
use super::server::{WiredFrame, piece, pieces};
use crate::live::report::{Report, Said};
use crate::probe::trace::{ClientTrace, Fate, Receipt};
use crate::record::observation::Piece;
use crate::record::{Hop, Reason, Signal};
use crate::wire::DELTA_KIND;

/// A frame that reached no callback, and nobody said why.
const NOT_DELIVERED: Reason = Reason::new("not_delivered");

/// The client's notes as far as its driver's reports tell them, and the places of the pieces that it got after the reply among
/// all that it got.
pub(super) fn trace(said: &[Said], frames: &[WiredFrame], seated: &Seated<'_>) -> (ClientTrace, Vec<usize>) {
    let mut trace = ClientTrace::default();
    let reports = Reports::of(said, frames);
    let places = reports.places(frames);
    // For each frame the first report about it or a later one.
    let mut until = vec![said.len(); frames.len()];
    for k in (0..frames.len()).rev() {
        let next = until.get(k + 1).copied().unwrap_or(said.len());
        until[k] = places[k].and_then(|mine| mine.first().copied()).unwrap_or(next);
    }
    // Reports up to here have been put down to a frame.
    let mut used = 0;
    for (k, frame) in frames.iter().enumerate() {
        let receipt = if let Some(mine) = places[k] {
            used = used.max(until[k] + 1);
            reached(said, mine, frame, seated)
        } else {
            let blamed = blame(said, used, until[k]);
            used = blamed.as_ref().map_or(used, |(at, ..)| at + 1);
            stopped(blamed.map(|(_, reason)| reason), frame)
        };
        trace.receipts.push(receipt);
    }
    for said in said {
        note(&said.what, &mut trace);
    }
    let mut late = Vec::new();
    for (at, said) in said.iter().enumerate() {
        for piece in delivered(&said.what, seated).into_iter().flatten() {
            late.extend((at > reports.replied_at).then_some(trace.delivered.len()));
            trace.delivered.push(piece);
        }
    }
    (trace, late)
}

/// The reports by the event that they are about.
struct Reports<'a> {
    /// The n-th time that each list was called with an event: a list that is called twice for one frame makes two of it.
    by_event: HashMap<(&'a str, usize), Vec<usize>>,
    /// The report of the agent's reply, or the number of all where there is none.
    replied_at: usize,
}

impl<'a> Reports<'a> {
    fn of(said: &'a [Said], frames: &[WiredFrame]) -> Reports<'a> {
        let mut calls: HashMap<(&str, &str), usize> = HashMap::new();
        let mut by_event: HashMap<(&str, usize), Vec<usize>> = HashMap::new();
        for (at, said) in said.iter().enumerate() {
            let (Some(id), Some(list)) = (id_of(&said.what), list_of(&said.what)) else { continue };
            let call = calls.entry((id, list)).or_default();
            by_event.entry((id, *call)).or_default().push(at);
            *call += 1;
        }
        let replies: HashSet<&str> =
            frames.iter().filter(|f| is_final(f)).filter_map(|f| f.id.as_deref()).collect();
        let is_reply = |s: &Said| id_of(&s.what).is_some_and(|id| replies.contains(id)) || is_reply(&s.what);
        let replied_at = said.iter().position(is_reply).unwrap_or(said.len());
        Reports { by_event, replied_at }
    }

    /// For each frame the reports that are about it: the n-th frame of an event has its n-th calls.
    fn places<'s>(&'s self, frames: &'s [WiredFrame]) -> Vec<Option<&'s [usize]>> {
        let mut times: HashMap<&str, usize> = HashMap::new();
        let mut place = |frame: &'s WiredFrame| {
            let id = frame.id.as_deref()?;
            let time = times.entry(id).or_default();
            *time += 1;
            self.by_event.get(&(id, *time - 1)).map(Vec::as_slice)
        };
        frames.iter().map(&mut place).collect()
    }
}

/// Whether a callback was called with the agent's message.
fn is_reply(report: &Report) -> bool {
    let Report::Callback { class, kind, more, .. } = report else { return false };
    let kind = kind.as_ref().and_then(Value::as_str).or(class.as_deref());
    kind == Some("MessageEvent") && more.get("source").and_then(Value::as_str) == Some("agent")
}

/// The list that was called.
fn list_of(report: &Report) -> Option<&str> {
    match report {
        Report::Callback { list, .. } => Some(list.as_deref().unwrap_or("")),
        Report::Token { list, .. } => Some(list.as_deref().unwrap_or("token")),
        _ => None,
    }
}

fn id_of(report: &Report) -> Option<&str> {
    match report {
        Report::Callback { id, .. } | Report::Token { id, .. } => id.as_ref()?.as_str(),
        _ => None,
    }
}

/// The first exception that was logged for a frame between two reports, and its reason.
fn blame(said: &[Said], from: usize, until: usize) -> Option<(usize, Reason)> {
    let between = said.get(from..until.max(from))?;
    between.iter().enumerate().find_map(|(at, s)| match &s.what {
        Report::Log { class: Some(class), error, .. } => {
            Some((from + at, reason(class, error.as_deref().unwrap_or_default())))
        }
        _ => None,
    })
}

/// The code for an exception of the Python event model, in the words of the emulated one.
pub(in crate::live) fn reason(class: &str, error: &str) -> Reason {
    if class == "JSONDecodeError" {
        return Reason::new("not_json");
    }
    if error.contains("Unknown kind") {
        return Reason::new("unknown_kind");
    }
    // pydantic writes the type of its first error as `[type=extra_forbidden, …`.
    match error.split_once("[type=").and_then(|(_, rest)| rest.split_once([',', ']'])) {
        Some((code, _)) => Reason::from(code.to_owned()),
        None => Reason::from(class.to_owned()),
    }
}

fn reached(said: &[Said], mine: &[usize], frame: &WiredFrame, seated: &Seated<'_>) -> Receipt {
    let none = Reason::new("text_missing");
    let fate = if pieces(&frame.value).is_some() {
        let arrived = mine.iter().find_map(|at| delivered(&said[*at].what, seated));
        match arrived {
            Some(pieces) => Fate::Reached { pieces, missing: none },
            None => Fate::Stopped { hop: Hop::Delivered, reason: seated.not_called() },
        }
    } else {
        Fate::Reached { pieces: Vec::new(), missing: none }
    };
    Receipt { fate, signal: Signal::None }
}

fn stopped(reason: Option<Reason>, frame: &WiredFrame) -> Receipt {
    let (fate, signal) = match reason {
        Some(reason) if reason.as_str() == "not_json" => {
            (Fate::Stopped { hop: Hop::Parsed, reason }, Signal::Log)
        }
        Some(reason) => (Fate::Stopped { hop: Hop::Decoded, reason }, Signal::Log),
        None if pieces(&frame.value).is_none() && frame.id.is_none() => {
            // Frames without an event have no report.
            (Fate::Reached { pieces: Vec::new(), missing: NOT_DELIVERED }, Signal::None)
        }
        None => (Fate::Stopped { hop: Hop::Delivered, reason: NOT_DELIVERED }, Signal::None),
    };
    Receipt { fate, signal }
}

/// What the application got by this report, if it is a delta in the list that it listens on.
fn delivered(report: &Report, seated: &Seated<'_>) -> Option<Vec<Piece>> {
    let (list, content, reasoning) = match report {
        Report::Callback { list, class, kind, content, reasoning, .. } => {
            let by_kind = kind.as_ref().and_then(Value::as_str) == Some(DELTA_KIND);
            if !by_kind && class.as_deref() != Some(DELTA_KIND) {
                return None;
            }
            (list, content, reasoning)
        }
        Report::Token { list, content, reasoning, .. } => (list, content, reasoning),
        _ => return None,
    };
    if seated.list.is_some() && list.is_some() && list.as_deref() != seated.list {
        return None;
    }
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let both = [text(reasoning).map(|t| piece(&t, true)), text(content).map(|t| piece(&t, false))];
    let shown = |p: &Piece| p.class == crate::record::Class::Empty || seated.shows.contains(&p.class);
    Some(both.into_iter().flatten().filter(shown).collect())
}

/// Everything that could be noticed and is about no single frame.
fn note(report: &Report, trace: &mut ClientTrace) {
    match report {
        Report::Log { message, .. } => *trace.log.entry(message.clone()).or_default() += 1,
        Report::Failed { class, error } | Report::Raised { class, error } => {
            let class = class.as_deref().unwrap_or("an error");
            trace.surface(format!("{class}: {error}"));
            trace.signal = Signal::Surfaced;
        }
        Report::Error { place, error } => {
            trace.surface(format!("{place}: {error}"));
            trace.signal = Signal::Surfaced;
        }
        _ => {}
    }
}
