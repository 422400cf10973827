//! The claims of the facts' table (`session-feed.md` section 3), each by its row, on one thread and without files.

use super::*;
use crate::record::{Class, Figure as F, Hop, Reason, Signal};
use crate::session_feed::chunk::BlockKind;
use crate::session_feed::profile::Variants;
use crate::session_feed::script::Shape;
use crate::session_feed::store::FlushPolicy as P;

const ALL: [&str; 4] = ["mirrored", "mirror-removed", "transient-only", "embedded"];

fn seven() -> Script {
    Script::of("hi", &[(BlockKind::Text, "h"), (BlockKind::Text, "e"), (BlockKind::Text, "y")], 50.0)
}

/// Thirty pieces, reasoning first: 37 chunks.
fn chat() -> Script {
    let words: Vec<String> = (0..30).map(|n| format!("w{n} ")).collect();
    let pieces: Vec<(BlockKind, &str)> = words
        .iter()
        .enumerate()
        .map(|(n, w)| (if n < 10 { BlockKind::Reasoning } else { BlockKind::Text }, w.as_str()))
        .collect();
    Script::of("hi", &pieces, 50.0)
}

struct Run<'a> {
    variant: &'a str,
    laid: &'a str,
    consumer: Consumer,
    script: Script,
    fault: &'a str,
    policy: P,
    packed: bool,
    listeners: Listeners,
    sessions: u32,
}

impl Default for Run<'_> {
    fn default() -> Self {
        let listeners = Listeners::default();
        Run {
            variant: "mirrored",
            laid: "",
            consumer: Consumer::Persistence,
            script: chat(),
            fault: "none",
            policy: P::TurnEnd,
            packed: false,
            listeners,
            sessions: 1,
        }
    }
}

impl Run<'_> {
    fn with<T>(&self, look: impl FnOnce(&Plan<'_>) -> T) -> T {
        let variant = Variants::embedded().unwrap().with(self.variant, &self.laid.parse().unwrap()).unwrap();
        look(&Plan {
            variant: &variant,
            consumer: self.consumer,
            script: &self.script,
            fault: self.fault.parse().unwrap(),
            policy: self.policy,
            packed: self.packed,
            listeners: self.listeners,
            sessions: self.sessions,
        })
    }

    fn play(&self) -> Played {
        let played = self.with(play);
        assert_eq!(played.rig_faults, Vec::<String>::new());
        let books = played.trace.settle();
        let what = format!("{} {} {}", self.variant, self.consumer, self.fault);
        assert_eq!(books.faults, Vec::<String>::new(), "{what}");
        // What left the last hop is what the consumer got, character by character.
        if played.streams {
            for class in [Class::Text, Class::Reasoning] {
                let left = books.flows[&class].last().unwrap().left.chars;
                let got: usize = played
                    .delivered
                    .iter()
                    .filter(|p| p.class == class)
                    .map(|p| p.text.chars().count())
                    .sum();
                assert_eq!(left, got as u64, "{what} {class:?}");
            }
        }
        played
    }

    fn figure(&self, figure: F) -> u64 {
        self.play().figures[&figure]
    }
}

fn on(variant: &str) -> Run<'_> {
    Run { variant, ..Run::default() }
}

fn text(played: &Played) -> String {
    played.delivered.iter().map(|p| p.text.as_str()).collect()
}

fn stops(played: &Played) -> Vec<(Hop, Reason)> {
    let mut stops: Vec<(Hop, Reason)> =
        played.trace.stopped.iter().map(|((_, h), r)| (*h, r.clone())).collect();
    stops.sort();
    stops.dedup();
    stops
}

#[test]
fn row_1_dispatches_and_callbacks_a_chunk() {
    let c = chat().chunks().count() as u64;
    // The store is one listener of the log beside the plain ones.
    let listeners = Listeners { log: 2, live: 3 };
    let cases = [
        ("mirrored", 2, 3 + 3, 0),
        ("mirror-removed", 1, 3, 0),
        ("transient-only", 1, 3, 0),
        ("embedded", 1, 3, 2),
    ];
    for (variant, dispatches, callbacks, frames) in cases {
        let figures = Run { listeners, ..on(variant) }.play().figures;
        assert_eq!(figures[&F::ChunkDispatches], dispatches * c, "{variant}");
        assert_eq!(figures[&F::ChunkCallbacks], callbacks * c, "{variant}");
        assert_eq!(figures[&F::FrameDispatches], frames, "{variant}");
        assert_eq!(figures[&F::InternalDispatches], figures[&F::Dispatches], "{variant}");
    }
}

