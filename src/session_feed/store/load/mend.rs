//! What a crash leaves open, closed again.
//!
//! Chunks that no message was made of stay what they are: they can be shown and replayed, and no model request sees them.
//! Source: the deepseek-harness at 2026-08-21.

use std::fmt;
use std::rc::Rc;

use serde::Serialize;

use super::super::super::event::{Body, Called, Event, Place, Returned, Seq, TurnEnd};
use super::fault::Position;

/// Why the end of a log was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Torn {
    /// The file ends within the batch.
    Short,
    /// The line that begins the batch is damaged.
    Line,
    /// The checksum of its rows does not fit.
    Rows,
}

/// The end of a log that was left out: one batch, whole. None of its rows can be trusted without its checksum. Where it is all
/// there and damaged, nothing in it ended a turn; where the file ends within it, it never was durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Where it begins.
    pub at: Position,
    /// How many bytes, up to the end of the file.
    pub bytes: u64,
    /// Why.
    pub why: Torn,
}

/// One repair. Those but the first are events that were added behind the stored ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "mend", rename_all = "kebab-case")]
pub enum Mend {
    /// The torn or damaged last batch was left out.
    Dropped(Dropped),
    /// A call that nobody answered was answered with an error.
    ToolResult {
        /// Seq of the answer.
        seq: Seq,
        /// The call.
        call: String,
    },
    /// An open step was ended.
    StepEnd {
        /// Seq of its end.
        seq: Seq,
        /// The step.
        place: Place,
    },
    /// An open turn was ended as interrupted.
    TurnEnd {
        /// Seq of its end.
        seq: Seq,
        /// The turn.
        turn: u32,
    },
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mend::Dropped(Dropped { at, bytes, why }) => {
                let why = match why {
                    Torn::Short => "the file ends within it",
                    Torn::Line => "the line that begins it is damaged",
                    Torn::Rows => "its checksum does not fit",
                };
                write!(f, "left out the last batch, {bytes} bytes from {at} on: {why}")
            }
            Mend::ToolResult { seq, call } => {
                write!(f, "seq {seq}: an error for the unanswered call {call:?}")
            }
            Mend::StepEnd { seq, place } => {
                write!(f, "seq {seq}: the end of step {} of turn {}", place.step, place.turn)
            }
            Mend::TurnEnd { seq, turn } => write!(f, "seq {seq}: the end of turn {turn}, as interrupted"),
        }
    }
}

/// What is open at the end of a log.
#[derive(Debug, Default)]
struct Open {
    turn: Option<Place>,
    step: Option<Place>,
    calls: Vec<(Place, Called)>,
}

impl Open {
    fn after(events: &[Rc<Event>]) -> Open {
        let mut open = Open::default();
        for event in events {
            match &event.body {
                Body::TurnStart(place) => open = Open { turn: Some(*place), ..Open::default() },
                Body::TurnEnd(..) => open = Open::default(),
                Body::StepStart(place) => open.step = Some(*place),
                Body::StepEnd(_) => open.step = None,
                Body::ToolCall(place, call) => open.calls.push((*place, (**call).clone())),
                Body::ToolResult(_, result) => open.calls.retain(|(_, call)| call.id != result.id),
                _ => {}
            }
        }
        open
    }
}

/// The events that close what is open, from the seq after the last one on, and what each of them mends. Their time is that
/// of the last event: when the process died nobody knows.
pub(super) fn closing(events: &[Rc<Event>]) -> Vec<(Event, Mend)> {
    let open = Open::after(events);
    let Some(turn) = open.turn else { return Vec::new() };
    let time = events.last().map_or(0, |event| event.time);
    let mut added = Vec::new();
    let mut add = |body: Body, mend: &dyn Fn(Seq) -> Mend| {
        let seq = (events.len() + added.len()) as Seq;
        added.push((Event { seq, time, body, cites: None }, mend(seq)));
    };
    for (place, call) in open.calls {
        let text = "interrupted: the process ended before the tool answered".to_owned();
        let result = Returned { id: call.id.clone(), text, error: true };
        add(Body::ToolResult(place, Box::new(result)), &|seq| Mend::ToolResult {
            seq,
            call: call.id.clone(),
        });
    }
    if let Some(place) = open.step {
        add(Body::StepEnd(place), &|seq| Mend::StepEnd { seq, place });
    }
    add(Body::TurnEnd(turn, TurnEnd::Interrupted), &|seq| Mend::TurnEnd { seq, turn: turn.turn });
    added
}
