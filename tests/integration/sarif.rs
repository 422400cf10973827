//! SARIF 2.1.0, as the standard has it: what an object must have, what it may have, and which words there are.

use serde_json::{Value, json};
use skewlab::record::{Document, Run};
use skewlab::report;

use crate::html::{hostile, small};
use crate::report_formats::every_outcome;

/// What is wrong with a log, by place.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn hold(&mut self, place: &str, holds: bool, what: &str) {
        if !holds {
            self.0.push(format!("{place}: {what}"));
        }
    }

    /// An object with these keys, and of others only those that the standard has there too.
    fn object(&mut self, place: &str, of: &Value, must: &[&str], may: &[&str]) {
        let Some(object) = of.as_object() else { return self.hold(place, false, "no object") };
        for key in must {
            self.hold(place, object.contains_key(*key), &format!("no {key}"));
        }
        for key in object.keys() {
            let known = must.contains(&key.as_str()) || may.contains(&key.as_str());
            self.hold(place, known, &format!("the standard has no {key} here"));
        }
    }

    fn word(&mut self, place: &str, of: &Value, words: &[&str]) {
        self.hold(
            place,
            of.as_str().is_some_and(|word| words.contains(&word)),
            "not one of the standard's words",
        );
    }

    /// A text that says something.
    fn text(&mut self, place: &str, of: &Value) {
        self.hold(place, of.as_str().is_some_and(|text| !text.trim().is_empty()), "no text");
    }

    /// A `message` or `multiformatMessageString`.
    fn message(&mut self, place: &str, of: &Value) {
        self.object(place, of, &["text"], &["markdown", "id", "arguments", "properties"]);
        self.text(place, &of["text"]);
    }
}

fn items<'a>(of: &'a Value, key: &'a str) -> impl Iterator<Item = (String, &'a Value)> {
    of[key].as_array().into_iter().flatten().enumerate().map(move |(at, item)| (format!("{key}[{at}]"), item))
}

const LEVELS: [&str; 4] = ["none", "note", "warning", "error"];

fn faults(log: &Value) -> Vec<String> {
    let mut all = Faults::default();
    all.object("log", log, &["version", "runs"], &["$schema", "inlineExternalProperties", "properties"]);
    all.word("version", &log["version"], &["2.1.0"]);
    all.hold("runs", log["runs"].as_array().is_some_and(|runs| !runs.is_empty()), "no run");
    for (place, run) in items(log, "runs") {
        let may =
            ["invocations", "originalUriBaseIds", "columnKind", "results", "artifacts", "logicalLocations"];
        all.object(&place, run, &["tool"], &may);
        all.word(&place, &run["columnKind"], &["utf16CodeUnits", "unicodeCodePoints"]);
        tool(&place, &run["tool"], &mut all);
        for (at, invocation) in items(run, "invocations") {
            all.object(&at, invocation, &["executionSuccessful"], &["exitCode", "properties"]);
            all.hold(&at, invocation["executionSuccessful"].is_boolean(), "no yes or no");
        }
        for (name, base) in run["originalUriBaseIds"].as_object().into_iter().flatten() {
            all.object(name, base, &[], &["uri", "uriBaseId", "index", "description"]);
            all.message(name, &base["description"]);
        }
        all.hold(&place, run["results"].is_array(), "a run that was judged has results, even if none");
        for (at, result) in items(run, "results") {
            self::result(&format!("{place}.{at}"), result, run, &mut all);
        }
    }
    all.0
}

fn tool(place: &str, tool: &Value, all: &mut Faults) {
    all.object(place, tool, &["driver"], &["extensions", "properties"]);
    let driver = &tool["driver"];
    let may = ["version", "semanticVersion", "informationUri", "rules", "fullName"];
    all.object("driver", driver, &["name"], &may);
    all.text("driver.name", &driver["name"]);
    let mut ids = Vec::new();
    for (at, rule) in items(driver, "rules") {
        let may = [
            "name",
            "shortDescription",
            "fullDescription",
            "help",
            "helpUri",
            "defaultConfiguration",
            "properties",
        ];
        all.object(&at, rule, &["id"], &may);
        all.text(&at, &rule["id"]);
        for message in ["shortDescription", "fullDescription", "help"] {
            all.message(&format!("{at}.{message}"), &rule[message]);
        }
        all.word(&at, &rule["defaultConfiguration"]["level"], &LEVELS);
        all.hold(&at, !ids.contains(&&rule["id"]), "its id is another rule's too");
        ids.push(&rule["id"]);
    }
}

