//! What goes wrong, on whole cells: each kind comes, and does what it says and no more.

use std::path::PathBuf;

use skewlab::agent_server::profile::Catalogue;
use skewlab::record::{CellResult, Finding, Hop, Reason, Run, Scope, Signal, Verdict};
use skewlab::scenario::Selection;
use skewlab::suite::Plan;
use tempfile::TempDir;

use crate::bent;
use crate::runs::{ended, run, skewlab};

/// Forty tokens of text at a rate of which no whole second is a multiple, so that nothing falls on a boundary.
const HEAD: &str = r#"question = "What does a person see?"
servers = ["1.58.2"]
clients = ["python-1.34.0", "python-1.58.2", "typescript-1.39.0", "browser-1.4.0", "browser-1.20.0", "browser-session"]
workloads = ["answer"]

[workload.answer]
rate = 6.5
generate = { count = 40 }
"#;

/// A scenario file with these faults under the name `f`.
fn file(faults: &str) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("s.toml");
    std::fs::write(&path, HEAD.replacen("workloads", "faults = [\"f\"]\nworkloads", 1) + faults).unwrap();
    (dir, path)
}

fn cells(faults: &str) -> Run {
    let (_dir, path) = file(faults);
    let catalogue = Catalogue::embedded().unwrap();
    let names = [path.to_str().unwrap().to_owned()];
    let plan = Plan::of(&names, &Selection::default(), &catalogue).unwrap_or_else(|e| panic!("{e}"));
    run(&plan, 1, 2)
}

fn of<'a>(run: &'a Run, client: &str) -> &'a CellResult {
    run.cells.iter().find(|cell| cell.client == client).unwrap_or_else(|| panic!("no {client}"))
}

fn worst<'a>(run: &'a Run, client: &str) -> &'a Finding {
    &of(run, client).findings[0]
}

fn said(finding: &Finding) -> (Verdict, Option<Scope>, Option<&str>, Signal) {
    (finding.verdict, finding.scope, finding.reason.as_ref().map(Reason::as_str), finding.signal)
}

fn one(body: &str) -> String {
    format!("\n[[fault.f]]\n{body}\n")
}

#[test]
fn an_end_in_mid_stream_is_a_tail_for_who_is_deaf_and_a_gap_for_who_comes_back() {
    for (body, code) in [
        ("kind = \"abort\"\nat = \"token 10\"", "connection_lost"),
        ("kind = \"close\"\ncode = 1011\nat = \"token 10\"", "closed_1011"),
        ("kind = \"close\"\ncode = 1012\nat = \"token 10\"", "closed_1012"),
    ] {
        let run = cells(&one(body));
        let tail = (Verdict::SilentLoss, Some(Scope::Tail), Some(code), Signal::None);
        assert_eq!(said(worst(&run, "python-1.34.0")), tail);
        for client in ["python-1.58.2", "typescript-1.39.0"] {
            let gap = (Verdict::SilentLoss, Some(Scope::Gap), Some(code), Signal::None);
            assert_eq!(said(worst(&run, client)), gap, "{client}");
        }
        let gap = (Verdict::LoudLoss, Some(Scope::Gap), Some(code), Signal::Surfaced);
        assert_eq!(said(worst(&run, "browser-1.20.0")), gap, "its banner is there");
        // Who joins in mid-stream gets deltas without a frame that opens their item.
        let slots = worst(&run, "browser-session");
        assert_eq!((slots.verdict, slots.scope), (Verdict::LoudLoss, Some(Scope::Tail)));
        assert_eq!(slots.reason.as_ref().map(Reason::as_str), Some("no_open_slot"));
    }
}

#[test]
fn who_comes_back_has_every_durable_event_and_who_does_not_reads_them_when_the_run_ends() {
    let run = cells(&one("kind = \"abort\"\nat = \"token 10\""));
    for client in ["python-1.34.0", "python-1.58.2", "browser-1.20.0", "browser-session"] {
        let durables = &of(&run, client).durables;
        assert!(durables.reply && durables.rejected.is_empty(), "{client}: {durables:?}");
    }
    assert!(of(&run, "python-1.34.0").durables.recovered > 0, "by REST, once the run is over");
    assert_eq!(of(&run, "browser-1.20.0").durables.recovered, 0, "by the socket, which sends history again");
}

