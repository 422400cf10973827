//! What must come out of the shipped scenarios, cell by cell, run through the library.

use std::sync::LazyLock;

use skewlab::judge::exit_code;
use skewlab::record::{CellResult, Hop, Outcome, Run, Scope, Signal, Verdict};
use skewlab::scenario::Selection;
use skewlab::suite::Plan;

use crate::runs::{DEFAULT, at, matrix, owned};

/// The default matrix, run once for all tests of this file.
static RUN: LazyLock<Run> = LazyLock::new(|| matrix(&DEFAULT, &[], &[]));

/// A legacy delta is a frame of its own: one for each of the 19 tokens, but for an empty one in the middle, which is withheld.
const DELTAS: u64 = 18;

const RELEASED_PYTHON: [&str; 5] =
    ["python-1.30.0", "python-1.34.0", "python-1.37.1", "python-1.55.1", "python-1.58.2"];
/// Those that stream. The alphas draw no delta.
const CANVASES: [&str; 4] = ["browser-1.4.0", "browser-1.6.1", "browser-1.14.0", "browser-1.20.0"];
const RELEASED_SERVERS: [&str; 8] =
    ["1.22.0", "1.30.0", "1.31.1", "1.36.1", "1.43.1", "1.44.1", "1.45.0", "1.58.2"];

fn skew(server: &str, client: &str) -> &'static CellResult {
    at(&RUN, &format!("release-skew/{server}/{client}/chat/none"))
}

fn same(server: &str) -> &'static CellResult {
    let same = |c: &&CellResult| c.server == server && c.client_asked.iter().any(|a| a == "python@same");
    RUN.cells.iter().find(same).unwrap()
}

fn mutated(client: &str, mutation: &str) -> &'static CellResult {
    at(&RUN, &format!("frame-mutants/1.58.2/{client}/chat/{mutation}"))
}

fn assert_silent(cell: &CellResult, lost_at: Hop, signal: Signal, log_lines: u64) {
    let is = (cell.verdict, cell.scope, cell.lost_at, cell.signal, cell.log_lines);
    assert_eq!(
        is,
        (Verdict::SilentLoss, Some(Scope::Total), Some(lost_at), signal, log_lines),
        "{}",
        cell.id
    );
    assert_eq!(cell.delivered.chars, 0, "{}", cell.id);
    assert!(cell.durables.reply && cell.durables.rejected.is_empty(), "{}: the reply arrives", cell.id);
}

#[test]
fn the_default_matrix_is_as_its_scenarios_say() {
    assert!(RUN.cells.len() >= 150, "{} cells", RUN.cells.len());
    let odd = RUN.cells.iter().filter(|c| c.outcome != Outcome::Expected);
    let odd: Vec<String> = odd.map(|c| format!("{}: {:?}", c.id, c.outcome_note)).collect();
    assert_eq!(odd, Vec::<String>::new());
    assert_eq!(exit_code(&RUN).code(), 0);
}

#[test]
fn without_stage_c_the_tree_loses_its_own_stream_and_with_it_does_not() {
    for (server, client) in [("1.43.1+AB", "python-1.43.1+AB"), ("1.58.2+AB", "python-1.58.2+AB")] {
        let cell = same(server);
        assert_eq!(cell.client, client);
        assert_silent(cell, Hop::Decoded, Signal::Log, DELTAS);
        assert_eq!(cell.reason.as_ref().unwrap().as_str(), "unknown_kind");
    }
    for (server, client) in [("1.43.1+ABC", "python-1.43.1+ABC"), ("1.58.2+ABC", "python-1.58.2+ABC")] {
        let cell = same(server);
        assert_eq!((cell.client.as_str(), cell.verdict), (client, Verdict::Delivered));
        assert_eq!((cell.delivered.frames, cell.delivered.chars), (DELTAS, cell.produced.chars));
        assert_eq!((cell.signal, cell.log_lines), (Signal::None, 0));
    }
}

#[test]
fn a_released_client_sees_no_difference_between_1_43_1_and_its_split_bus() {
    let mut seen = 0;
    for cell in RUN.cells.iter().filter(|c| c.scenario == "release-skew" && c.server == "1.43.1+AB") {
        let released = |c: &str| RELEASED_PYTHON.contains(&c) || !c.starts_with("python-");
        if !released(cell.client.split('/').next().unwrap()) {
            continue;
        }
        let on_release = skew("1.43.1", &cell.client_release);
        assert_eq!(cell.findings, on_release.findings, "{}", cell.id);
        let rest = |c: &CellResult| {
            (c.verdict, c.hops.clone(), c.durables.clone(), c.log.clone(), c.surfaced.clone())
        };
        assert_eq!(rest(cell), rest(on_release), "{}", cell.id);
        seen += 1;
    }
    // Five of Python, one of them with a second list, TypeScript with and without a socket, five canvases and the session
    // client.
    assert_eq!(seen, 5 + 1 + 2 + 5 + 1);
}