#[test]
fn row_2_dispatches_a_run() {
    let dispatches = |variant: &str, script: Script| Run { script, ..on(variant) }.figure(F::Dispatches);
    assert_eq!([dispatches("mirrored", seven()), dispatches("mirror-removed", seven())], [20, 13]);
    let fixtures = [(2098, 2017, 12, 4), (813, 746, 7, 4), (104, 93, 2, 1), (188, 172, 3, 1)];
    for (events, chunks, steps, texts) in fixtures {
        let script = || Script::shaped("hi", Shape { events, chunks, steps, texts }, 1000.0).unwrap();
        let (n, c) = (u64::from(events), u64::from(chunks));
        assert_eq!(dispatches("mirrored", script()), n + c);
        assert_eq!(dispatches("mirror-removed", script()), n);
    }
}

#[test]
fn row_3_the_mirror_costs_nothing_on_disk() {
    let bytes = |variant: &str| on(variant).with(stored_bytes);
    assert_eq!(bytes("mirrored"), bytes("mirror-removed"));
    let chunks = |variant: &str| on(variant).figure(F::LogChunks);
    let c = chat().chunks().count() as u64;
    assert_eq!(ALL.map(chunks), [c, c, 0, 0]);
    assert_eq!(on("embedded").figure(F::DurableChunks), c);
}

#[test]
fn row_4_forwarding_both_feeds_costs_about_twice() {
    let bytes = |variant: &str| on(variant).figure(F::ForwardedBytes);
    let (mirrored, removed) = (bytes("mirrored"), bytes("mirror-removed"));
    assert!((removed * 18 / 10..=removed * 2).contains(&mirrored), "{mirrored} {removed}");
}

#[test]
fn row_5_and_7_feeds_are_equal_on_a_synchronous_bus_and_drift_in_bounded_queues() {
    let divergent =
        |variant: &str, fault: &'static str| Run { fault, ..on(variant) }.figure(F::DivergentChunks);
    assert_eq!(divergent("mirrored", "none"), 0);
    assert_eq!(divergent("mirrored", "queued"), 0, "queues without a bound lose nothing");
    assert!(divergent("mirrored", "queued:4") > 0);
    assert_eq!(divergent("mirror-removed", "queued:4"), 0);
    let one = Run { fault: "queued:4", consumer: Consumer::MigratedPlugin, ..on("mirror-removed") }.play();
    assert!(one.figures[&F::SeqGaps] > 0, "one cursor, and the hole can be seen");
    assert_eq!(stops(&one), [(Hop::Handled, Reason::new("queue_full"))]);
}

/// A chunk that begins a block, or ends a stream, has no text and is a chunk all the same.
#[test]
fn row_5b_the_accounts_of_two_feeds_tell_any_chunk_apart() {
    let c = chat().chunks().count() as u64;
    for (laid, fault, divergent) in [
        ("", "none", 0),
        ("", "kill-between@1", 1),
        ("", "log-listener-throws@1", 1),
        ("[live]\nforget_every = 36", "none", 1),
        ("", "queued:4", u64::MAX),
    ] {
        let played = Run { laid, fault, ..on("mirrored") }.play();
        let accounts = played.accounts.iter().find(|a| a.names == ["log feed", "live feed"]).unwrap();
        let apart = accounts.texts[0] != accounts.texts[1];
        let figure = played.figures[&F::DivergentChunks];
        assert_eq!(apart, figure > 0, "{laid} {fault}");
        assert!(figure == divergent || (divergent == u64::MAX && figure > 0), "{laid} {fault}: {figure}");
        assert!(accounts.texts[0].lines().count() as u64 <= c && accounts.chunks);
    }
}

