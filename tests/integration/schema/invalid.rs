//! What the reader refuses is invalid by the schema, place by place; and the other way round where a pattern could be
//! stricter than the reader.

use std::path::Path;

use serde_json::{Value, json};
use skewlab::agent_server::profile::Catalogue;
use skewlab::record::Document;
use skewlab::scenario::{FeedScenario, Scenario};
use skewlab::session_feed::Fault;
use skewlab::session_feed::Variants;
use skewlab::session_feed::store::FlushPolicy;
use skewlab::wire::Mutation;

use super::{of_toml, validator};
use crate::fixtures;
use crate::runs::Folder;

const AGENT: &str = "question = \"q?\"\nservers = [\"1.58.2\"]\nclients = [\"python@same\"]\nworkloads = [\"w\"]\n\
                     mutations = [\"none\"]\n[workload.w]\ntokens = [{ text = \"a\" }]\n[[expect]]\nverdict = \"delivered\"\n\
                     [[known]]\nverdict = \"silent_loss\"\nreason = \"r\"\nlink = \"l\"\nexpires = 2027-03-01\n\
                     [budget]\nlog_lines = 0\n";

const FEED: &str = "question = \"q?\"\nsubject = \"session-feed\"\nvariants = [\"mirrored\"]\nconsumers = [\"renderer\"]\n\
                    workloads = [\"w\"]\nfaults = [\"none\"]\npolicies = [\"turn-end\"]\n[workload.w]\nreply = \"hey\"\n\
                    [[expect]]\nverdict = \"delivered\"\nfigures = { events = \"N\" }\n";

/// Holds each change of a file that is right against the reader and the schema: both refuse, or both take it.
fn both(name: &str, right: &str, reads: &dyn Fn(&str) -> bool, changes: &[(&str, &str, bool)]) {
    let schema = validator(name);
    assert!(reads(right) && schema.is_valid(&of_toml(right)), "{name}: {right}");
    for (from, to, is_right) in changes {
        assert!(right.contains(from), "{from}");
        let text = right.replacen(from, to, 1);
        assert_eq!(reads(&text), *is_right, "the reader of {name}: {to}");
        assert_eq!(schema.is_valid(&of_toml(&text)), *is_right, "the schema of {name}: {to}");
    }
}