#[test]
fn a_frame_that_lacks_what_the_guard_wants_is_lost_on_canvases_alone() {
    for mutation in ["-source", "-id", "-timestamp"] {
        for client in CANVASES {
            assert_silent(mutated(client, mutation), Hop::Admitted, Signal::None, 0);
        }
        for client in &RELEASED_PYTHON[1..] {
            assert_eq!(mutated(client, mutation).verdict, Verdict::Delivered, "{client} {mutation}");
        }
        // Loses its durables on 1.58.2 whatever the delta is; its deltas are fine.
        let oldest = mutated("python-1.30.0", mutation);
        assert_eq!(oldest.delivered.chars, oldest.produced.chars, "{mutation}");
    }
}

#[test]
fn an_extra_field_is_lost_on_python_alone() {
    let (mutation, deltas) = ("+item_id=x,+attempt=1,+order=0", 10);
    for client in &RELEASED_PYTHON[1..] {
        assert_silent(mutated(client, mutation), Hop::Decoded, Signal::Log, deltas);
    }
    let oldest = mutated("python-1.30.0", mutation);
    assert_eq!((oldest.delivered.chars, oldest.signal), (0, Signal::Surfaced));
    for client in CANVASES {
        assert_eq!(mutated(client, mutation).verdict, Verdict::Delivered, "{client}");
    }
}

#[test]
fn another_kind_or_source_is_lost_on_both() {
    for mutation in ["kind=StreamingDelta", "source=assistant"] {
        for client in &RELEASED_PYTHON[1..] {
            assert_silent(mutated(client, mutation), Hop::Decoded, Signal::Log, 10);
        }
        assert_eq!(mutated("python-1.30.0", mutation).delivered.chars, 0);
        let hop = if mutation.starts_with("kind") { Hop::Delivered } else { Hop::Admitted };
        for client in CANVASES {
            assert_silent(mutated(client, mutation), hop, Signal::None, 0);
        }
    }
}

#[test]
fn an_explicit_parent_id_costs_the_oldest_client_everything() {
    let cell = skew("1.31.1", "python-1.30.0");
    assert_eq!(cell.verdict, Verdict::DurableLoss);
    assert_eq!((cell.durables.accepted, cell.durables.reply, cell.delivered.chars), (0, false, 0));
    assert!(cell.durables.sent > 0);
    assert_eq!(cell.durables.rejected.values().sum::<u64>(), cell.durables.sent);
    let decoded = &cell.hops[Hop::Decoded as usize];
    assert_eq!((decoded.entered.chars, decoded.left.frames), (cell.produced.chars, 0));
    assert_eq!(skew("1.36.1", "python-1.30.0").verdict, Verdict::Delivered, "the shim hides parent_id");
}

#[test]
fn step_7_silences_the_legacy_socket_and_nothing_else() {
    let mut legacy = 0;
    for cell in RUN.cells.iter().filter(|c| c.server == "1.58.2+step7") {
        match cell.client.as_str() {
            "browser-session" => assert_eq!(cell.verdict, Verdict::Delivered),
            "browser-1.0.0-alpha.10" => assert_eq!(cell.verdict, Verdict::ByDesign),
            "python-1.30.0" => assert_eq!((cell.verdict, cell.delivered.chars), (Verdict::DurableLoss, 0)),
            "typescript-1.39.0+no-shim" => assert_eq!(cell.verdict, Verdict::LoudLoss),
            _ => {
                assert_silent(cell, Hop::Published, Signal::None, 0);
                legacy += 1;
            }
        }
    }
    assert_eq!(legacy, 15);
}

#[test]
fn deltas_beside_the_sockets_are_counted_per_server() {
    for server in RELEASED_SERVERS.into_iter().chain(["1.43.1+A", "1.43.1+AB", "1.43.1+ABC", "1.58.2+AB"]) {
        let effects = &skew(server, "python-1.58.2").side_effects;
        let gets = ["1.22.0", "1.30.0", "1.31.1", "1.36.1", "1.43.1", "1.43.1+A"].contains(&server);
        let counted = ["1.43.1", "1.43.1+A"].contains(&server);
        let want = |yes: bool| if yes { DELTAS } else { 0 };
        assert_eq!((effects.webhook.deltas, effects.idle_deltas), (want(gets), want(gets)), "{server}");
        assert_eq!(effects.telemetry.deltas, want(counted), "{server}: telemetry is first in 1.37.0");
        assert_eq!(effects.stored_deltas, 0, "{server}");
        assert_eq!(effects.webhook.events - effects.webhook.deltas, 9, "{server}: the durable turn");
        let streamed = effects.idle_writes.process >= DELTAS;
        assert_eq!(streamed, gets, "{server}: {} writes of the process clock", effects.idle_writes.process);
    }
}

#[test]
fn the_right_client_on_the_wrong_list_hears_nothing() {
    for server in RELEASED_SERVERS {
        let client = "python-1.55.1/token_callbacks";
        assert_silent(skew(server, client), Hop::Delivered, Signal::None, 0);
    }
    assert_silent(skew("1.58.2+ABC", "python-1.58.2+ABC/callbacks"), Hop::Delivered, Signal::None, 0);
    let today = matrix(&["release-skew"], &["1.58.2"], &["python-1.56.0/token_callbacks"]);
    assert_eq!(today.cells[0].verdict, Verdict::Delivered, "called from 1.56.0 on");
}

