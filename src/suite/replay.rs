//! Running a capsule again, and saying what is not as it was.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chrono::NaiveDate;

use super::explore::Crew;
use super::{assemble, fingerprint};
use crate::agent_server::profile::ProfileError;
use crate::record::{CellResult, Hop, Reason, Scope};
use crate::run::{CellFault, Parties};
use crate::scenario::Planned;
use crate::scenario::capsule::{Capsule, Found};
use crate::seed::Seed;

/// What came of a capsule this time.
#[derive(Debug)]
pub struct Replayed {
    /// The cell, judged.
    pub cell: CellResult,
    /// What came of it, as the capsule would keep it.
    pub found: Found,
    /// What is not as it was, in words; empty where everything is.
    pub differs: Vec<String>,
}

/// Runs the cell once.
pub fn replay(capsule: &Capsule, patience: Duration) -> Result<Replayed, ProfileError> {
    let parties = Parties::of([&capsule.cell], &capsule.catalogue)?;
    let seed = Seed(capsule.head.seed);
    let crew = Crew { seed, jobs: 1, patience, stop: Arc::new(AtomicBool::new(false)) };
    let cell = Planned::AgentServer(Box::new(capsule.cell.clone()));
    let runs = crew.run(vec![cell], parties);
    let result = runs.into_iter().next().map_or(Err(CellFault::Interrupted), |run| run.result);
    let cell = assemble::cell(&capsule.cell, &result, NaiveDate::default(), false);
    let found = fingerprint::found(&cell, &result, seed);
    let mut differs = differences(&capsule.head.found, &found);
    if capsule.cell.hash != capsule.head.hash {
        differs.push(format!(
            "the cell is another one: its hash is {}, and was {}",
            capsule.cell.hash, capsule.head.hash
        ));
    }
    Ok(Replayed { cell, found, differs })
}

/// Everything that came out in another way, by name.
fn differences(was: &Found, is: &Found) -> Vec<String> {
    let word = |word: Option<&str>| word.map_or("absent".to_owned(), |word| format!("`{word}`"));
    let parts = [
        ("verdict", Some(was.verdict.as_str()), Some(is.verdict.as_str())),
        ("scope", was.scope.map(Scope::as_str), is.scope.map(Scope::as_str)),
        ("lost_at", was.lost_at.map(Hop::as_str), is.lost_at.map(Hop::as_str)),
        ("reason", was.reason.as_ref().map(Reason::as_str), is.reason.as_ref().map(Reason::as_str)),
        ("signal", Some(was.signal.as_str()), Some(is.signal.as_str())),
    ];
    let mut differs: Vec<String> = parts
        .into_iter()
        .filter(|(_, was, is)| was != is)
        .map(|(part, was, is)| format!("{part} is {}, and was {}", word(is), word(was)))
        .collect();
    let hops = is.hops.len().max(was.hops.len());
    for at in 0..hops {
        let (was, is) = (was.hops.get(at).map(String::as_str), is.hops.get(at).map(String::as_str));
        if was != is {
            differs.push(format!("the ledger says {}, and said {}", word(is), word(was)));
        }
    }
    if differs.is_empty() && was.ledger != is.ledger {
        differs.push(format!("the ledgers of all clients are {}, and were {}", is.ledger, was.ledger));
    }
    if differs.is_empty() && was.evidence != is.evidence {
        differs.push(format!("the evidence is {}, and was {}", is.evidence, was.evidence));
    }
    differs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Signal, Verdict};

    fn found() -> Found {
        Found {
            verdict: Verdict::SilentLoss,
            scope: None,
            lost_at: Some(Hop::Sent),
            reason: None,
            signal: Signal::None,
            hops: vec!["produced: in 1/2, out 1/2".into(), "sent: in 1/2, out 0/0, x -1/2".into()],
            ledger: "l".into(),
            evidence: "e".into(),
        }
    }

    #[test]
    fn what_came_out_in_another_way_is_named() {
        assert!(differences(&found(), &found()).is_empty());
        let mut other = Found { verdict: Verdict::Delivered, lost_at: None, ..found() };
        other.hops.pop();
        let said = [
            "verdict is `delivered`, and was `silent_loss`",
            "lost_at is absent, and was `sent`",
            "the ledger says absent, and said `sent: in 1/2, out 0/0, x -1/2`",
        ];
        assert_eq!(differences(&found(), &other), said);
        let ledger = Found { ledger: "m".into(), evidence: "f".into(), ..found() };
        assert_eq!(differences(&found(), &ledger), ["the ledgers of all clients are m, and were l"]);
        let evidence = Found { evidence: "f".into(), ..found() };
        assert_eq!(differences(&found(), &evidence), ["the evidence is f, and was e"]);
    }
}
