//! What is asked of both sides. The same profile gives the same cases, on every machine and in every run.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::error::CalibrateError;
use super::mutate::mutated;
use crate::agent_server::profile::Catalogue;
use crate::agent_server::profile::client::{Application, ClientChoice};
use crate::scenario::Names;
use crate::seed::Seed;
use crate::wire::Dialect;
use crate::wire::event::{Action, Event, EventBody, Message, Observation, Source};

/// The corpus: a name and the text of a frame a line.
const CORPUS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/corpus.jsonl"));

/// Mutations of each well-formed frame. Every kind of change has its turn six times.
const MUTATIONS: usize = 48;

/// Seed of the mutations. Another one asks other cases, and makes every certificate void.
const SEED: Seed = Seed(4683);

/// Where a case comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseKind {
    /// `scenarios/corpus.jsonl`.
    Corpus,
    /// A well-formed frame with one change.
    Mutation,
}

impl CaseKind {
    /// The word in certificates.
    pub fn as_str(self) -> &'static str {
        match self {
            CaseKind::Corpus => "corpus",
            CaseKind::Mutation => "mutation",
        }
    }
}

/// One frame that both sides are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name, unlike every other one.
    pub name: String,
    /// Where it comes from.
    pub kind: CaseKind,
    /// The text of the frame.
    pub raw: String,
}

/// How the server of the client's own tree writes its frames; today's for a client that has none.
pub fn dialect(catalogue: &Catalogue, choice: &ClientChoice) -> Dialect {
    let own = choice.profile.release.as_ref().map(ToString::to_string);
    let ships = |server: &String| {
        catalogue.ships_python(server).is_ok_and(|client| client == choice.profile.release_name)
    };
    let server = own.filter(ships).and_then(|server| catalogue.server(&server).ok());
    server.map_or(Dialect::CURRENT, |server| server.traits.wire)
}

/// Every case, in the order in which it is asked.
///
/// Errors when the corpus in the binary does not read.
pub fn cases(dialect: Dialect) -> Result<Vec<Case>, CalibrateError> {
    let mut cases = corpus()?;
    for (name, frame) in well_formed(dialect) {
        let mut rng = SEED.derive(name).rng();
        for turn in 0..MUTATIONS {
            let (raw, what) = mutated(&frame, turn, &mut rng);
            cases.push(Case { name: format!("{name} {turn:02} {what}"), kind: CaseKind::Mutation, raw });
        }
    }
    Ok(cases)
}

/// The cases of one client: every one, or of a front end, which takes a fifth of a second for each, the corpus and the
/// mutations of the delta.
///
/// Errors when the corpus in the binary does not read.
pub fn cases_for(catalogue: &Catalogue, choice: &ClientChoice) -> Result<Vec<Case>, CalibrateError> {
    let mut cases = cases(dialect(catalogue, choice))?;
    if matches!(choice.profile.traits.application.kind, Application::Canvas | Application::Slots) {
        cases.retain(|case| case.kind == CaseKind::Corpus || case.name.starts_with("delta "));
    }
    Ok(cases)
}

