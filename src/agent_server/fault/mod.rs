//! Faults as values: what goes wrong in a cell, when, and for whom.
//!
//! | file | idea |
//! |---|---|
//! | `kind` | what goes wrong, with its numbers, and the hops that it can sit on |
//! | `moment` | when: at a token, at a time, after something that happened |
//! | `conditions` | the state of one way between two ends, which faults change while it is in use |
//! | `io` | a byte stream under those conditions |
//!
//! A fault on the way of bytes never loses, doubles or swaps a frame of its own accord: it delays them, or it ends the
//! connection. What does, happens in the server, before a frame is noted as sent. So the k-th frame that is read stays the k-th
//! that was sent, and the ledger stays right.

mod conditions;
mod io;
mod kind;
mod moment;

use std::fmt;

pub use conditions::{Conditions, Hold};
pub use io::Conditioned;
pub use kind::{Kind, Lane};
pub use moment::{BadMoment, Mark, Moment, duration};

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
