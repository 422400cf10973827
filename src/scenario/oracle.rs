//! The shipped scenarios against the facts that they rest on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::names::double::Double;
use super::*;

fn cells(name: &str, selection: &Selection) -> Vec<Cell> {
    let scenario = Scenario::load(name, &Double::new()).unwrap_or_else(|e| panic!("{e}"));
    expand(&scenario, &Double::new(), selection).unwrap()
}

fn all(name: &str) -> Vec<Cell> {
    cells(name, &Selection::default())
}

/// `verdict lost_at` of the cell `server/client/…` of a scenario.
fn end(cells: &[Cell], id: &str) -> String {
    let cell = cells.iter().find(|c| c.id == id).unwrap_or_else(|| panic!("no cell {id}"));
    let hop = cell.expected.lost_at.map_or("-", crate::record::Hop::as_str);
    format!("{} {hop}", cell.expected.verdict.as_str())
}

/// The shipped scenarios of the agent server; those of the session feed have an oracle of their own.
fn shipped() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    SHIPPED.iter().filter(|(_, text)| !text.contains("subject = \"session-feed\""))
}

#[test]
fn every_expectation_says_why() {
    for (path, text) in shipped() {
        let scenario = Scenario::parse(path, text, &Double::new()).unwrap_or_else(|e| panic!("{e}"));
        assert!(scenario.expect.iter().all(|(_, e)| e.because.is_some()), "{path}");
        assert!(text.starts_with("question = "), "{path}");
    }
}

#[test]
fn every_expectation_is_some_cells_first_match() {
    for (path, _) in shipped() {
        let name = super::load::stem(path);
        let scenario = Scenario::load(name, &Double::new()).unwrap();
        // Some hold for a selection only: another server, or a client older than the delta.
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<String>>();
        let clients =
            ["*", "python-1.10.0", "python-1.55.1/token_callbacks", "python-1.58.2/delta_callbacks"];
        let clients = own(&[&clients[..], &["python-1.58.2+ABC/callbacks"]].concat());
        let wide = Selection { servers: own(&["*"]), clients, only: None };
        let cells = [all(name), cells(name, &wide)].concat();
        let met: BTreeSet<String> = cells.iter().filter_map(|c| c.expected.because.clone()).collect();
        for (_, expected) in &scenario.expect {
            assert!(met.contains(expected.because.as_ref().unwrap()), "{name}: never met: {expected:?}");
        }
    }
}

#[test]
fn release_skew_is_the_measured_matrix() {
    let cells = all("release-skew");
    let end = |cell: &str| end(&cells, &format!("release-skew/{cell}/chat/none"));
    for (cell, expected) in [
        ("1.58.2/browser-1.0.0-alpha.10", "by_design -"),
        ("1.58.2+step7/browser-1.0.0-alpha.10", "by_design -"),
        ("1.22.0/python-1.30.0", "delivered -"),
        ("1.31.1/python-1.30.0", "durable_loss -"),
        ("1.36.1/python-1.30.0", "delivered -"),
        ("1.44.1/python-1.30.0", "durable_loss -"),
        ("1.58.2+AB/python-1.30.0", "durable_loss -"),
        ("1.58.2+step7/python-1.30.0", "durable_loss -"),
        ("1.58.2+step7/python-1.58.2", "silent_loss published"),
        ("1.58.2+step7/python-1.58.2+AB", "silent_loss published"),
        ("1.58.2+step7/browser-1.20.0", "silent_loss published"),
        ("1.58.2+step7/browser-session", "delivered -"),
        ("1.22.0/browser-session", "loud_loss dispatched"),
        ("1.43.1+ABC/browser-session", "loud_loss dispatched"),
        ("1.44.1/browser-session", "loud_loss dispatched"),
        ("1.45.0/browser-session", "silent_loss dispatched"),
        ("1.58.2+ABC/browser-session", "delivered -"),
        ("1.22.0/python-1.43.1+AB", "silent_loss decoded"),
        ("1.43.1+AB/python-1.43.1+AB", "silent_loss decoded"),
        ("1.43.1+ABC/python-1.43.1+ABC", "delivered -"),
        ("1.58.2/python-1.55.1/token_callbacks", "silent_loss delivered"),
        ("1.58.2/python-1.55.1", "delivered -"),
        ("1.44.1/python-1.58.2+ABC/callbacks", "silent_loss delivered"),
        ("1.44.1/python-1.58.2+ABC", "delivered -"),
        ("1.58.2+step7/python-1.55.1/token_callbacks", "silent_loss published"),
        ("1.22.0/python-1.22.0", "delivered -"),
        ("1.22.0/browser-1.0.0-alpha.10", "by_design -"),
        ("1.22.0/browser-1.4.0", "loud_loss dispatched"),
        ("1.30.0/browser-1.4.0", "delivered -"),
        ("1.31.1/typescript-1.39.0", "delivered -"),
    ] {
        assert_eq!(end(cell), expected, "{cell}");
    }
}

