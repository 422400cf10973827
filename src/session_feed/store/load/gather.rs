//! From rows to events: the same for every store.

use std::rc::Rc;

use super::super::super::event::{Body, Event, Place};
use super::super::provenance::dangling;
use super::super::row::{self, Row};
use super::super::written::{Written, chunks};
use super::fault::{Position, Problem, plain};

/// What is wrong, and where.
pub(super) type Fault = (Position, Problem);

/// The events read so far.
#[derive(Debug, Default)]
pub(super) struct Gather {
    pub(super) events: Vec<Rc<Event>>,
    /// Counts of it, by the same rules as those of the writer.
    pub(super) read: Written,
    /// The turn and the step that are open here.
    open: (Option<u32>, Option<Place>),
    /// Where each message stands, for whatever is wrong with its citations.
    messages: Vec<Position>,
}

impl Gather {
    /// Takes the rows of one batch. What the batch says of itself is held against what is there.
    pub(super) fn batch(&mut self, batch: &Declared, rows: &[(Position, &[u8])]) -> Result<(), Fault> {
        let before = (self.events.len(), self.read);
        for (at, row) in rows {
            self.row(row, *at).map_err(|problem| (*at, problem))?;
        }
        let new = &self.events[before.0..];
        let ends = new.iter().filter(|event| matches!(event.body, Body::TurnEnd(..))).count();
        let first = new.first().map_or(before.0 as u64, |event| event.seq);
        let claims = [
            ("as its first seq", batch.first, first),
            ("events", batch.events, new.len() as u64),
            ("ends of a turn", batch.ends, ends as u64),
        ];
        for (what, expected, found) in claims {
            if expected != found {
                return Err((batch.at, Problem::Count { frame: batch.number, what, expected, found }));
            }
        }
        self.read.batches += 1;
        self.read.fsyncs += 1;
        Ok(())
    }

    fn row(&mut self, row: &[u8], at: Position) -> Result<(), Problem> {
        self.read.rows += 1;
        match row::read(row).map_err(|error| Problem::Row(plain(&error)))? {
            Row::One(event) => self.event(*event, at),
            Row::Run(packed) => {
                self.read.packed_rows += 1;
                // Before it is spelled out, so that its seqs cannot run over.
                self.continues(packed.seq)?;
                packed.events().map_err(Problem::Row)?.try_for_each(|event| self.event(event, at))
            }
        }
    }

    fn continues(&self, found: u64) -> Result<(), Problem> {
        let expected = self.events.len() as u64;
        match found.cmp(&expected) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(Problem::Hole { expected, found }),
            std::cmp::Ordering::Less => Err(Problem::Duplicate { expected, found }),
        }
    }

    fn event(&mut self, event: Event, at: Position) -> Result<(), Problem> {
        self.continues(event.seq)?;
        self.closes(&event.body)?;
        if matches!(event.body, Body::Message(_)) {
            self.messages.push(at);
        }
        self.read.events += 1;
        self.read.chunks += chunks(&event);
        self.events.push(Rc::new(event));
        Ok(())
    }

    /// Whether an end is that of what is open. An end of another turn would hide that this one was cut.
    fn closes(&mut self, body: &Body) -> Result<(), Problem> {
        let (turn, step) = self.open;
        match body {
            Body::TurnStart(place) => self.open = (Some(place.turn), None),
            Body::StepStart(place) => self.open.1 = Some(*place),
            Body::TurnEnd(place, _) if turn != Some(place.turn) => {
                let open = turn.map_or("no turn is".to_owned(), |turn| format!("turn {turn} is"));
                return Err(Problem::NotOpen { what: format!("turn {}", place.turn), open });
            }
            Body::StepEnd(place) if step != Some(*place) => {
                let named = |place: Place| format!("step {} of turn {}", place.step, place.turn);
                let open = step.map_or("no step is".to_owned(), |step| format!("{} is", named(step)));
                return Err(Problem::NotOpen { what: named(*place), open });
            }
            Body::TurnEnd(..) => self.open = (None, None),
            Body::StepEnd(_) => self.open.1 = None,
            _ => {}
        }
        Ok(())
    }

    /// Refuses the first message that cites what is not there, once everything is read.
    pub(super) fn cited(&self) -> Result<(), Fault> {
        let Some(wrong) = dangling(&self.events).into_iter().next() else { return Ok(()) };
        let messages = self.events.iter().filter(|event| matches!(event.body, Body::Message(_)));
        let at = messages.zip(&self.messages).find(|(event, _)| event.seq == wrong.message);
        let (message, cited, why) = (wrong.message, wrong.cited, wrong.why);
        let at = at.map_or(Position::File, |(_, at)| *at);
        Err((at, Problem::Dangling { message, cited, why }))
    }
}

/// What a batch says of itself.
#[derive(Debug)]
pub(super) struct Declared {
    /// Where it says so.
    pub(super) at: Position,
    /// Its number, from 0.
    pub(super) number: u64,
    /// The first seq.
    pub(super) first: u64,
    /// Its events.
    pub(super) events: u64,
    /// How many of them end a turn.
    pub(super) ends: u64,
}
