//! Documents of released packages, read by `live extract`, give the committed profiles; a change of one gives that
//! difference and no other. The documents are what the packages said; nothing here needs Python.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skewlab::agent_server::profile::Catalogue;
use skewlab::live::extract::Package;
use skewlab::record::extract::{Against, Extraction};
use skewlab::suite::extract::{against_committed, against_package, client_toml, imply, lines, server_toml};
use toml::Table;

/// One release of every era of the server and of the Python client, at least.
const STORED: [&str; 11] = [
    "1.22.0", "1.30.0", "1.31.1", "1.34.0", "1.36.1", "1.37.1", "1.43.1", "1.44.1", "1.45.0", "1.55.1",
    "1.58.2",
];

fn path(release: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/packages/{release}.json"))
}

fn stored(release: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path(release)).unwrap()).unwrap()
}

fn package(document: &Value) -> Package {
    Package::parse("document", &document.to_string()).unwrap()
}

fn implied(document: &Value) -> Extraction {
    imply(&package(document), None, &Catalogue::embedded().unwrap()).unwrap()
}

fn held(document: &Value) -> Against {
    against_committed(&implied(document), &Catalogue::embedded().unwrap()).unwrap()
}

/// What differs from the committed profiles after one change of a document: `server bus.kind: "shared"`.
fn changed(release: &str, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = stored(release);
    change(&mut document["facts"]);
    let against = held(&document);
    let traits = against.traits.iter().map(|d| {
        let this = d.this.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{} {}: {this}", d.party, d.path)
    });
    traits.chain(against.classes.iter().map(|c| format!("{}: {}", c.class, c.what))).collect()
}

fn of<'v>(list: &'v mut Value, name: &str) -> &'v mut Value {
    list.as_array_mut().unwrap().iter_mut().find(|item| item["name"] == name).unwrap()
}

#[test]
fn every_stored_package_implies_the_committed_profiles() {
    for release in STORED {
        let against = held(&stored(release));
        assert!(against.equal(), "{release}: {against:#?}");
        // Fewer would be a fact that nobody reads any more.
        assert!(against.compared >= 55, "{release}: only {} traits were compared", against.compared);
    }
}

#[test]
fn every_trait_of_a_profile_is_extracted_or_listed() {
    fn leaves(table: &Table, before: &str, found: &mut BTreeSet<String>) {
        for (key, value) in table {
            let place = format!("{before}{key}");
            match value {
                toml::Value::Table(inner) => leaves(inner, &format!("{place}."), found),
                _ => drop(found.insert(place)),
            }
        }
    }
    let catalogue = Catalogue::embedded().unwrap();
    let extraction = implied(&stored("1.58.2"));
    for (profile, table) in [
        (&extraction.server, catalogue.servers().resolve::<Table>("1.58.2").unwrap().traits),
        (&extraction.client, catalogue.clients().resolve::<Table>("python-1.58.2").unwrap().traits),
    ] {
        let mut all = BTreeSet::new();
        leaves(&table, "", &mut all);
        let said = profile.traits.iter().map(|t| t.path.clone());
        let known: BTreeSet<String> = said.chain(profile.missing.iter().map(|m| m.path.clone())).collect();
        let unknown: Vec<_> = all.difference(&known).collect();
        assert!(unknown.is_empty(), "{}: neither extracted nor listed: {unknown:?}", profile.name);
        // Two that a profile may leave out.
        let more: Vec<_> = known.difference(&all).collect();
        assert!(more.iter().all(|p| p.starts_with("decode.delta_")), "{}: no traits: {more:?}", profile.name);
    }
}

#[test]
fn a_changed_fact_changes_its_traits_and_no_others() {
    assert_eq!(changed("1.58.2", |_| ()), [""; 0]);
    assert_eq!(
        changed("1.58.2", |f| f["server.buses"]["is"][0]["cap"] = json!(60)),
        ["server bus.max_subscribers: 60"]
    );
    assert_eq!(
        changed("1.58.2", |f| f["server.fan_out"]["is"] = json!("sequential")),
        ["server bus.fan_out: \"sequential\""]
    );
    assert_eq!(
        changed("1.58.2", |f| f["server.filter"]["is"]["plain_gets_deltas"] = json!(true)),
        ["server bus.deltas_to: []", "server bus.kind: \"shared\"",]
    );
    let asks = |f: &mut Value| {
        of(&mut f["server.subscribers"]["is"], "_EventSubscriber")["set"] =
            json!(["receives_streaming_deltas"]);
    };
    assert_eq!(changed("1.58.2", asks), ["server bus.deltas_to: [\"idle\", \"websocket\"]"]);
    let more =
        |f: &mut Value| f["server.delta"]["is"]["fields"].as_array_mut().unwrap().push(json!("item_id"));
    assert_eq!(changed("1.58.2", more).len(), 1);
    assert_eq!(
        changed("1.44.1", |f| f["server.heartbeat_s"]["is"] = json!(30)),
        ["server idle.heartbeat_s: 30.0"]
    );
    assert_eq!(
        changed("1.58.2", |f| f["server.webhook_posts"]["is"]["after_the_first"] = json!(1)),
        ["server webhook.rechecks_after_post: false"]
    );
    assert_eq!(
        changed("1.58.2", |f| f["client.loop"]["is"]["auth"] = json!("query")),
        ["client connect.auth: \"query\""]
    );
    let gone = |f: &mut Value| {
        f["client.constructor"]["is"]["parameters"]
            .as_array_mut()
            .unwrap()
            .retain(|p| p != "token_callbacks");
    };
    assert_eq!(
        changed("1.58.2", gone),
        ["client listen.default: \"callbacks\"", "client listen.lists.token_callbacks: \"swallowed\"",]
    );
}