#[test]
fn row_7b_two_queues_that_drop_the_same_are_not_apart_and_what_they_dropped_is_counted() {
    let run = |variant, fault, sessions| Run { variant, fault, sessions, ..Run::default() }.play().figures;
    for sessions in [1, 5] {
        for variant in ["mirrored", "mirror-removed"] {
            assert!(run(variant, "queued:4", sessions)[&F::DroppedChunks] > 0, "{variant}");
            assert_eq!(run(variant, "queued", sessions)[&F::DroppedChunks], 0, "{variant}");
            assert_eq!(run(variant, "none", sessions)[&F::DroppedChunks], 0, "{variant}");
        }
    }
    // Five sessions keep either queue full all the time, and it is the same chunks that stay.
    let crowd = run("mirrored", "queued:4", 5);
    assert!(crowd[&F::DroppedChunks] > crowd[&F::DivergentChunks], "{crowd:?}");
}

/// Row 24: a change that reaches one of two schemas, and nobody is told.
#[test]
fn row_24_what_one_of_two_feeds_forgets_is_divergent_without_a_sound() {
    let laid = "[live]\nforget_every = 5";
    let c = chat().chunks().count() as u64;
    let played = Run { laid, consumer: Consumer::StalePlugin, ..on("mirrored") }.play();
    assert!(played.completed && played.signal == Signal::None && played.log.is_empty());
    assert_eq!(played.figures[&F::DivergentChunks], c / 5);
    assert_eq!(stops(&played), [(Hop::Emitted, Reason::new("forgotten"))]);
    let one_feed = Run { laid, consumer: Consumer::Renderer, ..on("mirror-removed") }.play();
    assert_eq!((one_feed.figures[&F::DivergentChunks], one_feed.figures[&F::HandledChunks]), (0, c));
}

#[test]
fn row_6_faults_between_the_two_lines() {
    let run = |variant, laid, fault| Run { variant, laid, fault, ..Run::default() }.play();
    let contained = "[bus]\ncontained = true";
    for fault in ["log-listener-throws@9", "live-listener-throws@9"] {
        let thrown = run("mirrored", "", fault);
        assert!(!thrown.completed && thrown.signal == Signal::Surfaced, "{fault}");
        assert_eq!(thrown.figures[&F::LogChunks], 9);
        assert_eq!(thrown.figures[&F::DivergentChunks], u64::from(fault.starts_with("log")), "{fault}");
        let caught = run("mirrored", contained, fault);
        assert!(caught.completed, "{fault}");
        assert_eq!((caught.figures[&F::DivergentChunks], caught.figures[&F::ContainedThrows]), (0, 1));
    }
    assert_eq!(run("mirrored", "", "kill-between@9").figures[&F::DivergentChunks], 1);
    assert_eq!(run("mirror-removed", "", "kill-between@9").figures[&F::DivergentChunks], 0);
    assert_eq!(run("mirrored", "", "cancel@9").figures[&F::DivergentChunks], 0);
    let stale =
        Run { consumer: Consumer::StalePlugin, fault: "log-listener-throws@9", ..on("mirrored") }.play();
    assert_eq!(stops(&stale), [(Hop::Emitted, Reason::new("listener_threw"))]);
}

#[test]
fn row_8_a_flag_shared_by_two_listeners_is_wrong_only_with_queues() {
    let errors = |variant, fault| {
        Run { variant, fault, consumer: Consumer::Renderer, ..Run::default() }.figure(F::StyleErrors)
    };
    assert_eq!(errors("mirrored", "none"), 0);
    assert!(errors("mirrored", "queued") > 0);
    assert_eq!([errors("mirror-removed", "none"), errors("mirror-removed", "queued")], [0, 0]);
}

#[test]
fn row_9_the_migrated_plugin_gets_every_chunk() {
    let run = |fault| Run { consumer: Consumer::MigratedPlugin, fault, ..on("mirror-removed") }.play();
    let (played, c) = (run("none"), chat().chunks().count() as u64);
    assert_eq!(
        text(&played).len() as u64,
        chat().chunks().filter_map(Chunk::delta).map(|(.., t)| t.len() as u64).sum::<u64>()
    );
    let n = played.figures[&F::Events];
    assert_eq!((played.figures[&F::HandledChunks], played.figures[&F::Filtered]), (c, n - c));
    assert_eq!((played.figures[&F::LookupHits], played.figures[&F::LookupMisses]), (c, 0));
    let disposed = run("dispose@10");
    assert_eq!((disposed.figures[&F::LookupHits], disposed.figures[&F::LookupMisses]), (10, c - 10));
    assert_eq!(stops(&disposed), [(Hop::Handled, Reason::new("agent_gone"))]);
}