#[test]
fn a_fatal_close_is_one_for_python_alone() {
    let run = cells(&one("kind = \"close\"\ncode = 4001\nat = \"token 10\""));
    for client in ["python-1.34.0", "python-1.58.2"] {
        assert_eq!(worst(&run, client).scope, Some(Scope::Tail), "{client}");
    }
    assert_eq!(worst(&run, "typescript-1.39.0").scope, Some(Scope::Gap));
}

#[test]
fn a_clean_close_costs_nothing_where_the_client_comes_back_at_once() {
    let run = cells(&one("kind = \"close\"\ncode = 1000\nat = \"token 10\""));
    assert_eq!(worst(&run, "python-1.34.0").verdict, Verdict::Delivered);
    assert_eq!(worst(&run, "python-1.58.2").verdict, Verdict::Delivered);
    assert_eq!(worst(&run, "typescript-1.39.0").scope, Some(Scope::Gap));
}

#[test]
fn a_late_subscriber_misses_the_beginning() {
    let run = cells(&one("kind = \"join\"\nat = \"1.4s\""));
    for client in ["python-1.58.2", "typescript-1.39.0", "browser-1.20.0"] {
        let prefix = (Verdict::SilentLoss, Some(Scope::Prefix), Some("not_subscribed"), Signal::None);
        assert_eq!(said(worst(&run, client)), prefix, "{client}");
        let lost = worst(&run, client).amount.frames;
        assert_eq!(lost, 10, "{client}: tokens 0 to 9 come within 1.4 s");
    }
}

#[test]
fn what_only_delays_bytes_or_cuts_them_loses_nothing() {
    for body in [
        "kind = \"stall\"\nfor = \"2s\"\nat = \"token 10\"",
        "kind = \"slow\"\nbytes_per_s = 2000",
        "kind = \"buffer\"\nfor = \"40ms\"",
        "kind = \"buffer\"\nbytes = 64",
        "kind = \"fragment\"\nbytes = 1",
        "kind = \"silence\"\nfor = \"2s\"\nat = \"token 10\"",
        "kind = \"block\"\nfor = \"2s\"\nat = \"token 10\"",
        "kind = \"slow_sink\"\nlatency = \"10s\"",
        "kind = \"slow_sink\"\nlatency = \"10s\"\nfor = \"1m\"\nat = \"token 10\"",
    ] {
        let run = cells(&one(body));
        for cell in &run.cells {
            let found = &cell.findings[0];
            assert_eq!(found.verdict, Verdict::Delivered, "{body}: {} {}", cell.client, found.note);
        }
    }
}

#[test]
fn fragments_of_one_byte_are_put_together_again() {
    let run = cells(&one("kind = \"fragment\"\nhop = \"sent\"\nbytes = 1"));
    for client in ["python-1.34.0", "python-1.58.2", "typescript-1.39.0", "browser-1.20.0"] {
        assert_eq!(worst(&run, client).verdict, Verdict::Delivered, "{client}");
    }
}

#[test]
fn half_open_is_noticed_by_who_pings_and_by_nobody_else() {
    // Long enough for two pings of 20 s.
    let body = one("kind = \"silence\"\nat = \"token 10\"");
    let (dir, path) = file(&body);
    let text = std::fs::read_to_string(&path).unwrap().replace("count = 40", "count = 600");
    std::fs::write(&path, text).unwrap();
    let plan = Plan::of(
        &[path.to_str().unwrap().to_owned()],
        &Selection::default(),
        &Catalogue::embedded().unwrap(),
    );
    let run = run(&plan.unwrap(), 1, 2);
    drop(dir);
    for client in ["python-1.34.0", "python-1.58.2"] {
        assert_eq!(worst(&run, client).reason.as_ref().map(Reason::as_str), Some("ping_timeout"), "{client}");
    }
    for client in ["typescript-1.39.0", "browser-1.20.0"] {
        let found = of(&run, client).findings.iter().find(|f| f.verdict == Verdict::SilentLoss).unwrap();
        assert_eq!(found.reason.as_ref().map(Reason::as_str), Some("half_open"), "{client}");
    }
}

