//! `skewlab contract` and `/openapi.json`: held against the released packages, and from the command line.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use skewlab::agent_server::advertised::document;
use skewlab::agent_server::profile::Catalogue;
use skewlab::judge::contract::{Question, Subject, judge};
use skewlab::openapi::{Document, TypeFacts};
use skewlab::record::contract::{ContractReport, Severity};

use crate::runs::{ended, skewlab};
use crate::serve::Served;

/// What the real document names and the emulated one writes where it is used. Naming a list of words changes no frame.
const NAMED_WORDS: [&str; 2] = ["schema_added/FailureKind", "schema_added/SecurityRisk"];

/// The documents of the released packages: `create_app().openapi()` of openhands-agent-server on Python 3.12, reduced to
/// what `Event` leads to, without words; the SHA-256 of each whole document is in it.
fn fixture(release: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/openapi/{release}.json"))
}

fn emulated(server: &str) -> Document {
    let profile = Catalogue::embedded().unwrap().server(server).unwrap();
    Document::of(server, &document(&profile).unwrap()).unwrap()
}

fn subject(document: Document) -> Subject {
    Subject { name: "d".to_owned(), document, unlogged: Vec::new(), streams: None }
}

/// The ids of what differs.
fn differences(old: &Document, new: &Document) -> Vec<String> {
    let ids = |question: &Question| -> Vec<String> {
        judge(&subject(new.clone()), question).findings.into_iter().map(|f| f.id).collect()
    };
    let alone = ids(&Question::default());
    let mut both = ids(&Question { against: Some(subject(old.clone())), ..Question::default() });
    both.retain(|id| !alone.contains(id));
    both
}

#[test]
fn the_emulated_document_says_of_events_what_the_released_one_says() {
    for (release, members) in [("1.43.1", 19), ("1.58.2", 20)] {
        let real = Document::load(&fixture(release)).unwrap();
        let ours = emulated(release);
        let (real_events, our_events) = (real.union("Event").unwrap(), ours.union("Event").unwrap());
        assert_eq!(our_events, real_events, "{release}: members in order, discriminator and mapping");
        assert_eq!(real_events.members.len(), members);
        // Every field of every member and of what they hold: name, type, required, and whether other keys are allowed.
        assert_eq!(differences(&ours, &real), NAMED_WORDS, "{release}");
        assert_eq!(ours.answering("Event"), real.answering("Event").into_iter().rev().collect::<Vec<_>>());
        let fields: usize = real_events.members.iter().map(|m| real.object(m).unwrap().fields.len()).sum();
        assert!(fields > 150, "{release}: only {fields} fields were compared");
    }
}

#[test]
fn a_document_differs_from_itself_in_nothing() {
    for about in Catalogue::embedded().unwrap().servers().all() {
        let document = emulated(&about.name);
        assert_eq!(differences(&document, &document), Vec::<String>::new(), "{}", about.name);
    }
}

/// A place in a piece of JSON, found by numbers.
fn place<'v>(value: &'v mut Value, way: &[usize]) -> &'v mut Value {
    let Some((first, rest)) = way.split_first() else { return value };
    let inner = match value {
        Value::Object(object) if !object.is_empty() => {
            let at = first % object.len();
            object.values_mut().nth(at)
        }
        Value::Array(items) if !items.is_empty() => {
            let at = first % items.len();
            items.get_mut(at)
        }
        _ => None,
    };
    // A leaf ends the way.
    match inner {
        Some(inner) => place(inner, rest),
        None => unreachable!("`place` is asked for what is there"),
    }
}

/// How far a way goes before it meets a leaf.
fn reach(value: &Value, way: &[usize]) -> usize {
    let Some((first, rest)) = way.split_first() else { return 0 };
    let inner = match value {
        Value::Object(object) if !object.is_empty() => object.values().nth(first % object.len()),
        Value::Array(items) if !items.is_empty() => items.get(first % items.len()),
        _ => None,
    };
    inner.map_or(0, |inner| 1 + reach(inner, rest))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever stands at one place of a real document: it is read or refused with its place, and never differs from itself.
    #[test]
    fn a_document_that_was_damaged_is_refused_or_equals_itself(
        way in proptest::collection::vec(0_usize..64, 1..9),
        what in 0_usize..6,
    ) {
        let text = std::fs::read_to_string(fixture("1.58.2")).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        let far = reach(&value, &way);
        let put = [
            Value::Null, 7.into(), "x".into(), serde_json::json!([]), serde_json::json!({}),
            serde_json::json!({"$ref": "#/components/schemas/Event"}),
        ];
        *place(&mut value, &way[..far]) = put[what].clone();
        match Document::of("damaged.json", &value) {
            Ok(document) => prop_assert_eq!(differences(&document, &document), Vec::<String>::new()),
            Err(error) => prop_assert!(error.to_string().starts_with("damaged.json: ")),
        }
    }
}

#[test]
fn the_types_in_the_binary_are_those_of_the_era_of_1_43_1() {
    let types = TypeFacts::released().unwrap();
    let document = emulated("1.43.1");
    let members: std::collections::BTreeSet<&str> =
        document.union("Event").unwrap().members.iter().map(String::as_str).collect();
    assert_eq!(types.kinds().into_keys().collect::<std::collections::BTreeSet<_>>(), members);
    for (kind, ty) in types.kinds() {
        let fields: Vec<&String> = types.types[ty].fields.keys().collect();
        assert_eq!(fields, document.object(kind).unwrap().fields.keys().collect::<Vec<_>>(), "{kind}");
    }
    assert_eq!(types.never().len(), 19, "as tsc says of the package: `Event` is `never`");
    assert!(types.used.contains("StreamingDeltaEvent"));
}