#[test]
fn row_10_the_stale_plugin_goes_silent_and_nobody_notices() {
    let run = |variant, consumer| Run { variant, consumer, ..Run::default() }.play();
    for (variant, consumer, hop, reason) in [
        ("mirror-removed", Consumer::StalePlugin, Hop::Emitted, "event_removed"),
        ("embedded", Consumer::StalePlugin, Hop::Emitted, "event_removed"),
        ("embedded", Consumer::MigratedPlugin, Hop::Appended, "embedded"),
        ("embedded", Consumer::AcpPerDelta, Hop::Appended, "embedded"),
        ("transient-only", Consumer::AcpPerDelta, Hop::Appended, "not_persisted"),
    ] {
        let played = run(variant, consumer);
        assert_eq!((played.delivered.len(), played.figures[&F::HandledChunks]), (0, 0));
        assert!(played.completed && played.signal == Signal::None && played.log.is_empty());
        assert_eq!(stops(&played), [(hop, Reason::new(reason))]);
        assert!(played.reply.starts_with("w10 "), "the committed text is whole");
        assert!(played.deltas_at.is_empty());
    }
    assert_eq!(run("mirrored", Consumer::StalePlugin).figures[&F::HandledChunks], 37 - 1);
}

#[test]
fn row_9b_a_plugin_that_appends_breaks_when_it_is_moved() {
    let run =
        |variant, laid| Run { variant, laid, consumer: Consumer::AppendingPlugin, ..Run::default() }.play();
    let c = chat().chunks().count() as u64;
    let mirrored = run("mirrored", "");
    assert_eq!(mirrored.figures[&F::HandledChunks], c);
    let moved = run("mirror-removed", "");
    assert_eq!((moved.figures[&F::HandledChunks], moved.figures[&F::ContainedThrows]), (0, c));
    assert_eq!((moved.signal, moved.completed), (Signal::Log, true));
    assert_eq!(stops(&moved), [(Hop::Handled, Reason::new("append_refused"))]);
    let before = run("mirror-removed", "[bus]\ncontained = false\nreentrant_append = \"allowed\"");
    assert_eq!(before.figures[&F::HandledChunks], c, "at the date of the removal it could");
}

#[test]
fn row_12_late_and_reconnecting_consumers() {
    let run = |variant, consumer| Run { variant, consumer, ..Run::default() }.play();
    let all = text(&run("mirror-removed", Consumer::Renderer));
    for consumer in [Consumer::LateJoiner, Consumer::Reconnecting] {
        for variant in ["mirror-removed", "embedded"] {
            assert_eq!(text(&run(variant, consumer)), all, "{variant} {consumer}");
        }
        for variant in ["mirrored", "transient-only"] {
            let played = run(variant, consumer);
            let c = chat().chunks().count() as u64;
            let missed = if consumer == Consumer::LateJoiner { c / 2 } else { 2 * c / 3 - c / 3 };
            assert_eq!(played.figures[&F::MissedWhileAway], missed, "{variant} {consumer}");
            assert!(text(&played).len() < all.len());
        }
    }
}