#[test]
fn a_server_that_is_replaced_keeps_its_log_and_loses_its_turn() {
    let restart = one("kind = \"restart\"\ndown = \"2s\"\nat = \"token 10\"");
    let again = one("kind = \"say\"\nafter = \"turn\"\nby = \"40s\"");
    for (body, replied) in [(&restart, false), (&(restart.clone() + &again), true)] {
        let run = cells(body);
        for client in ["python-1.58.2", "browser-1.20.0", "typescript-1.39.0"] {
            let (cell, found) = (of(&run, client), worst(&run, client));
            // All that the model had made arrived, and the reply to it never will.
            assert_eq!(cell.findings.len(), 1, "{client}: {:?}", cell.findings);
            assert_eq!((found.verdict, found.lost_at), (Verdict::DurableLoss, Some(Hop::Produced)));
            assert_eq!(found.reason.as_ref().map(Reason::as_str), Some("turn_killed"), "{client}");
            let told = if client == "browser-1.20.0" { Signal::Surfaced } else { Signal::None };
            assert_eq!(found.signal, told, "{client}: {}", found.note);
            assert_eq!(cell.durables.reply, replied, "{client}: the second turn has a reply");
        }
    }
    // Who comes when the server is back is owed nothing, and neither is anybody of whom no turn was running.
    let later = restart + &one("kind = \"join\"\nat = \"30s\"") + &again;
    let run = cells(&later);
    let found = &of(&run, "python-1.58.2").findings;
    assert!(
        found.iter().all(|f| f.verdict == Verdict::SilentLoss),
        "what was said before it came: {found:?}"
    );
    let between = one("kind = \"restart\"\ndown = \"2s\"\nafter = \"turn\"\nby = \"1s\"");
    for client in ["python-1.58.2", "browser-1.20.0", "typescript-1.39.0"] {
        let found = worst(&cells(&between), client).clone();
        assert!(found.verdict.is_healthy(), "{client}: {}", found.note);
    }
}

#[test]
fn a_loss_in_a_run_without_an_end_is_silent_unless_somebody_is_told() {
    let lost = one("kind = \"abort\"\nat = \"token 5\"");
    let said = |end: &str, client: &str| {
        let run = cells(&(lost.clone() + &one(end)));
        let of_text = |f: &&Finding| matches!(f.verdict, Verdict::SilentLoss | Verdict::LoudLoss);
        let found = of(&run, client).findings.iter().find(of_text).unwrap();
        (found.verdict, found.signal, found.note.clone())
    };
    for (end, how) in [
        ("kind = \"restart\"\ndown = \"2s\"\nat = \"token 12\"", "the run never ended"),
        ("kind = \"cancel\"\nat = \"token 12\"", "the run was cancelled"),
        ("kind = \"provider_error\"\nat = \"token 12\"", "the run ended with an error"),
    ] {
        let (verdict, signal, note) = said(end, "python-1.58.2");
        if how.ends_with("error") {
            assert_eq!((verdict, signal), (Verdict::LoudLoss, Signal::Surfaced), "{note}: run() raises");
        } else {
            assert_eq!((verdict, signal), (Verdict::SilentLoss, Signal::None), "{note}");
            assert!(note.ends_with(&format!("{how}; the application could notice nothing")), "{note}");
        }
        // The page has a banner.
        let (verdict, signal, note) = said(end, "browser-1.20.0");
        assert_eq!((verdict, signal), (Verdict::LoudLoss, Signal::Surfaced), "{note}");
        assert!(note.contains(how), "{note}");
    }
}

#[test]
fn an_upgrade_under_a_living_connection_silences_who_stays() {
    let body = one("kind = \"swap\"\nserver = \"1.58.2+step7\"\nafter = \"turn\"\nby = \"1s\"")
        + &one("kind = \"say\"\nafter = \"turn\"\nby = \"40s\"");
    let run = cells(&body);
    for client in ["python-1.58.2", "typescript-1.39.0"] {
        let tail = (Verdict::SilentLoss, Some(Scope::Tail), Some("legacy_delta_withdrawn"), Signal::None);
        assert_eq!(said(worst(&run, client)), tail, "{client}");
        assert_eq!(worst(&run, client).lost_at, Some(Hop::Published));
    }
    assert_eq!(worst(&run, "browser-session").verdict, Verdict::Delivered);
}

