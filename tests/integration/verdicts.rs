//! Verdicts that take a fault in time, or time itself, end to end: each beside healthy neighbours.

use skewlab::record::{CellResult, Hop, Reason, Scope, Signal, Verdict};

use crate::bent::{self, Bent};

fn found(cell: &CellResult) -> Vec<Verdict> {
    cell.findings.iter().map(|finding| finding.verdict).collect()
}

fn why(cell: &CellResult) -> &str {
    cell.reason.as_ref().map_or("", Reason::as_str)
}

#[test]
fn order_is_one_thing_and_text_another() {
    let cell = bent::swapped().is(Verdict::Reordered);
    assert_eq!((found(&cell), why(&cell)), (vec![Verdict::Reordered], "order_changed"));
    assert_eq!(cell.produced, cell.delivered);
    bent::swapped().quiet().is(Verdict::Delivered);
    // A whole bubble of reasoning before the text is in order.
    bent::short().with("browser-1.20.0").is(Verdict::Delivered);
}

#[test]
fn a_delta_after_its_reply_is_late_for_callbacks_and_a_second_bubble_for_a_person() {
    let cell = bent::late().is(Verdict::Late);
    assert_eq!((found(&cell), cell.findings[0].amount.chars), (vec![Verdict::Late], 4), "`two `");
    assert_eq!(cell.signal, Signal::None);
    // The canvas shows what came late below the reply that has it already.
    let canvas = bent::late().with("browser-1.20.0").ends(Verdict::Late).0;
    assert_eq!(found(&canvas), [Verdict::Duplicated, Verdict::Late], "{:?}", canvas.findings);
    // The session socket has no slot for it any more: it is lost, and cannot be late.
    let session = bent::late().with("browser-session").is(Verdict::SilentLoss);
    assert_eq!((session.lost_at, why(&session)), (Some(Hop::Admitted), "no_open_slot"));
    // A delta that is delayed for less than the rest of the turn is in time, and only out of order.
    let delayed = bent::late().but(&["kind = \"delay\"\nlane = \"durables\"\nfor = \"1s\""]);
    delayed.is(Verdict::Delivered);
    bent::late().but(&["kind = \"delay\"\nlane = \"deltas\"\nfor = \"1s\""]).is(Verdict::Late);
}

#[test]
fn what_a_proxy_holds_back_to_the_end_was_not_streamed() {
    for client in ["python-1.58.2", "browser-1.20.0", "typescript-1.39.0"] {
        let cell = bent::held().with(client).is(Verdict::NotStreamed);
        assert_eq!((found(&cell), why(&cell)), (vec![Verdict::NotStreamed], "held_to_the_end"));
        assert_eq!(cell.delivered.chars, cell.due.chars, "{client}: all of it came");
    }
    // Nagle's 40 ms, and a proxy that lets go of a few hundred bytes.
    for faults in [&["kind = \"buffer\"\nfor = \"40ms\""], &["kind = \"buffer\"\nbytes = 400"]] {
        bent::held().but(faults).is(Verdict::Delivered);
    }
    // A model that thinks for a minute before its first word.
    let slow = bent::short().workload.replace("{ text = \"one \" }", "{ text = \"one \", stall_s = 60 }");
    let thinks = Bent { workload: slow.replace("{ reasoning = \"hmm \" }, ", ""), ..bent::short() };
    thinks.is(Verdict::Delivered);
    // A person who sees no delta at all has lost them.
    bent::held().with("browser-1.0.0-alpha.10").is(Verdict::ByDesign);
}

