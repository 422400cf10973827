//! The file of a scenario of the session feed.

#![expect(dead_code, reason = "nobody makes a value of these: they are the shape of a file, and no more")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::limits;
use super::parts::{self, Failure, Globs, Said};
use crate::record::{Scope, Signal, Subject, Verdict};
use crate::scenario::feed::{MAX_EVENTS, MAX_LISTENERS, MAX_RATE, MAX_SESSIONS, MAX_STEPS};
use crate::schema::Partial;
use crate::session_feed::profile::Traits;
use crate::session_feed::store::FlushPolicy;
use crate::session_feed::{Consumer, Fault};

/// A scenario of the session feed: variants of the feed, the consumers in its process, and faults.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FeedScenarioFile {
    /// The question that the scenario answers; the first key of the file.
    question: Said,
    /// What the cells are about.
    #[schemars(schema_with = "subject")]
    subject: String,
    /// Variants of the feed: names and globs.
    #[schemars(length(min = 1), extend("examples" = [["*"], ["mirrored", "mirror-removed"]]))]
    variants: Vec<String>,
    /// Consumers: names and globs.
    #[schemars(schema_with = "consumers")]
    consumers: Vec<String>,
    /// Names of the `[workload.NAME]` tables in use.
    #[schemars(length(min = 1))]
    workloads: Vec<String>,
    /// What goes wrong, each in cells of its own; `["none"]` if absent.
    #[schemars(default, schema_with = "faults")]
    faults: Option<Vec<String>>,
    /// When the log becomes durable. With this key the policy is a part of a cell's id; without, a turn's end is it.
    #[schemars(default, schema_with = "policies")]
    policies: Option<Vec<String>>,
    /// Whether runs of deltas are stored as one row.
    #[schemars(extend("default" = false))]
    packed: Option<bool>,
    /// Plain listeners beside the consumer.
    listeners: Option<Listeners>,
    /// Traits of a variant, laid over every one.
    traits: Option<Partial<Traits>>,
    /// What the model streams, by name.
    workload: BTreeMap<String, Workload>,
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
    json_schema!({ "const": Subject::SessionFeed.as_str() })
}

fn consumers(_: &mut SchemaGenerator) -> Schema {
    let names = Consumer::ALL.map(Consumer::as_str);
    json_schema!({ "type": "array", "items": { "type": "string", "examples": names }, "minItems": 1 })
}

/// One pattern of all forms, with a number for the letter.
fn faults(_: &mut SchemaGenerator) -> Schema {
    let number = "[1-9][0-9]*";
    let forms = Fault::FORMS.map(|form| form.replace(['K', 'N'], number));
    json_schema!({
        "type": "array",
        "items": { "type": "string", "pattern": format!("^({})$", forms.join("|")), "examples": Fault::FORMS },
        "minItems": 1,
    })
}

fn policies(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": "string", "pattern": FlushPolicy::PATTERN, "examples": FlushPolicy::names() },
        "minItems": 1,
    })
}

/// Which cells: a pattern for each axis; one that is absent matches everything.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Patterns {
    /// Names of variants.
    variant: Option<Globs>,
    /// Names of consumers.
    consumer: Option<Globs>,
    /// Names of workloads.
    workload: Option<Globs>,
    /// Faults as they are written; `kill@*` is every kill.
    fault: Option<Globs>,
    /// Flush policies.
    policy: Option<Globs>,
}

/// Plain listeners on either feed.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Listeners {
    /// On the log.
    #[schemars(range(max = MAX_LISTENERS))]
    log: Option<u64>,
    /// On the live feed.
    #[schemars(range(max = MAX_LISTENERS))]
    live: Option<u64>,
}

/// A session: `reply`, `tokens` or `shape`.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend(
        "oneOf" = [{ "required": ["reply"] }, { "required": ["tokens"] }, { "required": ["shape"] }],
        "dependentRequired" = { "reasoning": ["reply"] },
        "dependentSchemas" = { "shape": { "properties": { "turns": false, "steps": false } } },
    )
)]
struct Workload {
    /// Chunks a second on the session's own clock.
    #[schemars(range(max = MAX_RATE), extend("exclusiveMinimum" = 0, "default" = 50))]
    rate: Option<f64>,
    /// What the user says.
    #[schemars(extend("default" = "hi"))]
    user: Option<String>,
    /// Sessions of the process that stream it at once; the consumer's is one of them.
    #[schemars(range(min = 1, max = MAX_SESSIONS), extend("default" = 1))]
    sessions: Option<u64>,
    /// How often it all comes.
    #[schemars(range(min = 1, max = MAX_STEPS), extend("default" = 1))]
    turns: Option<u64>,
    /// Steps of a turn, with a call of a tool between two of them.
    #[schemars(range(min = 1, max = MAX_STEPS), extend("default" = 1))]
    steps: Option<u64>,
    /// The text of the reply, a delta a character.
    reply: Option<Said>,
    /// Reasoning before the reply.
    reasoning: Option<Said>,
    /// The deltas, one by one.
    #[schemars(length(min = 1))]
    tokens: Option<Vec<Token>>,
    /// A log by its size alone, without its words.
    shape: Option<Shape>,
}

/// A delta, or the tool that ends a step.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend(
        "anyOf" = [{ "required": ["text"] }, { "required": ["reasoning"] }, { "required": ["tool"] }],
        "dependentRequired" = { "arguments": ["tool"] },
    )
)]
struct Token {
    /// Text of the reply; may be empty.
    text: Option<String>,
    /// The model's reasoning.
    reasoning: Option<String>,
    /// How often it comes.
    #[schemars(range(min = 1, max = MAX_EVENTS), extend("default" = 1))]
    repeat: Option<u64>,
    /// A tool that the model calls, which ends the step.
    tool: Option<Said>,
    /// Its arguments, the text of a JSON object.
    arguments: Option<String>,
}

/// The size of a log.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Shape {
    /// Events.
    #[schemars(range(min = 1, max = MAX_EVENTS))]
    events: u64,
    /// Chunks among them.
    #[schemars(range(min = 1, max = MAX_EVENTS))]
    chunks: u64,
    /// Steps.
    #[schemars(range(min = 1, max = MAX_EVENTS))]
    steps: u64,
    /// Steps with text; all, if absent.
    #[schemars(range(max = MAX_EVENTS))]
    texts: Option<u64>,
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
    #[schemars(default, schema_with = "parts::feed_hop")]
    lost_at: Option<String>,
    /// What the application could notice.
    signal: Option<Signal>,
    /// The code of the reason: `agent_gone`.
    reason: Option<Said>,
    /// Exact counts: a number, or in quotes an expression over C, T, A, S, k, N, L and M with a comparison before it.
    #[schemars(default, schema_with = "limits::figures")]
    figures: Option<()>,
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
    #[schemars(default, schema_with = "parts::feed_hop")]
    lost_at: Option<String>,
}