#[test]
fn a_failure_and_a_cancel_leave_what_was_streamed() {
    for kind in ["provider_error", "cancel"] {
        let run = cells(&one(&format!("kind = \"{kind}\"\nat = \"token 10\"")));
        for cell in &run.cells {
            assert_eq!(
                cell.findings[0].verdict,
                Verdict::Delivered,
                "{kind} {}: {}",
                cell.client,
                cell.findings[0].note
            );
        }
        assert!(!of(&run, "python-1.58.2").durables.reply_due, "{kind}: there is no reply to lose");
    }
}

#[test]
fn a_run_that_fails_is_told_by_a_library_that_raises() {
    const ERROR: &[&str] = &["kind = \"provider_error\"\nat = \"token 6\""];
    const ABORT_AND: &[&str] = &["kind = \"abort\"\nat = \"token 3\"", ERROR[0]];
    const CANCELLED: &[&str] = &["kind = \"abort\"\nat = \"token 3\"", "kind = \"cancel\"\nat = \"token 6\""];
    let failed = |client: &'static str, faults: &'static [&'static str]| {
        bent::short().with(client).but(faults).ends(Verdict::Delivered).0
    };
    let cell = failed("python-1.58.2", ERROR);
    assert_eq!((cell.verdict, cell.signal), (Verdict::Delivered, Signal::Surfaced), "{:?}", cell.findings);
    assert_eq!(failed("python-1.58.2", &["kind = \"cancel\"\nat = \"token 6\""]).signal, Signal::None);
    // Who has gone deaf polls, and knows that the text is not whole; who is told of no error does not.
    let deaf =
        |faults| bent::short().on("1.30.0").with("python-1.30.0").but(faults).ends(Verdict::Delivered).0;
    let told = deaf(ABORT_AND);
    let found: Vec<_> = told.findings.iter().map(|f| (f.verdict, f.signal)).collect();
    let loud = (Verdict::LoudLoss, Signal::Surfaced);
    // It raises before it reads the log.
    assert_eq!(found, [(Verdict::DurableLoss, Signal::Surfaced), loud], "{:?}", told.findings);
    assert_eq!(told.durables.recovered, 0);
    let untold = deaf(CANCELLED);
    assert_eq!((untold.verdict, untold.signal), (Verdict::SilentLoss, Signal::None), "{:?}", untold.findings);
    assert!(untold.durables.recovered > 0);
}

#[test]
fn a_retry_streams_from_the_beginning_and_stands_twice_where_nothing_replaces_it() {
    let run = cells(&one("kind = \"retry\"\nat = \"token 10\""));
    // The final message takes the place of what streamed, or the item has attempts.
    for client in ["browser-1.20.0", "browser-session"] {
        assert_eq!(worst(&run, client).verdict, Verdict::Delivered, "{client}: {}", worst(&run, client).note);
    }
    for client in ["python-1.58.2", "typescript-1.39.0"] {
        let found = worst(&run, client);
        assert_eq!(found.verdict, Verdict::Duplicated, "{client}: {}", found.note);
        assert_eq!(found.reason.as_ref().map(Reason::as_str), Some("attempt_superseded"), "{client}");
    }
    assert!(!worst(&run, "browser-1.4.0").verdict.is_healthy());
}