#[test]
fn a_bus_that_waits_for_each_in_turn_stalls_the_healthy_ones() {
    let cell = bent::neighbours().is(Verdict::Stalled);
    assert_eq!((found(&cell), why(&cell)), (vec![Verdict::Stalled], "peer_stalled"));
    assert!(
        cell.findings[0].note.ends_with("so 1 of 2 clients, this is number 2"),
        "{}",
        cell.findings[0].note
    );
    bent::neighbours().quiet().is(Verdict::Delivered);
    // From 1.22.1 on nobody waits for another one.
    for server in ["1.22.1", "1.43.1", "1.58.2"] {
        bent::neighbours().on(server).is(Verdict::Delivered);
    }
    // With everybody stalled there is no healthy one to be held up.
    let all = bent::neighbours().but(&["kind = \"stall\"\nfor = \"3s\"\nat = \"token 5\""]);
    assert!(!found(&all.ends(Verdict::Delivered).0).contains(&Verdict::Stalled));
    // So is the mutant: a newer release with the bus of the old one.
    let mutant = Bent { tables: "[traits.bus]\nfan_out = \"sequential\"", ..bent::neighbours().on("1.58.2") };
    mutant.is(Verdict::Stalled);
}

#[test]
fn a_legacy_socket_lets_frames_pile_up_and_a_session_socket_closes() {
    let cell = bent::piled().is(Verdict::Unbounded);
    let queue = cell.queue.as_ref().unwrap();
    assert!(queue.peak_frames >= 1_000 && queue.limit_bytes.is_none() && queue.closed.is_none(), "{queue:?}");
    assert_eq!(
        (found(&cell), queue.at_close_frames),
        (vec![Verdict::Unbounded], 0),
        "it reads on, and gets it all"
    );
    bent::piled().quiet().is(Verdict::Delivered);
    // A queue that stays short.
    let few = Bent { workload: "rate = 1000\ngenerate = { count = 1500 }".to_owned(), ..bent::piled() };
    few.is(Verdict::Delivered);
    // The session socket gives the connection up at its budget: that is a loss, and somebody is told.
    let tokens = format!("rate = 10\ntokens = [{{ text = \"{}\", repeat = 18 }}]", "y".repeat(1_000_000));
    let heavy = Bent { workload: tokens, client: "browser-session", ..bent::piled() };
    let heavy = heavy.but(&["kind = \"stall\"\nfor = \"10s\"\nat = \"token 2\""]);
    let session = heavy.is(Verdict::DurableLoss);
    assert_eq!(found(&session), [Verdict::DurableLoss, Verdict::LoudLoss], "{:?}", session.findings);
    let queue = session.queue.unwrap();
    assert_eq!(queue.closed.as_deref(), Some("1013 slow_consumer"));
    assert_eq!(queue.limit_bytes, Some(16 * 1024 * 1024));
    assert!(queue.at_close_frames >= 10 && queue.peak_bytes <= 16 * 1024 * 1024, "{queue:?}");
    // The legacy socket keeps all of it.
    let (legacy, _) = heavy.with("python-1.58.2").ends(Verdict::Unbounded);
    assert!(found(&legacy).contains(&Verdict::Unbounded) && legacy.queue.unwrap().peak_bytes > 8 << 20);
}

#[test]
fn a_channel_without_a_bound_fills_up_behind_a_slow_callback() {
    let cell = bent::crowded().is(Verdict::Unbounded);
    assert_eq!((found(&cell), why(&cell)), (vec![Verdict::Unbounded], "no_limit_in_client"));
    let queue = cell.receive_queue.as_ref().unwrap();
    // Every second frame of 2,500 waits when the last one comes, and the few of the reply behind them.
    assert!((1_250..1_270).contains(&queue.peak_frames), "{queue:?}");
    assert_eq!((queue.at_close_frames, queue.limit_frames), (0, None), "it takes them all in the end");
    assert!(cell.queue.is_none(), "nothing waits in the server: {:?}", cell.queue);
    // Nobody says how long the callback takes: nothing waits anywhere.
    let quick = bent::crowded().with("typescript-1.39.0").is(Verdict::Delivered);
    assert!(quick.receive_queue.is_none() && quick.queue.is_none());
    // A channel that does not grow so far, one with a bound, and a callback that takes all that wait at once.
    let shorter = Bent { workload: "rate = 20\ngenerate = { count = 1900 }".to_owned(), ..bent::crowded() };
    let shorter = shorter.is(Verdict::Delivered).receive_queue.unwrap();
    assert!((950..970).contains(&shorter.peak_frames), "{shorter:?}");
    let bounded = bent::crowded().with("typescript-1.39.0+bounded-channel").is(Verdict::Delivered);
    let queue = bounded.receive_queue.unwrap();
    assert_eq!((queue.peak_frames, queue.limit_frames), (64, Some(64)));
    let batched = bent::crowded().with("typescript-1.39.0+batched-callback").is(Verdict::Delivered);
    assert!(batched.receive_queue.unwrap().peak_frames < 10);
}

