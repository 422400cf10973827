//! One drawn cell in parts that can be taken away one by one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use toml::{Table, Value};

use crate::agent_server::fault::{Fault, Moment};
use crate::agent_server::server::{Chunk, Finish, SinkModel};
use crate::record::{Budget, Consumer, Expected, Verdict};
use crate::scenario::capsule::SCENARIO;
use crate::scenario::{Aside, Cell, Does, FaultSet, Planned, Workload};
use crate::wire::{Mutation, MutationError};

/// The name of its workload.
const WORKLOAD: &str = "drawn";

/// A cell before it is one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Specimen {
    /// The server's profile.
    pub(super) server: String,
    /// The client's profile, with a callback list or without.
    pub(super) client: String,
    /// Copies of it.
    pub(super) subscribers: u32,
    /// What the model streams, with a silence before a token or without.
    pub(super) tokens: Vec<Token>,
    /// Tokens a second.
    pub(super) rate: u32,
    /// How the turn ends.
    pub(super) finish: Finish,
    /// Steps of a frame mutation.
    pub(super) steps: Vec<String>,
    /// Traits laid over the server's, each with the name that coverage calls it by.
    pub(super) traits: Vec<Laid>,
    /// What goes wrong.
    pub(super) faults: Vec<Fault>,
}

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) chunk: Chunk,
    /// Silence before it.
    pub(super) stall: Option<Duration>,
}

/// Traits that are laid over a server together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Laid {
    pub(super) name: &'static str,
    pub(super) table: Table,
}

impl Specimen {
    /// The cell, every name resolved.
    ///
    /// Errors when a step of the mutation does not read.
    pub(super) fn cell(&self) -> Result<Cell, MutationError> {
        let mutation: Mutation =
            if self.steps.is_empty() { Mutation::default() } else { self.steps.join(" ").parse()? };
        let name = self.fault_name();
        let faults = self.faults.iter().map(|fault| Fault { name: name.clone(), ..fault.clone() });
        let profile = self.client.split_once('/').map_or(self.client.as_str(), |(profile, _)| profile);
        let cell = Cell {
            id: String::new(),
            scenario: SCENARIO.to_owned(),
            server: self.server.clone(),
            server_profile: self.server.clone(),
            client: self.client.clone(),
            client_asked: vec![self.client.clone()],
            client_profile: profile.to_owned(),
            workload: Arc::new(self.workload()),
            mutation,
            faults: Arc::new(faults.collect()),
            fault: name,
            must_not_receive: BTreeSet::from([Consumer::Store]),
            traits: Arc::new(self.laid()),
            sink: SinkModel::default(),
            idle_policy: None,
            subscribers: self.subscribers,
            budget: Budget::default(),
            expected: Expected::of(Verdict::Delivered),
            known: None,
            hash: String::new(),
        };
        Ok(cell.identified())
    }

    /// The same as one of a plan.
    pub(super) fn planned(&self) -> Result<Planned, MutationError> {
        Ok(Planned::AgentServer(Box::new(self.cell()?)))
    }

    fn workload(&self) -> Workload {
        let stall = |(before, token): (usize, &Token)| {
            token.stall.map(|time| Aside { before, what: Does::Stall(time) })
        };
        Workload {
            name: WORKLOAD.to_owned(),
            rate: f64::from(self.rate),
            tokens: self.tokens.iter().map(|token| token.chunk.clone()).collect(),
            user: "hi".to_owned(),
            finish: self.finish,
            asides: self.tokens.iter().enumerate().filter_map(stall).collect(),
            chunk_bytes: None,
        }
    }

    /// `none`, or the kinds with a `-` between.
    fn fault_name(&self) -> String {
        let kinds: Vec<&str> = self.faults.iter().map(|fault| fault.kind.as_str()).collect();
        if kinds.is_empty() { FaultSet::NONE.to_owned() } else { kinds.join("-") }
    }

    /// All traits in one table; of two that say the same the later one counts.
    pub(super) fn laid(&self) -> Table {
        let mut all = Table::new();
        for laid in &self.traits {
            lay(&mut all, &laid.table);
        }
        all
    }

    /// The same without the tokens from `from` to below `to`. What goes wrong at a token stays with it, or comes with the
    /// next one that is left.
    pub(super) fn without_tokens(&self, from: usize, to: usize) -> Specimen {
        let mut fewer = self.clone();
        fewer.tokens.drain(from..to);
        let (first, gone, left) = (from as u64, (to - from) as u64, fewer.tokens.len() as u64);
        for fault in &mut fewer.faults {
            if let Moment::Token(n) = &mut fault.moment {
                if *n > first + gone {
                    *n -= gone;
                } else if *n > first {
                    *n = first + 1;
                }
                *n = (*n).clamp(1, left.max(1));
            }
        }
        fewer
    }

    /// The same with one client, if nothing is about another one.
    pub(super) fn with_subscribers(&self, subscribers: u32) -> Specimen {
        let mut fewer = Specimen { subscribers, ..self.clone() };
        for fault in &mut fewer.faults {
            fault.subscriber = fault.subscriber.map(|n| n.min(subscribers));
        }
        fewer
    }
}

fn lay(base: &mut Table, change: &Table) {
    for (key, new) in change {
        match (base.get_mut(key), new) {
            (Some(Value::Table(old)), Value::Table(new)) => lay(old, new),
            _ => {
                base.insert(key.clone(), new.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::fault::Kind;
    use crate::record::Hop;

    fn specimen(at: u64) -> Specimen {
        let chunk = |n: u32| Chunk { text: Some(n.to_string()), reasoning: None };
        let token = |n| Token { chunk: chunk(n), stall: (n == 3).then(|| Duration::from_secs(1)) };
        let fault = Fault {
            name: String::new(),
            kind: Kind::Cancel,
            moment: Moment::Token(at),
            hop: Hop::Produced,
            subscriber: None,
        };
        Specimen {
            server: "1.58.2".into(),
            client: "python-1.58.2/token_callbacks".into(),
            subscribers: 3,
            tokens: (0..10).map(token).collect(),
            rate: 50,
            finish: Finish::Message,
            steps: Vec::new(),
            traits: Vec::new(),
            faults: vec![fault],
        }
    }

    #[test]
    fn what_goes_wrong_at_a_token_goes_with_it() {
        let at = |at, from, to| match specimen(at).without_tokens(from, to).faults[0].moment {
            Moment::Token(n) => n,
            other => panic!("{other}"),
        };
        // Before, after, within, and behind the last one that is left.
        assert_eq!([at(2, 5, 10), at(9, 0, 5), at(4, 2, 6), at(10, 5, 10)], [2, 4, 3, 5]);
    }

    #[test]
    fn a_silence_goes_with_its_token_and_a_cell_says_what_it_is_made_of() {
        let cell = specimen(1).without_tokens(0, 2).cell().unwrap();
        assert_eq!(cell.workload.stalls(), [(1, Duration::from_secs(1))]);
        assert_eq!(cell.id, "explore/1.58.2/python-1.58.2/token_callbacks/drawn/cancel");
        assert_eq!(cell.client_profile, "python-1.58.2");
        assert!(specimen(1).without_tokens(3, 4).cell().unwrap().workload.stalls().is_empty());
    }
}
