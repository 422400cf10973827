//! The client's half of the ledger, from what a library's driver reported.
//!
//! A report and a frame belong together by the event's id. A frame without a report stopped; where the library logged an
//! exception between the reports of its neighbours, that is why.

use serde_json::Value;

use super::observe::Seated;
use super::server::{WiredFrame, piece, pieces};
use crate::live::report::{Report, Said};
use crate::probe::trace::{ClientTrace, Fate, Receipt};
use crate::record::observation::Piece;
use crate::record::{Hop, Reason, Signal};
use crate::wire::DELTA_KIND;

/// A frame that reached no callback, and nobody said why.
const NOT_DELIVERED: Reason = Reason::new("not_delivered");

/// The client's notes as far as its driver's reports tell them.
pub(super) fn trace(said: &[Said], frames: &[WiredFrame], seated: &Seated<'_>) -> ClientTrace {
    let mut trace = ClientTrace::default();
    let places: Vec<Option<usize>> = places(said, frames);
    // Reports up to here have been put down to a frame.
    let mut used = 0;
    let last_known = places.iter().rposition(Option::is_some);
    for (k, frame) in frames.iter().enumerate() {
        let receipt = if let Some(at) = places[k] {
            used = used.max(at + 1);
            reached(said, frame, seated)
        } else {
            let until = places[k..].iter().flatten().next().copied().unwrap_or(said.len());
            let blamed = blame(said, used, until);
            if blamed.is_none()
                && pieces(&frame.value).is_some()
                && last_known.is_none_or(|last| last < k)
                && over(said)
            {
                // The rest of what was on the wire when the client left.
                trace.unread = Some(Reason::CLIENT_LEFT);
            }
            used = blamed.as_ref().map_or(used, |(at, ..)| at + 1);
            stopped(blamed.map(|(_, reason)| reason), frame)
        };
        trace.receipts.push(receipt);
    }
    for said in said {
        note(&said.what, &mut trace);
    }
    trace.delivered = said.iter().filter_map(|s| delivered(&s.what, seated)).flatten().collect();
    trace
}

/// For each frame the report that is about it, in order: the search never goes back.
fn places(said: &[Said], frames: &[WiredFrame]) -> Vec<Option<usize>> {
    let mut from = 0;
    let mut find = |frame: &WiredFrame| {
        let id = frame.id.as_deref()?;
        let at = said.get(from..)?.iter().position(|s| id_of(&s.what) == Some(id))? + from;
        from = at;
        Some(at)
    };
    frames.iter().map(&mut find).collect()
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

fn over(said: &[Said]) -> bool {
    said.iter().any(|s| matches!(s.what, Report::Left { .. }))
}

fn reached(said: &[Said], frame: &WiredFrame, seated: &Seated<'_>) -> Receipt {
    let none = Reason::new("text_missing");
    let fate = if pieces(&frame.value).is_some() {
        let mut mine = said.iter().filter(|s| id_of(&s.what) == frame.id.as_deref());
        match mine.find_map(|s| delivered(&s.what, seated)) {
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