#[test]
fn what_a_slow_client_does_not_read_waits_in_the_server() {
    // A pipe holds 256 KiB, and so four of these tokens. The reply is as long as all of them together: below 8 MiB.
    let heavy = format!("rate = 200\ntokens = [{{ text = \"{}\", repeat = 120 }}]", "word ".repeat(12_000));
    for client in ["typescript-1.39.0+slow-callback", "typescript-1.39.0+bounded-channel"] {
        let heavy = Bent { workload: heavy.clone(), client, ..bent::crowded() };
        let cell = heavy.is(Verdict::Unbounded);
        assert_eq!((found(&cell), why(&cell)), (vec![Verdict::Unbounded], "no_limit"), "{client}");
        assert!(cell.queue.unwrap().peak_bytes > 8 << 20, "{client}");
    }
    // Where nothing is in its way, the same waits in the client.
    let cell = Bent { workload: heavy, ..bent::crowded() }.is(Verdict::Unbounded);
    assert_eq!(why(&cell), "no_limit_in_client");
    assert!(cell.receive_queue.as_ref().unwrap().peak_bytes > 8 << 20);
    assert_eq!(found(&cell), [Verdict::Unbounded], "{:?}", cell.findings);
}

#[test]
fn a_callback_that_holds_up_its_loop_holds_up_its_pings_as_well() {
    // Run on 1.58.2: 2,500 deltas at 20 a second, 0.1 s for each, over 255 s. The connection lived through it, with pings every 20 s
    // and frames that waited for two minutes.
    let cell = bent::crowded().with("python-1.58.2+slow-callback").is(Verdict::Delivered);
    assert_eq!((cell.delivered.frames, cell.signal), (2_500, Signal::None));
    assert!(cell.log.is_empty() && cell.queue.is_none(), "{:?} {:?}", cell.log, cell.queue);
}

#[test]
fn a_connection_that_ends_takes_nothing_from_who_has_read_it() {
    let abort = |client| Bent {
        client,
        workload: "rate = 20\ngenerate = { count = 100 }".to_owned(),
        faults: &["kind = \"abort\"\nat = \"token 60\""],
        ..bent::crowded()
    };
    // Thirty deltas wait in the client by then. It takes them all before it is told of the end, and what comes meanwhile is lost.
    let (cell, _) = abort("typescript-1.39.0+unbounded-channel").ends(Verdict::LoudLoss);
    let queue = cell.receive_queue.as_ref().unwrap();
    assert!((25..40).contains(&queue.at_close_frames), "{queue:?}");
    let (quick, _) = abort("typescript-1.39.0").ends(Verdict::LoudLoss);
    assert!(
        quick.delivered.frames > cell.delivered.frames && cell.delivered.frames >= 55,
        "{:?}",
        cell.delivered
    );
    // One that reads nothing while it is busy loses what is still on the wire.
    let (cell, _) = abort("typescript-1.39.0+slow-callback").ends(Verdict::LoudLoss);
    assert!(cell.delivered.frames < 40, "{:?}", cell.delivered);
}

