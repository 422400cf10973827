//! Packed rows: three or more deltas of one block, one after the other, as one physical row.
//!
//! Physical only: reading a row back gives every event with its own seq, time and text. The logical log does not change.
//! Source: the deepseek-harness, note of 2026-07-26 (packed chunk rows by default).

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::super::chunk::{BlockKind, Chunk};
use super::super::event::{Body, Event, Place, Seq};

/// Deltas that make a packed row; two are written as they are.
pub const PACKED_FROM: usize = 3;
/// Events that a packed row holds at most. Source: note of 2026-08-18, for SQLite; used in both stores here.
pub const PACKED_EVENTS: usize = 1024;
/// Bytes of text that a packed row holds at most.
pub const PACKED_BYTES: usize = 1024 * 1024;

/// A packed row as it is written. `T` is a text: borrowed when written, owned when read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Packed<T> {
    /// What the deltas are of. The first key, by which the row is known.
    #[serde(rename = "packed")]
    kind: BlockKind,
    /// Seq of the first one; the others follow without a hole.
    pub(super) seq: Seq,
    turn: u32,
    step: u32,
    index: u32,
    /// Time of the first one, milliseconds since the epoch.
    time: u64,
    /// For each of the others, the milliseconds since the one before. A clock may be set back.
    after: Vec<i64>,
    /// The texts.
    texts: Vec<T>,
}

/// What a delta has to share with its neighbour to be packed with it.
fn block(event: &Event) -> Option<(Place, BlockKind, u32, &str)> {
    match &event.body {
        Body::Chunk(place, chunk) if event.cites.is_none() => {
            chunk.delta().map(|(kind, index, text)| (*place, kind, index, text))
        }
        _ => None,
    }
}

/// How many events at the beginning of `events` go into the next row: one, or a run long enough to be packed. The seqs
/// must be contiguous.
pub(super) fn run(events: &[Rc<Event>]) -> usize {
    let Some((place, kind, index, text)) = events.first().and_then(|e| block(e)) else { return 1 };
    let mut bytes = text.len();
    let same = |event: &&Rc<Event>| {
        block(event).is_some_and(|(p, k, i, text)| {
            bytes += text.len();
            (p, k, i) == (place, kind, index) && bytes <= PACKED_BYTES
        })
    };
    let length = 1 + events[1..].iter().take(PACKED_EVENTS - 1).take_while(same).count();
    if length < PACKED_FROM { 1 } else { length }
}

/// The packed row of a run; none if it is no run.
pub(super) fn pack(run: &[Rc<Event>]) -> Option<Packed<&str>> {
    let first = run.first()?;
    let (place, kind, index, _) = block(first)?;
    #[expect(clippy::cast_possible_wrap, reason = "the difference wraps, and wraps back when it is read")]
    let after = run.windows(2).map(|two| two[1].time.wrapping_sub(two[0].time) as i64).collect();
    let texts = run.iter().map(|event| block(event).map(|b| b.3)).collect::<Option<_>>()?;
    let Place { turn, step } = place;
    Some(Packed { kind, seq: first.seq, turn, step, index, time: first.time, after, texts })
}

impl Packed<String> {
    /// The events, or what is wrong with the row.
    pub(super) fn events(self) -> Result<impl Iterator<Item = Event>, String> {
        let (times, texts) = (self.after.len() + 1, self.texts.len());
        if times != texts {
            return Err(format!("a packed row has one time a text: expected {texts} times, found {times}"));
        }
        if texts < PACKED_FROM {
            return Err(format!("a packed row holds {PACKED_FROM} events or more, found {texts}"));
        }
        let place = Place { turn: self.turn, step: self.step };
        let mut time = self.time;
        let times = std::iter::once(0).chain(self.after);
        Ok((self.seq..).zip(times.zip(self.texts)).map(move |(seq, (after, text))| {
            time = time.wrapping_add_signed(after);
            let body = Body::Chunk(place, Chunk::of(self.kind, self.index, &text));
            Event { seq, time, body, cites: None }
        }))
    }
}