#[test]
fn the_stages_of_the_bus_split_are_recognised() {
    let off_event = |f: &mut Value| {
        f["server.delta"]["is"]["is_event"] = json!(false);
        f["client.delta"]["is"]["is_event"] = json!(false);
        f["client.loop"]["is"]["delta_is_heard"] = json!([]);
        f["server.filter"]["is"] = json!({"plain_gets_deltas": true, "switches": {}});
        f["server.buses"]["is"][0]["carries"] = json!(["Event", "StreamingDeltaEvent"]);
        let model = &mut f["client.model"]["is"];
        model["models"].as_array_mut().unwrap().retain(|m| m["name"] != "StreamingDeltaEvent");
        let kinds = &mut of(&mut model["families"], "Event")["kinds"];
        kinds.as_array_mut().unwrap().retain(|k| k != "StreamingDeltaEvent");
    };
    assert_eq!(
        changed("1.43.1", off_event),
        [
            "server bus.kind: \"widened\"",
            "server delta.class: \"standalone\"",
            "client decode.delta_is_event: false",
        ]
    );
    let split = |f: &mut Value| {
        off_event(f);
        f["server.buses"]["is"][0]["carries"] = json!(["Event"]);
        let bus = json!({"name": "_delta_pub_sub", "carries": ["StreamingDeltaEvent"], "cap": 50});
        f["server.buses"]["is"].as_array_mut().unwrap().push(bus);
        f["client.loop"]["is"]["delta_is_heard"] = json!(["delta_callback"]);
        f["client.constructor"]["is"]["parameters"].as_array_mut().unwrap().push(json!("delta_callbacks"));
    };
    // Who subscribes to the second bus is not said by any class here, so it is listed and not compared.
    assert_eq!(
        changed("1.43.1", split),
        [
            "server bus.kind: \"split\"",
            "server delta.class: \"standalone\"",
            "client decode.delta_first: true",
            "client decode.delta_is_event: false",
            "client listen.default: \"delta_callbacks\"",
            "client listen.lists.callbacks: \"bypassed\"",
            "client listen.lists.delta_callbacks: \"called\"",
        ]
    );
    assert_eq!(
        changed("1.58.2", |f| f["server.delta"]["is"] = Value::Null)[..],
        ["server delta.class: \"withdrawn\""]
    );
}

#[test]
fn what_was_not_found_out_is_listed_and_never_equal() {
    let mut document = stored("1.58.2");
    document["facts"].as_object_mut().unwrap().remove("server.fan_out");
    document["faults"] = json!([{"fact": "server.fan_out", "message": "TimeoutError: "}]);
    let (whole, part) = (held(&stored("1.58.2")), held(&document));
    assert!(part.equal() && part.compared == whole.compared - 1);
    let missing = implied(&document).server.missing;
    let one = missing.iter().find(|m| m.path == "bus.fan_out").unwrap();
    assert_eq!(one.why, "`server.fan_out`: TimeoutError: ");
    // A fact of an unknown shape is no fact either.
    document["facts"]["server.close"]["is"] = json!([4001]);
    let missing = implied(&document).server.missing;
    assert!(
        missing.iter().filter(|m| m.why.contains("`server.close` is not what was expected")).count() == 3
    );
    // Event classes that were not read are a difference: silence would look like agreement.
    document["facts"].as_object_mut().unwrap().remove("client.model");
    assert!(!held(&document).equal());
}

