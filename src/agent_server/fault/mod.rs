//! Faults as values: what goes wrong in a cell, when, and for whom.
//!
//! | file | idea |
//! |---|---|
//! | `kind` | what goes wrong, with its numbers, and the hops that it can sit on |
//! | `moment` | when: at a token, at a time, after something that happened |
//! | `conditions` | the state of one way between two ends, which faults change while it is in use |
//! | `io` | a byte stream under those conditions |
//! | `next` | what the next few of something meet |
//!
//! A fault on the way of bytes never loses, doubles or swaps a frame of its own accord: it delays them, or it ends the
//! connection. What does, happens in the server, before a frame is noted as sent. So the k-th frame that is read stays the k-th
//! that was sent, and the ledger stays right.

mod conditions;
mod io;
mod kind;
mod moment;
mod next;

use std::fmt;

pub use conditions::{Conditions, Hold};
pub use io::Conditioned;
pub use kind::{Kind, Lane};
pub use moment::{BadMoment, Mark, Moment, duration};
pub use next::Next;

use crate::record::Hop;

/// One fault of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The name of the `[[fault.NAME]]` that it is part of.
    pub name: String,
    /// What goes wrong.
    pub kind: Kind,
    /// From when on.
    pub moment: Moment,
    /// The hop that it sits on.
    pub hop: Hop,
    /// Which of the cell's subscribers it is about, from 1; all of them without one.
    pub subscriber: Option<u32>,
}

impl Fault {
    /// The fault in words and numbers, the same for equal faults and different for others: what a cell's hash takes.
    pub fn written(&self) -> String {
        let whom = self.subscriber.map_or_else(|| "all".to_owned(), |n| n.to_string());
        format!("{:?} {} {} {whom}", self.kind, self.moment, self.hop.as_str())
    }

    /// Whether nothing is left of an `earlier` fault of the same moment once this one has come, in a cell of so many subscribers:
    /// both set the same thing, for the same ones.
    pub fn swallows(&self, earlier: &Fault, subscribers: u32) -> bool {
        let same = self.moment == earlier.moment && self.hop == earlier.hop;
        same && self.kind.replaces(&earlier.kind)
            && (1..=subscribers.max(1)).filter(|n| earlier.concerns(*n)).all(|n| self.concerns(n))
    }

    /// Whether it concerns that subscriber, from 1.
    pub fn concerns(&self, subscriber: u32) -> bool {
        self.subscriber.is_none_or(|only| only == subscriber)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at {}", self.name, self.kind.as_str(), self.moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(moment: Moment, subscriber: Option<u32>) -> Fault {
        Fault {
            name: "f".into(),
            kind: Kind::Slow { bytes_per_s: 100 },
            moment,
            hop: Hop::Received,
            subscriber,
        }
    }

    #[test]
    fn what_nothing_is_left_of_is_swallowed() {
        let (one, two) = (Moment::Token(1), Moment::Token(2));
        assert!(slow(one, None).swallows(&slow(one, None), 2));
        assert!(slow(one, None).swallows(&slow(one, Some(2)), 2));
        assert!(!slow(one, Some(2)).swallows(&slow(one, None), 2), "the other one keeps it");
        assert!(slow(one, Some(1)).swallows(&slow(one, None), 1), "there is no other one");
        assert!(!slow(two, None).swallows(&slow(one, None), 2), "placed in time");
        let stall = Fault { kind: Kind::Stall { lasts: None }, ..slow(one, None) };
        assert!(!stall.swallows(&stall.clone(), 1), "windows join");
        let sink = |lasts| Fault {
            kind: Kind::SlowSink {
                latency: std::time::Duration::from_secs(1),
                lasts: Some(std::time::Duration::from_secs(lasts)),
            },
            ..slow(one, None)
        };
        assert!(sink(9).swallows(&sink(9), 1) && !sink(8).swallows(&sink(9), 1));
    }
}