#[test]
fn scenarios_of_the_agent_server() {
    let catalogue = Catalogue::embedded().unwrap();
    let reads = |text: &str| Scenario::parse("s.toml", text, &catalogue).is_ok();
    let (expect, tokens) = ("verdict = \"delivered\"", "tokens = [{ text = \"a\" }]");
    both(
        "scenario",
        AGENT,
        &reads,
        &[
            ("servers =", "sevrers =", false),
            ("[\"1.58.2\"]", "\"1.58.2\"", false),
            ("[\"1.58.2\"]", "[]", false),
            ("question = \"q?\"", "question = \" \"", false),
            ("workloads", "subscribers = 0\nworkloads", false),
            ("workloads", "subscribers = 1001\nworkloads", false),
            ("workloads", "subscribers = 20\nworkloads", true),
            ("workloads", "subject = \"session-fed\"\nworkloads", false),
            ("workloads", "subject = \"agent-server\"\nworkloads", true),
            ("workloads", "must_not_receive = [\"webhok\"]\nworkloads", false),
            ("workloads", "must_not_receive = [\"event_store\"]\nworkloads", true),
            ("[\"none\"]", "[\"none\", \"source\"]", false),
            ("[\"none\"]", "[\"none\", \"-source +x=1\", \"!{\", \"content->text\"]", true),
            ("[\"none\"]", "\"none\"", false),
            (tokens, "rate = 0\ntokens = [{ text = \"a\" }]", false),
            (tokens, "rate = \"fast\"\ntokens = [{ text = \"a\" }]", false),
            (tokens, "finish = \"tool\"\ntokens = [{ text = \"a\" }]", false),
            (tokens, "finish = \"finish-tool\"\ntokens = [{ text = \"a\" }]", true),
            (tokens, "tokens = []", false),
            (tokens, "tokens = [\"a\"]", false),
            (tokens, "tokens = [{ repeat = 2 }]", false),
            (tokens, "tokens = [{ txt = \"a\" }]", false),
            (tokens, "tokens = [{ text = \"a\", repeat = 0 }]", false),
            (tokens, "tokens = [{ stall_s = 1 }, { error = \"e\" }]", true),
            (tokens, "user = \"hi\"", false),
            (tokens, "tokens = [{ text = \"a\" }]\ngenerate = { count = 1 }", false),
            (tokens, "generate = { count = 3, classes = [\"txt\"] }", false),
            (tokens, "generate = { seed = 3 }", false),
            (tokens, "generate = { count = 3, classes = [\"text\", \"empty\"] }", true),
            (expect, "verdict = \"silent_los\"", false),
            (expect, "client = \"*\"", false),
            (expect, "verdict = \"silent_loss\"\nlost_at = \"handled\"", false),
            (
                expect,
                "verdict = \"silent_loss\"\nlost_at = \"decoded\"\nscope = \"total\"\nsignal = \"log\"",
                true,
            ),
            (expect, "verdict = \"silent_loss\"\nlostat = \"decoded\"", false),
            (expect, "verdict = \"silent_loss\"\nscope = \"totl\"", false),
            (expect, "verdict = \"silent_loss\"\nsignal = \"quiet\"", false),
            (expect, "verdict = \"over_budget\"\nover = [\"logs\"]", false),
            (expect, "verdict = \"over_budget\"\nover = []", true),
            (expect, "verdict = \"over_budget\"\nover = \"log_lines\"", true),
            (expect, "verdict = \"delivered\"\nbecause = \"\"", false),
            ("expires = 2027-03-01", "expires = 2027-03-01T00:00:00", false),
            ("expires = 2027-03-01", "expires = 3", false),
            ("link = \"l\"\n", "", false),
            ("log_lines = 0", "log_line = 0", false),
            ("log_lines = 0", "log_lines = true", false),
            ("log_lines = 0", "log_lines = -1", false),
            ("log_lines = 0", "log_lines = []", false),
            ("log_lines = 0", "idle_writes = [\">= 0\", \"<= ceil(T/30)+1\"]", true),
            ("log_lines = 0", "cpu_ratio_vs = { server = \"1.43.1\" }", false),
            ("log_lines = 0", "cpu_ratio_vs = { server = \"1.4*\", max = 1 }", false),
            ("log_lines = 0", "cpu_ratio_vs = { server = \"1.43.1\", max = 1 }", true),
            ("[[expect]]", "[traits.bus]\nfan_out = \"gathr\"\n[[expect]]", false),
            ("[[expect]]", "[traits.bus]\nfanout = \"gather\"\n[[expect]]", false),
            ("[[expect]]", "[traits.ships]\npython = \"python-1.58.2\"\n[[expect]]", false),
            ("[[expect]]", "[traits.bus]\nfan_out = \"gather\"\n[[expect]]", true),
            ("[[expect]]", "[webhook]\nlatency_s = -1\n[[expect]]", false),
            ("[[expect]]", "[webhook]\nlatency_s = 0.5\nrefuse_first = 2\n[[expect]]", true),
            ("[[expect]]", "[expect]", false),
        ],
    );
}