#[test]
fn a_proxy_that_shows_one_token_and_holds_the_rest_is_no_stream() {
    let held = |fault: &str, client: &str| {
        let found = of(&cells(&one(fault)), client).findings.clone();
        found.into_iter().find(|f| f.reason.as_ref().is_some_and(|r| r.as_str() == "held_to_the_end"))
    };
    let clients = ["python-1.58.2", "typescript-1.39.0", "browser-1.20.0", "browser-session"];
    for client in clients {
        let found = held("kind = \"buffer\"\nuntil = \"turn\"\nat = \"token 2\"", client);
        let found = found.unwrap_or_else(|| panic!("{client}"));
        assert_eq!(found.verdict, Verdict::NotStreamed, "{client}: {}", found.note);
        assert!(found.note.ends_with("were held back and came together at the end"), "{}", found.note);
    }
    for neighbour in [
        // Half of it was shown as it was made.
        "kind = \"buffer\"\nuntil = \"turn\"\nat = \"token 20\"",
        // It lets go while the model still streams; it clusters; every frame is late, and by as much as the next.
        "kind = \"stall\"\nfor = \"3s\"\nat = \"token 2\"",
        "kind = \"stall\"\nfor = \"20s\"\nat = \"token 2\"",
        "kind = \"buffer\"\nfor = \"500ms\"",
        "kind = \"delay\"\nlane = \"deltas\"\nfor = \"2s\"",
        // A reader that is slower than the model all the time.
        "kind = \"slow\"\nbytes_per_s = 1000",
    ] {
        for client in clients {
            let found = held(neighbour, client);
            assert_eq!(found, None, "{client}: {neighbour}");
        }
    }
    // A model that thinks after its first word, and then says the rest at once, has held nothing back.
    let thinks = file(&one("kind = \"fragment\"\nbytes = 64"));
    let text = std::fs::read_to_string(&thinks.1).unwrap();
    let tokens = "tokens = [{ text = \"Well, \" }, { text = \"the \", stall_s = 9 }, { text = \"answer \", repeat = 30 }]";
    let text = text.replace("rate = 6.5", "rate = 200").replace("generate = { count = 40 }", tokens);
    std::fs::write(&thinks.1, text).unwrap();
    let plan = Plan::of(
        &[thinks.1.to_str().unwrap().to_owned()],
        &Selection::default(),
        &Catalogue::embedded().unwrap(),
    );
    let run = run(&plan.unwrap(), 1, 2);
    for client in clients {
        assert_eq!(worst(&run, client).verdict, Verdict::Delivered, "{client}: {}", worst(&run, client).note);
    }
}

#[test]
fn faults_of_one_moment_come_in_the_order_of_the_file_in_every_run() {
    let body = one("kind = \"restart\"\nat = \"token 10\"")
        + &one("kind = \"close\"\ncode = 1001\nat = \"token 10\"");
    let first = cells(&body);
    for _ in 0..8 {
        assert_eq!(cells(&body).digest, first.digest);
    }
    // Nobody is there to be closed any more.
    assert!(first.cells.iter().all(|cell| cell.verdict == Verdict::NotRun), "{:?}", first.totals);
}

#[test]
fn what_meets_nothing_has_not_come() {
    for body in [
        "kind = \"handshake\"\nfor = \"150s\"\nat = \"token 10\"",
        "kind = \"refuse\"\nstatus = 503\nat = \"token 10\"",
        "kind = \"fail_append\"\nafter = \"turn\"",
        "kind = \"reorder\"\nat = \"token 40\"",
        "kind = \"replay_deltas\"\ncount = 3",
        "kind = \"no_pong\"",
    ] {
        let run = cells(&one(body));
        // The library of the Python clients pings by itself, while the cell waits for its webhooks too.
        let pings = |cell: &&CellResult| body.contains("no_pong") && cell.client.starts_with("python");
        for cell in run.cells.iter().filter(|cell| !pings(cell)) {
            assert_eq!(cell.verdict, Verdict::NotRun, "{body}: {} {}", cell.client, cell.findings[0].note);
        }
    }
    // One of two that would end the turn at the same chunk is the end of it.
    let both = one("kind = \"cancel\"\nat = \"token 10\"") + &one("kind = \"retry\"\nat = \"token 10\"");
    assert!(cells(&both).cells.iter().all(|cell| cell.verdict == Verdict::NotRun));
}

#[test]
fn what_is_held_back_is_waited_for() {
    let run = cells(&one("kind = \"delay\"\nlane = \"deltas\"\nfor = \"200s\""));
    assert_eq!(worst(&run, "typescript-1.39.0").verdict, Verdict::Late);
    let run = cells(&one("kind = \"buffer\"\nfor = \"200s\"\nat = \"token 1\""));
    assert_eq!(worst(&run, "typescript-1.39.0").verdict, Verdict::NotStreamed);
}

