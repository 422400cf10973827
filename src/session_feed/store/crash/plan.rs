//! What a writer plays, in its own process or in this one.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::super::super::event::{Event, Seq};
use super::super::{Coordinator, FlushPolicy, Store, StoreError, StoreKind};
use super::Seeded;

/// What a writer plays. Time is the events' own and nobody sleeps, so that a file holds what memory would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Where it writes.
    #[serde(default)]
    pub store: StoreKind,
    /// When it writes.
    pub policy: FlushPolicy,
    /// Whether runs of deltas become packed rows.
    pub packed: bool,
    /// The session, for the header.
    pub session: String,
    /// The events.
    pub events: Played,
    /// Stop once the event with this seq was appended; none plays on to the last one.
    pub kill_at: Option<Seq>,
    /// Time that passes behind the last event without another one, up to this moment, in the events' milliseconds: a window
    /// that runs out meanwhile is written. A session whose chunks are no events is killed in such a time.
    #[serde(default)]
    pub quiet_until: Option<u64>,
}

/// Where a plan's events come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Played {
    /// The session without end of this seed.
    Seeded(u64),
    /// These.
    Listed(Vec<Event>),
}

/// What a writer says as it goes, one line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// So many events are in the log, which is in memory.
    Appended(u64),
    /// So many events are durable.
    Durable(u64),
    /// There is nothing more to do, and what is pending stays so.
    Stopped,
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Told::Appended(n) => write!(f, "appended {n}"),
            Told::Durable(n) => write!(f, "durable {n}"),
            Told::Stopped => f.write_str("stopped"),
        }
    }
}

impl Told {
    /// What a line says; none if it is none of ours.
    pub fn read(line: &str) -> Option<Told> {
        let (word, n) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "appended" => Some(Told::Appended(n.parse().ok()?)),
            "durable" => Some(Told::Durable(n.parse().ok()?)),
            "stopped" if n.is_empty() => Some(Told::Stopped),
            _ => None,
        }
    }
}

impl Plan {
    /// Plays it into a store, and stops where the plan says. `tell` hears of every event and of every batch; its error ends
    /// the play.
    pub fn play<S: Store, E: From<StoreError>>(
        &self,
        store: S,
        mut tell: impl FnMut(Told) -> Result<(), E>,
    ) -> Result<Coordinator<S>, E> {
        let mut writer = Coordinator::new(store, self.policy);
        let events: Box<dyn Iterator<Item = Event>> = match &self.events {
            Played::Seeded(seed) => Box::new(Seeded::new(*seed)),
            Played::Listed(events) => Box::new(events.iter().cloned()),
        };
        for event in events {
            let (seq, now) = (event.seq, event.time);
            tell(Told::Appended(seq + 1))?;
            let before = writer.durable();
            writer.offer(Rc::new(event), now)?;
            if writer.durable() > before {
                tell(Told::Durable(writer.durable()))?;
            }
            if self.kill_at == Some(seq) {
                break;
            }
        }
        if let Some(moment) = self.quiet_until {
            let before = writer.durable();
            writer.tick(moment)?;
            if writer.durable() > before {
                tell(Told::Durable(writer.durable()))?;
            }
        }
        tell(Told::Stopped)?;
        Ok(writer)
    }
}
