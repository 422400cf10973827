//! Budgets, laid traits, sinks and subscribers: from the file of a scenario to the exit code.

use std::sync::LazyLock;

use skewlab::judge::exit_code;
use skewlab::record::{Budgeted, CellResult, CpuRatio, Outcome, Run, Verdict};
use skewlab::run::{ClockKind, Options};
use skewlab::seed::Seed;
use skewlab::suite::by_bench;

use crate::runs::{Folder, at, ended, matrix, plan, run, skewlab};

static SPLIT: LazyLock<Run> = LazyLock::new(|| matrix(&["bus-split"], &[], &[]));

/// What the shipped scenario measured on a server with today's client.
fn split(server: &str) -> &'static CellResult {
    at(&SPLIT, &format!("bus-split/{server}/python-1.58.2/long/none"))
}

fn kept(cell: &CellResult, key: &str) -> (Option<f64>, Option<bool>) {
    let budgeted = cell.budgets.iter().find(|b| b.budget == key);
    let Budgeted { measured, kept, .. } = budgeted.unwrap_or_else(|| panic!("{}: no {key}", cell.id));
    (*measured, *kept)
}

/// One server and client, `text` before the workload of ten tokens at 50 a second; the cell and the exit code.
fn one(folder: &Folder, name: &str, server: &str, text: &str) -> (CellResult, u8) {
    let axes = format!("servers = [\"{server}\"]\nclients = [\"python-1.58.2\"]\n");
    let file = folder.scenario(name, &format!("{axes}{text}"));
    let run = run(&plan(&[&file], &[], &[], &folder.catalogue()), 1, 1);
    (run.cells[0].clone(), exit_code(&run).code())
}

#[test]
fn stage_b_buys_what_the_page_says() {
    assert_eq!((exit_code(&SPLIT).code(), SPLIT.cells.len()), (0, 17));
    for server in ["1.43.1", "1.43.1+A"] {
        let cell = split(server);
        assert_eq!((cell.verdict, cell.outcome), (Verdict::OverBudget, Outcome::Expected), "{server}");
        assert_eq!(cell.delivered, cell.produced, "{server}: it costs, and it arrives");
        assert_eq!(kept(cell, "serialisations_per_token"), (Some(2.0), Some(false)), "{server}");
        for key in ["webhook_delta_events", "telemetry_deltas", "idle_writes", "updated_at_writes"] {
            assert_eq!(kept(cell, key), (Some(500.0), Some(false)), "{server} {key}");
        }
        assert_eq!(kept(cell, "frames_per_token"), (Some(1.0), Some(true)), "{server}");
    }
    for server in ["1.43.1+AB", "1.43.1+ABC", "1.44.1", "1.45.0", "1.58.2", "1.58.2+AB", "1.58.2+ABC"] {
        let cell = split(server);
        assert_eq!((cell.verdict, cell.findings.len()), (Verdict::Delivered, 1), "{server}");
        assert!(cell.budgets.iter().all(|b| b.kept == Some(true)), "{server}: {:?}", cell.budgets);
        for key in ["serialisations_per_token", "frames_per_token"] {
            assert_eq!(kept(cell, key).0, Some(1.0), "{server} {key}");
        }
        for key in ["webhook_delta_events", "telemetry_deltas", "updated_at_writes"] {
            assert_eq!(kept(cell, key).0, Some(0.0), "{server} {key}");
        }
        // The heartbeat of 1.45.0 is due at the first delta, and five seconds hold no second one.
        let heartbeat = server.starts_with("1.45") || server.starts_with("1.58");
        assert_eq!(kept(cell, "idle_writes").0, Some(if heartbeat { 1.0 } else { 0.0 }), "{server}");
    }
}

