//! The file of a scenario of the agent server.

#![expect(dead_code, reason = "nobody makes a value of these: they are the shape of a file, and no more")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::fault::FaultTable;
use super::limits;
use super::parts::{self, Failure, Globs, Said};
use crate::agent_server::profile::ServerTraits;
use crate::agent_server::server::Finish;
use crate::record::{Consumer, Scope, Signal, Subject, Verdict};
use crate::scenario::aside::MAX_STALL_S;
use crate::scenario::idle_policy::{MAX_IDLE_S, POLL_S, REAP_AFTER_S};
use crate::scenario::parse::{MAX_LATENCY_S, MAX_REFUSALS, MAX_SUBSCRIBERS};
use crate::scenario::workload::{CLASSES, MAX_CHUNK_BYTES, MAX_RATE, MAX_TOKENS};
use crate::schema::{Partial, one_of, partial};
use crate::wire::mutation::PATTERN;

/// A scenario of the agent server: one question, its axes, what it expects of their product, and what is known to fail.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ScenarioFile {
    /// The question that the scenario answers; the first key of the file.
    question: Said,
    /// Where what it asks about was seen.
    #[schemars(regex(pattern = "^https://"))]
    seen: Option<String>,
    /// What the cells are about. A scenario of the session feed has a schema of its own.
    #[schemars(default, schema_with = "subject")]
    subject: Option<String>,
    /// What came of the cell when it was kept as a capsule. `skewlab replay` reads it, and nobody else.
    #[schemars(default, schema_with = "any_table")]
    capsule: Option<()>,
    /// Servers: names, releases that an era covers, globs over the names of profiles.
    #[schemars(length(min = 1), extend("examples" = [["*"], ["1.58.2"]]))]
    servers: Vec<String>,
    /// Clients: names, releases, globs, `python@same` (the one that the server ships); NAME/LIST for a callback list.
    #[schemars(length(min = 1), extend("examples" = [["*", "python@same"]]))]
    clients: Vec<String>,
    /// Names of the `[workload.NAME]` tables in use.
    #[schemars(length(min = 1))]
    workloads: Vec<String>,
    /// Changes to frames; `["none"]` if absent.
    #[schemars(default, length(min = 1), inner(regex(pattern = PATTERN)), extend("examples" = [["none", "-source"]]))]
    mutations: Option<Vec<String>>,
    /// Names of the `[[fault.NAME]]` lists in use, and `none`; `["none"]` if absent.
    #[schemars(length(min = 1))]
    faults: Option<Vec<String>>,
    /// Consumers that must never see a delta.
    #[schemars(length(min = 1))]
    must_not_receive: Option<Vec<Consumer>>,
    /// Copies of the client that attend a cell; the one that fares worst is reported.
    #[schemars(range(min = 1, max = MAX_SUBSCRIBERS), extend("default" = 1))]
    subscribers: Option<u64>,
    /// Traits of a server profile, laid over every server. `ships` cannot be changed here.
    #[schemars(default, schema_with = "laid")]
    traits: Option<Partial<ServerTraits>>,
    /// The webhook sink.
    webhook: Option<Webhook>,
    /// An outside runtime that ends a server which looks idle; nobody does, if it is absent.
    runtime: Option<Runtime>,
    /// What the model streams, by name.
    workload: BTreeMap<String, Workload>,
    /// What goes wrong, by name; the tables of one name are at work together.
    fault: Option<BTreeMap<String, Vec<FaultTable>>>,
    /// What cells may cost: of all tables that match a cell, the first that limits a metric counts for it.
    #[schemars(default, schema_with = "limits::budgets")]
    budget: Option<()>,
    /// A cell has to match one of these, if there are any.
    include: Option<Vec<Patterns>>,
    /// A cell must match none of these.
    exclude: Option<Vec<Patterns>>,
    /// What is expected; the first match counts, and `delivered` where none does.
    expect: Option<Vec<Expect>>,
    /// What is known to fail; the first match counts. It never makes a cell green.
    known: Option<Vec<Known>>,
}

fn subject(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": Subject::AgentServer.as_str() })
}

fn any_table(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// Clients are picked by `ships` before traits are laid over a server.
fn laid(_: &mut SchemaGenerator) -> Schema {
    let mut traits = partial::<ServerTraits>();
    if let Some(keys) = traits.get_mut("properties").and_then(|keys| keys.as_object_mut()) {
        keys.shift_remove("ships");
    }
    traits
}

/// Which cells: a pattern for each axis; one that is absent matches everything.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Patterns {
    /// Names of servers: as asked for, or of the profile.
    server: Option<Globs>,
    /// Names of clients. One without a callback list also matches the client with one.
    client: Option<Globs>,
    /// Names of workloads.
    workload: Option<Globs>,
    /// Mutations as they are written.
    mutation: Option<Globs>,
    /// Names of what goes wrong.
    fault: Option<Globs>,
}

