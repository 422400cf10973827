//! What a person is told about a faulty file of the session feed: each kind of mistake, with its place.

use crate::scenario::diagnostic::ScenarioError;
use crate::scenario::feed::FeedScenario;
use crate::scenario::loaded::Loaded;
use crate::scenario::names::double::Double;
use crate::session_feed::Variants;

/// A file that is right, in lines that a test replaces one of.
const LINES: [&str; 9] = [
    "question = \"q?\"",
    "subject = \"session-feed\"",
    "variants = [\"mirrored\", \"embedded\"]",
    "consumers = [\"renderer\", \"acp*\"]",
    "workloads = [\"w\"]",
    "faults = [\"none\", \"kill@3\"]",
    "policies = [\"turn-end\"]",
    "[workload.w]",
    "reply = \"hey\"",
];

fn read(text: &str) -> Result<FeedScenario, ScenarioError> {
    match Loaded::parse("dir/s.toml", text, &Double::new(), &Variants::embedded().unwrap())? {
        Loaded::SessionFeed(scenario) => Ok(scenario),
        Loaded::AgentServer(_) => panic!("another subject"),
    }
}

fn with(line: usize, text: &str) -> String {
    let mut lines = LINES;
    lines[line - 1] = text;
    lines.join("\n")
}

fn and(text: &str) -> String {
    format!("{}\n{text}", LINES.join("\n"))
}