#[test]
fn event_classes_differ_in_the_language_of_the_vocabulary() {
    let mut document = stored("1.58.2");
    document["packages"]["openhands-agent-server"]["version"] = json!("1.59.0rc1");
    let model = &mut document["facts"]["client.model"]["is"];
    let fields = of(&mut model["models"], "AgentErrorEvent")["fields"].as_array_mut().unwrap();
    fields.push(json!("retry_after?: float?"));
    fields.retain(|f| f != "error: str");
    of(&mut model["models"], "CriticResult")["extra"] = json!("forbid");
    let kinds = of(&mut model["families"], "Event")["kinds"].as_array_mut().unwrap();
    kinds.retain(|k| k != "PauseEvent");
    kinds.push(json!("NoteEvent"));
    let mut note = of(&mut model["models"], "PauseEvent").clone();
    model["models"].as_array_mut().unwrap().retain(|m| m["name"] != "PauseEvent");
    note["name"] = json!("NoteEvent");
    note["fields"].as_array_mut().unwrap().push(json!("note: str"));
    model["models"].as_array_mut().unwrap().push(note);
    // A field of all events is one change of the family.
    for model in model["models"].as_array_mut().unwrap() {
        let fields = model["fields"].as_array_mut().unwrap();
        if fields.iter().any(|f| f.as_str().unwrap().starts_with("parent_id")) {
            fields.push(json!("branch?: str?"));
        }
    }
    let extraction = implied(&document);
    let text = lines(&extraction.vocabulary);
    insta::assert_snapshot!(text);
    assert!(extraction.foreign.iter().all(|c| c.what.contains(" or ")), "only spellings of the mcp package");
}

#[test]
fn a_candidate_has_an_emulation_at_once() {
    let mut document = stored("1.58.2");
    document["packages"]["openhands-agent-server"]["version"] = json!("1.59.0");
    document["facts"]["server.buses"]["is"][0]["cap"] = json!(60);
    let extraction = implied(&document);
    assert_eq!((extraction.server.name.as_str(), extraction.server.extends.as_str()), ("1.59.0", "1.58.2"));
    let dir = tempfile::tempdir().unwrap();
    for (folder, name, text) in [
        ("servers", &extraction.server.name, server_toml(&extraction)),
        ("clients", &extraction.client.name, client_toml(&extraction)),
    ] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
        std::fs::write(dir.path().join(folder).join(format!("{name}.toml")), text).unwrap();
    }
    let catalogue = Catalogue::embedded().unwrap().with_dir(dir.path()).unwrap();
    let server = catalogue.server("1.59.0").unwrap();
    assert_eq!(server.traits.bus.max_subscribers, 60);
    assert_eq!(server.traits.ships.python, "", "the client of the plain release is found by its name");
    assert!(server.about.source["bus"].contains("extracted from 1.59.0: "), "{:?}", server.about.source);
    let client = catalogue.client("python-1.59.0/token_callbacks").unwrap();
    assert_eq!(client.profile.traits.connect.ready_timeout_s.to_string(), "30 s");
    // A release that has a profile gets a name of its own, and a server that ships the client beside it.
    let known = implied(&stored("1.58.2"));
    assert_eq!(known.server.name, "1.58.2+extracted");
    let text: Table = server_toml(&known).parse().unwrap();
    assert_eq!(text["ships"]["python"].as_str(), Some("python-1.58.2+extracted"));
}

#[test]
fn two_packages_are_held_against_each_other() {
    let (old, new) = (stored("1.44.1"), stored("1.45.0"));
    let against = against_package(&implied(&new), &package(&new), &implied(&old), &package(&old)).unwrap();
    let traits: Vec<&str> = against.traits.iter().map(|d| d.path.as_str()).collect();
    assert_eq!(
        traits,
        [
            "idle.heartbeat_s",
            "session.endpoint",
            "session.max_frame_bytes",
            "session.max_pending_bytes",
            "session.replay_page",
        ]
    );
    let aside: Vec<String> = against.aside.iter().map(|(n, t)| format!("{n}: {t}")).collect();
    assert!(
        aside.contains(&"routes: + WEBSOCKET /sockets/session/{conversation_id}".to_owned()),
        "{aside:#?}"
    );
    assert!(aside.contains(&"close codes: + session_socket.py 1011".to_owned()), "{aside:#?}");
    let same = against_package(&implied(&new), &package(&new), &implied(&new), &package(&new)).unwrap();
    assert!(same.equal(), "{same:#?}");
}

mod cli {
    use super::*;
    use assert_cmd::Command;