/// The stream ends while they are away: with the process still there they come afterwards, and a kill leaves nobody to come to.
#[test]
fn row_12b_who_was_away_when_the_session_ended_catches_up() {
    let run = |variant, consumer, fault| Run { variant, consumer, fault, ..Run::default() }.play();
    for consumer in [Consumer::LateJoiner, Consumer::Reconnecting] {
        for fault in ["cancel@16", "provider-error@16"] {
            let there = run("mirror-removed", Consumer::Renderer, fault);
            let played = run("mirror-removed", consumer, fault);
            assert_eq!(text(&played), text(&there), "{consumer} {fault}");
            assert_eq!(played.figures[&F::MissedWhileAway], 0, "{consumer} {fault}");
            assert_eq!(played.messages_at, there.messages_at, "{consumer} {fault}");
            // A live event is gone, and the prefix of a stream is with the stream.
            for variant in ["mirrored", "transient-only", "embedded"] {
                let missed = run(variant, consumer, fault).figures[&F::MissedWhileAway];
                let from = if consumer == Consumer::LateJoiner { 0 } else { 12 };
                assert_eq!(missed, 16 - from, "{variant} {consumer} {fault}");
            }
        }
        let killed = run("mirror-removed", consumer, "kill@16");
        let from = if consumer == Consumer::LateJoiner { 0 } else { 12 };
        assert_eq!(killed.figures[&F::MissedWhileAway], 16 - from, "{consumer}");
    }
}

#[test]
fn row_12c_nobody_takes_an_event_twice_that_waited_in_a_queue_while_he_caught_up() {
    let all = text(&Run { consumer: Consumer::Renderer, ..on("mirror-removed") }.play());
    let c = chat().chunks().count() as u64;
    for variant in ALL {
        for consumer in [Consumer::LateJoiner, Consumer::Reconnecting] {
            for sessions in [1, 3] {
                let played = Run { variant, consumer, sessions, fault: "queued", ..Run::default() }.play();
                let (handled, missed) =
                    (played.figures[&F::HandledChunks], played.figures[&F::MissedWhileAway]);
                assert_eq!(handled + missed, c, "{variant} {consumer} {sessions}");
                let whole = ["mirror-removed", "embedded"].contains(&variant);
                assert_eq!(text(&played) == all, whole, "{variant} {consumer} {sessions}");
            }
        }
    }
}

#[test]
fn row_12d_format_v2_gives_the_prefix_of_the_step_in_flight_and_no_other() {
    let one = seven().turns.remove(0).steps.remove(0);
    let mut script = seven();
    script.turns[0].steps = vec![one.clone(), one.clone(), one];
    // 21 chunks: he comes before the eleventh, in the middle of the second step.
    let late = Run { script: script.clone(), consumer: Consumer::LateJoiner, ..on("embedded") }.play();
    assert_eq!((late.figures[&F::MissedWhileAway], late.figures[&F::HandledChunks]), (7, 14));
    assert_eq!(text(&late), "heyhey");
    // Of three equal steps it is the first that is lost, whatever the text looks like.
    assert_eq!(late.trace.lost(), [0, 1, 2]);
    let log = Run { script, consumer: Consumer::LateJoiner, ..on("mirror-removed") }.play();
    assert_eq!((text(&log).as_str(), log.trace.lost().len()), ("heyheyhey", 0));
}

#[test]
fn row_13_acp_is_the_same_in_all_variants() {
    for variant in ALL {
        let played = Run { consumer: Consumer::Acp, ..on(variant) }.play();
        assert_eq!(
            (played.figures[&F::Updates], played.view.as_deref()),
            (1, Some(played.reply.as_str())),
            "{variant}"
        );
        assert!(played.delivered.is_empty());
        let failed = Run { consumer: Consumer::Acp, fault: "provider-error@12", ..on(variant) };
        assert_eq!(failed.figure(F::Updates), 0);
    }
    let visible = chat().chunks().filter(|chunk| chunk.delta().is_some()).count() as u64;
    let per_delta = |variant| Run { consumer: Consumer::AcpPerDelta, ..on(variant) }.figure(F::Updates);
    assert_eq!([per_delta("mirrored"), per_delta("transient-only")], [visible, 0]);
    let fixture =
        Script::shaped("hi", Shape { events: 2098, chunks: 2017, steps: 12, texts: 4 }, 1000.0).unwrap();
    assert_eq!(
        Run { consumer: Consumer::Acp, script: fixture, ..on("mirror-removed") }.figure(F::Updates),
        4
    );
}

