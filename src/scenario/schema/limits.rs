//! `[budget]` and `figures`: a key for every metric and every figure that there is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::agent::Patterns;
use crate::record::{Budgeted, Figure, Metric};
use crate::schema::{one_or_more, table};

/// What cells may cost.
pub(super) struct Costs;

impl JsonSchema for Costs {
    fn schema_name() -> Cow<'static, str> {
        "Budget".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let patterns = Patterns::json_schema(generator);
        let mut keys = patterns.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let limit = limit(&["<= ceil(T/30)+1", "< N/S"]);
        for metric in Metric::ALL {
            keys.insert(metric.as_str().to_owned(), described(&limit, metric.words()));
        }
        let cpu = json!({
            "description": "CPU a token over another server's, measured by the clock on the wall in interleaved runs.",
            "type": "object",
            "properties": {
                "server": { "description": "The server that is measured against, by name.", "type": "string", "pattern": r"^\s*[^\s*?\[][^*?\[]*$" },
                "max": { "description": "The largest ratio that is allowed.", "type": "number", "exclusiveMinimum": 0, "maximum": 1e6 },
            },
            "required": ["server", "max"],
            "additionalProperties": false,
        });
        keys.insert(Budgeted::CPU_RATIO_VS.to_owned(), cpu);
        table(keys, &[])
    }
}

/// One budget, or several of which the first that limits a metric counts for it.
pub(super) fn budgets(generator: &mut SchemaGenerator) -> Schema {
    let costs = generator.subschema_for::<Costs>();
    json_schema!({ "anyOf": [costs, { "type": "array", "items": costs }] })
}

/// Exact counts of a session feed, by name.
pub(super) fn figures(_: &mut SchemaGenerator) -> Schema {
    let limit = limit(&["N+C", "<= k"]);
    let key = |figure: &Figure| (figure.as_str().to_owned(), described(&limit, figure.words()));
    table(Figure::ALL.iter().map(key).collect(), &[])
}

/// A number, or a comparison with an expression in quotes; a list of them all have to hold.
fn limit(examples: &[&str]) -> Schema {
    one_or_more(&json_schema!({
        "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "examples": examples }],
    }))
}

fn described(schema: &Schema, words: &str) -> Value {
    let mut all = Map::new();
    all.insert("description".to_owned(), words.into());
    all.extend(schema.as_object().cloned().unwrap_or_default());
    all.into()
}