/// The webhook sink; at once and willing, if it is absent.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Webhook {
    /// Seconds that it takes to answer.
    #[schemars(range(min = 0.0, max = MAX_LATENCY_S), extend("default" = 0))]
    latency_s: Option<f64>,
    /// Posts that it refuses before it takes one.
    #[schemars(range(max = MAX_REFUSALS), extend("default" = 0))]
    refuse_first: Option<u64>,
}

/// An outside runtime that ends a server which looks idle. Emulated servers only.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Runtime {
    /// The `idle_time` of `/server_info`, seconds, from which on it ends the server.
    #[schemars(range(max = MAX_IDLE_S), extend("exclusiveMinimum" = 0, "default" = REAP_AFTER_S))]
    reap_after_s: Option<f64>,
    /// Seconds between two questions.
    #[schemars(range(max = MAX_IDLE_S), extend("exclusiveMinimum" = 0, "default" = POLL_S))]
    poll_s: Option<f64>,
}

/// A user's message and the model's answer: `tokens`, or `generate`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["tokens"] }, { "required": ["generate"] }]))]
struct Workload {
    /// Tokens a second.
    #[schemars(range(max = MAX_RATE), extend("exclusiveMinimum" = 0, "default" = 50))]
    rate: Option<f64>,
    /// What the user says.
    #[schemars(extend("default" = "hi"))]
    user: Option<String>,
    /// How the turn ends.
    #[schemars(default, schema_with = "finish", extend("default" = Finish::default().as_str()))]
    finish: Option<String>,
    /// Bytes of one write of a released server's model, whatever they cut.
    #[schemars(range(min = 1, max = MAX_CHUNK_BYTES))]
    chunk_bytes: Option<u64>,
    /// The tokens, one by one.
    #[schemars(length(min = 1))]
    tokens: Option<Vec<Token>>,
    /// Numbered tokens by a recipe.
    generate: Option<Generate>,
}

fn finish(_: &mut SchemaGenerator) -> Schema {
    one_of([Finish::Message, Finish::FinishTool].map(Finish::as_str))
}

/// A token, or what happens between two.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("anyOf" = [
    { "required": ["text"] }, { "required": ["reasoning"] }, { "required": ["stall_s"] }, { "required": ["tool"] },
    { "required": ["error"] },
]))]
struct Token {
    /// Text of the reply; may be empty.
    text: Option<String>,
    /// The model's reasoning.
    reasoning: Option<String>,
    /// How often it comes.
    #[schemars(range(min = 1, max = MAX_TOKENS), extend("default" = 1))]
    repeat: Option<u64>,
    /// Silence before it, seconds.
    #[schemars(range(max = MAX_STALL_S), extend("exclusiveMinimum" = 0))]
    stall_s: Option<f64>,
    /// A tool that the model calls; for released servers.
    tool: Option<String>,
    /// Its arguments, the text of a JSON object.
    #[schemars(extend("examples" = ["{\"path\": \"a\"}"]))]
    arguments: Option<String>,
    /// The provider fails with these words; at the end, for released servers.
    error: Option<String>,
    /// HTTP status of that failure instead of a stream; at the start only.
    #[schemars(range(min = 400, max = 599))]
    status: Option<u64>,
}

/// Numbered tokens.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Generate {
    /// How many.
    #[schemars(range(min = 1, max = MAX_TOKENS))]
    count: u64,
    /// What they are, drawn at random; `["text"]` if absent.
    #[schemars(default, schema_with = "classes")]
    classes: Option<Vec<String>>,
    /// Seed of the draw.
    #[schemars(extend("default" = 1))]
    seed: Option<u64>,
}

fn classes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": one_of(CLASSES), "minItems": 1 })
}

/// How cells are expected to end. Everything that is given must match.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Expect {
    #[schemars(flatten)]
    cells: Patterns,
    /// The verdict of the worst finding.
    verdict: Verdict,
    /// Which part of the text is missing.
    scope: Option<Scope>,
    /// The hop that lost most of it.
    #[schemars(default, schema_with = "parts::hop")]
    lost_at: Option<String>,
    /// What the application could notice.
    signal: Option<Signal>,
    /// The code of the reason: `unknown_kind`.
    reason: Option<Said>,
    /// The budgets that are broken, all of them and no other.
    #[schemars(default, schema_with = "parts::over")]
    over: Option<()>,
    /// The measurement or source that it rests on; never compared.
    because: Option<Said>,
}

/// A failure that is known.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Known {
    #[schemars(flatten)]
    cells: Patterns,
    #[schemars(flatten)]
    failure: Failure,
    /// The hop that it is known to be lost at; absent for any.
    #[schemars(default, schema_with = "parts::hop")]
    lost_at: Option<String>,
}