#[test]
fn the_page_shows_per_server_what_a_token_costs() {
    let (code, stdout, _) = ended(&mut skewlab(&["matrix", "bus-split"]));
    assert_eq!(code, 0);
    let row = |server: &str| {
        let starts = |line: &&str| line.trim_start().starts_with(&format!("{server} "));
        let table = stdout.lines().skip_while(|line| !line.starts_with("what each server spends"));
        table.into_iter().find(starts).unwrap_or_else(|| panic!("no row {server} in\n{stdout}")).to_owned()
    };
    let figures =
        |server: &str| row(server).split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(figures("1.43.1"), ["2!", "1", "500!", "500!", "500!", "500!"]);
    assert_eq!(figures("1.43.1+AB"), ["1", "1", "0", "0", "0", "0"]);
    assert_eq!(figures("1.58.2"), ["1", "1", "0", "0", "1", "0"]);
    assert!(
        stdout.contains(
            "(serialisations_per_token): 2.00 serialisations a token, budget 1; on 1.43.1, 1.43.1+A"
        )
    );
}

#[test]
fn a_slow_sink_is_paid_for_by_those_who_get_deltas() {
    let run = matrix(&["side-effects"], &[], &[]);
    assert_eq!(exit_code(&run).code(), 0);
    let webhook = |server: &str| {
        let id = format!("side-effects/{server}/python-1.58.2/six_seconds/none");
        at(&run, &id).side_effects.webhook.clone()
    };
    // A bus that awaits its subscribers in turn lets a post hold up a socket, and later tokens overtake.
    let sequential = at(&run, "side-effects/1.22.0/python-1.58.2/six_seconds/none");
    assert_eq!((sequential.verdict, sequential.delivered), (Verdict::Reordered, sequential.produced));
    let busy = webhook("1.43.1");
    // A buffer is five; with one post in flight at a time each takes its second, a minute for 300 deltas.
    assert_eq!((busy.deltas, busy.dropped), (300, 0));
    assert!((60..=66).contains(&busy.posts), "{} posts; 65 were measured", busy.posts);
    for server in ["1.43.1+AB", "1.44.1", "1.58.2"] {
        assert_eq!(webhook(server).deltas, 0, "{server}");
        assert!(webhook(server).posts <= 5, "{server}");
    }
}

#[test]
fn a_sink_that_refuses_is_tried_again() {
    let folder = Folder::new();
    let (plain, _) = one(&folder, "plain", "1.43.1", "");
    let (refused, code) = one(&folder, "refused", "1.43.1", "[webhook]\nrefuse_first = 3\n");
    let (was, is) = (&plain.side_effects.webhook, &refused.side_effects.webhook);
    assert_eq!((code, is.failed_posts, is.events, is.dropped), (0, 3, was.events, 0));
    assert_ne!(plain.hash, refused.hash);
    // One that refuses for good is given up, and the cell comes to its end.
    for server in ["1.30.0", "1.43.1", "1.58.2"] {
        let (dead, code) = one(&folder, "dead", server, "[webhook]\nrefuse_first = 1_000_000\n");
        let webhook = &dead.side_effects.webhook;
        assert_eq!((webhook.posts, webhook.events, code), (0, 0, 0), "{server}");
        assert!(webhook.failed_posts > 0, "{server}");
    }
}

