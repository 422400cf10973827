//! Documents changed in one way, each with exactly the finding that it must turn red with, beside the healthy document that
//! must stay silent.

use serde_json::{Value, json};

use super::*;
use crate::agent_server::advertised::{document, unlogged};
use crate::agent_server::profile::Catalogue;
use crate::record::Signal;
use crate::record::contract::{ContractChange, Severity};

fn value(server: &str) -> Value {
    document(&Catalogue::embedded().unwrap().server(server).unwrap()).unwrap()
}

fn subject(value: &Value) -> Subject {
    let unlogged = unlogged().unwrap().iter().map(|u| (u.kind.clone(), u.because.clone())).collect();
    let document = Document::of("d.json", value).unwrap();
    Subject { name: "d".to_owned(), document, unlogged, streams: Some("StreamingDeltaEvent".to_owned()) }
}

fn readers(names: &[&str]) -> Vec<Reader> {
    let catalogue = Catalogue::embedded().unwrap();
    names.iter().map(|name| Reader::of(&catalogue.client(name).unwrap().profile).unwrap()).collect()
}

const CLIENTS: [&str; 4] = ["python-1.30.0", "python-1.58.2", "typescript-1.39.0", "browser-1.20.0"];

/// What the change of 1.58.2's document gives that the document itself does not.
fn changed(change: impl Fn(&mut Value)) -> Vec<ContractFinding> {
    let old = value("1.58.2");
    let mut new = old.clone();
    change(&mut new);
    let question =
        Question { against: Some(subject(&old)), readers: readers(&CLIENTS), ..Question::default() };
    let before: Vec<String> = judge(&subject(&old), &question).findings.into_iter().map(|f| f.id).collect();
    let found = judge(&subject(&new), &question).findings;
    found.into_iter().filter(|f| !before.contains(&f.id)).collect()
}

/// The one finding of a change, as id, severity and who breaks.
fn one(change: impl Fn(&mut Value)) -> (String, Severity, Vec<(String, Signal)>) {
    let found = changed(change);
    assert_eq!(found.len(), 1, "{found:#?}");
    let breaks = found[0].breaks.iter().map(|b| (b.who.clone(), b.signal)).collect();
    (found[0].id.clone(), found[0].severity, breaks)
}

fn schema<'v>(value: &'v mut Value, name: &str) -> &'v mut Value {
    &mut value["components"]["schemas"][name]
}

fn who(names: &[&str], signal: Signal) -> Vec<(String, Signal)> {
    names.iter().map(|n| ((*n).to_owned(), signal)).collect()
}

#[test]
fn equal_documents_are_silent() {
    for server in ["1.22.0", "1.43.1", "1.58.2", "1.43.1+A", "1.58.2+ABCD"] {
        let subject = subject(&value(server));
        let question =
            Question { against: Some(subject.clone()), readers: readers(&CLIENTS), ..Question::default() };
        let report = judge(&subject, &question);
        let alone = judge(&subject, &Question::default());
        assert_eq!(report.findings, alone.findings, "{server}: nothing by the comparison");
        assert_eq!(exit_code(&report, false), ExitCode::AllAsExpected);
    }
}

#[test]
fn a_member_that_no_endpoint_returns_is_found_and_its_neighbours_are_not() {
    let report = judge(&subject(&value("1.58.2")), &Question::default());
    let never: Vec<&str> = report
        .findings
        .iter()
        .filter(|f| f.change == ContractChange::NeverReturned)
        .map(|f| f.id.as_str())
        .collect();
    assert_eq!(never, ["never_returned/Event/ServerErrorEvent", "never_returned/Event/StreamingDeltaEvent"]);
    assert_eq!(exit_code(&report, false), ExitCode::AllAsExpected);
    assert_eq!(exit_code(&report, true), ExitCode::Unexpected);
    // A server that stores its deltas returns them.
    let mut stores = subject(&value("1.58.2"));
    stores.unlogged.retain(|(kind, _)| kind != "StreamingDeltaEvent");
    let found = judge(&stores, &Question::default()).findings;
    assert!(!found.iter().any(|f| f.id == "never_returned/Event/StreamingDeltaEvent"));
    // Stage A: it is no member any more.
    let found = judge(&subject(&value("1.58.2+AB")), &Question::default()).findings;
    assert!(!found.iter().any(|f| f.id.ends_with("StreamingDeltaEvent")), "{found:#?}");
}

