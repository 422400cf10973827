//! Every detector end to end: a deliberately broken party goes through plan, run and judge and comes out red;
//! its healthy neighbour, the same cell without the fault, stays green.

use std::collections::BTreeSet;

use skewlab::judge::exit_code;
use skewlab::record::{CellResult, Hop, Reason, Run, Scope, Signal, Verdict};

use crate::bent::{self, Bent};
use crate::runs::{Folder, at, ended, plan, run, skewlab};

const SERVER: &str = "1.58.2";
const PYTHON: &str = "python-1.58.2";
const TYPESCRIPT: &str = "typescript-1.39.0";

/// Which party is broken, and how.
#[derive(Clone, Copy)]
enum Broken {
    /// `[mutant]` of a server that otherwise is 1.58.2.
    Server(&'static str),
    /// The same before a client that does not read the events again when the run is over.
    Unmended(&'static str),
    /// `[mutant]` of a client that otherwise is the profile named first.
    Client(&'static str, &'static str),
    /// A frame mutation, seen by this client.
    Frame(&'static str, &'static str),
    /// A consumer that must not get deltas and does on the release named first.
    Duty(&'static str, &'static str),
    /// A budget that the release named first breaks.
    Budget(&'static str, &'static str),
    /// A fault of the session feed, seen by this consumer of the variant named first.
    Feed(&'static str, &'static str, &'static str),
    /// A fault in time; the neighbour is the same cell without it, on this server.
    Fault(fn() -> Bent, &'static str),
    /// Nothing: this client on this server is the case.
    Pair(&'static str, &'static str),
}

struct Case {
    broken: Broken,
    verdict: Verdict,
    lost_at: Option<Hop>,
    reason: Option<&'static str>,
}

const fn case(broken: Broken, verdict: Verdict, lost_at: Option<Hop>, reason: Option<&'static str>) -> Case {
    Case { broken, verdict, lost_at, reason }
}

const CASES: [Case; 29] = {
    use Broken::{Budget, Client, Duty, Fault, Feed, Frame, Pair, Server, Unmended};
    use Verdict::{
        ByDesign, Corrupted, Delivered, Divergent, Duplicated, DurableLoss, Invalid, Late, Leaked, LoudLoss,
        NotRun, NotStreamed, OverBudget, Reaped, Reordered, SilentLoss, Stalled, Unbounded,
    };
    let (lost, refused) = (Some(Hop::Delivered), Some(Hop::Decoded));
    [
        case(Server("repeat_every = 2"), Duplicated, None, Some("text_twice")),
        case(Server("drop_every = 2"), SilentLoss, Some(Hop::Sent), Some("mutant_drop")),
        case(Server("alter_every = 2"), Corrupted, None, Some("text_altered")),
        case(Unmended("drop_durable_every = 2"), DurableLoss, Some(Hop::Sent), Some("not_sent")),
        case(Server("forget_every = 2"), Invalid, None, Some("rig_fault")),
        case(Server("store_deltas = true"), Leaked, None, Some("leaked_to_event_store")),
        case(Server("panic = true"), Invalid, None, Some("panicked")),
        case(Server("hang = true"), NotRun, None, Some("deadline")),
        case(Client(PYTHON, "drop_every = 3"), SilentLoss, lost, Some("mutant_dropped")),
        case(Client(PYTHON, "repeat_every = 3"), Duplicated, None, Some("text_twice")),
        case(Client(PYTHON, "alter_every = 3"), Corrupted, None, Some("text_altered")),
        case(Client(PYTHON, "reject_durables = true"), DurableLoss, refused, Some("mutant_rejected")),
        case(Client(PYTHON, "panic = true"), Invalid, None, Some("panicked")),
        case(Client("browser-1.20.0", "drop_every = 3"), SilentLoss, lost, Some("mutant_dropped")),
        case(Frame("!not json{", TYPESCRIPT), LoudLoss, Some(Hop::Parsed), Some("not_json")),
        case(Frame("!not json{", PYTHON), SilentLoss, Some(Hop::Parsed), Some("not_json")),
        case(Duty("1.43.1", "webhook"), Leaked, None, Some("leaked_to_webhook")),
        case(Duty("1.43.1", "telemetry"), Leaked, None, Some("leaked_to_telemetry")),
        case(Duty("1.43.1", "idle"), Leaked, None, Some("leaked_to_idle")),
        case(Budget("1.43.1", "telemetry_deltas = 0"), OverBudget, None, Some("telemetry_deltas")),
        case(Feed("mirrored", "renderer", "kill-between@4"), Divergent, None, Some("sources_differ")),
        case(Fault(bent::swapped, SERVER), Reordered, None, Some("order_changed")),
        case(Fault(bent::late, SERVER), Late, None, Some("after_the_reply")),
        case(Fault(bent::held, SERVER), NotStreamed, None, Some("held_to_the_end")),
        case(Fault(bent::neighbours, "1.22.0"), Stalled, None, Some("peer_stalled")),
        case(Fault(bent::piled, SERVER), Unbounded, None, Some("no_limit")),
        case(Fault(bent::long, "1.45.0"), Reaped, None, Some("looked_idle")),
        case(Pair(SERVER, "browser-1.0.0-alpha.10"), ByDesign, None, None),
        case(Pair(SERVER, PYTHON), Delivered, None, None),
    ]
};

/// One cell through the real path, and the exit code that a run of it gives.
fn one(
    folder: &Folder,
    server: &str,
    client: &str,
    mutation: &str,
    rules: &str,
    expect: &str,
) -> (CellResult, u8) {
    let axes = format!(
        "servers = [\"{server}\"]\nclients = [\"{client}\"]\nmutations = ['{mutation}']\n{rules}\n\
         [[expect]]\nverdict = \"{expect}\"\n"
    );
    let file = folder.scenario("one", &axes);
    let run = run(&plan(&[&file], &[], &[], &folder.catalogue()), 1, 1);
    assert_eq!(run.cells.len(), 1);
    (run.cells[0].clone(), exit_code(&run).code())
}

/// One cell of the session feed: variant, consumer and fault.
fn feed(folder: &Folder, [variant, consumer, fault]: [&str; 3], expect: &str) -> (CellResult, u8) {
    let text = format!(
        "question = \"q\"\nsubject = \"session-feed\"\nvariants = [\"{variant}\"]\nconsumers = [\"{consumer}\"]\n\
         faults = [\"{fault}\"]\nworkloads = [\"w\"]\n[workload.w]\nreply = \"hello\"\n[[expect]]\nverdict = \"{expect}\"\n"
    );
    let run = run(&plan(&[&folder.write("feed.toml", &text)], &[], &[], &folder.catalogue()), 1, 1);
    assert_eq!(run.cells.len(), 1);
    (run.cells[0].clone(), exit_code(&run).code())
}

/// The broken cell and its healthy neighbour.
fn pair(case: &Case) -> ((CellResult, u8), Option<(CellResult, u8)>) {
    let folder = Folder::new();
    let expect = case.verdict.as_str();
    let one = |server: &str, client: &str, mutation: &str, rules: &str, expect: &str| {
        one(&folder, server, client, mutation, rules, expect)
    };
    let store = "must_not_receive = [\"event_store\"]";
    match case.broken {
        Broken::Server(mutant) => {
            folder.profile("servers", "1.58.2+broken", SERVER, &format!("[mutant]\n{mutant}"));
            let broken = one("1.58.2+broken", PYTHON, "none", store, expect);
            (broken, Some(one(SERVER, PYTHON, "none", store, "delivered")))
        }
        Broken::Unmended(mutant) => {
            folder.profile("servers", "1.58.2+broken", SERVER, &format!("[mutant]\n{mutant}"));
            let broken = one("1.58.2+broken", TYPESCRIPT, "none", store, expect);
            (broken, Some(one(SERVER, TYPESCRIPT, "none", store, "delivered")))
        }
        Broken::Client(base, mutant) => {
            let name = format!("{base}+broken");
            folder.profile("clients", &name, base, &format!("[mutant]\n{mutant}"));
            let broken = one(SERVER, &name, "none", store, expect);
            (broken, Some(one(SERVER, base, "none", store, "delivered")))
        }
        Broken::Frame(mutation, client) => {
            let broken = one(SERVER, client, mutation, store, expect);
            (broken, Some(one(SERVER, client, "none", store, "delivered")))
        }
        Broken::Duty(server, consumer) => {
            let duty = format!("must_not_receive = [\"{consumer}\"]");
            let broken = one(server, PYTHON, "none", &duty, expect);
            (broken, Some(one("1.44.1", PYTHON, "none", &duty, "delivered")))
        }
        Broken::Budget(server, limit) => {
            let budget = format!("[budget]\n{limit}");
            let broken = one(server, PYTHON, "none", &budget, expect);
            (broken, Some(one("1.44.1", PYTHON, "none", &budget, "delivered")))
        }
        Broken::Feed(variant, consumer, fault) => {
            let one = |fault: &str, expect: &str| feed(&folder, [variant, consumer, fault], expect);
            (one(fault, expect), Some(one("none", "delivered")))
        }
        Broken::Fault(bent, server) => {
            (bent().ends(case.verdict), Some(bent().quiet().on(server).ends(Verdict::Delivered)))
        }
        Broken::Pair(server, client) => (one(server, client, "none", store, expect), None),
    }
}

#[test]
fn every_verdict_has_a_mutant_and_every_mutant_a_healthy_neighbour() {
    let mut seen = BTreeSet::new();
    for case in &CASES {
        let ((broken, code), neighbour) = pair(case);
        let what = format!("{} {:?}", broken.id, broken.findings);
        assert_eq!(broken.verdict, case.verdict, "{what}");
        if case.lost_at.is_some() {
            assert_eq!(broken.lost_at, case.lost_at, "{what}");
        }
        assert_eq!(broken.reason.as_ref().map(Reason::as_str), case.reason, "{what}");
        // A fault of the rig is red even when a scenario expects it.
        assert_eq!(code, if case.verdict.is_rig_fault() { 13 } else { 0 }, "{what}");
        if let Some((healthy, code)) = neighbour {
            assert_eq!((healthy.verdict, code), (Verdict::Delivered, 0), "{:?}", healthy.findings);
            assert_eq!(healthy.findings.len(), 1, "{:?}", healthy.findings);
        }
        seen.insert(broken.verdict);
    }
    assert_eq!(seen, Verdict::ALL.into_iter().collect(), "a verdict that no mutant produces");
}

#[test]
fn what_is_missing_is_measured() {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+half", SERVER, "[mutant]\ndrop_every = 2");
    let (cell, _) = one(&folder, "1.58.2+half", PYTHON, "none", "", "silent_loss");
    // Nine deltas, of which `hmm `, `, `, `ha` and ` world` are the even ones.
    assert_eq!((cell.produced.frames, cell.delivered.frames), (9, 5));
    assert_eq!(cell.produced.chars - cell.delivered.chars, 4 + 2 + 2 + 6);
    assert_eq!((cell.scope, cell.signal, cell.log_lines), (Some(Scope::Scattered), Signal::None, 0));
    assert!(cell.durables.reply, "the reply itself arrives");
    folder.profile("servers", "1.58.2+twice", SERVER, "[mutant]\nrepeat_every = 4");
    let (cell, _) = one(&folder, "1.58.2+twice", PYTHON, "none", "", "duplicated");
    assert_eq!(cell.delivered.chars - cell.produced.chars, 2 + 6, "`, ` and ` world` came twice");
    let sent = &cell.hops[Hop::Sent as usize];
    assert_eq!(sent.added.values().map(|t| t.frames).sum::<u64>(), 2);
}

#[test]
fn a_leak_is_counted_where_it_lands() {
    let folder = Folder::new();
    let all = "must_not_receive = [\"webhook\", \"telemetry\", \"idle\"]";
    let (cell, _) = one(&folder, "1.43.1", PYTHON, "none", all, "leaked");
    let leaks: Vec<_> = cell.findings.iter().filter(|f| f.verdict == Verdict::Leaked).collect();
    assert_eq!(leaks.len(), 3, "one finding a consumer");
    assert!(leaks.iter().all(|f| f.amount.frames == 9 && f.signal == Signal::None), "{leaks:?}");
    let (stored, _) = {
        folder.profile("servers", "1.58.2+store", SERVER, "[mutant]\nstore_deltas = true");
        one(&folder, "1.58.2+store", PYTHON, "none", "must_not_receive = [\"event_store\"]", "leaked")
    };
    assert_eq!(stored.side_effects.stored_deltas, 9);
    let (told, code) = one(&folder, "1.58.2+store", PYTHON, "none", "", "delivered");
    assert_eq!((told.verdict, code), (Verdict::Delivered, 0), "no duty, no leak");
}

/// A healthy cell beside two that panic, in one run.
fn with_panics() -> (Folder, String) {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+boom", SERVER, "[mutant]\npanic = true");
    folder.profile("clients", "python-1.58.2+boom", PYTHON, "[mutant]\npanic = true");
    let axes = format!(
        "servers = [\"1.58.2+boom\", \"{SERVER}\"]\nclients = [\"python-1.58.2+boom\", \"{PYTHON}\", \"browser-1.20.0\"]\n"
    );
    let file = folder.scenario("boom", &axes);
    (folder, file)
}

#[test]
fn a_panic_is_one_cell_and_the_rest_of_the_run_finishes() {
    let (folder, file) = with_panics();
    let run = run(&plan(&[&file], &[], &[], &folder.catalogue()), 1, 2);
    let verdict = |server: &str, client: &str| at(&run, &format!("boom/{server}/{client}/w/none")).verdict;
    assert_eq!(run.cells.len(), 6);
    for client in ["python-1.58.2+boom", PYTHON, "browser-1.20.0"] {
        assert_eq!(verdict("1.58.2+boom", client), Verdict::Invalid, "{client}");
    }
    assert_eq!(verdict(SERVER, "python-1.58.2+boom"), Verdict::Invalid);
    for client in [PYTHON, "browser-1.20.0"] {
        assert_eq!(verdict(SERVER, client), Verdict::Delivered, "{client}");
    }
    let note = &at(&run, "boom/1.58.2/python-1.58.2+boom/w/none").findings[0].note;
    assert!(note.contains("client mutant: panic"), "{note}");
}

#[test]
fn the_binary_survives_panics_and_hangs_and_says_13() {
    let (folder, file) = with_panics();
    folder.profile("servers", "1.58.2+hang", SERVER, "[mutant]\nhang = true");
    let profiles = folder.arg("");
    let args = ["matrix", &file, "--profiles", &profiles, "--format", "json"];
    let (code, out, err) = ended(&mut skewlab(&args));
    let run: Run = serde_json::from_str(&out).unwrap();
    assert_eq!((code, run.totals.rig, run.totals.expected), (13, 4, 2), "{err}");
    assert!(!err.contains("panicked at"), "a cell's panic is its result, not noise: {err}");
    let args = [&args[..], &["--server", "1.58.2+hang", "--client", PYTHON]].concat();
    let (code, out, _) = ended(&mut skewlab(&args));
    let run: Run = serde_json::from_str(&out).unwrap();
    assert_eq!((code, run.cells.len(), run.cells[0].verdict), (13, 1, Verdict::NotRun));
}