#[test]
fn scenarios_of_the_session_feed() {
    let variants = Variants::embedded().unwrap();
    let reads = |text: &str| FeedScenario::parse("s.toml", text, &variants).is_ok();
    let (reply, expect) = ("reply = \"hey\"", "verdict = \"delivered\"");
    both(
        "feed-scenario",
        FEED,
        &reads,
        &[
            ("variants", "varants", false),
            ("variants", "servers = [\"*\"]\nvariants", false),
            ("[\"none\"]", "[\"kil@3\"]", false),
            ("[\"none\"]", "[\"kill@0\"]", false),
            ("[\"turn-end\"]", "[\"turn-ends\"]", false),
            ("[\"turn-end\"]", "[\"window-0ms\"]", false),
            ("[\"turn-end\"]", "[\"checkpoints\", \"window-50ms\"]", true),
            ("workloads", "packed = 1\nworkloads", false),
            ("workloads", "packed = true\nlisteners = { log = 2 }\nworkloads", true),
            ("workloads", "listeners = { lg = 2 }\nworkloads", false),
            (reply, "user = \"x\"", false),
            (reply, "reply = \"a\"\ntokens = [{ text = \"b\" }]", false),
            (reply, "reply = \"\"", false),
            (reply, "reasoning = \"so\"\nreply = \"a\"\nturns = 2\nsteps = 2", true),
            (reply, "reasoning = \"so\"\ntokens = [{ text = \"b\" }]", false),
            (reply, "tokens = [{ repeat = 2 }]", false),
            (reply, "tokens = [{ text = \"t\", arguments = \"{}\" }]", false),
            (reply, "tokens = [{ text = \"t\", tool = \"x\", arguments = \"{}\" }]", true),
            (reply, "shape = { events = 11, chunks = 5 }", false),
            (reply, "shape = { events = 11, chunks = 5, steps = 1 }", true),
            (reply, "steps = 2\nshape = { events = 13, chunks = 7, steps = 1 }", false),
            (expect, "verdict = \"devlivered\"", false),
            (expect, "verdict = \"loud_loss\"\nlost_at = \"sent\"", false),
            (expect, "verdict = \"loud_loss\"\nlost_at = \"durable\"", true),
            (expect, "verdict = \"delivered\"\nover = [\"log_lines\"]", false),
            ("events = \"N\"", "evnts = \"N\"", false),
            ("events = \"N\"", "events = true", false),
            ("events = \"N\"", "events = [\">= 1\", \"N\"], dispatches = 20", true),
            ("[[expect]]", "[traits.bus]\ncontain = true\n[[expect]]", false),
            ("[[expect]]", "[traits.bus]\ncontained = true\n[[expect]]", true),
        ],
    );
}

#[test]
fn profiles() {
    let folder = Folder::new();
    let reads = |kind: &str, text: &str| {
        folder.write(&format!("{kind}/mine.toml"), text);
        let Ok(all) = Catalogue::embedded().unwrap().with_dir(&folder.path("")) else { return false };
        let read = if kind == "servers" { all.server("mine").is_ok() } else { all.client("mine").is_ok() };
        std::fs::remove_file(folder.path(&format!("{kind}/mine.toml"))).unwrap();
        read
    };
    let right = "name = \"mine\"\nextends = \"1.44.1\"\nsummary = \"s\"\n[idle]\nheartbeat_s = 0\n[source]\nidle = \"x\"\n\
                 [[since]]\nrelease = \"1.44.2\"\nsocket.auth_frame = \"ignored\"\n";
    both(
        "server-profile",
        right,
        &|text| reads("servers", text),
        &[
            ("summary =", "sumary =", false),
            ("summary = \"s\"\n", "", false),
            ("heartbeat_s = 0", "heartbeat_s = -1", false),
            ("heartbeat_s = 0", "heart_beat_s = 0", false),
            ("heartbeat_s = 0", "heartbeat_s = \"30\"", false),
            ("[idle]", "[bus]\nfan_out = \"gathr\"\n[idle]", false),
            ("[idle]", "[bus]\nfan_out = \"sequential\"\n[idle]", true),
            ("[idle]", "[bsu]\nfan_out = \"sequential\"\n[idle]", false),
            ("[idle]", "[delta]\nclass = \"evnt\"\n[idle]", false),
            ("release = \"1.44.2\"", "release = \"1.44\"", false),
            ("release = \"1.44.2\"\n", "", false),
        ],
    );
    let right = "name = \"mine\"\nextends = \"browser-1.20.0\"\nsummary = \"s\"\n[store]\nbatch_ms = 8\n";
    both(
        "client-profile",
        right,
        &|text| reads("clients", text),
        &[
            ("batch_ms = 8", "batch_ms = -8", false),
            ("batch_ms = 8", "merge = \"adjacent\"", true),
            ("batch_ms = 8", "merge = \"ajacent\"", false),
            ("[store]", "[connect]\nmin_server = \"1.28\"\n[store]", false),
            ("[store]", "[connect]\nmin_server = \"1.28.0\"\n[store]", true),
            ("[store]", "[failure]\ndecode = { signal = \"lod\" }\n[store]", false),
            ("[store]", "[failure]\nclosed = [{ codes = [1008], signal = \"log\" }]\n[store]", true),
            ("[store]", "[failure]\nclosed = [{ codes = [1008] }]\n[store]", false),
            ("[store]", "[store]\nbatchms = 3\n", false),
        ],
    );
}