#[test]
fn a_schema_that_nobody_refers_to_is_found_once_with_all_that_hangs_on_it() {
    let (id, severity) = {
        let found = changed(|v| {
            *schema(v, "Alone") =
                json!({"type": "object", "properties": {"x": {"$ref": "#/components/schemas/Under"}}});
            *schema(v, "Under") = json!({"type": "object", "properties": {}});
        });
        let alone: Vec<_> = found.into_iter().filter(|f| f.change == ContractChange::Unreferenced).collect();
        assert_eq!(alone.len(), 1, "{alone:#?}");
        (alone[0].id.clone(), alone[0].severity)
    };
    assert_eq!((id.as_str(), severity), ("unreferenced/Alone", Severity::Note));
}

#[test]
fn a_discriminator_that_says_what_is_sent_is_silent() {
    let found = judge(&subject(&value("1.58.2")), &Question::default()).findings;
    assert!(found.iter().any(|f| f.id == "discriminator_never_sent/Event"));
    let mut right = value("1.58.2");
    let members = schema(&mut right, "Event")["oneOf"].as_array().unwrap().clone();
    let named = |m: &Value| m["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    schema(&mut right, "Event")["discriminator"]["mapping"] =
        members.iter().map(|m| (named(m), m["$ref"].clone())).collect::<serde_json::Map<_, _>>().into();
    let found = judge(&subject(&right), &Question::default()).findings;
    assert!(!found.iter().any(|f| f.change == ContractChange::DiscriminatorNeverSent));
}

#[test]
fn a_removed_type_turns_red() {
    let found = changed(|v| {
        schema(v, "Event")["oneOf"]
            .as_array_mut()
            .unwrap()
            .retain(|m| !m["$ref"].as_str().unwrap().ends_with("/PauseEvent"));
        schema(v, "Event")["discriminator"]["mapping"]
            .as_object_mut()
            .unwrap()
            .retain(|k, _| !k.contains("PauseEvent"));
        v["components"]["schemas"].as_object_mut().unwrap().remove("PauseEvent");
    });
    let ids: Vec<(&str, Severity)> = found.iter().map(|f| (f.id.as_str(), f.severity)).collect();
    let possible = Severity::Possible;
    assert_eq!(ids, [("schema_removed/PauseEvent", possible), ("member_removed/Event/PauseEvent", possible)]);
}

#[test]
fn a_new_kind_breaks_who_has_no_place_for_it() {
    let found = changed(|v| {
        let new =
            json!({"type": "object", "properties": {"kind": {"const": "NewEvent"}}, "required": ["kind"]});
        *schema(v, "NewEvent") = new;
        schema(v, "Event")["oneOf"]
            .as_array_mut()
            .unwrap()
            .push(json!({"$ref": "#/components/schemas/NewEvent"}));
    });
    let member = found.iter().find(|f| f.change == ContractChange::MemberAdded).unwrap();
    let breaks: Vec<(String, Signal)> = member.breaks.iter().map(|b| (b.who.clone(), b.signal)).collect();
    assert_eq!(breaks, who(&["python-1.30.0", "python-1.58.2"], Signal::Log));
    assert_eq!(member.severity, Severity::Silent);
}

#[test]
fn an_added_required_field_breaks_strict_clients_alone() {
    let add = |name: &'static str| {
        move |v: &mut Value| {
            schema(v, name)["properties"]["seq"] = json!({"type": "integer"});
            schema(v, name)["required"].as_array_mut().unwrap().push("seq".into());
        }
    };
    let (id, severity, breaks) = one(add("MessageEvent"));
    assert_eq!((id.as_str(), severity), ("field_added/MessageEvent/seq", Severity::Silent));
    assert_eq!(breaks, who(&["python-1.30.0", "python-1.58.2"], Signal::Log));
    // A class that leaves out what it does not know takes it.
    let (_, severity, breaks) = one(add("Message"));
    assert_eq!((severity, breaks), (Severity::Note, Vec::new()));
}

