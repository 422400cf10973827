//! One thing that goes wrong, as a scenario writes it.

#![expect(dead_code, reason = "nobody makes a value of these: they are the shape of a file, and no more")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::parts;
use crate::agent_server::fault::{Kind, Lane, Mark};
use crate::scenario::fault::{CLOSE_CODES, LEAST_RATE, MAX_FAULT_BYTES, MAX_FAULT_TIMES};
use crate::scenario::parse::MAX_SUBSCRIBERS;
use crate::schema::one_of;

/// One thing that goes wrong. Which of the keys below a kind takes, its line in the documentation says.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct FaultTable {
    /// What goes wrong.
    #[schemars(schema_with = "kind")]
    kind: String,
    /// When: `start`, a chunk of the model (from 1), or a time since the person's first message was sent.
    #[schemars(default, schema_with = "moment")]
    at: Option<String>,
    /// When: after something that happens in every turn.
    #[schemars(default, schema_with = "mark")]
    after: Option<String>,
    /// How long after it.
    #[schemars(default, schema_with = "time")]
    by: Option<String>,
    /// The hop that it sits on, where a kind can sit on several.
    #[schemars(default, schema_with = "parts::hop")]
    hop: Option<String>,
    /// The only subscriber that it is about, from 1.
    #[schemars(range(min = 1, max = MAX_SUBSCRIBERS))]
    subscriber: Option<u64>,
    /// How long it lasts, or how much later something comes.
    #[schemars(default, rename = "for", schema_with = "time")]
    lasts: Option<String>,
    /// How late a webhook sink answers.
    #[schemars(default, schema_with = "time")]
    latency: Option<String>,
    /// How long nobody answers.
    #[schemars(default, schema_with = "time")]
    down: Option<String>,
    /// How long a connection lives, or each how manieth delta is struck.
    #[schemars(default, schema_with = "every")]
    every: Option<()>,
    /// How often.
    #[schemars(range(min = 1, max = MAX_FAULT_TIMES), extend("default" = 1))]
    times: Option<u64>,
    /// Close code.
    #[schemars(range(min = CLOSE_CODES.0, max = CLOSE_CODES.1))]
    code: Option<u64>,
    /// Reason of a close.
    reason: Option<String>,
    /// HTTP status.
    #[schemars(range(min = 400, max = 599))]
    status: Option<u64>,
    /// Bytes: of a piece, of a frame, of what a proxy holds, of what is said.
    #[schemars(range(min = 1, max = MAX_FAULT_BYTES))]
    bytes: Option<u64>,
    /// Bytes a second.
    #[schemars(range(min = LEAST_RATE, max = MAX_FAULT_BYTES))]
    bytes_per_s: Option<u64>,
    /// Until when a proxy holds back what it collects.
    #[schemars(default, schema_with = "until")]
    until: Option<String>,
    /// The frame, whatever it is.
    frame: Option<String>,
    /// Which way is slow.
    #[schemars(default, schema_with = "lane")]
    lane: Option<String>,
    /// What the reply has at its end; empty to take its last character away.
    append: Option<String>,
    /// How many deltas come again.
    #[schemars(range(min = 1, max = MAX_FAULT_BYTES))]
    count: Option<u64>,
    /// What the person says.
    text: Option<String>,
    /// Whether the agent is asked to answer; true if absent.
    run: Option<bool>,
    /// Name of a tool.
    name: Option<String>,
    /// What the provider says.
    message: Option<String>,
    /// The server that comes back.
    server: Option<String>,
}

fn kind(_: &mut SchemaGenerator) -> Schema {
    one_of(Kind::WORDS)
}

fn mark(_: &mut SchemaGenerator) -> Schema {
    one_of(Mark::ALL.map(Mark::as_str))
}

fn lane(_: &mut SchemaGenerator) -> Schema {
    one_of(Lane::ALL.map(Lane::as_str))
}

fn until(_: &mut SchemaGenerator) -> Schema {
    one_of([Mark::Turn.as_str()])
}

/// A number and its unit.
const TIME: &str = r"^[0-9]+(\.[0-9]+)? ?(ms|s|m|min|h)$";

fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": TIME, "examples": ["12s", "1.4s", "250ms"] })
}

fn moment(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "const": "start" },
        { "type": "string", "pattern": "^token [1-9][0-9]*$", "examples": ["token 40"] },
        { "type": "string", "pattern": TIME, "examples": ["12s"] },
    ] })
}

fn every(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "string", "pattern": TIME, "examples": ["16s"] },
        { "type": "integer", "minimum": 1, "maximum": MAX_FAULT_TIMES },
    ] })
}