/// SHA-256 over the names and texts of all cases, in hexadecimal.
pub fn cases_hash(cases: &[Case]) -> String {
    let mut hash = Sha256::new();
    for case in cases {
        for part in [&case.name, &case.raw] {
            hash.update(part);
            hash.update([0xff]);
        }
    }
    hex(&hash.finalize())
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn corpus() -> Result<Vec<Case>, CalibrateError> {
    let lines = CORPUS.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let case = |(at, line): (usize, &str)| {
        let fault = |problem: String| CalibrateError::Corpus { line: at + 1, problem };
        let value: Value = serde_json::from_str(line).map_err(|e| fault(e.to_string()))?;
        let text = |key: &str| {
            let text = value[key].as_str().map(str::to_owned);
            text.ok_or_else(|| fault(format!("`{key}` must be a string")))
        };
        Ok(Case { name: text("name")?, kind: CaseKind::Corpus, raw: text("raw")? })
    };
    lines.map(case).collect()
}

/// Frames as a server of that dialect sends them.
fn well_formed(dialect: Dialect) -> Vec<(&'static str, Map<String, Value>)> {
    let text = |t: &str| t.to_owned();
    let message = |role: &str, id: Option<&str>| {
        EventBody::Message(Message {
            role: text(role),
            text: text("Hello"),
            reasoning_content: None,
            llm_response_id: id.map(text),
        })
    };
    let action = Action {
        thought: Some(text("Done.")),
        reasoning_content: Some(text("because")),
        action: json!({"message": "All done", "kind": "FinishAction"}),
        tool_name: text("finish"),
        tool_call_id: text("call_1"),
        arguments: text(r#"{"message":"All done"}"#),
        llm_response_id: text("chatcmpl-1"),
    };
    let observation = Observation {
        tool_name: text("finish"),
        tool_call_id: text("call_1"),
        text: text("All done"),
        kind: text("FinishObservation"),
        action_id: text("00000000-0000-4000-8000-000000000012"),
    };
    let both = EventBody::StreamingDelta { content: Some(text("a")), reasoning_content: Some(text("b")) };
    let state = |key: &str, value: Value| EventBody::StateUpdate { key: text(key), value };
    let bodies = [
        ("delta", Source::Agent, both),
        ("message_user", Source::User, message("user", None)),
        ("message_agent", Source::Agent, message("assistant", Some("chatcmpl-1"))),
        ("action", Source::Agent, EventBody::Action(action)),
        ("observation", Source::Environment, EventBody::Observation(observation)),
        ("state", Source::Environment, state("execution_status", json!("running"))),
        (
            "server_error",
            Source::Environment,
            EventBody::ServerError { code: text("ValidationError"), detail: text("boom") },
        ),
    ];
    let framed = bodies.into_iter().enumerate().map(|(at, (name, source, body))| {
        // A delta follows no event; everything else follows the one before.
        let parent = (at > 1).then(|| text("00000000-0000-4000-8000-000000000010"));
        let event = Event {
            id: format!("00000000-0000-4000-8000-0000000000{:02}", at + 20),
            timestamp: text("2026-11-30T07:45:00.123456"),
            source,
            parent_id: parent,
            body,
        };
        (name, event.to_object(dialect))
    });
    framed.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn cases_repeat_and_no_two_share_a_name() {
        let once = cases(Dialect::CURRENT).unwrap();
        assert_eq!(cases_hash(&once), cases_hash(&cases(Dialect::CURRENT).unwrap()));
        let names: BTreeSet<&str> = once.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), once.len());
        let of = |kind| once.iter().filter(|case| case.kind == kind).count();
        assert_eq!((of(CaseKind::Corpus), of(CaseKind::Mutation)), (50, 7 * MUTATIONS));
    }

    #[test]
    fn the_hash_knows_order_names_and_texts() {
        let cases = cases(Dialect::CURRENT).unwrap();
        let mut swapped = cases.clone();
        swapped.swap(3, 4);
        let mut other = cases.clone();
        other[7].raw.push(' ');
        let hashes: BTreeSet<String> = [&cases, &swapped, &other].map(|c| cases_hash(c)).into();
        assert_eq!(hashes.len(), 3);
    }

    #[test]
    fn an_old_client_is_asked_in_the_dialect_of_its_own_server() {
        let catalogue = Catalogue::embedded().unwrap();
        let of = |name: &str| dialect(&catalogue, &catalogue.client(name).unwrap());
        assert_eq!(of("python-1.30.0"), catalogue.server("1.30.0").unwrap().traits.wire);
        assert_ne!(of("python-1.30.0"), Dialect::CURRENT);
        assert_eq!(of("typescript-1.39.0"), Dialect::CURRENT);
    }
}