#[test]
fn an_over_budget_that_nobody_expects_is_exit_12() {
    let folder = Folder::new();
    let budget = "[budget]\nserialisations_per_token = 1\n";
    let expect = "[[expect]]\nverdict = \"over_budget\"\nover = \"serialisations_per_token\"\n";
    let (cell, code) = one(&folder, "unexpected", "1.43.1", budget);
    assert_eq!((cell.verdict, cell.outcome, code), (Verdict::OverBudget, Outcome::Unexpected, 12));
    assert_eq!(cell.outcome_note.as_deref(), Some("verdict is `over_budget`, expected `delivered`"));
    let (_, code) = one(&folder, "expected", "1.43.1", &format!("{budget}{expect}"));
    assert_eq!(code, 0);
    let (cell, code) = one(&folder, "passes", "1.44.1", &format!("{budget}{expect}"));
    assert_eq!((cell.verdict, code), (Verdict::Delivered, 10), "expected to be over and is not");
    // The healthy neighbour, at its limit.
    let (cell, code) = one(&folder, "within", "1.44.1", budget);
    assert_eq!(
        (cell.verdict, kept(&cell, "serialisations_per_token"), code),
        (Verdict::Delivered, (Some(1.0), Some(true)), 0)
    );
    // A loss that nobody expects is worse than what it costs.
    let lossy = format!("mutations = [\"kind=X\"]\n{budget}");
    let (cell, code) = one(&folder, "lossy", "1.43.1", &lossy);
    let found: Vec<Verdict> = cell.findings.iter().map(|f| f.verdict).collect();
    assert_eq!((found, code), (vec![Verdict::SilentLoss, Verdict::OverBudget], 10));
    let silent = "[[expect]]\nverdict = \"silent_loss\"\n";
    let (cell, code) = one(&folder, "under", "1.43.1", &format!("{lossy}{silent}"));
    assert_eq!((cell.outcome, code), (Outcome::Unexpected, 12), "the loss is expected, the cost is not");
    let over = "over = \"serialisations_per_token\"\n";
    let (_, code) = one(&folder, "both", "1.43.1", &format!("{lossy}{silent}{over}"));
    assert_eq!(code, 0);
    let known = "[[known]]\nverdict = \"over_budget\"\nreason = \"r\"\nlink = \"l\"\nexpires = 9999-12-31\n";
    let (cell, code) = one(&folder, "known", "1.43.1", &format!("{budget}{known}"));
    assert_eq!((cell.outcome, code), (Outcome::Known, 0));
}

#[test]
fn the_first_budget_that_matches_limits_a_metric() {
    let folder = Folder::new();
    let rules = "[[budget]]\nserver = \"1.43.*\"\nserialisations_per_token = \"S + 1\"\n\
                 [[budget]]\nserialisations_per_token = 1\ntelemetry_deltas = [\"> 0\", \"<= N\"]\n";
    let (cell, code) = one(&folder, "special", "1.43.1", rules);
    let keys: Vec<&str> = cell.budgets.iter().map(|b| b.budget.as_str()).collect();
    assert_eq!(keys, ["serialisations_per_token", "telemetry_deltas", "telemetry_deltas"]);
    assert_eq!((cell.budgets[0].limit, cell.budgets[2].limit, code), (2.0, 9.0, 0), "{:?}", cell.budgets);
    let (cell, code) = one(&folder, "general", "1.44.1", rules);
    assert_eq!((cell.budgets[0].limit, cell.budgets[0].kept), (1.0, Some(true)));
    assert_eq!((cell.budgets[1].kept, code), (Some(false), 12), "none is not more than none");
}

#[test]
fn a_budget_on_cpu_is_measured_or_says_that_it_was_not() {
    let folder = Folder::new();
    let text = "servers = [\"1.43.1\", \"1.44.1\"]\nclients = [\"python-1.58.2\", \"typescript-1.39.0\"]\n\
                [budget]\ncpu_ratio_vs = { server = \"1.43.1\", max = 1.0 }\n";
    let file = folder.scenario("cpu", text);
    let plan = plan(&[&file], &[], &[], &folder.catalogue());
    let unmeasured = run(&plan, 1, 1);
    assert_eq!(exit_code(&unmeasured).code(), 0);
    let cell = at(&unmeasured, "cpu/1.44.1/python-1.58.2/w/none");
    assert_eq!(kept(cell, "cpu_ratio_vs"), (None, None));
    assert_eq!(cell.verdict, Verdict::Delivered);
    // A server is not held against itself.
    assert!(at(&unmeasured, "cpu/1.43.1/python-1.58.2/w/none").budgets.is_empty());
    let options = Options { clock: ClockKind::Virtual, seed: Seed(1), jobs: 1 };
    let today = chrono::NaiveDate::from_ymd_opt(2026, 12, 1).unwrap();
    let go = std::sync::atomic::AtomicBool::new(false);
    for (low, verdict, code) in [(1.2, Verdict::OverBudget, 12), (0.9, Verdict::Delivered, 0)] {
        let mut asked = Vec::new();
        let run = plan.run_and_measure(options, Vec::new(), today, &go, &|_| {}, &mut |cell, vs| {
            asked.push((cell.server.clone(), vs.to_owned()));
            Some(CpuRatio { ratio: 1.3, ci: [low, 1.4], control_ci: [0.99, 1.01], valid: true })
        });
        assert_eq!(asked, [("1.44.1".to_owned(), "1.43.1".to_owned())], "one pair, measured once");
        for client in ["python-1.58.2", "typescript-1.39.0"] {
            let cell = at(&run, &format!("cpu/1.44.1/{client}/w/none"));
            assert_eq!((cell.verdict, kept(cell, "cpu_ratio_vs").0), (verdict, Some(1.3)));
        }
        assert_eq!(exit_code(&run).code(), code);
    }
    let (code, stdout, _) = ended(&mut skewlab(&["matrix", &file]));
    assert_eq!(code, 0);
    assert!(stdout.contains("CPU a token over that of 1.43.1 was not measured"), "{stdout}");
}

