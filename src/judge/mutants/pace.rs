//! Text that is all there, in the wrong place or at the wrong time; and what a server lets grow, or is ended for.

use super::*;
use crate::record::{Queue, Reaped, Source, Spread, Times};

const S: u64 = 1_000_000;

/// How six pieces came: each this late, the first of them so long after the model's first, of so long a stream.
fn times(delay_us: u64, first_us: u64, produced_us: u64) -> Times {
    let spread = |us| Spread::of(&mut [us; 6]);
    Times {
        delay: spread(delay_us),
        gap: spread(produced_us / 6),
        first_us: Some(first_us),
        produced_us,
        held_chars: 0,
    }
}

#[test]
fn text_after_the_final_message_is_late_and_not_out_of_order_as_well() {
    // The last piece came behind the reply.
    let last = changed(|seen| seen.late = vec![5]);
    let finding = only(&last, Verdict::Late, "after_the_reply");
    assert_eq!((finding.amount, finding.lost_at), (tally(1, 2), None));
    assert_eq!(finding.note, "2 characters in 1 frame came after the final message of their turn had come");
    // One in the middle stands behind the rest, because it was late.
    let moved = |seen: &mut Observation| {
        let piece = seen.delivered.remove(3);
        seen.delivered.push(piece);
    };
    let middle = changed(|seen| {
        moved(seen);
        seen.late = vec![5];
    });
    assert_eq!(only(&middle, Verdict::Late, "after_the_reply").amount, tally(1, 5));
    // The same text in the same order before the reply is out of order and not late.
    only(&changed(moved), Verdict::Reordered, "order_changed");
    // What is both, is both.
    let both = changed(|seen| {
        moved(seen);
        seen.delivered.swap(0, 1);
        seen.late = vec![5];
    });
    assert_eq!(verdicts(&both), [Verdict::Reordered, Verdict::Late]);
    // A class that the application does not show bothers nobody.
    let hidden = changed(|seen| {
        seen.late = vec![0];
        seen.shows = vec![Class::Text];
    });
    assert!(!verdicts(&hidden).contains(&Verdict::Late));
    // An orphan bubble that doubles the view is worse than that it is late.
    let bubble = changed(|seen| {
        seen.late = vec![5];
        seen.view = Some("Hello worldld".to_owned());
    });
    assert_eq!(verdicts(&bubble), [Verdict::Duplicated, Verdict::Late]);
}

#[test]
fn text_that_comes_only_at_the_end_is_not_streamed() {
    let with = |times| changed(|seen| seen.times = Some(times));
    let held = with(times(S, 9 * S / 5, 2 * S));
    let finding = only(&held, Verdict::NotStreamed, "held_to_the_end");
    assert_eq!(finding.amount, tally(6, 23));
    assert_eq!(
        finding.note,
        "the model streamed for 2000 ms, and its first text came 1800 ms after it was made"
    );
    for neighbour in [
        // A proxy that clusters by 40 ms; one that lets go a little earlier; a stream too short to be seen growing.
        with(times(40_000, 40_000, 2 * S)),
        with(times(S, 9 * S / 5 - 1, 2 * S)),
        with(times(S, S, S - 1)),
        // Nothing to stream.
        with(Times { delay: Spread::of(&mut [S; 4]), ..times(S, 2 * S, 2 * S) }),
        // An older file knows neither.
        with(Times { first_us: None, ..times(S, 0, 0) }),
        with(times(2 * S, 2 * S, 0)),
    ] {
        only(&neighbour, Verdict::Delivered, "");
    }
    // Where text is missing, that is what is to be said.
    let mut lost = observe(reply(), |i, _| if i < 5 { LOST } else { Arrives });
    lost.times = Some(times(0, 2 * S, 2 * S));
    only(&lost, Verdict::SilentLoss, "unknown_kind");
}

#[test]
fn text_of_which_the_rest_is_held_to_the_end_is_not_streamed() {
    // 23 characters; the first came at once.
    let with = |held_chars, produced_us| {
        changed(|seen| seen.times = Some(Times { held_chars, ..times(S, 0, produced_us) }))
    };
    let finding = only(&with(18, 2 * S), Verdict::NotStreamed, "held_to_the_end");
    assert_eq!(
        finding.note,
        "the model streamed for 2000 ms, and 18 of 23 characters were held back and came together at the end"
    );
    for neighbour in [
        with(17, 2 * S),
        with(18, S - 1),
        changed(|seen| {
            let few = Times { held_chars: 18, ..times(S, 0, 2 * S) };
            seen.times = Some(Times { delay: Spread::of(&mut [S; 4]), ..few });
        }),
    ] {
        only(&neighbour, Verdict::Delivered, "");
    }
    // Where text is missing, that is what is to be said.
    let mut lost = observe(reply(), |i, _| if i < 1 { LOST } else { Arrives });
    lost.times = Some(Times { held_chars: 19, ..times(S, 0, 2 * S) });
    only(&lost, Verdict::SilentLoss, "unknown_kind");
}

