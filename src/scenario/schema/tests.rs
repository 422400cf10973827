//! The keys of the schema against those that the reader knows, table by table.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde_json::Value;

use super::{FeedScenarioFile, ScenarioFile};
use crate::agent_server::fault::Kind;
use crate::scenario::diagnostic::ScenarioError;
use crate::scenario::names::double::Double;
use crate::scenario::{FeedScenario, Problem, Scenario};
use crate::schema::{Language, document};
use crate::session_feed::Variants;

/// A key that is near to no other, so that the reader names all that it knows.
const STRANGE: &str = "\"\u{20ac}\" = 1";

/// The keys that the reader names when it meets the strange one.
fn known(error: &ScenarioError) -> BTreeSet<String> {
    let hints = error.faults().iter().filter_map(|fault| match &fault.problem {
        Problem::UnknownKey { key, hint, .. } if key == "\u{20ac}" => Some(hint),
        _ => None,
    });
    let hints: Vec<&String> = hints.collect();
    assert_eq!(hints.len(), 1, "{error}");
    let words = hints[0].strip_prefix("there are ").unwrap_or_else(|| panic!("{error}"));
    words.split(", ").map(str::to_owned).collect()
}

fn keys(schema: &Value, place: &str) -> BTreeSet<String> {
    let table = schema.pointer(place).unwrap_or_else(|| panic!("no {place}"));
    assert_eq!(table["additionalProperties"], false, "{place}");
    table["properties"].as_object().unwrap().keys().cloned().collect()
}

/// Every definition that is a table has to be among `places`.
fn all_tables_are_among(schema: &Value, places: &[(&str, Vec<String>)]) {
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let place = format!("/$defs/{name}");
        // Traits are derived from what serde reads.
        let is_table = definition.get("properties").is_some() && name != "SomeTraits";
        assert!(!is_table || places.iter().any(|(at, _)| *at == place), "{place} is not looked at");
    }
}

/// Each place of the schema with files that have the strange key there; what the reader knows in any of them counts.
fn hold<T: JsonSchema>(read: &dyn Fn(&str) -> Option<ScenarioError>, places: &[(&str, Vec<String>)]) {
    let schema = document::<T>("urn:x", "x", Language::Toml);
    for (place, files) in places {
        let of = |file: &String| known(&read(file).unwrap_or_else(|| panic!("{file}\nwas read")));
        let found: BTreeSet<String> = files.iter().flat_map(of).collect();
        assert_eq!(keys(&schema, place), found, "{place}");
    }
    all_tables_are_among(&schema, places);
}

#[test]
fn the_schema_and_the_reader_of_the_agent_server_know_the_same_keys() {
    let read = |text: &str| Scenario::parse("s.toml", text, &Double::new()).err();
    let file = |top: &str, workload: &str| {
        vec![format!(
            "question = \"q?\"\nservers = [\"1.58.2\"]\nclients = [\"python@same\"]\nworkloads = [\"w\"]\n{top}\n\
             [workload.w]\n{workload}\n"
        )]
    };
    let right = "tokens = [{ text = \"a\" }]";
    assert!(read(&file("", right)[0]).is_none());
    let below = |table: &str, rest: &str| file("", &format!("{right}\n{table}\n{STRANGE}\n{rest}"));
    let token = format!("tokens = [{{ text = \"a\", {STRANGE} }}]");
    let generate = format!("generate = {{ count = 1, {STRANGE} }}");
    let fault = |kind: &str| file("", &format!("{right}\n[[fault.f]]\nkind = \"{kind}\"\n{STRANGE}"));
    let cpu = format!("cpu_ratio_vs = {{ server = \"1.43.1\", max = 1, {STRANGE} }}");
    hold::<ScenarioFile>(
        &read,
        &[
            ("", file(STRANGE, right)),
            ("/$defs/Workload", file("", &format!("{STRANGE}\n{right}"))),
            ("/$defs/Token", file("", &token)),
            ("/$defs/Generate", file("", &generate)),
            ("/$defs/Webhook", below("[webhook]", "")),
            ("/$defs/Runtime", below("[runtime]", "")),
            ("/$defs/FaultTable", Kind::WORDS.map(fault).concat()),
            ("/$defs/Budget", below("[budget]", "log_lines = 0")),
            ("/$defs/Budget/properties/cpu_ratio_vs", file("", &format!("{right}\n[budget]\n{cpu}"))),
            ("/$defs/Patterns", [below("[[include]]", ""), below("[[exclude]]", "")].concat()),
            ("/$defs/Expect", below("[[expect]]", "verdict = \"delivered\"")),
            ("/$defs/Known", below("[[known]]", "")),
        ],
    );
}

#[test]
fn the_schema_and_the_reader_of_the_session_feed_know_the_same_keys() {
    let variants = Variants::embedded().unwrap();
    let read = |text: &str| FeedScenario::parse("s.toml", text, &variants).err();
    let file = |top: &str, workload: &str| {
        vec![format!(
            "question = \"q?\"\nsubject = \"session-feed\"\nvariants = [\"mirrored\"]\nconsumers = [\"renderer\"]\n\
             workloads = [\"w\"]\n{top}\n[workload.w]\n{workload}\n"
        )]
    };
    let right = "reply = \"hey\"";
    assert!(read(&file("", right)[0]).is_none());
    let below = |table: &str, rest: &str| file("", &format!("{right}\n{table}\n{STRANGE}\n{rest}"));
    let of_workload =
        ["reply = \"hey\"", "tokens = [{ text = \"a\" }]", "shape = { events = 11, chunks = 5, steps = 1 }"]
            .map(|source| file("", &format!("{STRANGE}\n{source}")))
            .concat();
    let token = format!("tokens = [{{ text = \"a\", {STRANGE} }}]");
    let shape = format!("shape = {{ events = 11, chunks = 5, steps = 1, {STRANGE} }}");
    let figures = format!("{right}\n[[expect]]\nverdict = \"delivered\"\nfigures = {{ {STRANGE} }}");
    hold::<FeedScenarioFile>(
        &read,
        &[
            ("", file(STRANGE, right)),
            ("/$defs/Workload", of_workload),
            ("/$defs/Token", file("", &token)),
            ("/$defs/Shape", file("", &shape)),
            ("/$defs/Listeners", file(&format!("listeners = {{ {STRANGE} }}"), right)),
            ("/$defs/Patterns", [below("[[include]]", ""), below("[[exclude]]", "")].concat()),
            ("/$defs/Expect", below("[[expect]]", "verdict = \"delivered\"")),
            ("/$defs/Expect/properties/figures", file("", &figures)),
            ("/$defs/Known", below("[[known]]", "")),
        ],
    );
}
