//! Whether committed messages cite chunks that are there: every cited seq exists, is a chunk of the message's own step,
//! and came before the message.

use std::borrow::Borrow;
use std::fmt;

use super::super::event::{Body, Event, Seq};

/// Why a citation leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// No event has this seq.
    Missing,
    /// The event is no chunk.
    NotAChunk,
    /// It is a chunk of another turn or step.
    OtherStep,
    /// It came after the message.
    Later,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Missing => "which is not in the log",
            Why::NotAChunk => "which is no chunk",
            Why::OtherStep => "which is a chunk of another step",
            Why::Later => "which came later",
        })
    }
}

/// A citation that leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dangling {
    /// Seq of the message.
    pub message: Seq,
    /// The seq that it cites.
    pub cited: Seq,
    /// What is wrong with it.
    pub why: Why,
}

/// Every citation of a message that leads nowhere, in the order of the log. The events must be in the order of their seq;
/// holes are allowed.
pub fn dangling<E: Borrow<Event>>(events: &[E]) -> Vec<Dangling> {
    let mut found = Vec::new();
    for message in events.iter().map(Borrow::borrow) {
        let (Body::Message(_), Some(cites)) = (&message.body, &message.cites) else { continue };
        for &cited in cites {
            if let Some(why) = wrong(events, message, cited) {
                found.push(Dangling { message: message.seq, cited, why });
            }
        }
    }
    found
}

fn wrong<E: Borrow<Event>>(events: &[E], message: &Event, cited: Seq) -> Option<Why> {
    let Some(event) = find(events, cited) else { return Some(Why::Missing) };
    if !matches!(event.body, Body::Chunk(..)) {
        Some(Why::NotAChunk)
    } else if event.seq >= message.seq {
        Some(Why::Later)
    } else if event.body.place() != message.body.place() {
        Some(Why::OtherStep)
    } else {
        None
    }
}

/// The event with this seq. Without a hole before it, it lies where its seq says.
fn find<E: Borrow<Event>>(events: &[E], seq: Seq) -> Option<&Event> {
    let first = events.first()?.borrow().seq;
    let place = usize::try_from(seq.checked_sub(first)?).ok()?;
    match events.get(place).map(Borrow::borrow) {
        Some(event) if event.seq == seq => Some(event),
        _ => {
            let at = events.binary_search_by_key(&seq, |event| event.borrow().seq).ok()?;
            events.get(at).map(Borrow::borrow)
        }
    }
}