#[test]
fn a_server_that_forgets_its_clock_while_it_streams_is_reaped() {
    let cell = bent::long().is(Verdict::Reaped);
    assert_eq!((found(&cell)[0], why(&cell)), (Verdict::Reaped, "looked_idle"));
    assert!(cell.produced.frames < 2_400 && cell.produced.frames > 1_100, "{:?}", cell.produced);
    assert!(cell.findings[0].note.starts_with("12"), "{}", cell.findings[0].note);
    for server in ["1.43.1", "1.44.0", "1.45.0", "1.58.2"] {
        let cell = bent::long().on(server).is(Verdict::Delivered);
        assert_eq!(cell.produced.frames, 2_400, "{server}");
    }
    // Nobody asks, or somebody with more patience.
    Bent { tables: "", ..bent::long() }.is(Verdict::Delivered);
    Bent { tables: "[runtime]\nreap_after_s = 3000", ..bent::long() }.is(Verdict::Delivered);
    Bent { tables: "[runtime]\nreap_after_s = 60\npoll_s = 5", ..bent::long() }.is(Verdict::Reaped);
}

#[test]
fn an_announced_event_that_no_log_has_makes_two_sources_of_one_turn() {
    let failing = bent::short().but(&["kind = \"fail_append\"\nat = \"token 3\""]);
    let cell = failing.on("1.43.1").is(Verdict::Divergent);
    assert_eq!(cell.findings[0].amount.frames, 1, "{:?}", cell.findings);
    assert!(cell.findings[0].note.contains("`live feed` and `log`"), "{}", cell.findings[0].note);
    let (after, _) = failing.ends(Verdict::Delivered);
    assert!(
        !found(&after).contains(&Verdict::Divergent),
        "from 1.45.0 on it is appended first: {:?}",
        after.findings
    );
}

/// Every part of the text that can be missing, each by what does it to people.
#[test]
fn every_scope_of_loss_has_a_fault_that_makes_it() {
    let lost = |faults: &'static [&'static str], client: &'static str, server: &'static str| {
        let cell = bent::short().but(faults).with(client).on(server).ends(Verdict::SilentLoss).0;
        assert!(
            matches!(cell.verdict, Verdict::SilentLoss | Verdict::LoudLoss | Verdict::DurableLoss),
            "{:?}",
            cell.findings
        );
        let loss =
            cell.findings.iter().find(|f| matches!(f.verdict, Verdict::SilentLoss | Verdict::LoudLoss));
        let loss = loss.unwrap_or_else(|| panic!("{:?}", cell.findings)).clone();
        assert!(cell.findings.iter().all(|f| f.verdict != Verdict::Invalid));
        loss.scope
    };
    // Who comes late has missed the beginning.
    assert_eq!(lost(&["kind = \"join\"\nat = \"token 4\""], "python-1.58.2", "1.58.2"), Some(Scope::Prefix));
    // Who was away for a while has missed what streamed then: deltas are never sent again.
    assert_eq!(lost(&["kind = \"abort\"\nat = \"token 4\""], "python-1.58.2", "1.58.2"), Some(Scope::Gap));
    // A client of before 1.35.0 does not come back.
    assert_eq!(lost(&["kind = \"abort\"\nat = \"token 4\""], "python-1.34.0", "1.34.0"), Some(Scope::Tail));
    // Who is refused from the beginning has nothing.
    let refused = &["kind = \"refuse\"\nstatus = 503\ntimes = 1000"];
    assert_eq!(lost(refused, "python-1.58.2", "1.58.2"), Some(Scope::Total));
    // Who was away twice has two holes.
    let twice = Bent { workload: "rate = 5\ngenerate = { count = 40 }".to_owned(), ..bent::short() };
    let twice = twice.but(&["kind = \"abort\"\nat = \"token 5\"", "kind = \"abort\"\nat = \"token 25\""]);
    let cell = twice.ends(Verdict::SilentLoss).0;
    assert_eq!(cell.scope, Some(Scope::Scattered), "{:?}", cell.findings);
    // Who comes when the thinking is over has the text, and no reasoning.
    let bent = bent::short().but(&["kind = \"join\"\nat = \"token 2\""]);
    let cell = bent.ends(Verdict::SilentLoss).0;
    assert_eq!(cell.findings[0].scope, Some(Scope::Class), "{:?}", cell.findings);
    assert!(cell.findings[0].note.contains("no reasoning"), "{:?}", cell.findings);
    bent::short().is(Verdict::Delivered);
}