#[test]
fn a_tightened_field_turns_red_and_a_loosened_one_breaks_readers() {
    let words = |words: Value| {
        move |v: &mut Value| schema(v, "MessageEvent")["properties"]["source"]["enum"] = words.clone()
    };
    let (id, severity, breaks) = one(words(json!(["agent", "user"])));
    assert_eq!((id.as_str(), severity), ("type_tightened/MessageEvent/source", Severity::Possible));
    assert!(breaks.is_empty(), "who reads is safe");
    let (id, severity, breaks) = one(words(json!(["agent", "user", "environment", "hook", "tool"])));
    assert_eq!((id.as_str(), severity), ("type_loosened/MessageEvent/source", Severity::Silent));
    let mut expected = who(&["python-1.30.0", "python-1.58.2"], Signal::Log);
    expected.extend(who(&["browser-1.20.0"], Signal::None));
    assert_eq!(breaks, expected);
    // The same words in another order are no change.
    assert!(changed(words(json!(["hook", "environment", "user", "agent"]))).is_empty());
}

#[test]
fn a_field_that_is_required_now_or_may_be_missing_now_is_told_apart() {
    let require =
        |v: &mut Value| schema(v, "MessageEvent")["required"].as_array_mut().unwrap().push("id".into());
    let (id, severity, breaks) = one(require);
    assert_eq!(
        (id.as_str(), severity, breaks.len()),
        ("field_required/MessageEvent/id", Severity::Possible, 0)
    );
    let drop = |v: &mut Value| {
        schema(v, "MessageEvent")["required"].as_array_mut().unwrap().retain(|f| f != "llm_message");
    };
    let (id, severity, breaks) = one(drop);
    assert_eq!((id.as_str(), severity), ("field_optional/MessageEvent/llm_message", Severity::Silent));
    assert_eq!(breaks, who(&["python-1.30.0", "python-1.58.2"], Signal::Log));
}

#[test]
fn a_delta_without_its_text_is_lost_on_everybody_and_without_its_source_in_browsers() {
    let remove = |field: &'static str| {
        move |v: &mut Value| {
            drop(schema(v, "StreamingDeltaEvent")["properties"].as_object_mut().unwrap().remove(field));
        }
    };
    let (_, severity, breaks) = one(remove("content"));
    assert_eq!((severity, breaks), (Severity::Silent, who(&CLIENTS, Signal::None)));
    let (_, severity, breaks) = one(remove("source"));
    assert_eq!((severity, breaks), (Severity::Silent, who(&["browser-1.20.0"], Signal::None)));
    let rename =
        |v: &mut Value| schema(v, "StreamingDeltaEvent")["properties"]["kind"]["const"] = "TokenDelta".into();
    let breaks: Vec<String> = changed(rename)
        .into_iter()
        .filter(|f| f.change == ContractChange::TypeChanged)
        .flat_map(|f| f.breaks)
        .map(|b| b.who)
        .collect();
    assert_eq!(breaks, CLIENTS);
}

#[test]
fn keys_that_are_allowed_or_forbidden_now_are_told_apart() {
    let allow = |v: &mut Value| schema(v, "PauseEvent")["additionalProperties"] = true.into();
    let (id, severity, breaks) = one(allow);
    assert_eq!((id.as_str(), severity, breaks.len()), ("extra_allowed/PauseEvent", Severity::Possible, 0));
    let forbid = |v: &mut Value| schema(v, "Message")["additionalProperties"] = false.into();
    let (id, severity, breaks) = one(forbid);
    assert_eq!((id.as_str(), severity, breaks.len()), ("extra_forbidden/Message", Severity::Possible, 0));
    // Saying that other keys are allowed is no more than saying nothing.
    assert!(changed(|v| schema(v, "Message")["additionalProperties"] = true.into()).is_empty());
}