fn run(args: &[&str]) -> (i32, String, String) {
    ended(&mut skewlab(&[&["contract"], args].concat()))
}

#[test]
fn a_stage_is_shown_with_who_breaks_and_what_to_do() {
    let (code, out, _) = run(&["1.43.1+AB", "--against", "1.43.1"]);
    assert_eq!(code, 10);
    insta::assert_snapshot!("contract_stage_ab", out);
    // What ships with the older server is asked too: it is in use.
    let (code, out, _) = run(&["1.58.2", "--against", "1.43.1"]);
    assert!(code == 10 && out.contains("member_added/Event/SecurityAnalysisEvent"), "{out}");
    assert!(out.contains("python-1.37.1, python-1.43.1: its event model refuses"), "{out}");
    let (code, out, _) = run(&["1.43.1+ABCD", "--against", "1.43.1", "--format", "json"]);
    let report: ContractReport = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, report.against.unwrap().event_members, report.subject.event_members),
        (10, Some(19), Some(18))
    );
    assert!(
        !report.findings.iter().any(|f| f.severity == Severity::Silent || f.severity == Severity::TypeLost)
    );
}

#[test]
fn a_release_by_itself_breaks_nothing_and_its_known_findings_can_be_declared() {
    let real = fixture("1.58.2");
    for name in ["1.58.2", real.to_str().unwrap()] {
        let (code, out, _) = run(&[name]);
        assert_eq!(code, 0, "{out}");
        assert!(
            out.contains("20 kinds of event") && out.contains("never_returned/Event/StreamingDeltaEvent"),
            "{out}"
        );
        assert_eq!(run(&[name, "--strict"]).0, 10);
        let known =
            ["never_returned/*", "discriminator_never_sent/Event", "type_never/*", "kind_without_type/*"];
        let known: Vec<&str> = known.iter().flat_map(|id| ["--expect", id]).collect();
        let (code, out, _) = run(&[&[name, "--strict"], &known[..]].concat());
        assert_eq!(code, 0, "{out}");
        assert!(out.contains("(expected)"));
        let (code, out, _) = run(&[name, "--expect", "type_lost/*"]);
        assert_eq!(code, 11);
        assert!(out.contains("STALE") && out.contains("type_lost/*"), "{out}");
    }
}

#[test]
fn bad_input_is_pointed_at_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("report.json");
    let text = std::fs::read_to_string(fixture("1.58.2")).unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cut = file("cut.json", &text[..text.len() / 2]);
    let dangling = file("dangling.json", &text.replacen("schemas/PauseEvent", "schemas/PausEvent", 1));
    let empty = file("empty.json", r#"{"openapi":"3.1.0","paths":{}}"#);
    let declarations = file("x.d.ts", "export type Other = { a: string; };");
    for (args, told) in [
        (vec![cut.as_str()], "cut off"),
        (vec![&dangling], "did you mean `PauseEvent`?"),
        (vec![&empty], "components.schemas: it holds no schema"),
        (vec!["gone.json"], "cannot read gone.json"),
        (vec!["1.58.9"], "no server profile is called `1.58.9`"),
        (vec!["1.58.2", "--types", &declarations], "exports no type `Event`"),
        (vec!["1.58.2", "--types", "nowhere"], "there is no such file"),
        (vec!["1.58.2", "--client", "pyton-1.58.2"], "did you mean `python-1.58.2`"),
        (vec!["1.58.2", "--expect", "[", "--strict"], "--expect `[`"),
        (vec!["--url", "http://192.0.2.7:80/openapi.json"], "--allow-remote"),
        (vec!["--url", "https://127.0.0.1:80"], "TLS"),
        (vec!["--url", "http://k3y@127.0.0.1:80"], "before the host"),
    ] {
        let (code, _, err) = run(&[&args[..], &["--out", out.to_str().unwrap()]].concat());
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(told) && !err.contains("k3y"), "{args:?}: {err}");
        assert!(!out.exists(), "{args:?}");
    }
    let (code, _, err) = run(&["--url", "http://127.0.0.1:9"]);
    assert_eq!(code, 13, "{err}");
}

#[test]
fn a_served_document_is_that_of_the_profile() {
    let served = Served::start(&["--server", "1.43.1+AB", "--key", "k3y"]);
    let (status, body) = served.http("GET", "/openapi.json", "", "");
    assert_eq!(status, 200, "shown to everybody, as the real one is");
    let profile = Catalogue::embedded().unwrap().server("1.43.1+AB").unwrap();
    assert_eq!(body, document(&profile).unwrap());
    let url = format!("http://{}/openapi.json", served.address);
    let (code, out, err) = run(&["--url", &url, "--against", "1.43.1"]);
    assert_eq!(code, 10, "{err}");
    assert!(
        out.contains("OpenHands Agent Server 1.43.1+AB (live)")
            && out.contains("type_lost/StreamingDeltaEvent"),
        "{out}"
    );
    assert!(!out.contains(&served.address), "no address in a result");
}

#[test]
fn names_of_a_foreign_document_cannot_move_the_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.json");
    let text = std::fs::read_to_string(fixture("1.58.2")).unwrap();
    std::fs::write(
        &path,
        text.replace("OpenHands Agent Server", "\\u001b[2JX").replace("\"TokenEvent\"", "\"Tok\\u0007en\""),
    )
    .unwrap();
    for format in ["table", "json"] {
        let (code, out, err) = run(&[path.to_str().unwrap(), "--against", "1.58.2", "--format", format]);
        assert!(code == 10 || code == 2, "{err}");
        let odd = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!odd(&out) && !odd(&err), "{out}{err}");
    }
}