#[test]
fn row_14_a_provider_error_after_k_chunks() {
    let played = ALL.map(|variant| Run { fault: "provider-error@12", ..on(variant) }.play());
    assert_eq!(played.each_ref().map(|p| p.figures[&F::LogChunks]), [12, 12, 0, 0]);
    assert_eq!(played.each_ref().map(|p| p.figures[&F::DurableChunks]), [12, 12, 0, 12]);
    assert_eq!(played.each_ref().map(|p| p.figures[&F::Messages]), [0; 4]);
    assert!(played.iter().all(|p| p.request == played[0].request && p.request.len() == 1));
}

#[test]
fn row_15_a_cancel_after_k_chunks() {
    let run = |variant, laid| Run { variant, laid, fault: "cancel@20", ..Run::default() }.play();
    for variant in ["mirrored", "mirror-removed", "embedded"] {
        let played = run(variant, "");
        assert_eq!((played.figures[&F::Messages], played.completed), (1, true), "{variant}");
        assert_eq!(played.figures[&F::Cited], if variant == "embedded" { 0 } else { 20 });
        assert!(
            "w10 w11 w12 w13 w14 w15 w16 ".starts_with(played.reply.as_str()) && !played.reply.is_empty()
        );
    }
    for variant in ["mirrored", "mirror-removed", "embedded"] {
        assert_eq!(run(variant, "").figures[&F::InterruptedMessages], 1, "{variant}: by its own flag");
        assert_eq!(on(variant).figure(F::InterruptedMessages), 0, "{variant}");
    }
    assert_eq!(run("transient-only", "").figures[&F::Messages], 0);
    assert_eq!(run("transient-only", "[cancel]\ncommits_prefix = true").figures[&F::Messages], 1);
    assert_eq!(run("mirrored", "[cancel]\ncommits_prefix = false").figures[&F::Messages], 0);
    let nothing_visible = Run { fault: "cancel@5", ..on("mirrored") };
    assert_eq!(nothing_visible.figure(F::Messages), 0);
}

#[test]
fn row_16_a_retry() {
    let run = |variant| Run { fault: "retry@12", ..on(variant) }.play();
    let c = chat().chunks().count() as u64;
    for variant in ["mirrored", "mirror-removed"] {
        let figures = run(variant).figures;
        assert_eq!((figures[&F::LogChunks], figures[&F::Cited], figures[&F::Attempts]), (12 + c, c, 2));
    }
    let embedded = run("embedded").figures;
    assert_eq!((embedded[&F::DurableChunks], embedded[&F::Messages]), (12 + c, 1));
    assert_eq!(run("transient-only").figures[&F::DurableChunks], 0);
}

#[test]
fn row_17_and_18_a_kill_after_k_chunks() {
    let run = |variant, policy, k: &'static str| {
        let figures = Run { fault: k, policy, consumer: Consumer::Transcript, ..on(variant) }.play().figures;
        figures.get(&F::DurableChunks).copied().unwrap_or(0)
    };
    for variant in ["mirrored", "mirror-removed"] {
        assert_eq!(run(variant, P::TurnEnd, "kill@30"), 0);
        assert_eq!(run(variant, P::EveryEvent, "kill@30"), 30);
        // 50 a second: a window of 200 ms holds ten chunks.
        let kept = run(variant, P::Window(200), "kill@30");
        assert!((20..30).contains(&kept), "{kept}");
    }
    for variant in ["transient-only", "embedded"] {
        for policy in [P::TurnEnd, P::Window(200), P::EveryEvent] {
            assert_eq!(run(variant, policy, "kill@30"), 0, "{variant}");
        }
    }
    let repaired =
        Run { fault: "kill@30", policy: P::EveryEvent, consumer: Consumer::Resume, ..on("mirrored") }.play();
    assert_eq!((repaired.figures[&F::RepairedEvents], repaired.figures[&F::Messages]), (2, 0));
    assert_eq!(repaired.request.len(), 1, "chunks without a message are no part of the next request");
}