#[test]
fn python_at_same_runs_once_on_every_server() {
    let cells = all("release-skew");
    let by_server = cells.iter().filter(|c| c.client_asked.iter().any(|a| a == SAME));
    let same: Vec<(&str, &str)> = by_server.map(|c| (c.server.as_str(), c.client.as_str())).collect();
    assert_eq!(same.len(), Double::new().server_names().len());
    for pair in [
        ("1.36.1", "python-1.36.1"),
        ("1.43.1+A", "python-1.43.1+AB"),
        ("1.43.1+ABC", "python-1.43.1+ABC"),
        ("1.58.2+step7", "python-1.58.2"),
    ] {
        assert!(same.contains(&pair), "{pair:?}");
    }
}

#[test]
fn a_release_inside_an_era_is_expected_what_its_era_is() {
    let selection = |server: &str, client: &str| Selection {
        servers: vec![server.to_owned()],
        clients: vec![client.to_owned()],
        only: None,
    };
    for (server, client, expected) in [
        ("1.46.0", "browser-session", "silent_loss"),
        ("1.40.0", "browser-session", "loud_loss"),
        ("1.50.3", "browser-session", "delivered"),
        ("1.50.3", "python-1.22.1", "durable_loss"),
        ("1.31.0", "python@same", "delivered"),
        ("1.18.1", "browser-1.20.0", "loud_loss"),
        ("1.27.0", "browser-1.20.0", "loud_loss"),
        ("1.28.0", "browser-1.20.0", "delivered"),
    ] {
        let cells = cells("release-skew", &selection(server, client));
        assert_eq!(cells[0].expected.verdict.as_str(), expected, "{server} {client}");
    }
}

type Frames = BTreeMap<String, Map<String, Value>>;

/// The delta frames of the corpus, by name.
fn corpus() -> Frames {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/corpus.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let frames = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter_map(|line| {
        let name = line["name"].as_str()?.to_owned();
        let frame = serde_json::from_str(line["raw"].as_str()?).ok()?;
        (name.starts_with("delta_") || name.starts_with("unknown_kind")).then_some((name, frame))
    });
    frames.collect()
}

/// Field values without their order.
fn fields(frame: &Map<String, Value>) -> BTreeMap<String, String> {
    frame.iter().map(|(k, v)| (k.clone(), v.to_string())).collect()
}

/// Each mutation of frame-mutants with the corpus frame that it makes of a plain delta.
fn mutations() -> Vec<(String, Option<String>)> {
    let frames = corpus();
    let plain = frames["delta_content"].clone();
    let scenario = Scenario::load("frame-mutants", &Double::new()).unwrap();
    let named = |mutation: &crate::wire::Mutation| {
        let mutated: Map<String, Value> = serde_json::from_str(&mutation.apply(plain.clone())).unwrap();
        let same = frames.iter().find(|(_, frame)| fields(frame) == fields(&mutated));
        (mutation.to_string(), same.map(|(name, _)| name.clone()))
    };
    scenario.mutations.iter().map(named).collect()
}