#[test]
fn results() {
    for (name, changes) in [
        (
            "run",
            &[
                ("/surprise", json!(1)),
                ("/seed", json!("1")),
                ("/schema", json!("skewlab.run/2")),
                ("/cells/0/verdict", json!("devlivered")),
                ("/cells/0/surprise", json!(1)),
                ("/cells/0/hops/0/in/chars", json!(-1)),
                ("/cells/0/classes/text", json!(3)),
                ("/cells/0/classes/txt", json!([])),
                ("/cells/0/signal", json!(null)),
            ][..],
        ),
        ("bench", &[("/models/0/b_ci", json!([1.0])), ("/points/0/subscribers", json!(1.5))]),
        ("idle", &[("/servers/0/writes/process", json!("many"))]),
        ("certificate", &[("/asked/corpus", json!("all"))]),
        ("attach", &[("/seen/clients/0/wire", json!({}))]),
        ("feed-bench", &[("/points/0/per_chunk/bytes", json!(null))]),
        ("live-bench", &[("/not_compared/0/differ/0", json!(["fastapi", "1"]))]),
        ("live-idle", &[("/servers/0/polls", json!(-1))]),
        ("bench-client", &[("/reading", json!("half")), ("/counts/deltas", json!(-1))]),
        ("interleaved", &[("/points/0/claim", json!("slower")), ("/points/0/first/ci", json!([1.0]))]),
        ("comparison", &[("/changes/0/change", json!("wrose")), ("/exit", json!("12"))]),
        ("contract", &[("/findings/0/severity", json!("bad")), ("/subject/schemas", json!(-1))]),
    ] {
        let schema = validator(name);
        let right = fixtures::json(&format!("results/{name}_v1.json"));
        let reads = |value: &Value| Document::parse(Path::new("x.json"), &value.to_string()).is_ok();
        assert!(reads(&right) && schema.is_valid(&right), "{name}");
        for (place, wrong) in changes {
            let mut value = right.clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            match value.pointer_mut(parent).unwrap() {
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = wrong.clone(),
                table => table[key] = wrong.clone(),
            }
            assert!(!reads(&value), "the reader of {name}: {place}");
            assert!(!schema.is_valid(&value), "the schema of {name}: {place}");
        }
    }
}

#[test]
fn patterns_of_forms_say_what_the_readers_say() {
    let held = |name: &str, key: &str, right: &str, word: &str| {
        let mut value = of_toml(right);
        value[key] = json!([word]);
        validator(name).is_valid(&value)
    };
    for word in [
        "none",
        " none ",
        "-source",
        "+item_id=x",
        "source=",
        "kind=StreamingDelta",
        "content=null -id",
        "content->text",
        "!not json{",
        "!",
        "-a->b",
        "+a=[1,2]",
        "content=[\"a\"]",
        "",
        " ",
        "source",
        "-",
        "+x",
        "=1",
        "-source nonsense",
        "-a=b",
        "->",
        "a->",
        "+=1",
        "a !b",
    ] {
        assert_eq!(held("scenario", "mutations", AGENT, word), word.parse::<Mutation>().is_ok(), "{word:?}");
    }
    let numbered = Fault::FORMS.map(|form| form.replace('K', "3").replace('N', "64"));
    for word in numbered
        .iter()
        .map(String::as_str)
        .chain(["", "kill", "kill@", "kill@0", "kill@03", "none@3", "Kill@3", "kill@3 "])
    {
        assert_eq!(held("feed-scenario", "faults", FEED, word), word.parse::<Fault>().is_ok(), "{word:?}");
    }
    for word in FlushPolicy::names().into_iter().chain([
        "",
        "window",
        "window-0ms",
        "window-5ms",
        "window-+5ms",
        "turn-end ",
    ]) {
        assert_eq!(
            held("feed-scenario", "policies", FEED, word),
            word.parse::<FlushPolicy>().is_ok(),
            "{word:?}"
        );
    }
}
