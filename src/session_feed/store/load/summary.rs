//! What a check of a log says, as data.

use std::path::PathBuf;

use serde::Serialize;

use super::super::super::consumer::{Twice, agreement};
use super::super::super::event::{Body, TurnEnd};
use super::super::kind::StoreKind;
use super::super::written::Written;
use super::{Loaded, Mend};

/// The version of what `skewlab feed check --format json` writes.
pub const CHECK_SCHEMA: u32 = 1;

/// What is in a log that was loaded, and what had to be repaired for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// [`CHECK_SCHEMA`].
    pub schema: u32,
    /// The file.
    pub file: PathBuf,
    /// Which store it is.
    pub store: StoreKind,
    /// The session.
    pub session: String,
    /// What is stored and was kept.
    pub stored: Written,
    /// Turns that began in it.
    pub turns: u64,
    /// Those of them that were interrupted, in the store or by the repair.
    pub interrupted: u64,
    /// Steps whose committed message is not what the chunks that it cites or embeds add up to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub divergent_steps: Vec<Differs>,
    /// What was repaired.
    pub repairs: Vec<Repair>,
    /// Where the repaired log was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired: Option<PathBuf>,
}

/// A step of which a log holds two texts, which are not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Differs {
    /// The turn, from 1.
    pub turn: u32,
    /// The step in it, from 1.
    pub step: u32,
    /// Text and reasoning of its chunks.
    pub chunks: String,
    /// The same of its message.
    pub message: String,
}

impl From<Twice> for Differs {
    fn from(Twice { place, chunks, message }: Twice) -> Differs {
        Differs { turn: place.turn, step: place.step, chunks, message }
    }
}

/// One repair, as data and in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// What was done.
    #[serde(flatten)]
    pub mend: Mend,
    /// In words.
    pub said: String,
}

impl Loaded {
    /// The summary of the log in this file.
    pub fn summary(&self, file: PathBuf, repaired: Option<PathBuf>) -> Summary {
        let count = |is: fn(&Body) -> bool| self.events.iter().filter(|event| is(&event.body)).count() as u64;
        let repair = |mend: &Mend| Repair { mend: mend.clone(), said: mend.to_string() };
        let twice = agreement(self.events.iter().map(|event| &**event)).into_iter();
        Summary {
            schema: CHECK_SCHEMA,
            file,
            store: self.kind,
            session: self.header.session.clone(),
            stored: self.stored,
            turns: count(|body| matches!(body, Body::TurnStart(_))),
            interrupted: count(|body| matches!(body, Body::TurnEnd(_, TurnEnd::Interrupted))),
            divergent_steps: twice.filter(|t| t.chunks != t.message).map(Differs::from).collect(),
            repairs: self.mends.iter().map(repair).collect(),
            repaired,
        }
    }
}
