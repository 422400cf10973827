//! What the tables of both subjects are made of.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::record::{Hop, Metric, Verdict};
use crate::scenario::words::{FEED_HOP, HOP, Words};
use crate::schema::{one_of, one_or_more};

/// A glob, or a list of globs of which one has to match; `*` stays within a name, `**` does not.
pub(super) struct Globs;

impl JsonSchema for Globs {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Globs".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        one_or_more(&json_schema!({ "type": "string" }))
    }
}

/// A text that is not blank.
pub(super) struct Said;

impl JsonSchema for Said {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Said".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"\S" })
    }
}

fn words<T: Copy>(words: &Words<T>) -> Schema {
    one_of(words.all.iter().map(|value| (words.word)(*value)))
}

pub(super) fn hop(_: &mut SchemaGenerator) -> Schema {
    words::<Hop>(HOP)
}

pub(super) fn feed_hop(_: &mut SchemaGenerator) -> Schema {
    words::<Hop>(FEED_HOP)
}

/// One metric or any number of them; an empty list says that no budget is broken.
pub(super) fn over(generator: &mut SchemaGenerator) -> Schema {
    let metric = generator.subschema_for::<Metric>();
    json_schema!({ "anyOf": [metric, { "type": "array", "items": metric }] })
}

/// TOML writes a date without quotes; as JSON it is a text, which is what an editor checks.
pub(super) fn date(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$" })
}

/// Why a failure is known, and until when. Reason, link and end are required.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "nobody makes a value of it: it is the shape of a table, and no more")]
pub(super) struct Failure {
    /// The wrong verdict that is known.
    verdict: Verdict,
    /// Why it is tolerated.
    reason: Said,
    /// Where it is tracked.
    link: Said,
    /// The last day on which it is tolerated, without quotes: 2027-03-01.
    #[schemars(schema_with = "date")]
    expires: String,
}