#[test]
fn a_tool_call_in_mid_stream_splits_the_answer_and_loses_none_of_it() {
    let run = cells(&one("kind = \"tool\"\nname = \"terminal\"\nat = \"token 10\""));
    for cell in &run.cells {
        assert_eq!(
            cell.findings[0].verdict,
            Verdict::Delivered,
            "{}: {}",
            cell.client,
            cell.findings[0].note
        );
    }
}

#[test]
fn a_refused_upgrade_is_tried_again() {
    let run = cells(&one("kind = \"refuse\"\nstatus = 503\ntimes = 2"));
    assert_eq!(
        worst(&run, "python-1.58.2").verdict,
        Verdict::Delivered,
        "it is ready before its application goes on"
    );
    let late = worst(&run, "typescript-1.39.0");
    assert_eq!((late.verdict, late.scope), (Verdict::SilentLoss, Some(Scope::Prefix)), "{}", late.note);
}

#[test]
fn durable_events_out_of_order_move_no_cursor_past_a_gap() {
    // The first event of the turn comes behind the others, and then the connection breaks.
    let body = one("kind = \"delay\"\nlane = \"durables\"\ntimes = 1\nfor = \"3s\"")
        + &one("kind = \"abort\"\nat = \"token 10\"");
    let run = cells(&body);
    let durables = &of(&run, "browser-session").durables;
    assert!(
        durables.reply && durables.rejected.is_empty(),
        "what fell into the gap is asked for again: {durables:?}"
    );
    assert_eq!(durables.accepted, durables.due);
}

#[test]
fn a_frame_over_the_limit_of_a_client_ends_its_connection() {
    let run = cells(&one("kind = \"inject\"\nbytes = 2_000_000\nat = \"token 10\""));
    let old = worst(&run, "python-1.34.0");
    assert_eq!(
        (old.verdict, old.scope),
        (Verdict::SilentLoss, Some(Scope::Tail)),
        "1009, and deaf: {}",
        old.note
    );
    let new = worst(&run, "python-1.58.2");
    assert_eq!(
        (new.verdict, new.scope),
        (Verdict::SilentLoss, Some(Scope::Gap)),
        "1009, and back: {}",
        new.note
    );
    for client in ["typescript-1.39.0", "browser-1.20.0", "browser-session"] {
        assert_eq!(worst(&run, client).verdict, Verdict::Delivered, "{client} has no limit");
    }
}

#[test]
fn a_frame_over_the_limit_of_the_session_socket_ends_it_again_and_again() {
    let run = cells(&one("kind = \"say\"\nbytes = 5_000_000\nrun = false\nat = \"token 10\""));
    let session = of(&run, "browser-session");
    assert_eq!(worst(&run, "browser-session").verdict, Verdict::DurableLoss);
    assert!(session.surfaced.iter().any(|what| what.contains("1013")), "{:?}", session.surfaced);
    // The legacy socket delivers it.
    assert!(of(&run, "typescript-1.39.0").durables.rejected.is_empty());
}

#[test]
fn a_fault_that_never_comes_is_a_cell_that_did_not_run() {
    for body in [
        "kind = \"abort\"\nat = \"token 41\"",
        "kind = \"lifetime\"\nevery = \"2h\"",
        "kind = \"reorder\"\nat = \"token 99\"",
    ] {
        let run = cells(&one(body));
        for cell in &run.cells {
            let found = &cell.findings[0];
            assert_eq!(found.verdict, Verdict::NotRun, "{body}: {}", cell.client);
            assert_eq!(found.reason.as_ref().map(Reason::as_str), Some("fault_never_fired"), "{body}");
        }
    }
    let (_dir, path) = file(&one("kind = \"abort\"\nat = \"token 41\""));
    let (code, ..) = ended(&mut skewlab(&["matrix", path.to_str().unwrap()]));
    assert_eq!(code, 13);
}

#[test]
fn the_same_seed_gives_the_same_run_whatever_goes_wrong() {
    let body = one("kind = \"lifetime\"\nevery = \"900ms\"")
        + &one("kind = \"duplicate\"\nevery = 7")
        + &one("kind = \"say\"\nat = \"token 20\"");
    assert_eq!(cells(&body).digest, cells(&body).digest);
}