#[test]
fn a_server_that_drops_deltas_meets_no_budget_on_cpu() {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+half", "1.58.2", "[mutant]\ndrop_every = 2");
    let catalogue = folder.catalogue();
    let text = "servers = [\"1.58.2+half\"]\nclients = [\"python-1.58.2\"]\n\
                [budget]\ncpu_ratio_vs = { server = \"1.58.2\", max = 1.0 }\n";
    let plan = plan(&[&folder.scenario("cheap", text)], &[], &[], &catalogue);
    let told = std::cell::RefCell::new(String::new());
    let go = std::sync::atomic::AtomicBool::new(false);
    let hear = |why: &str| told.borrow_mut().push_str(why);
    let mut measure = by_bench(&catalogue, Seed(1), &go, &hear);
    assert_eq!(measure(plan.cells[0].agent_server().unwrap(), "1.58.2"), None);
    let told = told.borrow();
    assert!(told.contains("1.58.2+half did not deliver every chunk once (750 of 1500)"), "{told}");
}

#[test]
fn traits_are_laid_over_every_server() {
    let folder = Folder::new();
    let (plain, _) = one(&folder, "plain", "1.44.1", "subscribers = 3\n");
    // Two traits that only make sense together: a bus that asks nobody, and nobody who said yes.
    let shared = "subscribers = 3\n[traits.bus]\nkind = \"shared\"\ndeltas_to = []\n";
    let (shared, code) = one(&folder, "shared", "1.44.1", shared);
    let costs = |cell: &CellResult| (cell.side_effects.costs.serialisations, cell.side_effects.costs.frames);
    // Nine tokens to three sockets, and on a shared bus to the webhook too.
    assert_eq!((costs(&plain), costs(&shared), code), ((27, 27), (36, 27), 0));
    assert_ne!(plain.hash, shared.hash, "another server is another cell");
    let (empty, _) = one(&folder, "plain", "1.44.1", "subscribers = 3\n[traits]\n");
    assert_eq!(plain.hash, empty.hash);
    let (buffered, _) = one(&folder, "buffer", "1.43.1", "[traits.webhook]\nevent_buffer_size = 10\n");
    let (five, _) = one(&folder, "five", "1.43.1", "");
    let posts = |cell: &CellResult| (cell.side_effects.webhook.posts, cell.side_effects.webhook.events);
    assert_eq!(posts(&five).1, posts(&buffered).1);
    assert!(posts(&buffered).0 < posts(&five).0, "{:?} {:?}", posts(&buffered), posts(&five));
    // Two scenarios of one run that lay different traits over one server.
    let text = |size: u32| {
        format!(
            "servers = [\"1.43.1\"]\nclients = [\"python-1.58.2\"]\n[traits.webhook]\nevent_buffer_size = {size}\n"
        )
    };
    let files = [folder.scenario("ten", &text(10)), folder.scenario("one", &text(1))];
    let both = run(&plan(&[&files[0], &files[1]], &[], &[], &folder.catalogue()), 1, 1);
    assert_eq!(posts(&both.cells[0]), posts(&buffered));
    assert_eq!(posts(&both.cells[1]).0, posts(&both.cells[1]).1, "each event a post of its own");
}