/// The one complaint about `text`, which has to name `place` and hold each of `parts`.
fn complains(text: &str, place: &str, parts: &[&str]) {
    let error = read(text).expect_err(text);
    let shown = error.to_string();
    for part in parts.iter().chain([&place]) {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    assert_eq!(error.faults().len(), 1, "{shown}");
}

#[test]
fn nothing_is_said_about_a_file_that_is_right_and_every_key_is_read() {
    let text = with(
        7,
        "policies = [\"turn-end\", \"window-50ms\"]\npacked = true\nlisteners = { log = 2, live = 3 }",
    ) + "\nuser = \"go\"\nrate = 10\nturns = 2\nsteps = 3\nreasoning = \"so\"\n[traits.bus]\ncontained = true\n\
           [[expect]]\nvariant = \"mirrored\"\nconsumer = \"renderer\"\nworkload = \"w\"\nfault = \"kill@*\"\n\
           policy = \"window-50ms\"\nverdict = \"loud_loss\"\nlost_at = \"durable\"\nfigures = { events = [\">= k\", \"N\"] }\n\
           because = \"b\"\n[[known]]\nconsumer = \"acp\"\nverdict = \"divergent\"\nreason = \"r\"\nlink = \"l\"\n\
           expires = 2027-03-01\n[[exclude]]\nconsumer = \"acp-per-delta\"\n";
    let scenario = read(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((scenario.log_listeners, scenario.live_listeners, scenario.packed), (2, 3, true));
    assert_eq!((scenario.faults.len(), scenario.policies.len(), scenario.exclude.len()), (2, 2, 1));
    let load = &scenario.workloads[0];
    // Two turns of three steps: two of them call a tool, and its arguments are a block of their own.
    assert_eq!((load.script.turns.len(), load.steps(), load.text_chars()), (2, 6, 18));
    assert_eq!(load.chunks(), 2 * (2 * (4 + 5 + 3 + 2) + 4 + 5 + 2));
    assert!((load.script.rate - 10.0).abs() < 1e-9 && load.script.turns[1].user == "go");
}

#[test]
fn a_subject_that_there_is_not_is_named_and_each_reader_keeps_to_its_own() {
    complains(
        &with(2, "subject = \"session-fed\""),
        "s.toml:2:11",
        &["`session-fed` is no subject", "did you mean `session-feed`"],
    );
    complains(&with(2, "subject = 3"), "s.toml:2:11", &["`subject` takes a string, not an integer"]);
    let other = crate::scenario::Scenario::parse("s.toml", &LINES.join("\n"), &Double::new()).unwrap_err();
    let shown = other.to_string();
    assert!(shown.contains("s.toml:2:11") && shown.contains("which this command does not run"), "{shown}");
    assert_eq!(other.faults().len(), 1, "{shown}");
    complains(&with(1, "question = \" \""), "s.toml:1:12", &["`question` is empty"]);
    let shown = read("subject = \"session-feed\"").unwrap_err().to_string();
    for lacks in ["asks no question", "lacks `variants`", "lacks `consumers`", "lacks `workloads`"] {
        assert!(shown.contains(lacks), "{shown}");
    }
}

#[test]
fn a_party_a_fault_and_a_policy_get_the_nearest() {
    complains(
        &with(3, "variants = [\"mirored\"]"),
        "s.toml:3:13",
        &["no variant", "did you mean `mirrored`"],
    );
    complains(&with(3, "variants = [\"x*\"]"), "s.toml:3:13", &["no variant matches `x*`"]);
    complains(&with(4, "consumers = [\"rendrer\"]"), "s.toml:4:14", &["no consumer", "`renderer`"]);
    complains(&with(6, "faults = [\"kil@3\"]"), "s.toml:6:11", &["`kil@3` is no fault", "did you mean"]);
    complains(&with(6, "faults = [\"kill@0\"]"), "s.toml:6:11", &["`kill@0` is no fault", "write `kill@K`"]);
    complains(&with(6, "faults = [\"none\", \"none\"]"), "s.toml:6:19", &["stands here twice"]);
    complains(
        &with(7, "policies = [\"turn-ends\"]"),
        "s.toml:7:13",
        &["`turn-ends` is no flush policy", "`turn-end`"],
    );
    complains(&with(7, "packed = 1"), "s.toml:7:10", &["`packed` takes true or false, not an integer"]);
    complains(&with(7, "listeners = { lg = 1 }"), "s.toml:7:15", &["no key `lg`", "there are live, log"]);
    complains(&with(7, "servers = [\"*\"]"), "s.toml:7:1", &["no key `servers`"]);
}

#[test]
fn a_fault_at_a_chunk_that_nobody_streams_is_refused() {
    read(&with(6, "faults = [\"kill@7\"]")).unwrap();
    for word in ["kill@8", "log-listener-throws@8", "retry@8", "dispose@99"] {
        let said = [format!("`{word}` can never come"), "`w` is the longest and streams 7 chunks".to_owned()];
        let said = said.each_ref().map(String::as_str);
        complains(&with(6, &format!("faults = [\"none\", \"{word}\"]")), "s.toml:6:19", &said);
    }
    // One workload that comes so far is enough; the cells of the others say so when they run.
    let long = with(5, "workloads = [\"w\", \"v\"]").replace("kill@3", "kill@8")
        + "\n[workload.v]\nreply = \"hello\"";
    read(&long).unwrap();
}

#[test]
fn a_session_is_bounded_as_a_whole_before_it_is_built() {
    let load = |lines: &str| with(9, lines);
    let all = "steps = 1000\nturns = 1000\nsessions = 1000";
    complains(&load(&format!("reply = \"a\"\n{all}")), "s.toml:9:9", &["at most 3000000 deltas and steps"]);
    complains(&load(&format!("tokens = [{{ text = \"a\" }}]\n{all}")), "s.toml:9:11", &["`tokens` takes"]);
    let steps: Vec<_> = (0..4).map(|_| "{ text = \"a\", repeat = 900000, tool = \"t\" }").collect();
    complains(&load(&format!("tokens = [{}]", steps.join(", "))), "s.toml:9:", &["`tokens` takes at most"]);
    let shape = "shape = { events = 1000000, chunks = 900000, steps = 1 }\nsessions = 9";
    complains(&load(shape), "s.toml:9:9", &["`sessions` multiplied"]);
    read(&load("reply = \"a\"\nsteps = 10\nturns = 10\nsessions = 10")).unwrap();
}

#[test]
fn a_pattern_that_names_nothing_is_a_typing_error() {
    let expect = |line: &str| and(&format!("[[expect]]\n{line}\nverdict = \"delivered\""));
    complains(&expect("variant = \"mirror\""), "s.toml:11:11", &["no variant", "mirrored"]);
    complains(&expect("fault = \"kill@4\""), "s.toml:11:9", &["no fault of this scenario", "`kill@3`"]);
    complains(&expect("policy = \"every-event\""), "s.toml:11:10", &["no flush policy of this scenario"]);
    complains(&expect("server = \"mirrored\""), "s.toml:11:1", &["[[expect]] has no key `server`"]);
    complains(&expect("lost_at = \"delivered\""), "s.toml:11:11", &["no hop of a session feed", "handled"]);
    complains(&expect("over = [\"log_lines\"]"), "s.toml:11:1", &["no key `over`"]);
}

#[test]
fn a_figure_that_cannot_be_worked_out_points_into_its_expression() {
    let figures = |what: &str| {
        and(&format!("[[expect]]\nfault = \"kill@3\"\nverdict = \"delivered\"\nfigures = {{ {what} }}"))
    };
    read(&figures("dispatches = \"N+C\", durable_chunks = \"<= k\", handled_chunks = 0")).unwrap();
    complains(&figures("dispatchs = 1"), "s.toml:13:13", &["no key `dispatchs`", "`dispatches`"]);
    complains(
        &figures("events = \"N+Q\""),
        "s.toml:13:25",
        &["`Q` is no variable of a figure", "C is chunks"],
    );
    complains(&figures("events = \"<= (C\""), "s.toml:13:28", &["expected `)`", "\"<= k\""]);
    complains(&figures("events = \"C-9\""), "s.toml:13:23", &["0 or more", "C = 7", "(workload `w`)"]);
    complains(&figures("events = true"), "s.toml:13:22", &["an expression over C, T, A, S, k, N, L and M"]);
    let any = and("[[expect]]\nverdict = \"delivered\"\nfigures = { events = \"k\" }");
    complains(&any, "s.toml:12:23", &["`k` is the fault's chunk, and `none` has none"]);
}

#[test]
fn a_session_says_once_and_possibly_what_it_streams() {
    let load = |lines: &str| with(9, lines);
    complains(&load("user = \"x\""), "s.toml:8:", &["needs one of `reply`, `tokens` and `shape`"]);
    complains(&load("reply = \"a\"\ntokens = [{ text = \"b\" }]"), "s.toml:8:", &["needs one of"]);
    complains(&load("reply = \"\""), "s.toml:9:9", &["`reply` is empty"]);
    complains(&load("tokens = [{ repeat = 2 }]"), "s.toml:9:11", &["neither `text` nor `reasoning`"]);
    let tools = "steps = 2\ntokens = [{ text = \"a\", tool = \"t\" }, { text = \"b\" }]";
    complains(&load(tools), "s.toml:8:", &["its tools say already where its steps end"]);
    complains(&load("tokens = [{ tool = \"t\", arguments = \"[]\" }]"), "s.toml:9:37", &["JSON object"]);
    complains(&load("tokens = [{ text = \"t\", arguments = \"{}\" }]"), "s.toml:9:37", &["without a `tool`"]);
    complains(&load("shape = { events = 9, chunks = 5, steps = 1 }"), "s.toml:9:9", &["at least 11 events"]);
    complains(&load("shape = { events = 9, chunks = 5 }"), "s.toml:9:9", &["`shape` lacks `steps`"]);
    let twice = "steps = 2\nshape = { events = 13, chunks = 7, steps = 1 }";
    complains(&load(twice), "s.toml:9:9", &["`steps` says what `shape` says already"]);
    complains(&load("reply = \"a\"\nrate = 0"), "s.toml:10:8", &["above 0"]);
    let own =
        read(&load("tokens = [{ text = \"a\", tool = \"t\" }, { reasoning = \"b\", repeat = 2 }]")).unwrap();
    assert_eq!(
        (own.workloads[0].steps(), own.workloads[0].script.turns[0].steps[0].tool.is_some()),
        (2, true)
    );
}

#[test]
fn traits_are_tried_on_every_variant() {
    read(&and("[traits.cancel]\ncommits_prefix = false")).unwrap();
    complains(
        &and("[traits.bus]\ncontain = true"),
        "s.toml:11:1",
        &["unknown field `contain`", "did you mean `contained`"],
    );
    complains(&and("[traits.bus]\ncontained = 3"), "s.toml:11:13", &["invalid type"]);
}

#[test]
fn patterns_and_tables_that_count_for_nothing_are_reported() {
    let expect = |patterns: &str| format!("[[expect]]\n{patterns}\nverdict = \"delivered\"\n");
    complains(
        &and(&expect("fault = \"kil@*\"")),
        "s.toml:11:9",
        &["no fault of this scenario matches `kil@*`", "did you mean `kill@3`"],
    );
    complains(
        &and(&expect("policy = \"window*\"")),
        "s.toml:11:10",
        &["no flush policy of this scenario matches `window*`", "there is only `turn-end`"],
    );
    complains(&and(&expect("variant = \"miror*\"")), "s.toml:11:11", &["no variant matches `miror*`"]);
    let left_out = "[[exclude]]\nfault = \"kill@3\"\n".to_owned() + &expect("fault = \"kill@*\"");
    complains(&and(&left_out), "s.toml:12:1", &["no cell of this scenario matches this [[expect]]"]);
    let behind = expect("consumer = \"acp*\"") + &expect("consumer = \"acp\"");
    complains(&and(&behind), "s.toml:13:1", &["this [[expect]] never counts"]);
    complains(&and("[workload.spare]\nreply = \"a\""), "s.toml:10:11", &["workload `spare` is in no cell"]);
    // Who is asked for on the command line only is asked for.
    let selected = expect("variant = \"transient-only\"\nconsumer = \"late-joiner\"");
    read(&and(&selected)).unwrap_or_else(|e| panic!("{e}"));
}