#[test]
fn python_at_same_is_the_client_of_the_servers_tree() {
    for release in RELEASED_SERVERS {
        assert_eq!(same(release).client_release, format!("python-{release}"));
    }
    for (server, client) in [
        ("1.43.1+A", "python-1.43.1+AB"),
        ("1.43.1+AB", "python-1.43.1+AB"),
        ("1.43.1+ABC", "python-1.43.1+ABC"),
        ("1.58.2+step7", "python-1.58.2"),
    ] {
        assert_eq!(same(server).client_release, client, "{server}");
    }
}

#[test]
fn a_release_without_a_profile_runs_as_its_era_under_its_own_name() {
    let run = matrix(&["release-skew"], &["1.50.3"], &["python@same", "browser-1.10.0"]);
    let [python, browser] = &run.cells[..] else { panic!("{} cells", run.cells.len()) };
    assert_eq!((python.server.as_str(), python.server_release.as_str()), ("1.58.2", "1.50.3"));
    assert_eq!((python.client.as_str(), python.client_release.as_str()), ("python-1.55.1", "python-1.50.3"));
    assert_eq!(browser.client, "browser-1.14.0");
    assert_eq!(python.id, "release-skew/1.50.3/python-1.50.3/chat/none");
    assert_eq!((python.verdict, python.outcome), (Verdict::Delivered, Outcome::Expected));
}

#[test]
fn a_client_without_a_socket_is_told_and_gets_no_frame_of_any_server() {
    let cells: Vec<_> = RUN.cells.iter().filter(|c| c.client == "typescript-1.39.0+no-shim").collect();
    assert!(cells.len() > RELEASED_SERVERS.len(), "{}", cells.len());
    for cell in cells {
        assert_eq!((cell.verdict, cell.signal), (Verdict::LoudLoss, Signal::Surfaced), "{}", cell.id);
        assert_eq!((cell.delivered.chars, cell.surfaced.len()), (0, 1), "{}: {:?}", cell.id, cell.surfaced);
        assert!(cell.surfaced[0].contains("WebSocket implementation not available"), "{:?}", cell.surfaced);
    }
}

#[test]
fn a_front_end_refuses_a_server_that_is_older_than_its_minimum() {
    for client in CANVASES.into_iter().chain(["browser-session"]) {
        let cell = skew("1.22.0", client);
        let is = (cell.verdict, cell.scope, cell.lost_at, cell.signal);
        let loud = (Verdict::LoudLoss, Some(Scope::Total), Some(Hop::Dispatched), Signal::Surfaced);
        assert_eq!(is, loud, "{client}");
        assert_eq!(cell.reason.as_ref().unwrap().as_str(), "not_subscribed", "{client}");
        assert_eq!(cell.surfaced, ["backend disconnected: 1.22.0 is older than 1.28.0"], "{client}");
        assert_eq!((cell.delivered.chars, cell.durables.due), (0, 0), "{client}");
        let stopped = &cell.hops[Hop::Dispatched as usize];
        assert_eq!((stopped.entered.chars, stopped.left.frames), (cell.produced.chars, 0), "{client}");
    }
    assert_eq!(skew("1.22.0", "browser-1.0.0-alpha.10").verdict, Verdict::ByDesign, "the alphas have none");
    // Both are of one era, and only the name of the release tells them apart.
    let clients = ["browser-1.0.0", "browser-1.7.2", "browser-1.20.0"];
    for (server, verdict) in [("1.27.1", Verdict::LoudLoss), ("1.28.0", Verdict::Delivered)] {
        let run = matrix(&["release-skew"], &[server], &clients);
        assert_eq!(run.cells.len(), clients.len());
        for cell in &run.cells {
            assert_eq!((cell.server.as_str(), cell.verdict), ("1.30.0", verdict), "{}", cell.id);
            assert_eq!(cell.outcome, Outcome::Expected, "{}", cell.id);
        }
    }
}

#[test]
fn an_impossible_pair_is_reported_and_never_skipped() {
    for server in ["1.30.0", "1.43.1", "1.43.1+AB", "1.44.1"] {
        let cell = skew(server, "browser-session");
        assert_eq!((cell.verdict, cell.lost_at), (Verdict::LoudLoss, Some(Hop::Dispatched)), "{server}");
        assert_eq!(cell.reason.as_ref().unwrap().as_str(), "http_403");
        assert_eq!(cell.signal, Signal::Surfaced);
    }
    assert_silent(skew("1.45.0", "browser-session"), Hop::Dispatched, Signal::None, 0);
    let axes = Selection::default();
    let catalogue = skewlab::agent_server::profile::Catalogue::embedded().unwrap();
    let plan = Plan::of(&owned(&["release-skew"]), &axes, &catalogue).unwrap();
    let pairs = |server: &str| {
        plan.cells.iter().filter_map(|c| c.agent_server()).filter(|c| c.server == server).count()
    };
    // Every profile, and two with a list; `python@same` is one of them or one more.
    assert!(RELEASED_SERVERS.iter().all(|s| (19..=20).contains(&pairs(s))), "a pair is missing");
}