#[test]
fn every_subscriber_is_judged_and_the_worst_is_the_cells() {
    let folder = Folder::new();
    // Four internal subscribers of 1.43.1 (idle clock, title, telemetry, webhook) leave 46 of 50 places.
    let (full, code) = one(&folder, "full", "1.43.1", "subscribers = 46\n");
    assert_eq!((full.verdict, full.subscribers, code), (Verdict::Delivered, Some(46), 0));
    let note = &full.findings[0].note;
    assert!(note.ends_with("; so 46 of 46 clients, this is number 1"), "{note}");
    let (over, code) = one(&folder, "over", "1.43.1", "subscribers = 48\n");
    assert_eq!((over.verdict, code), (Verdict::LoudLoss, 10));
    assert_eq!(over.reason.as_ref().unwrap().as_str(), "closed_1013");
    let note = &over.findings[0].note;
    assert!(note.ends_with("; so 2 of 48 clients, this is number 47"), "{note}");
    // The cap is a trait, and 0 lifts it.
    let lifted = "subscribers = 48\n[traits.bus]\nmax_subscribers = 0\n";
    let again = one(&folder, "lifted", "1.43.1", lifted);
    let (lifted, code) = one(&folder, "lifted", "1.43.1", lifted);
    assert_eq!(again, (lifted.clone(), code), "the same every time");
    assert_eq!((lifted.verdict, code), (Verdict::Delivered, 0));
    assert_eq!(lifted.side_effects.costs.frames, 48 * 9);
    assert_eq!(lifted.side_effects.costs.invocations, (48 + 4) * 9);
}

#[test]
fn one_subscriber_is_what_it_was() {
    let folder = Folder::new();
    let (unsaid, _) = one(&folder, "same", "1.58.2", "");
    let (said, _) = one(&folder, "same", "1.58.2", "subscribers = 1\n[webhook]\nlatency_s = 0\n");
    assert_eq!(said, unsaid);
    assert_eq!(unsaid.subscribers, None);
}

#[test]
fn a_budget_or_trait_that_does_not_read_is_pointed_at() {
    let folder = Folder::new();
    let pair = "servers = [\"1.58.2\", \"1.44.1\"]\nclients = [\"python-1.58.2\"]\n";
    for (text, place, said) in [
        ("[budget]\nserialisation_per_token = 1", "6:1", "did you mean `serialisations_per_token`"),
        ("[budget]\nidle_writes = \"<= ceil(T/30+1\"", "6:30", "expected `,` or `)`, found the end"),
        ("[budget]\nidle_writes = \"<= ceil(Q/30)+1\"", "6:24", "`Q` is no variable of a budget"),
        ("[budget]\nidle_writes = \"N / (S-1)\"", "6:18", "divides by zero"),
        ("[budget]\nidle_writes = \"N - 100\"", "6:16", "a limit is 0 or more, and this is -91"),
        ("[budget]\nlog_lines = -1", "6:13", "a limit is 0 or more, and this is -1"),
        ("[budget]\nlog_lines = true", "6:13", "`log_lines` takes a number"),
        ("[budget]\nlog_lines = \"=< 1\"", "6:14", "found `=`"),
        ("[budget]", "5:1", "limits nothing"),
        ("[[budget]]\nserver = \"1.44.1\"", "5:1", "or cpu_ratio_vs"),
        ("[budget]\nlog_lines = []", "6:13", "`log_lines` is empty"),
        ("[budget]\ncpu_ratio_vs = { server = \"1.43.2\", max = 0 }", "6:43", "`max` takes a number above 0"),
        ("[budget]\ncpu_ratio_vs = { server = \"1.43\", max = 1 }", "6:27", "no server profile"),
        ("[budget]\ncpu_ratio_vs = { server = \"1.*\", max = 1 }", "6:27", "this is a pattern"),
        ("[budget]\ncpu_ratio_vs = { server = \"1.43.1\" }", "6:16", "`cpu_ratio_vs` lacks `max`"),
        ("[[budget]]\nserver = \"1.58.22\"\nlog_lines = 0", "6:10", "did you mean `1.58.2`"),
        ("[[expect]]\nverdict = \"over_budget\"\nover = \"idle_write\"", "7:8", "did you mean `idle_writes`"),
        ("[traits.bus]\nmax_subscriber = 0", "6:1", "did you mean `max_subscribers`"),
        ("[traits.bux]\nkind = \"split\"", "5:9", "did you mean `bus`"),
        ("[traits.bus]\nkind = \"splt\"", "6:8", "did you mean `split`"),
        ("[traits.webhook]\nevent_buffer_size = 0", "6:21", "nonzero"),
        ("[traits.idle]\nheartbeat_s = -1.0", "6:15", "-1"),
        ("[traits.bus]\nkind = \"shared\"", "6:1", "`bus.deltas_to` names subscribers"),
        ("[traits.ships]\npython = \"python-1.58.2\"", "5:9", "`ships` cannot be changed here"),
        ("[traits]\nbus = 7", "6:7", "invalid type"),
        ("traits = 7", "5:10", "`traits` takes a table"),
        ("subscribers = 0", "5:15", "from 1 to 1000"),
        ("[webhook]\nlatency_s = -1.0", "6:13", "from 0 to 3600"),
        ("[webhook]\nlatency = 1.0", "6:1", "did you mean `latency_s`"),
        ("[webhook]\nrefuse_first = 1.5", "6:16", "a whole number"),
    ] {
        let file = folder.scenario("broken", &format!("{pair}{text}"));
        let (code, stdout, stderr) = ended(&mut skewlab(&["matrix", &file]));
        assert_eq!((code, stdout.as_str()), (2, ""), "{text}\n{stderr}");
        assert!(stderr.contains(&format!("broken.toml:{place}\n")), "{text} at {place}:\n{stderr}");
        assert!(stderr.contains(said) && stderr.contains('^'), "{text}: {said}\n{stderr}");
    }
}