#[test]
fn what_is_not_modelled_is_never_reported() {
    for change in [json!({"x-skewlab": "not modelled"}), json!({"type": "string", "x-skewlab": "?"})] {
        let unknown = |v: &mut Value| schema(v, "MessageEvent")["properties"]["sender"] = change.clone();
        assert!(changed(unknown).is_empty());
    }
    // What it led to hangs in the air then, which is another finding.
    let found = changed(|v| *schema(v, "Message") = json!({"x-skewlab": "not modelled"}));
    assert!(found.iter().all(|f| f.change == ContractChange::Unreferenced), "{found:#?}");
}

#[test]
fn a_request_that_is_tighter_refuses_who_sends_the_old_form() {
    let path = |required: Value| {
        json!({"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Ask"}}}},
            "responses": {}}, "x": required})
    };
    let with = |required: Value| {
        move |v: &mut Value| {
            v["paths"]["/ask"] = path(required.clone());
            *schema(v, "Ask") = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": required.clone()});
        }
    };
    let (mut old, mut new) = (value("1.58.2"), value("1.58.2"));
    with(json!([]))(&mut old);
    with(json!(["a"]))(&mut new);
    let question = Question { against: Some(subject(&old)), ..Question::default() };
    let report = judge(&subject(&new), &question);
    let found = report.findings.iter().find(|f| f.id == "field_required/Ask/a").unwrap();
    assert_eq!(found.severity, Severity::Possible);
    assert!(found.advice.contains("sends the old form"), "{}", found.advice);
    assert_eq!(exit_code(&report, false), ExitCode::Unexpected);
}

#[test]
fn stage_a_loses_the_generated_type_and_stage_d_keeps_it() {
    let types = TypeFacts::released().unwrap();
    let judged = |new: &str, old: Option<&str>| {
        let question = Question {
            against: old.map(|old| subject(&value(old))),
            types: Some(types.clone()),
            readers: readers(&["python-1.43.1", "python-1.43.1+AB", "python-1.43.1+ABC"]),
            ..Question::default()
        };
        judge(&subject(&value(new)), &question)
    };
    let has = |report: &ContractReport, id: &str| report.findings.iter().any(|f| f.id == id);
    for old in [None, Some("1.43.1")] {
        assert!(has(&judged("1.43.1+A", old), "type_lost/StreamingDeltaEvent"), "{old:?}");
        assert!(!has(&judged("1.43.1+ABCD", old), "type_lost/StreamingDeltaEvent"), "{old:?}");
        assert!(has(&judged("1.43.1+ABCD", old), "left_union/Event/StreamingDeltaEvent"), "{old:?}");
    }
    assert!(!has(&judged("1.43.1", None), "type_lost/StreamingDeltaEvent"));
    assert!(
        !judged("1.22.0", None).findings.iter().any(|f| f.change == ContractChange::TypeLost),
        "not yet there is not lost"
    );
    assert!(has(&judged("1.58.2", None), "kind_without_type/Event/SecurityAnalysisEvent"));
    let removed = judged("1.43.1+AB", Some("1.43.1"));
    let removed =
        removed.findings.iter().find(|f| f.id == "member_removed/Event/StreamingDeltaEvent").unwrap();
    let breaks: Vec<(String, Signal)> = removed.breaks.iter().map(|b| (b.who.clone(), b.signal)).collect();
    assert_eq!(
        breaks,
        who(&["python-1.43.1+AB"], Signal::Log),
        "still sent, and only that client cannot read it"
    );
}

#[test]
fn an_expected_finding_does_not_count_and_one_that_is_gone_is_stale() {
    let mut question = Question {
        types: Some(TypeFacts::released().unwrap()),
        expected: vec![glob::Pattern::new("type_lost/*").unwrap()],
        ..Question::default()
    };
    let code =
        |server: &str, question: &Question| exit_code(&judge(&subject(&value(server)), question), false);
    assert_eq!(code("1.43.1+A", &question), ExitCode::AllAsExpected);
    assert_eq!(code("1.43.1+ABCD", &question), ExitCode::Stale);
    question.expected.clear();
    assert_eq!(code("1.43.1+A", &question), ExitCode::Unexpected);
    assert_eq!(code("1.43.1+ABCD", &question), ExitCode::AllAsExpected);
}
