//! What a person is told about a faulty file: one test a kind of mistake, each with its place.

use super::names::double::Double;
use super::*;

/// A file that is right, in lines that a test replaces one of.
const LINES: [&str; 8] = [
    "question = \"q?\"",
    "servers = [\"1.58.2\"]",
    "clients = [\"python@same\"]",
    "workloads = [\"chat\"]",
    "mutations = [\"none\", \"-source\"]",
    "[workload.chat]",
    "rate = 50",
    "tokens = [{ text = \"a\" }, { reasoning = \"b\", repeat = 2 }]",
];

fn read(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse("dir/s.toml", text, &Double::new())
}

fn with(line: usize, text: &str) -> String {
    let mut lines = LINES;
    lines[line - 1] = text;
    lines.join("\n")
}

fn and(text: &str) -> String {
    format!("{}\n{text}", LINES.join("\n"))
}

/// The complaint about `text`, which has to name `place` and hold each of `parts`.
fn complains(text: &str, place: &str, parts: &[&str]) {
    let error = read(text).expect_err(text);
    let shown = error.to_string();
    for part in parts.iter().chain([&place]) {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    assert_eq!(error.faults().len(), 1, "{shown}");
}

#[test]
fn nothing_is_said_about_a_file_that_is_right() {
    let scenario = read(&LINES.join("\n")).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.question.as_str()), ("s", "q?"));
    assert_eq!(scenario.workloads[0].tokens.len(), 3);
}

#[test]
fn every_key_is_read() {
    let text = with(5, "must_not_receive = [\"webhook\", \"event_store\"]")
        .replace("tokens = [", "user = \"go\"\nfinish = \"finish-tool\"\n# tokens = [")
        .replace(
            "[workload.chat]",
            "[workload.chat]\ngenerate = { count = 4, classes = [\"text\", \"empty\"], seed = 7 }",
        )
        + "\n[[expect]]\nserver = [\"1.*\"]\nverdict = \"loud_loss\"\nscope = \"gap\"\nlost_at = \"sent\"\n\
           signal = \"surfaced\"\nreason = \"slow_consumer\"\nover = [\"idle_writes\"]\nbecause = \"b\"\n\
           [budget]\nworkload = \"chat\"\nidle_writes = \"< N/S\"\n[webhook]\nlatency_s = 0.5\nrefuse_first = 2\n\
           [traits.bus]\nmax_subscribers = 0\n";
    let scenario = read(&text).unwrap_or_else(|e| panic!("{e}"));
    let load = &scenario.workloads[0];
    assert_eq!(
        (load.user.as_str(), load.finish, load.tokens.len()),
        ("go", crate::agent_server::server::Finish::FinishTool, 4)
    );
    assert!(scenario.must_not_receive.contains(&crate::record::Consumer::Store));
    assert_eq!(scenario.mutations.len(), 1, "`none` is the default");
    let (axes, expected) = &scenario.expect[0];
    assert_eq!((axes.server[0].as_str(), axes.client.len()), ("1.*", 0));
    let words = serde_json::to_string(expected).unwrap();
    let all = r#"{"verdict":"loud_loss","scope":"gap","lost_at":"sent","signal":"surfaced","reason":"slow_consumer","over":["idle_writes"],"because":"b"}"#;
    assert_eq!(words, all);
    let cell = &expand(&scenario, &Double::new(), &Selection::default()).unwrap()[0];
    let limit = &cell.budget.limits[0];
    assert_eq!((limit.is.as_str(), limit.value, limit.from.as_deref()), ("<", 4.0, Some("N/S")));
    assert_eq!((cell.budget.tokens, cell.budget.subscribers, cell.subscribers), (4, 1, 1));
    assert_eq!((cell.sink.latency.as_millis(), cell.sink.refuse_first), (500, 2));
    assert_eq!(cell.traits["bus"]["max_subscribers"].as_integer(), Some(0));
}

#[test]
fn a_diagnostic_looks_like_this() {
    let shown = read(&and("[[expect]]\nverdict = \"silent_los\"\n")).unwrap_err().to_string();
    let expected = "\
error: `silent_los` is no verdict
  --> dir/s.toml:10:11
   |
10 | verdict = \"silent_los\"
   |           ^^^^^^^^^^^^
   |
   = help: did you mean `silent_loss`?";
    assert_eq!(shown, expected, "\n{shown}");
}