/// The example as it is played on released servers, in emulation. Run on 1.43.1 and 1.58.2 with python-1.58.2: 501 deltas
/// of 511 events in 105 posts, in another run 108, and none of 10 in 2. That client has the conversation titled, which is
/// one event more; and a real post may take longer than five tokens, which cuts the next ones short.
#[test]
fn the_example_counts_what_a_webhook_gets_for_500_tokens() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/webhook-tokens.toml");
    let run = matrix(&[example], &[], &[]);
    assert_eq!((exit_code(&run).code(), run.cells.len()), (0, 2));
    for (server, posts, deltas) in [("1.43.1", 102_u32, 501), ("1.58.2", 2, 0)] {
        let cell = at(&run, &format!("webhook-tokens/{server}/python-1.58.2/tokens/none"));
        let webhook = &cell.side_effects.webhook;
        let got = (webhook.posts, webhook.deltas, webhook.events);
        assert_eq!(got, (u64::from(posts), deltas, deltas + 9), "{server}");
        assert_eq!(kept(cell, "webhook_posts"), (Some(f64::from(posts)), Some(deltas == 0)), "{server}");
    }
}

/// Nine events are one full buffer and a rest of four, which stays where it is until the server's delay is over.
#[test]
fn a_live_cell_waits_for_what_an_emulated_webhook_holds_back() {
    let folder = Folder::new();
    let changes = "[webhook]\nflush_delay_s = 1.0\nretry_delay_s = 0.5\n";
    folder.profile("servers", "hasty", "1.58.2", changes);
    let axes = "servers = [\"hasty\"]\nclients = [\"python-1.58.2\"]\n[budget]\nwebhook_events = 9\n";
    let file = folder.scenario("held", axes);
    let profiles = folder.arg("");
    let args = ["live", "matrix", "--scenario", &file, "--profiles", &profiles, "--format", "json"];
    let parties = ["--servers", "emulated:hasty", "--clients", "emulated:python-1.58.2"];
    let (code, out, err) = ended(&mut skewlab(&[&args[..], &parties].concat()));
    let run: Run = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    let webhook = &run.cells[0].side_effects.webhook;
    assert_eq!((code, webhook.posts, webhook.events, webhook.deltas), (0, 2, 9, 0), "{out}{err}");
}