#[test]
fn the_mutations_are_the_corpus() {
    let mutations = mutations();
    for (mutation, frame) in &mutations {
        assert!(frame.is_some() || mutation == "content->text", "{mutation} is no frame of the corpus");
    }
    let covered: BTreeSet<&String> = mutations.iter().filter_map(|(_, frame)| frame.as_ref()).collect();
    // These differ in what the model said, not in how the frame says it.
    let other = ["delta_reasoning", "delta_both", "delta_empty_content"];
    for name in corpus().keys().filter(|name| !other.contains(&name.as_str())) {
        assert!(covered.contains(name), "no mutation for {name}");
    }
}

fn verdicts(file: &str) -> Value {
    let path = format!("{}/tests/fixtures/verdicts/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()["frames"].take()
}

/// Mutation, corpus frame and expectation of every cell of one client whose frame the corpus has.
fn expectations(client: &str) -> Vec<(String, crate::record::Expected)> {
    let mutations: BTreeMap<String, String> =
        mutations().into_iter().filter_map(|(m, frame)| Some((m, frame?))).collect();
    let selection = Selection { clients: vec![client.to_owned()], ..Selection::default() };
    let cells = cells("frame-mutants", &selection);
    assert!(cells.len() > 25, "{client}");
    let framed = cells.into_iter().filter_map(|c| {
        let frame = mutations.get(&c.mutation.to_string())?.clone();
        Some((frame, c.expected))
    });
    framed.collect()
}

#[test]
fn python_is_expected_to_refuse_what_it_was_seen_to_refuse() {
    let seen = verdicts("python.json");
    for version in ["1.35.0", "1.43.1", "1.55.0", "1.58.2"] {
        for (frame, expected) in expectations(&format!("python-{version}")) {
            let refused = seen[&frame][version]["verdict"] == "reject";
            let lost = expected.lost_at == Some(crate::record::Hop::Decoded);
            assert_eq!(lost, refused, "{version} {frame}");
            let log = expected.signal == Some(crate::record::Signal::Log);
            assert_eq!(log, refused, "{version} {frame}");
        }
    }
}

#[test]
fn canvases_are_expected_to_drop_and_draw_what_they_were_seen_to() {
    let seen = verdicts("browser.json");
    for (frame, expected) in ["browser-1.6.1", "browser-1.14.0"].into_iter().flat_map(expectations) {
        let Some(row) = seen.get(&frame) else { continue };
        // That row was made from another frame of the same name, without text. With text every canvas from
        // 1.0.0 to 1.20.0 draws it, which is what has to be expected.
        if frame == "delta_explicit_nulls" {
            assert_eq!(expected.verdict, crate::record::Verdict::Delivered);
            continue;
        }
        let dropped = expected.lost_at == Some(crate::record::Hop::Admitted);
        // One delta with the sentinel id is fine; it is the second that is dropped.
        assert_eq!(dropped, row["guard"] == false || frame == "delta_id_root_sentinel", "{frame}");
        let undrawn = expected.reason.as_deref() == Some("not_a_delta");
        assert_eq!(undrawn, row["guard"] == true && row["rendered_as_delta"] == false, "{frame}");
    }
}

#[test]
fn frame_mutants_asks_every_client_about_every_frame() {
    let cells = all("frame-mutants");
    assert!(cells.iter().all(|c| c.server == "1.58.2"));
    let clients = Double::new().client_names().len();
    let mutations = mutations().len();
    assert_eq!(cells.len(), clients * mutations);
    let id = "frame-mutants/1.58.2/browser-1.20.0/chat/-id,-timestamp,-source";
    assert_eq!(end(&cells, id), "silent_loss admitted");
    assert_eq!(end(&cells, "frame-mutants/1.58.2/browser-1.20.0/chat/id=__root__"), "delivered -");
    assert_eq!(end(&cells, "frame-mutants/1.58.2/python-1.58.2/chat/+seq=3"), "silent_loss decoded");
    assert_eq!(end(&cells, "frame-mutants/1.58.2/python-1.58.2+ABC/chat/+seq=3"), "delivered -");
    assert_eq!(end(&cells, "frame-mutants/1.58.2/python-1.30.0/chat/none"), "durable_loss -");
}
