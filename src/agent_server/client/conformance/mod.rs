//! The emulated clients against what the released packages did, frame by frame.
//!
//! The fixtures are recordings of the packages themselves. Nothing is skipped silently: what is left out is
//! a named constant with its reason.

mod browser_frames;
mod browser_given;
mod browser_scenarios;
mod checks;
mod chromium;
mod listening;
mod mutants;
mod notes;
mod python;
mod session;
mod typescript;

use serde_json::Value;

use super::canvas::Snapshot;
use super::{Client, Incoming};
use crate::agent_server::profile::{Catalogue, ClientChoice};
use crate::probe::ClientTrace;

/// A client, and what it notes.
struct Bench {
    client: Client,
    trace: ClientTrace,
}

impl Bench {
    fn of(name: &str) -> Bench {
        let choice = choice(name);
        let client = Client::new(&choice.profile, choice.list.as_deref()).unwrap();
        Bench { client, trace: ClientTrace::default() }
    }

    /// One frame, and no animation frame after it.
    fn take(&mut self, raw: &str) {
        let before = self.trace.receipts.len();
        self.client.receive(Incoming::Text(raw), &mut self.trace);
        assert_eq!(self.trace.receipts.len(), before + 1, "one receipt per frame: {raw}");
    }

    fn tick(&mut self) {
        self.client.tick(&mut self.trace);
    }

    fn snapshot(&self) -> Snapshot {
        self.client.app.canvas().unwrap().snapshot()
    }

    fn log_lines(&self) -> u64 {
        self.trace.log.values().sum()
    }
}

fn choice(name: &str) -> ClientChoice {
    Catalogue::embedded().unwrap().client(name).unwrap()
}

/// The raw frames of the shared corpus, by name.
fn corpus() -> Vec<(String, String)> {
    let lines = include_str!("../../../../scenarios/corpus.jsonl").lines();
    let frame = |line| {
        let frame: Value = serde_json::from_str(line).unwrap();
        (frame["name"].as_str().unwrap().to_owned(), frame["raw"].as_str().unwrap().to_owned())
    };
    lines.filter(|l| !l.is_empty()).map(frame).collect()
}

fn corpus_frame(name: &str) -> String {
    corpus().into_iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no frame `{name}`")).1
}