#[test]
fn a_subscriber_that_waits_for_another_one_is_stalled() {
    let with = |now: u64, quiet: Option<u64>| {
        changed(|seen| {
            seen.times = Some(times(now, 0, 2 * S));
            seen.baseline = quiet.map(|us| times(us, 0, 2 * S));
        })
    };
    let finding = only(&with(18 * S, Some(0)), Verdict::Stalled, "peer_stalled");
    assert!(
        finding.note.starts_with("99 of 100 pieces came within 18.0 s, and within 0 ms while "),
        "{finding:?}"
    );
    only(&with(251_000, Some(500)), Verdict::Stalled, "peer_stalled");
    only(&with(500_001, Some(100_000)), Verdict::Stalled, "peer_stalled");
    for neighbour in [
        // Noise, and what is slow in itself.
        with(250_000, Some(0)),
        with(500_000, Some(100_000)),
        with(18 * S, Some(18 * S)),
        // The one that the fault is about has no quiet twin.
        with(18 * S, None),
    ] {
        only(&neighbour, Verdict::Delivered, "");
    }
}

#[test]
fn a_queue_without_a_limit_that_grows_is_unbounded() {
    let with = |queue: Queue| changed(|seen| seen.queue = Some(queue));
    let long = Queue { peak_frames: 1_000, peak_bytes: 150_000, ..Queue::default() };
    let finding = only(&with(long.clone()), Verdict::Unbounded, "no_limit");
    assert_eq!((finding.amount, finding.signal), (tally(1_000, 0), Signal::None));
    assert!(
        finding.note.contains("1000 frames (146.4 KiB) waited")
            && finding.note.ends_with("went out in the end")
    );
    let heavy = Queue { peak_frames: 8, peak_bytes: 8 << 20, at_close_frames: 7, ..Queue::default() };
    let note = only(&with(heavy.clone()), Verdict::Unbounded, "no_limit").note;
    assert!(note.contains("8 frames (8.0 MiB)") && note.contains("7 frames still waited"), "{note}");
    for neighbour in [
        Queue { peak_frames: 999, ..long.clone() },
        Queue { peak_bytes: (8 << 20) - 1, ..heavy },
        // At its limit the connection is closed; that is a loss, and judged as one.
        Queue { limit_bytes: Some(16 << 20), closed: Some("1013 slow_consumer".into()), ..long },
    ] {
        only(&with(neighbour), Verdict::Delivered, "");
    }
}

#[test]
fn a_server_that_is_ended_in_the_middle_of_a_turn_was_reaped() {
    let reaped = Reaped { at_ms: 1_260_000, idle_s: 1_259, running: true };
    let mut seen = changed(|seen| seen.reaped = Some(reaped));
    (seen.completed, seen.turns_killed) = (false, 1);
    (seen.durables.reply_due, seen.durables.reply, seen.view) = (false, false, None);
    let finding = only(&seen, Verdict::Reaped, "looked_idle");
    assert!(
        finding.note.starts_with("1260.0 s into the run") && finding.note.ends_with("said 1259 s"),
        "{finding:?}"
    );
    // One that had nothing to do is what the policy is for.
    only(&changed(|seen| seen.reaped = Some(Reaped { running: false, ..reaped })), Verdict::Delivered, "");
    // What the client was told is that its connection is gone.
    seen.signal = Signal::Surfaced;
    assert_eq!(headline(&seen).signal, Signal::None);
    // It is worse than what came of it.
    seen.durables.rejected = [(Reason::new("unread"), 1)].into();
    assert_eq!(verdicts(&seen), [Verdict::Reaped, Verdict::DurableLoss]);
}

#[test]
fn an_event_that_was_announced_and_is_in_no_log_is_divergent() {
    let with = |live: &str, log: &str| {
        let source = |name: &str, text: &str| Source {
            name: name.to_owned(),
            text: text.to_owned(),
            chunks: false,
            events: true,
        };
        changed(|seen| seen.sources = vec![[source("live feed", live), source("log", log)]])
    };
    let finding = only(&with("1 {\"id\":\"a\"}\n2 {\"id\":\"b\"}", ""), Verdict::Divergent, "sources_differ");
    assert_eq!(finding.amount, tally(2, 0));
    let said = "differ in 2 events, first at event 1; 2 only on `live feed`, 0 only on `log`";
    assert!(finding.note.ends_with(said), "{}", finding.note);
    only(&with("1 {}", "1 {}"), Verdict::Delivered, "");
}

#[test]
fn an_attempt_that_stays_in_the_text_is_there_twice() {
    let again = changed(|seen| seen.superseded = tally(2, 7));
    let finding = only(&again, Verdict::Duplicated, "attempt_superseded");
    assert_eq!(finding.amount, tally(2, 7));
    // One that nothing was shown of.
    assert_eq!(verdicts(&changed(|seen| seen.superseded = tally(0, 0))), [Verdict::Delivered]);
}