#[test]
fn row_19_a_snapshot_replay() {
    let run =
        |variant, fault| Run { variant, fault, consumer: Consumer::SnapshotReplay, ..Run::default() }.play();
    for variant in ["mirrored", "mirror-removed", "embedded"] {
        let played = run(variant, "none");
        assert_eq!(
            (played.figures[&F::ScriptsDerived], played.figures[&F::ScriptsFailed]),
            (1, 0),
            "{variant}"
        );
        let cut = run(variant, "provider-error@12");
        assert_eq!(cut.figures[&F::ScriptsFailed], 1, "{variant}");
        assert!(cut.surfaced.iter().any(|s| s.contains("no_finish")), "{:?}", cut.surfaced);
    }
    let nothing = run("transient-only", "none");
    assert_eq!((nothing.figures[&F::ScriptsDerived], nothing.figures[&F::ScriptsFailed]), (0, 1));
    assert_eq!(stops(&nothing), [(Hop::Appended, Reason::new("not_persisted"))]);
    let played = run("mirrored", "none");
    assert_eq!(text(&played), chat().chunks().filter_map(Chunk::delta).map(|(.., t)| t).collect::<String>());
}

#[test]
fn row_20_provenance_is_whole_or_dangles() {
    for variant in ["mirrored", "mirror-removed"] {
        let figures = on(variant).play().figures;
        let c = chat().chunks().count() as u64;
        assert_eq!((figures[&F::Cited], figures[&F::Dangling]), (c, 0), "{variant}");
    }
    let kept =
        Run { laid: "[durable]\ncites = true", consumer: Consumer::Transcript, ..on("transient-only") }
            .play();
    assert!(kept.surfaced.iter().any(|s| s.contains("cites")), "{:?}", kept.surfaced);
}

#[test]
fn row_22_packing_changes_rows_and_nothing_else() {
    let run = |packed, variant| {
        Run { packed, variant, consumer: Consumer::SnapshotReplay, ..Run::default() }.play()
    };
    let (packed, plain) = (run(true, "mirrored"), run(false, "mirrored"));
    assert_eq!(packed.delivered, plain.delivered);
    assert!(packed.figures[&F::Rows] < plain.figures[&F::Rows] && packed.figures[&F::PackedRows] == 2);
    let bytes = |variant| Run { packed: true, variant, ..Run::default() }.with(stored_bytes);
    assert_eq!(bytes("mirrored"), bytes("mirror-removed"));
}

#[test]
fn row_23_an_edit_to_either_account_shows() {
    let run = |fault| Run { fault, consumer: Consumer::Transcript, ..on("mirror-removed") }.play();
    assert_eq!(run("none").figures[&F::DivergentSteps], 0);
    for fault in ["edit-message", "edit-chunk"] {
        let played = run(fault);
        assert_eq!(played.figures[&F::DivergentSteps], 1, "{fault}");
        let accounts = &played.accounts[0];
        assert!(accounts.names == ["chunks", "message"] && accounts.texts[0] != accounts.texts[1]);
    }
}

#[test]
fn a_fault_that_never_comes_is_noted_and_its_neighbour_comes() {
    let fired =
        |variant, fault, script: Script| Run { variant, script, fault, ..Run::default() }.play().fired;
    let only = |kind| Script::of("hi", &[(kind, "ab")], 50.0);
    let empty = || Script::of("hi", &[(BlockKind::Text, "")], 50.0);
    for (come, never) in [
        ("kill@7", "kill@8"),
        ("kill-between@7", "kill-between@8"),
        ("provider-error@7", "provider-error@8"),
        ("cancel@7", "cancel@8"),
        ("retry@7", "retry@8"),
        ("dispose@7", "dispose@8"),
        ("log-listener-throws@7", "log-listener-throws@8"),
        ("live-listener-throws@7", "live-listener-throws@8"),
    ] {
        assert!(fired("mirrored", come, seven()), "{come}");
        assert!(!fired("mirrored", never, seven()), "{never}");
    }
    for fault in ["edit-chunk", "edit-message"] {
        assert!(fired("mirrored", fault, seven()), "{fault}");
        for nothing in [only(BlockKind::Reasoning), only(BlockKind::ToolCall), empty()] {
            assert!(
                !fired("mirrored", fault, nothing.clone()) && !fired("embedded", fault, nothing),
                "{fault}"
            );
        }
    }
    // What is there already is not written over with itself.
    let daggers = [(BlockKind::Text, "\u{2020}")];
    let edited = Run { fault: "edit-chunk", script: Script::of("hi", &daggers, 50.0), ..on("mirrored") };
    assert_eq!(edited.figure(F::DivergentSteps), 1);
    for (variant, log, live, chunk) in [
        ("mirrored", true, true, true),
        ("mirror-removed", true, false, true),
        ("transient-only", false, true, false),
        ("embedded", false, true, true),
    ] {
        let faults = ["log-listener-throws@3", "live-listener-throws@3", "edit-chunk"];
        assert_eq!(faults.map(|fault| fired(variant, fault, seven())), [log, live, chunk], "{variant}");
    }
    assert!(["none", "queued", "queued:4", "edit-message"].iter().all(|f| fired(
        "transient-only",
        f,
        seven()
    )));
}