#[test]
fn bad_faults_are_refused_at_their_place() {
    for (body, why) in [
        ("kind = \"clsoe\"", "did you mean `close`?"),
        ("kind = \"close\"\nat = \"token 3\"", "lacks `code`"),
        ("kind = \"close\"\ncode = 99\nat = \"token 3\"", "a whole number from 1000 to 4999"),
        ("kind = \"close\"\ncode = 1011", "needs a moment"),
        ("kind = \"abort\"\nat = \"token forty\"", "`token forty` is no moment of a fault"),
        ("kind = \"abort\"\nat = \"soon\"", "a time such as `12s`"),
        ("kind = \"abort\"\nafter = \"repyl\"", "did you mean `reply`?"),
        ("kind = \"abort\"\nat = \"1s\"\nafter = \"reply\"", "a fault has one moment"),
        (
            "kind = \"abort\"\nhop = \"decoded\"\nat = \"1s\"",
            "cannot be at hop `decoded`; it sits at `received`",
        ),
        ("kind = \"abort\"\nhop = \"appended\"\nat = \"1s\"", "`appended` is no hop"),
        ("kind = \"late\"\nafter = \"reply\"", "it takes `at`, and no `after`"),
        ("kind = \"say\"\nat = \"1s\"\nsubscriber = 1", "takes no `subscriber`"),
        ("kind = \"abort\"\nat = \"1s\"\nsubscriber = 2", "a whole number from 1 to 1"),
        ("kind = \"slow\"\nbytes_per_s = 0", "a whole number from 1"),
        ("kind = \"buffer\"", "takes one of `bytes`, `for` and `until"),
        ("kind = \"swap\"\nserver = \"1.58.3\"\nat = \"1s\"", "1.58.3"),
        ("kind = \"abort\"\nat = \"1s\"\ncode = 1", "has no key `code`"),
        ("kind = \"join\"", "a subscriber that comes at once is no fault"),
        ("kind = \"abort\"", "nobody is connected at the start"),
        ("kind = \"abort\"\nat = \"1s\"\nby = \"2s\"", "takes `by` beside `after` only"),
        ("kind = \"close\"\ncode = 1006\nat = \"1s\"", "a code that an endpoint may send"),
        ("kind = \"silence\"\nfor = \"0s\"\nat = \"1s\"", "a time above 0"),
        ("kind = \"slow_sink\"\nfor = \"10s\"", "lacks `latency`"),
        (
            "kind = \"slow\"\nbytes_per_s = 100\nat = \"1s\"\n[[fault.f]]\nkind = \"slow\"\nbytes_per_s = 200\nat = \"1000ms\"",
            "a fault of kind `slow` stands twice at 1s",
        ),
        (
            "kind = \"buffer\"\nbytes = 9\nsubscriber = 1\n[[fault.f]]\nkind = \"buffer\"\nfor = \"1s\"",
            "`buffer` stands twice at start",
        ),
        (
            "kind = \"lifetime\"\nevery = \"1s\"\n[[fault.f]]\nkind = \"lifetime\"\nevery = \"2s\"",
            "`lifetime` stands twice",
        ),
        (
            "kind = \"fragment\"\nbytes = 1\n[[fault.f]]\nkind = \"fragment\"\nbytes = 2",
            "`fragment` stands twice",
        ),
        (
            "kind = \"slow_sink\"\nlatency = \"1s\"\n[[fault.f]]\nkind = \"slow_sink\"\nlatency = \"2s\"",
            "`slow_sink` stands twice",
        ),
    ] {
        let (_dir, path) = file(&one(body));
        let (code, out, err) = ended(&mut skewlab(&["matrix", path.to_str().unwrap()]));
        assert_eq!((code, out.as_str()), (2, ""), "{body}");
        assert!(err.contains(why), "{body}\n{err}");
        assert!(err.contains("s.toml:"), "{body}: the place is named\n{err}");
    }
}

#[test]
fn a_list_of_faults_that_names_none_of_the_file_is_refused() {
    let (_dir, path) = file("\n[[fault.other]]\nkind = \"abort\"\nat = \"1s\"\n");
    let (code, _, err) = ended(&mut skewlab(&["matrix", path.to_str().unwrap()]));
    assert_eq!(code, 2);
    assert!(err.contains("`f` is no fault of this file"), "{err}");
}
