//! Scenarios and cells of either subject, side by side in one plan.

use super::cell::Cell;
use super::diagnostic::ScenarioError;
use super::feed::{FeedCell, FeedScenario};
use super::load::{Scenario, text_of};
use super::names::Names;
use super::parse::table;
use crate::record::{Expected, Subject};
use crate::session_feed::Variants;

/// A scenario of whichever subject its file names.
#[derive(Debug, Clone)]
pub enum Loaded {
    /// Of the agent server, and without a `subject`.
    AgentServer(Scenario),
    /// Of the session feed.
    SessionFeed(FeedScenario),
}

impl Loaded {
    /// Reads the scenario called `what`, or the file, if `what` contains a `/` or ends in `.toml`.
    pub fn load(what: &str, names: &impl Names, variants: &Variants) -> Result<Loaded, ScenarioError> {
        let (path, text) = text_of(what)?;
        Loaded::parse(&path, &text, names, variants)
    }

    /// Reads the text of a file with the reader of its subject.
    pub fn parse(
        path: &str,
        text: &str,
        names: &impl Names,
        variants: &Variants,
    ) -> Result<Loaded, ScenarioError> {
        // What does not read at all, and a subject that there is not, the first reader reports.
        let subject = table(text)
            .ok()
            .and_then(|table| Some(table.get_ref().get("subject")?.get_ref().as_str()?.to_owned()));
        if subject.as_deref() == Some(Subject::SessionFeed.as_str()) {
            return FeedScenario::parse(path, text, variants).map(Loaded::SessionFeed);
        }
        Scenario::parse(path, text, names).map(Loaded::AgentServer)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Loaded::AgentServer(scenario) => &scenario.name,
            Loaded::SessionFeed(scenario) => &scenario.name,
        }
    }

    /// The question that it asks.
    pub fn question(&self) -> &str {
        match self {
            Loaded::AgentServer(scenario) => &scenario.question,
            Loaded::SessionFeed(scenario) => &scenario.question,
        }
    }

    /// Where what it asks about was seen, a URL.
    pub fn seen(&self) -> Option<&str> {
        match self {
            Loaded::AgentServer(scenario) => scenario.seen.as_deref(),
            Loaded::SessionFeed(_) => None,
        }
    }

    /// Its subject.
    pub fn subject(&self) -> Subject {
        match self {
            Loaded::AgentServer(_) => Subject::AgentServer,
            Loaded::SessionFeed(_) => Subject::SessionFeed,
        }
    }
}

/// One cell of a plan, of either subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    /// A server and its clients.
    AgentServer(Box<Cell>),
    /// A session and one of its consumers.
    SessionFeed(Box<FeedCell>),
}

impl Planned {
    /// Its path-shaped id.
    pub fn id(&self) -> &str {
        match self {
            Planned::AgentServer(cell) => &cell.id,
            Planned::SessionFeed(cell) => &cell.id,
        }
    }

    /// Its content hash.
    pub fn hash(&self) -> &str {
        match self {
            Planned::AgentServer(cell) => &cell.hash,
            Planned::SessionFeed(cell) => &cell.hash,
        }
    }

    /// How it is expected to end.
    pub fn expected(&self) -> &Expected {
        match self {
            Planned::AgentServer(cell) => &cell.expected,
            Planned::SessionFeed(cell) => &cell.expected,
        }
    }

    /// The cell of a session feed, if it is one.
    pub fn session_feed(&self) -> Option<&FeedCell> {
        match self {
            Planned::SessionFeed(cell) => Some(cell),
            Planned::AgentServer(_) => None,
        }
    }

    /// The cell of an agent server, if it is one.
    pub fn agent_server(&self) -> Option<&Cell> {
        match self {
            Planned::AgentServer(cell) => Some(cell),
            Planned::SessionFeed(_) => None,
        }
    }
}