fn result(place: &str, result: &Value, run: &Value, all: &mut Faults) {
    let may =
        ["ruleId", "ruleIndex", "level", "locations", "partialFingerprints", "suppressions", "properties"];
    all.object(place, result, &["message"], &may);
    all.message(place, &result["message"]);
    all.word(place, &result["level"], &LEVELS);
    let rules = &run["tool"]["driver"]["rules"];
    let rule = result["ruleIndex"].as_u64().and_then(|at| rules.get(usize::try_from(at).unwrap()));
    all.hold(
        place,
        rule.is_some_and(|rule| rule["id"] == result["ruleId"]),
        "its rule is none of the driver's",
    );
    all.hold(place, items(result, "locations").next().is_some(), "no location");
    for (at, location) in items(result, "locations") {
        let may = ["id", "physicalLocation", "logicalLocations", "message", "properties"];
        all.object(&at, location, &[], &may);
        let physical = &location["physicalLocation"];
        all.object(&at, physical, &["artifactLocation"], &["region", "contextRegion", "address"]);
        let artifact = &physical["artifactLocation"];
        all.object(&at, artifact, &["uri"], &["uriBaseId", "index", "description"]);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte);
        all.hold(&at, artifact["uri"].as_str().is_some_and(|uri| uri.bytes().all(plain)), "no URI");
        let base = artifact["uriBaseId"].as_str().unwrap_or_default();
        all.hold(&at, !run["originalUriBaseIds"][base].is_null(), "a base that the run does not have");
        let line = physical["region"]["startLine"].as_u64();
        all.hold(
            &at,
            physical["region"].is_null() || line.is_some_and(|line| line > 0),
            "lines begin with 1",
        );
        for (_, logical) in items(location, "logicalLocations") {
            let may = ["name", "index", "fullyQualifiedName", "decoratedName", "parentIndex", "kind"];
            all.object(&at, logical, &[], &may);
            for key in ["name", "fullyQualifiedName", "kind"] {
                all.text(&at, &logical[key]);
            }
        }
    }
    let prints = result["partialFingerprints"].as_object();
    all.hold(place, prints.is_some_and(|p| p.values().all(Value::is_string)), "fingerprints are texts");
    for (at, suppression) in items(result, "suppressions") {
        all.object(
            &at,
            suppression,
            &["kind"],
            &["status", "location", "guid", "justification", "properties"],
        );
        all.word(&at, &suppression["kind"], &["inSource", "external"]);
    }
}

fn log(runs: &[&Run]) -> Value {
    let mut out = Vec::new();
    report::sarif(runs, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// A run in which every text that others may write is hostile.
fn poisoned() -> Run {
    match hostile(serde_json::to_value(small()).unwrap()) {
        Document::Run(run) => *run,
        _ => unreachable!("a run was put in"),
    }
}

#[test]
fn every_log_is_as_the_standard_wants_it_whatever_the_run_holds() {
    let (all, hostile) = (every_outcome(), poisoned());
    let mut empty = all.clone();
    empty.cells.clear();
    for runs in [&[&all][..], &[&hostile], &[&all, &hostile], &[&empty], &[]] {
        let log = log(runs);
        assert_eq!(faults(&log), Vec::<String>::new());
        let results = log["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(results > 0, runs.iter().any(|run| !run.cells.is_empty()), "{results} results");
    }
    let suppressed = log(&[&all]).to_string();
    assert!(suppressed.contains("\"suppressions\"") && log(&[&hostile]).to_string().contains("onerror"));
}

#[test]
fn a_log_that_lacks_what_the_standard_requires_is_found() {
    let right = log(&[&every_outcome()]);
    let last = right["runs"][0]["results"].as_array().unwrap().len() - 1;
    let suppressed =
        items(&right["runs"][0], "results").position(|(_, r)| r["suppressions"].is_array()).unwrap();
    let result = format!("/runs/0/results/{last}");
    let of = |place: &str| format!("{result}{place}");
    for gone in [
        "/version".to_owned(),
        "/runs".to_owned(),
        "/runs/0/tool".to_owned(),
        "/runs/0/tool/driver".to_owned(),
        "/runs/0/tool/driver/name".to_owned(),
        "/runs/0/tool/driver/rules/3/id".to_owned(),
        "/runs/0/tool/driver/rules/3/help/text".to_owned(),
        "/runs/0/invocations/0/executionSuccessful".to_owned(),
        "/runs/0/results".to_owned(),
        of("/message"),
        of("/message/text"),
        of("/ruleId"),
        of("/locations"),
        of("/locations/0/physicalLocation/artifactLocation"),
        of("/locations/0/logicalLocations/0/kind"),
        format!("/runs/0/results/{suppressed}/suppressions/0/kind"),
    ] {
        let mut log = right.clone();
        let (parent, key) = gone.rsplit_once('/').unwrap();
        let taken = log.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
        assert!(taken.is_some() && !faults(&log).is_empty(), "{gone}");
    }
    for (place, wrong) in [
        ("/version".to_owned(), json!("2.0")),
        ("/runs/0/columnKind".to_owned(), json!("bytes")),
        (
            "/runs/0/tool/driver/rules/1/id".to_owned(),
            right["runs"][0]["tool"]["driver"]["rules"][0]["id"].clone(),
        ),
        ("/runs/0/originalUriBaseIds".to_owned(), json!({})),
        (of("/level"), json!("fatal")),
        (of("/ruleId"), json!("another")),
        (of("/message/text"), json!("")),
        (of("/locations/0/physicalLocation/region/startLine"), json!(0)),
        (of("/locations/0/physicalLocation/artifactLocation/uri"), json!("a b<c>")),
        (of("/partialFingerprints"), json!({"a": 1})),
    ] {
        let mut log = right.clone();
        *log.pointer_mut(&place).unwrap() = wrong;
        assert!(!faults(&log).is_empty(), "{place}");
    }
    let mut more = right.clone();
    more.pointer_mut(&result).unwrap()["surprise"] = json!(1);
    assert_eq!(faults(&more).len(), 1);
}