#[test]
fn the_question_comes_first() {
    let absent = LINES[1..].join("\n");
    complains(&absent, "s.toml:1:1", &["asks no question", "question = \"...\""]);
    complains(&with(1, "question = \" \""), "s.toml:1:12", &["`question` is empty"]);
    let second = format!("servers = [\"*\"]\nquestion = \"q?\"\n{}", LINES[2..].join("\n"));
    complains(&second, "s.toml:1:1", &["`servers` stands before `question`"]);
    complains(&with(1, "question = 7"), "s.toml:1:12", &["`question` takes a string, not an integer"]);
}

#[test]
fn an_empty_file_gets_all_it_lacks() {
    let shown = read("").unwrap_err().to_string();
    for part in ["asks no question", "a scenario lacks `servers`", "a scenario lacks `workload`"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn broken_toml_points_at_line_and_column() {
    complains(&with(3, "clients = [\"python@same\""), "s.toml:4:", &["this is no TOML"]);
    complains(&with(7, "rate = = 5"), "s.toml:7:8", &["this is no TOML"]);
    complains(&with(7, "rate = 5\nrate = 6"), "s.toml:8:1", &["this is no TOML", "duplicate key"]);
}

#[test]
fn an_unknown_key_is_named_with_the_nearest() {
    complains(
        &with(2, "servers = [\"*\"]\nserver = 1"),
        "s.toml:3:1",
        &["no key `server`", "did you mean `servers`"],
    );
    complains(&with(7, "rat = 50"), "s.toml:7:1", &["[workload.chat] has no key `rat`", "`rate`"]);
    let token = "tokens = [{ txt = \"a\", text = \"b\" }]";
    complains(&with(8, token), "s.toml:8:13", &["a token has no key `txt`", "did you mean `text`"]);
    let expect = "[[expect]]\nverdict = \"delivered\"\nlostat = \"sent\"";
    complains(&and(expect), "s.toml:11:1", &["[[expect]] has no key `lostat`", "`lost_at`"]);
}

#[test]
fn a_wrong_type_says_what_it_should_be() {
    complains(
        &with(2, "servers = \"*\""),
        "s.toml:2:11",
        &["`servers` takes a list of strings, not a string"],
    );
    complains(&with(5, "mutations = [\"none\", 3]"), "s.toml:5:22", &["not an integer"]);
    complains(&with(7, "rate = \"fast\""), "s.toml:7:8", &["`rate` takes a number, not a string"]);
    complains(
        &with(8, "tokens = [\"a\"]"),
        "s.toml:8:11",
        &["`tokens` takes a list of tables, not a string"],
    );
    complains(&and("[expect]\nverdict = \"delivered\""), "s.toml:9", &["`expect` takes a list of tables"]);
}

#[test]
fn a_party_that_does_not_exist_gets_the_nearest() {
    complains(
        &with(2, "servers = [\"1.58.3\"]"),
        "s.toml:2:12",
        &["no server profile", "did you mean `1.58.2`"],
    );
    let client = "clients = [\"*\", \"pyton@same\"]";
    complains(
        &with(3, client),
        "s.toml:3:17",
        &["no client profile is called `pyton@same`", "`python@same`"],
    );
    let list = "clients = [\"browser-session/callbacks\"]";
    complains(&with(3, list), "s.toml:3:12", &["no callback list called `callbacks`"]);
    complains(&with(2, "servers = [\"2.*\"]"), "s.toml:2:12", &["no server matches `2.*`"]);
    complains(&with(2, "servers = [\"1**\"]"), "s.toml:2:12", &["`1**` is no pattern"]);
}

#[test]
fn a_pattern_that_names_nothing_is_a_typing_error() {
    let expect = |axis: &str| and(&format!("[[expect]]\n{axis}\nverdict = \"delivered\""));
    let client = expect("client = [\"python-*\", \"browser-1.20\"]");
    complains(&client, "s.toml:10:23", &["no client profile is called `browser-1.20`", "`browser-1.20.0`"]);
    complains(&expect("server = \"1.59.0\""), "s.toml:10:10", &["no server profile"]);
    complains(
        &expect("workload = \"cat\""),
        "s.toml:10:12",
        &["`cat` is no workload of this file", "did you mean `chat`"],
    );
    complains(
        &expect("mutation = \"-sorce\""),
        "s.toml:10:12",
        &["is no mutation of this scenario", "`-source`"],
    );
    complains(&expect("client = \"[a\""), "s.toml:10:10", &["`[a` is no pattern"]);
    // Names that exist and globs may be of no use under a selection; that is no fault.
    read(&expect("client = [\"typescript-1.39.0\", \"brow*\", \"python@same\"]\nserver = \"1.50.3\""))
        .unwrap();
}

#[test]
fn a_pattern_that_matches_nothing_is_a_typing_error() {
    let expect = |axis: &str| and(&format!("[[expect]]\n{axis}\nverdict = \"delivered\""));
    complains(
        &expect("workload = [\"c*\", \"cat*\"]"),
        "s.toml:10:19",
        &["no workload of this file matches `cat*`", "did you mean `chat`"],
    );
    complains(
        &expect("mutation = \"-sorc?\""),
        "s.toml:10:12",
        &["no mutation of this scenario matches `-sorc?`", "`-source`"],
    );
    complains(
        &expect("fault = \"ab*\""),
        "s.toml:10:9",
        &["no fault of this scenario matches `ab*`", "`none`"],
    );
    complains(&expect("server = \"2.*\""), "s.toml:10:10", &["no server matches `2.*`"]);
    complains(
        &expect("client = \"browsr-*\""),
        "s.toml:10:10",
        &["no client matches `browsr-*`", "did you mean `browser-"],
    );
    let budget = and("[[budget]]\nserver = \"1.58,*\"\nlog_lines = 1");
    complains(&budget, "s.toml:10:10", &["no server matches `1.58,*`"]);
    let known = "[[known]]\nclient = \"pyton-*\"\nverdict = \"silent_loss\"\nreason = \"r\"\nlink = \"l\"\n\
                 expires = 2027-03-01";
    complains(&and(known), "s.toml:10:10", &["no client matches `pyton-*`", "did you mean `python-"]);
    // Releases that a profile covers go by no profile's name.
    for axis in ["server = \"1.50.*\"", "server = \"1.1[0-9].*\"", "client = \"python-1.47.*\""] {
        read(&expect(axis)).unwrap_or_else(|e| panic!("{axis}: {e}"));
    }
}

#[test]
fn a_table_that_counts_for_no_cell_is_reported_whatever_is_asked_for() {
    let expect = |axis: &str| format!("[[expect]]\n{axis}\nverdict = \"delivered\"\n");
    let nothing =
        "no cell of this scenario matches this [[expect]], whatever servers and clients are asked for";
    let left_out = "[[exclude]]\nmutation = \"-source\"\n".to_owned() + &expect("mutation = \"-source\"");
    complains(&and(&left_out), "s.toml:11:1", &[nothing, "correct them, or delete the table"]);
    let budget = "[[exclude]]\nmutation = \"-source\"\n[[budget]]\nmutation = \"-*\"\nlog_lines = 1";
    complains(&and(budget), "s.toml:11:1", &["matches this [[budget]]"]);
    let behind = expect("client = \"python-*\"") + &expect("client = \"python-1.58.2\"");
    complains(&and(&behind), "s.toml:12:1", &["this [[expect]] never counts", "the special ones come first"]);
    // The other way about both count. Servers and clients that only a selection asks for count, and budgets count side by side.
    let budgets =
        "[[budget]]\nlog_lines = 1\n[[budget]]\nserver = \"1.58.2\"\nserialisations_per_token = 1\n";
    for right in [
        expect("client = \"python-1.58.2\"") + &expect("client = \"python-*\""),
        expect("server = \"1.43.1\"\nclient = \"browser-1.20.0\""),
        expect("client = \"python-1.55.1/token_callbacks\"") + &expect("client = \"python-1.55.1\""),
        expect("client = \"python-*/*\""),
        budgets.to_owned(),
    ] {
        read(&and(&right)).unwrap_or_else(|e| panic!("{right}\n{e}"));
    }
}

#[test]
fn what_no_cell_has_is_reported() {
    let spare = "[workload.spare]\ntokens = [{ text = \"a\" }]";
    complains(
        &and(spare),
        "s.toml:9:11",
        &["workload `spare` is in no cell", "list it in `workloads`, or delete it"],
    );
    read(&and(spare).replace("[\"chat\"]", "[\"chat\", \"spare\"]")).unwrap();
    let fault = and("[[fault.cut]]\nkind = \"abort\"\nat = \"token 2\"");
    complains(&fault, "s.toml:9:9", &["fault `cut` is in no cell", "list it in `faults`"]);
    let listed = fault.replace("workloads =", "faults = [\"none\", \"cut\"]\nworkloads =");
    read(&listed).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn words_from_closed_lists_get_the_nearest() {
    let expect = |line: &str| and(&format!("[[expect]]\nverdict = \"silent_loss\"\n{line}"));
    complains(
        &expect("lost_at = \"decode\""),
        "s.toml:11:11",
        &["`decode` is no hop", "did you mean `decoded`"],
    );
    complains(&expect("scope = \"totl\""), "s.toml:11:9", &["`totl` is no scope", "`total`"]);
    complains(
        &expect("signal = \"quiet\""),
        "s.toml:11:10",
        &["`quiet` is no signal", "there are none, log, surfaced"],
    );
    let consumer = "mutations = [\"none\"]\nmust_not_receive = [\"webhok\"]";
    complains(&with(5, consumer), "s.toml:6:21", &["`webhok` is no consumer", "`webhook`"]);
    complains(&with(7, "finish = \"tool\""), "s.toml:7:10", &["`tool` is no way to finish", "finish-tool"]);
    complains(&and("[[expect]]\nclient = \"*\""), "s.toml:9:1", &["[[expect]] lacks `verdict`"]);
}

#[test]
fn mutations_have_to_read_and_to_differ() {
    let bad = "mutations = [\"-id what\"]";
    complains(&with(5, bad), "s.toml:5:14", &["`what` is no frame mutation", "+field=value"]);
    let twice = "mutations = [\"-id -source\", \"-id  -source\"]";
    complains(&with(5, twice), "s.toml:5:29", &["mutation `-id -source` stands here twice"]);
}

#[test]
fn workloads_exist_and_stream_something() {
    complains(&with(4, "workloads = [\"chad\"]"), "s.toml:4:14", &["no workload of this file", "`chat`"]);
    complains(&with(4, "workloads = [\"chat\", \"chat\"]"), "s.toml:4:22", &["`chat` stands here twice"]);
    complains(&with(4, "workloads = []"), "s.toml:4:13", &["`workloads` is empty"]);
    complains(&with(8, "tokens = []"), "s.toml:8:10", &["`tokens` is empty"]);
    complains(&with(8, "tokens = [{ repeat = 2 }]"), "s.toml:8:11", &["neither `text` nor `reasoning`"]);
    complains(&with(8, "tokens = [{ text = \"a\", repeat = 0 }]"), "s.toml:8:34", &["from 1 to 100000"]);
    complains(&with(8, "user = \"hi\""), "s.toml:6:", &["needs either `tokens` or `generate`"]);
    let both = "tokens = [{ text = \"a\" }]\ngenerate = { count = 1 }";
    complains(&with(8, both), "s.toml:6:", &["needs either `tokens` or `generate`"]);
    let class = "generate = { count = 3, classes = [\"txt\"] }";
    complains(&with(8, class), "s.toml:8:36", &["`txt` is no class", "`text`"]);
    complains(&with(8, "generate = { seed = 3 }"), "s.toml:8:12", &["`generate` lacks `count`"]);
}

#[test]
fn rates_are_positive() {
    for rate in ["-1", "0", "0.0", "-0.5", "nan", "inf", "1e9"] {
        complains(&with(7, &format!("rate = {rate}")), "s.toml:7:8", &["`rate` takes a number above 0"]);
    }
    for rate in ["0.5", "1_000", "50"] {
        read(&with(7, &format!("rate = {rate}"))).unwrap();
    }
}

#[test]
fn a_known_failure_has_a_reason_a_link_and_an_end() {
    let lines = ["verdict = \"silent_loss\"", "reason = \"r\"", "link = \"l\"", "expires = 2027-03-01"];
    let known = |lines: &[&str]| and(&format!("[[known]]\n{}", lines.join("\n")));
    read(&known(&lines)).unwrap();
    for (n, key) in ["verdict", "reason", "link", "expires"].into_iter().enumerate() {
        let mut rest = lines.to_vec();
        rest.remove(n);
        complains(&known(&rest), "s.toml:9:1", &[&format!("[[known]] lacks `{key}`")]);
    }
    let with_end = |end: &str| known(&[lines[0], lines[1], lines[2], end]);
    for end in ["expires = \"2027-03-01\"", "expires = 2027-03-01T00:00:00"] {
        complains(&with_end(end), "s.toml:13:11", &["`expires` takes a date without quotes"]);
    }
    complains(
        &known(&[lines[0], "reason = \"\"", lines[2], lines[3]]),
        "s.toml:11:10",
        &["`reason` is empty"],
    );
}

#[test]
fn all_mistakes_are_reported_at_once_and_in_order() {
    let text = with(2, "servers = [\"1.58.3\"]").replace("rate = 50", "rate = -1")
        + "\n[[expect]]\nverdict = \"fine\"\n[[known]]\nverdict = \"silent_loss\"\n";
    let error = read(&text).unwrap_err();
    let shown = error.to_string();
    assert_eq!(error.faults().len(), 6, "{shown}");
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("no {part:?} in\n{shown}"));
    let order = ["`1.58.3`", "`rate`", "`fine`", "lacks `reason`"].map(at);
    assert!(order.is_sorted(), "{shown}");
}