    fn extract(args: &[&str]) -> (i32, String, String) {
        let output =
            Command::cargo_bin("skewlab").unwrap().args(["live", "extract"]).args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    #[test]
    fn a_stored_document_is_as_good_as_a_package() {
        let file = path("1.43.1").display().to_string();
        let (code, out, _) = extract(&[&file, "--against", "committed"]);
        assert_eq!(code, 0, "{out}");
        assert!(out.contains("equal: 57 traits and every event class"), "{out}");
        assert!(out.contains("not extracted: session.replay_page: there is no session socket"), "{out}");
        let mut document = stored("1.43.1");
        document["facts"]["server.buses"]["is"][0]["cap"] = json!(60);
        let dir = tempfile::tempdir().unwrap();
        let mutated = dir.path().join("m.json");
        std::fs::write(&mutated, document.to_string()).unwrap();
        let (code, out, _) = extract(&[mutated.to_str().unwrap(), "--against", "committed"]);
        assert_eq!(code, 10, "{out}");
        assert!(
            out.contains("1 of 57 traits") && out.contains("server bus.max_subscribers  50     60"),
            "{out}"
        );
        let (code, out, _) = extract(&[mutated.to_str().unwrap(), "--against", &file]);
        assert_eq!(code, 10, "{out}");
        document["faults"] = json!([{"fact": "server.fan_out", "message": "TimeoutError"}]);
        std::fs::write(&mutated, document.to_string()).unwrap();
        let (code, out, _) = extract(&[mutated.to_str().unwrap(), "--against", "committed"]);
        assert_eq!(code, 13, "{out}");
        assert!(out.contains("NOT ANSWERED: server.fan_out: TimeoutError"), "{out}");
        let (code, out, _) = extract(&[&file, "--format", "json"]);
        let json: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, json["schema"].as_str().unwrap()), (0, "skewlab.extract/1"));
    }

    #[test]
    fn what_it_writes_can_be_run() {
        let mut document = stored("1.58.2");
        document["packages"]["openhands-agent-server"]["version"] = json!("1.59.0");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("1.59.0.json");
        std::fs::write(&file, document.to_string()).unwrap();
        let out = dir.path().join("out");
        let (code, said, _) = extract(&[file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        assert_eq!(code, 0, "{said}");
        let run = Command::cargo_bin("skewlab")
            .unwrap()
            .args(["matrix", "release-skew", "--server", "1.59.0", "--client", "python@same", "--profiles"])
            .arg(&out)
            .output()
            .unwrap();
        let text = String::from_utf8(run.stdout).unwrap();
        assert!(text.contains("1.59.0") && run.status.code() == Some(0), "{text}");
        assert!(out.join("packages/1.59.0.json").exists() && out.join("vocabulary/1.59.0.txt").exists());
    }

    #[test]
    fn a_relative_tree_is_laid_over_an_environment_as_an_absolute_one() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("tree/openhands/sdk")).unwrap();
        std::fs::write(dir.path().join("d.json"), stored("1.58.2").to_string()).unwrap();
        // Prints the document only if the tree is there, seen from where it runs. Written by another process, so that
        // nobody has it open for writing when it is run.
        let body =
            "#!/bin/sh\ncat >/dev/null\ntest -d \"$PYTHONPATH/openhands\" && cat \"$PYTHONPATH/../d.json\"\n";
        let write = r#"printf %s "$2" > "$1/python" && chmod 755 "$1/python""#;
        std::process::Command::new("sh")
            .args(["-c", write, "sh"])
            .arg(dir.path())
            .arg(body)
            .status()
            .unwrap();
        let mut command = Command::cargo_bin("skewlab").unwrap();
        command.current_dir(dir.path()).args(["live", "extract", "path:tree", "--python", "./python"]);
        let output = command.args(["--against", "committed"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn bad_input_is_named() {
        for (args, code, words) in [
            (&["lastest"][..], 2, "`lastest` is nothing to extract: expected a release such as 1.58.2"),
            (&["gone.json"], 2, "gone.json: No such file"),
            (&["1.58.2", "--python", "/nowhere/python"], 2, "cannot run /nowhere/python"),
            (&["path:/nowhere", "--python", "/bin/true"], 2, "/nowhere: No such file"),
            (&["gone.whl"], 2, "`gone.whl` is laid over an environment: name one with `--python PATH`"),
            (&["gone.whl", "--python", "/bin/true"], 2, "gone.whl: there is no such file"),
            (
                &["1.58.2", "--python", "/bin/true"],
                13,
                "/bin/true ended with exit status: 0 without a document",
            ),
        ] {
            let (is, _, error) = extract(args);
            assert!(is == code && error.contains(words), "{args:?}: {is}\n{error}");
        }
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other.json");
        std::fs::write(&other, "{\"schema\": \"skewlab.run/1\"}").unwrap();
        let (code, _, error) = extract(&[other.to_str().unwrap()]);
        assert!(code == 2 && error.contains("`skewlab.run/1`"), "{error}");
    }
}