#[test]
fn every_consumer_adds_up_in_every_variant_under_every_fault() {
    let faults = [
        "none",
        "provider-error@12",
        "cancel@20",
        "cancel@5",
        "retry@12",
        "kill@30",
        "kill-between@30",
        "kill@1",
        "log-listener-throws@9",
        "live-listener-throws@9",
        "edit-message",
        "edit-chunk",
        "dispose@10",
        "queued",
        "queued:4",
    ];
    for variant in ALL {
        for consumer in Consumer::ALL {
            for fault in faults {
                for policy in [P::TurnEnd, P::Window(200), P::EveryEvent] {
                    Run { variant, consumer, fault, policy, ..Run::default() }.play();
                }
                // With a backlog of others a chunk leaves its queue long after it was streamed.
                for sessions in [3, 5] {
                    Run { variant, consumer, fault, sessions, ..Run::default() }.play();
                }
            }
        }
    }
}

/// Row 9: a plugin that looks agents up hears of every session, and has to tell them apart.
#[test]
fn row_9c_with_several_sessions_an_unfiltered_plugin_sees_all_of_them() {
    let run = |variant, consumer, sessions| Run { variant, consumer, sessions, ..Run::default() }.play();
    for variant in ["mirrored", "mirror-removed"] {
        let [alone, crowd] = [1, 3].map(|n| run(variant, Consumer::MigratedPlugin, n));
        let c = chat().chunks().count() as u64;
        let (looked, filtered) = (crowd.figures[&F::LookupHits], crowd.figures[&F::Filtered]);
        assert_eq!((looked, filtered), (3 * c, 3 * (crowd.figures[&F::Events] - c)), "{variant}");
        assert_eq!(crowd.figures[&F::HandledChunks], c, "the text of the others is theirs");
        assert_eq!((text(&crowd), &crowd.reply), (text(&alone), &alone.reply));
        assert_eq!(crowd.figures[&F::Dispatches], 3 * alone.figures[&F::Dispatches]);
        assert_eq!(crowd.figures[&F::DivergentChunks], 0);
    }
    // Everybody else takes its own session's, and its log is what it is without the others.
    for variant in ALL {
        for consumer in Consumer::ALL {
            let [alone, crowd] = [1, 3].map(|n| run(variant, consumer, n));
            assert_eq!((text(&alone), &alone.view), (text(&crowd), &crowd.view), "{variant} {consumer}");
            for figure in [F::DurableBytes, F::StyleErrors, F::SeqGaps, F::HandledChunks, F::MissedWhileAway]
            {
                let both = [&alone, &crowd].map(|played| played.figures.get(&figure));
                assert_eq!(both[0], both[1], "{variant} {consumer} {figure:?}");
            }
        }
    }
}

#[test]
fn agents_take_turns_at_every_chunk_and_a_kill_takes_them_all() {
    use crate::session_feed::agent::{Agent, together};
    use crate::session_feed::harness::Harness;
    let variant = Variants::embedded().unwrap().get("mirror-removed").unwrap();
    let (traits, script) = (variant.traits(), chat());
    let harness = Harness::new(traits.bus.clone(), BEGINS, true);
    let agents = [Fault::None, Fault::Kill(9), Fault::None].map(|fault| {
        let session = harness.open(Vec::new());
        Agent::new(&harness, session, traits, fault, script.rate, None)
    });
    together(&agents.each_ref().map(|agent| (agent, &script)));
    assert_eq!(agents.each_ref().map(|agent| agent.done().streamed), [9, 9, 8]);
}
