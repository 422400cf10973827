//! The result of a run: what `run.json` holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Budgeted;
use super::comparison::Stale;
use super::evidence::{FirstFrame, Queue, Times};
use super::expectation::Known;
use super::figure::{FigureLimit, Figures};
use super::flow::{Hop, HopFlow, Reason};
use super::observation::{SideEffects, Signal};
use super::verdict::{Finding, Outcome, Scope, Verdict};
use crate::schema::keyed;
use crate::unit::Tally;

/// Schema name and version of `run.json`. A reader refuses a newer version than it knows.
pub const SCHEMA: &str = "skewlab.run/1";

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of skewlab that wrote it.
    pub skewlab: String,
    /// The seed; with the same version and arguments it gives the same run, times apart.
    pub seed: u64,
    /// `virtual` or `wall`.
    pub clock: String,
    /// SHA-256 over everything but `timing`, `sealed` and itself.
    pub digest: String,
    /// Whether `digest` is held against what the file holds when it is read. Absent in older files, some of which were
    /// fingerprinted in another way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sealed: bool,
    /// The scenarios that were run, with the question each asks.
    pub scenarios: Vec<Ran>,
    /// How many cells ended how.
    pub totals: Totals,
    /// Entries of the file of known failures that have to go and that no cell tells of: they pick none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Stale>,
    /// The cells, in plan order.
    pub cells: Vec<CellResult>,
    /// Everything that differs between two runs of the same seed.
    pub timing: Timing,
}

/// One scenario of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// Its name.
    pub name: String,
    /// The question it asks.
    pub question: String,
    /// Where what it asks about was seen, a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// What its cells are about; absent for the agent server.
    #[serde(default, skip_serializing_if = "Subject::is_agent_server")]
    pub subject: Subject,
}

/// What a scenario is about.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A server that streams to clients over sockets.
    #[default]
    AgentServer,
    /// A session log with a live bus, and the consumers in its process. In a cell of it `server` is the variant, `client`
    /// the consumer, and `mutation` the fault, with the flush policy where the scenario has several.
    SessionFeed,
}

impl Subject {
    /// Both.
    pub const ALL: [Subject; 2] = [Subject::AgentServer, Subject::SessionFeed];

    /// The word in a scenario and in `run.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Subject::AgentServer => "agent-server",
            Subject::SessionFeed => "session-feed",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_agent_server(&self) -> bool {
        *self == Subject::AgentServer
    }
}

/// What a subscriber could have told for itself: steps whose text it was never streamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oracle {
    /// Steps of which it saw a message with text.
    pub steps: u64,
    /// Those of them of which it wanted deltas and saw none.
    pub silent: u64,
}

/// How many cells ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// All cells.
    pub cells: u64,
    /// As expected.
    pub expected: u64,
    /// Not as expected.
    pub unexpected: u64,
    /// Known failures.
    pub known: u64,
    /// Known failures that pass now, or whose entry expired.
    pub stale: u64,
    /// Rig faults and cells that did not run.
    pub rig: u64,
}

impl Totals {
    /// The totals of these cells.
    pub fn of(cells: &[CellResult]) -> Totals {
        let mut totals = Totals { cells: cells.len() as u64, ..Totals::default() };
        for cell in cells {
            let slot = match cell.outcome {
                _ if cell.verdict.is_rig_fault() => &mut totals.rig,
                Outcome::Expected => &mut totals.expected,
                Outcome::Unexpected => &mut totals.unexpected,
                Outcome::Known => &mut totals.known,
                Outcome::Stale => &mut totals.stale,
            };
            *slot += 1;
        }
        totals
    }
}

/// What the clock on the wall said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Wall time of all cells, seconds.
    pub seconds: f64,
    /// Cells per second of wall time.
    pub cells_per_second: f64,
    /// Worker threads.
    pub jobs: usize,
    /// Wall time of each cell in plan order, microseconds.
    pub cell_micros: Vec<u64>,
    /// How the text of each cell came in time to the client that joined first, in plan order; absent where nothing came, and
    /// in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cell_times: Vec<Option<Times>>,
}

/// One client in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// Path-shaped: scenario / server / client / workload / mutation.
    pub id: String,
    /// Content hash of the resolved cell: equal hashes ran the same thing.
    pub hash: String,
    /// Scenario name.
    pub scenario: String,
    /// Server profile, resolved.
    pub server: String,
    /// The release of that era that was asked for; equal to `server` unless another one was named.
    pub server_release: String,
    /// Client profile, resolved, with the callback list it listens on when that is not its default.
    pub client: String,
    /// The client release that was asked for (`python@same` is resolved to the one that the server ships).
    pub client_release: String,
    /// Every way in which the scenario's axis or the command line asked for this client.
    pub client_asked: Vec<String>,
    /// Workload name.
    pub workload: String,
    /// Frame mutation, `none` for the frames as the server makes them.
    pub mutation: String,
    /// The worst finding's verdict.
    pub verdict: Verdict,
    /// Which part of the text is missing.
    pub scope: Option<Scope>,
    /// The hop that lost it.
    pub lost_at: Option<Hop>,
    /// Why.
    pub reason: Option<Reason>,
    /// What the application could notice.
    pub signal: Signal,
    /// Lines in the client's log.
    pub log_lines: u64,
    /// The verdict that the scenario expects.
    pub expected: Verdict,
    /// What that makes of it.
    pub outcome: Outcome,
    /// Whether all is as expected but for a broken budget that stands under a worse, expected headline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_over_budget: bool,
    /// Why the outcome is not plainly expected, or what the scenario says of a known failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome_note: Option<String>,
    /// The known failure that `known` and `stale` speak of, so that whoever reads it later can hold it to that day; absent in
    /// older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Known>,
    /// Whether both emulations hold a certificate of agreement with the released package.
    pub proven: bool,
    /// What the model produced.
    pub produced: Tally,
    /// What of it the application should have got: the classes that it shows.
    pub due: Tally,
    /// What the application got.
    pub delivered: Tally,
    /// Hop by hop, all classes together.
    pub hops: Vec<HopFlow>,
    /// The same per class.
    #[schemars(schema_with = "keyed::<super::flow::Class, Vec<HopFlow>>")]
    pub classes: std::collections::BTreeMap<super::flow::Class, Vec<HopFlow>>,
    /// Durable events of the turn.
    pub durables: super::observation::Durables,
    /// What surfaced.
    pub surfaced: Vec<String>,
    /// Log lines by message key.
    pub log: std::collections::BTreeMap<String, u64>,
    /// What happened beside the sockets.
    pub side_effects: SideEffects,
    /// The scenario's budgets on this cell, and how each was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<Budgeted>,
    /// Exact counts of a session feed.
    #[serde(default, skip_serializing_if = "Figures::is_empty")]
    #[schemars(schema_with = "keyed::<super::figure::Figure, u64>")]
    pub figures: Figures,
    /// What the scenario says of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<FigureLimit>,
    /// What the silent-loss oracle says to a consumer of a session feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Oracle>,
    /// The first frame that carried text which was lost; absent where none was, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_frame: Option<FirstFrame>,
    /// What waited in the server for this client, and how the server closed its connection; absent where nothing waited and it
    /// did not, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What waited in the client between its socket and its application; absent where nothing did, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_queue: Option<Queue>,
    /// How many copies of the client attended; absent for one. Everything above is of the one that fared worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribers: Option<u32>,
    /// Everything found, worst first.
    pub findings: Vec<Finding>,
}
