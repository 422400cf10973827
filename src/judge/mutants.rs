//! A mutant for every verdict: a healthy observation, changed in one way, turns red with exactly that
//! headline; its healthy neighbour stays green.

use proptest::prelude::*;

use super::judge;
use super::sample::{Arrives, Fate, Stops, Twice, healthy, observe, reply, text, thought};
use crate::record::observation::Piece;
use crate::record::{
    Class, Consumer, Duties, Finding, Hop, HopFlow, Observation, Reason, Scope, Signal, Verdict,
};
use crate::unit::Tally;

const LOST: Fate = Stops(Hop::Decoded, "unknown_kind");

fn verdicts(observation: &Observation) -> Vec<Verdict> {
    judge(observation, &Duties::default()).iter().map(|finding| finding.verdict).collect()
}

fn headline(observation: &Observation) -> Finding {
    judge(observation, &Duties::default()).swap_remove(0)
}

fn changed(change: impl FnOnce(&mut Observation)) -> Observation {
    let mut observation = healthy();
    change(&mut observation);
    observation
}

fn only(observation: &Observation, verdict: Verdict, reason: &str) -> Finding {
    let found = judge(observation, &Duties::default());
    assert_eq!(found.iter().map(|f| f.verdict).collect::<Vec<_>>(), [verdict], "{found:?}");
    assert_eq!(found[0].reason.as_ref().map_or("", Reason::as_str), reason);
    found[0].clone()
}

fn tally(frames: u64, chars: u64) -> Tally {
    Tally { frames, chars }
}

#[test]
fn the_healthy_neighbour_is_green() {
    let finding = only(&healthy(), Verdict::Delivered, "");
    assert_eq!(finding.amount, tally(6, 23));
    assert_eq!(finding.note, "23 of 23 characters arrived in order, once");
    for neighbour in [
        changed(|seen| seen.view = None),
        // Log lines and errors without a loss are no loss.
        changed(|seen| seen.signal = Signal::Surfaced),
        // A client that stopped early and has it all.
        changed(|seen| (seen.completed, seen.durables.reply, seen.view) = (false, false, None)),
        // The view is only looked at once both ended as they should.
        changed(|seen| (seen.completed, seen.view) = (false, Some("half".to_owned()))),
        // Nothing durable was ever sent to this connection.
        changed(|seen| seen.durables = crate::record::Durables::default()),
        // No text reply to wait for.
        changed(|seen| {
            (seen.reply, seen.view, seen.durables.reply) = (String::new(), None, false);
        }),
    ] {
        only(&neighbour, Verdict::Delivered, "");
    }
}

#[test]
fn pieces_may_be_merged_on_the_way() {
    let merged = changed(|seen| seen.delivered = vec![thought("let me think"), text("Hello world")]);
    only(&merged, Verdict::Delivered, "");
}

#[test]
fn a_rig_fault_silences_everything_else() {
    let mut broken = observe(reply(), |_, _| LOST);
    broken.rig_faults = vec!["text does not add up at hop `sent`".to_owned(), "a panic".to_owned()];
    let found = judge(&broken, &Duties::default());
    assert!(found.iter().all(|f| f.verdict == Verdict::Invalid) && found.len() == 2);
    assert_eq!(found[0].note, "rig fault: text does not add up at hop `sent`");
}

#[test]
fn a_ledger_that_disagrees_with_the_text_is_invalid() {
    let note = |seen: &Observation| only(seen, Verdict::Invalid, "ledger_disagrees").note;
    let lost_by_text = changed(|seen| drop(seen.delivered.pop()));
    assert!(note(&lost_by_text).contains("counts 11 characters of text"), "{}", note(&lost_by_text));
    let mut lost_by_ledger =
        observe(reply(), |_, piece| if piece.class == Class::Text { LOST } else { Arrives });
    lost_by_ledger.delivered = reply();
    assert!(
        note(&lost_by_ledger)
            .ends_with("counts 0 characters of text as delivered, and the application got 11")
    );
    // No ledger at all is a disagreement for each class that arrived.
    let unbooked = changed(|seen| seen.flows.clear());
    assert_eq!(verdicts(&unbooked), [Verdict::Invalid, Verdict::Invalid]);
}

#[test]
fn a_total_silent_loss() {
    let mut seen = observe(reply(), |_, _| LOST);
    let finding = only(&seen, Verdict::SilentLoss, "unknown_kind");
    assert_eq!((finding.scope, finding.lost_at), (Some(Scope::Total), Some(Hop::Decoded)));
    assert_eq!((finding.amount, finding.signal), (tally(6, 23), Signal::None));
    // A line in a log is no surfacing.
    (seen.signal, seen.log) = (Signal::Log, [("unknown kind".to_owned(), 6)].into());
    let finding = only(&seen, Verdict::SilentLoss, "unknown_kind");
    assert_eq!(
        finding.note,
        "0 of 23 characters arrived; most stopped at `decoded` because `unknown_kind`; one log line per frame"
    );
    // The reply alone also ends a run that the server never called finished.
    seen.completed = false;
    only(&seen, Verdict::SilentLoss, "unknown_kind");
}

#[test]
fn a_loss_that_surfaces_or_ends_the_run_is_loud() {
    let mut seen = observe(reply(), |i, _| if i > 2 { Stops(Hop::Received, "closed") } else { Arrives });
    only(&seen, Verdict::SilentLoss, "closed");
    (seen.signal, seen.surfaced) = (Signal::Surfaced, vec!["close 1013".to_owned()]);
    let finding = only(&seen, Verdict::LoudLoss, "closed");
    assert!(finding.note.ends_with("the application was told: close 1013"), "{}", finding.note);
    (seen.signal, seen.completed, seen.durables.reply) = (Signal::None, false, false);
    let finding = only(&seen, Verdict::LoudLoss, "closed");
    assert!(finding.note.contains("did not end normally"));
}

#[test]
fn the_scope_counts_all_classes_in_the_order_of_the_model() {
    let scope = |lost: &[usize]| {
        headline(&observe(reply(), |i, _| if lost.contains(&i) { LOST } else { Arrives })).scope
    };
    assert_eq!(scope(&[0, 1, 2]), Some(Scope::Class));
    assert_eq!(scope(&[3, 4, 5]), Some(Scope::Class));
    assert_eq!(scope(&[0, 1, 2, 3]), Some(Scope::Prefix));
    assert_eq!(scope(&[2, 3, 4, 5]), Some(Scope::Tail));
    assert_eq!(scope(&[2, 3]), Some(Scope::Gap));
    assert_eq!(scope(&[4]), Some(Scope::Gap));
    assert_eq!(scope(&[1, 4]), Some(Scope::Scattered));
    assert_eq!(scope(&[0, 5]), Some(Scope::Scattered));
}

#[test]
fn a_client_that_keeps_classes_apart_still_has_a_scope() {
    let mixed = vec![text("ab"), thought("xy"), text("cd"), thought("zw")];
    let apart = |lost: [usize; 2]| {
        let mut seen = observe(mixed.clone(), |i, _| if lost.contains(&i) { LOST } else { Arrives });
        seen.delivered.sort_by_key(|piece| piece.class);
        headline(&seen).scope
    };
    assert_eq!(apart([2, 3]), Some(Scope::Tail));
    assert_eq!(apart([0, 1]), Some(Scope::Prefix));
    assert_eq!(apart([0, 3]), Some(Scope::Scattered));
}

#[test]
fn the_heaviest_hop_is_named_and_of_equals_the_earlier() {
    let stops = |fates: [Fate; 3]| {
        let pieces = vec![text("abcd"), text("efgh"), text("ij"), text("k")];
        let seen = observe(pieces, |i, _| *fates.get(i).unwrap_or(&Arrives));
        let finding = headline(&seen);
        (finding.lost_at.unwrap(), finding.reason.unwrap().to_string())
    };
    let (late, early) = (Stops(Hop::Admitted, "guarded"), Stops(Hop::Sent, "queue_full"));
    assert_eq!(stops([late, early, Arrives]), (Hop::Sent, "queue_full".to_owned()));
    assert_eq!(stops([late, early, late]), (Hop::Admitted, "guarded".to_owned()));
    assert_eq!(stops([Arrives, Arrives, early]), (Hop::Sent, "queue_full".to_owned()));
}

#[test]
fn withholding_by_design_is_no_loss() {
    let withheld = Stops(Hop::Delivered, "class_not_shown");
    let thoughts =
        |fate| move |_: usize, piece: &Piece| if piece.class == Class::Reasoning { fate } else { Arrives };
    let mut seen = observe(reply(), thoughts(withheld));
    let finding = only(&seen, Verdict::Delivered, "");
    assert_eq!(
        (finding.amount, &*finding.note),
        (tally(3, 11), "11 of 23 characters arrived in order, once; 12 withheld by design")
    );
    seen.shows = vec![Class::Text];
    assert_eq!(only(&seen, Verdict::Delivered, "").note, "11 of 11 characters arrived in order, once");
    // A class that is not shown is not missed, whatever stopped it; one that is shown, is.
    let mut seen = observe(reply(), thoughts(LOST));
    assert_eq!(only(&seen, Verdict::SilentLoss, "unknown_kind").scope, Some(Scope::Class));
    seen.shows = vec![Class::Text];
    only(&seen, Verdict::Delivered, "");
    // Everything withheld is not "delivered".
    let none = observe(reply(), |_, _| Stops(Hop::Dispatched, "not_streaming"));
    only(&none, Verdict::ByDesign, "");
}

#[test]
fn a_design_does_not_excuse_what_else_was_lost() {
    let pieces = vec![text("abc"), text("defg"), text("hi")];
    let seen = observe(pieces, |i, _| [Stops(Hop::Sent, "empty_withheld"), LOST, Arrives][i]);
    assert_eq!(only(&seen, Verdict::SilentLoss, "unknown_kind").amount, tally(1, 4));
    // Nor does it take the blame, however much it withheld.
    let pieces = vec![text("abcdefgh"), text("i"), text("j")];
    let seen = observe(pieces, |i, _| [Stops(Hop::Sent, "empty_withheld"), LOST, Arrives][i]);
    assert_eq!(only(&seen, Verdict::SilentLoss, "unknown_kind").lost_at, Some(Hop::Decoded));
}

#[test]
fn a_client_that_does_not_stream() {
    let mut seen = observe(reply(), |_, _| LOST);
    seen.streams = false;
    only(&seen, Verdict::ByDesign, "");
    // It owes the durable reply all the same.
    seen.durables.reply = false;
    assert_eq!(verdicts(&seen), [Verdict::DurableLoss]);
    // And once it gets some text it is judged like any other.
    let mut some = observe(reply(), |i, _| if i > 0 { LOST } else { Arrives });
    some.streams = false;
    only(&some, Verdict::SilentLoss, "unknown_kind");
}

#[test]
fn there_may_be_no_text_at_all() {
    only(&observe(vec![], |_, _| Arrives), Verdict::Delivered, "");
    let empty = vec![Piece { class: Class::Empty, text: String::new() }; 3];
    only(&observe(empty.clone(), |_, _| Arrives), Verdict::Delivered, "");
    // Frames without a character may stop anywhere: nobody misses text.
    assert_eq!(only(&observe(empty, |_, _| LOST), Verdict::Delivered, "").amount, Tally::default());
    let mut seen = observe(vec![thought("hm")], |_, _| Stops(Hop::Delivered, "class_not_shown"));
    seen.shows = vec![Class::Text];
    assert_eq!(only(&seen, Verdict::Delivered, "").amount, Tally::default());
    // Text out of nothing is not healthy.
    let mut seen = observe(vec![], |_, _| Arrives);
    seen.delivered = vec![text("boo")];
    assert_eq!(only(&seen, Verdict::Corrupted, "text_altered").amount, tally(0, 3));
}

#[test]
fn a_refused_durable_event_is_a_loss_however_the_text_fared() {
    let mut seen = healthy();
    seen.durables.rejected = [(Reason::new("unknown_field"), 2), (Reason::new("not_json"), 1)].into();
    let finding = only(&seen, Verdict::DurableLoss, "unknown_field");
    assert_eq!((finding.lost_at, finding.amount), (Some(Hop::Decoded), tally(2 + 1, 0)));
    for (reason, hop) in
        [("unread", Hop::Received), ("not_json", Hop::Parsed), ("guard_source", Hop::Admitted)]
    {
        seen.durables.rejected = [(Reason::new(reason), 1)].into();
        assert_eq!(only(&seen, Verdict::DurableLoss, reason).lost_at, Some(hop));
    }
    // A delta that stopped for the same reason shows the hop.
    let mut seen = observe(reply(), |_, _| Stops(Hop::Admitted, "bad_timestamp"));
    seen.durables.rejected = [(Reason::new("bad_timestamp"), 1)].into();
    assert_eq!(verdicts(&seen), [Verdict::DurableLoss, Verdict::SilentLoss]);
    assert_eq!(headline(&seen).lost_at, Some(Hop::Admitted));
}

#[test]
fn a_reply_that_never_came_is_a_durable_loss() {
    let finding = only(&changed(|seen| seen.durables.reply = false), Verdict::DurableLoss, "reply_not_sent");
    assert_eq!((finding.lost_at, finding.amount), (Some(Hop::Sent), tally(1, 0)));
    // Its healthy neighbours: the run did not finish, or there was nothing to say.
    only(&changed(|seen| (seen.durables.reply, seen.completed) = (false, false)), Verdict::Delivered, "");
}

#[test]
fn altered_text_is_corrupted() {
    let altered = changed(|seen| seen.delivered[4].text = " w?r".to_owned());
    assert_eq!(only(&altered, Verdict::Corrupted, "text_altered").amount, tally(0, 1));
    let longer = changed(|seen| seen.delivered.push(text(" ☃☃")));
    assert_eq!(only(&longer, Verdict::Corrupted, "text_altered").amount, tally(0, 3));
    let swapped = changed(|seen| seen.delivered.swap(3, 4));
    only(&swapped, Verdict::Corrupted, "order_changed");
    // Two classes that overtake each other are still in order, each for itself.
    only(&changed(|seen| seen.delivered.swap(2, 3)), Verdict::Delivered, "");
}

#[test]
fn text_twice_is_duplicated() {
    let finding = only(
        &observe(reply(), |i, _| if i == 4 { Twice } else { Arrives }),
        Verdict::Duplicated,
        "text_twice",
    );
    assert_eq!(finding.amount, tally(1, 4));
    // The client did it, and the ledger does not know.
    only(&changed(|seen| seen.delivered.push(text("ld"))), Verdict::Duplicated, "text_twice");
}

#[test]
fn a_token_sent_twice_does_not_hide_that_another_was_dropped() {
    let fates = [Twice, LOST, Arrives];
    let seen = observe(vec![text("ha"), text("ho"), text("hi")], |i, _| fates[i]);
    assert_eq!(verdicts(&seen), [Verdict::SilentLoss, Verdict::Corrupted]);
    assert_eq!((headline(&seen).amount, headline(&seen).scope), (tally(1, 2), None));
    // Of two equal tokens nobody misses the one that the other stands for.
    let seen = observe(vec![text("ha"), text("ha"), text("hi")], |i, _| fates[i]);
    only(&seen, Verdict::Delivered, "");
}

#[test]
fn the_view_must_be_the_reply() {
    let with = |view: &str| changed(|seen| seen.view = Some(view.to_owned()));
    let doubled = only(&with("Hello worldHello world"), Verdict::Duplicated, "view_doubled");
    assert_eq!(doubled.amount, tally(0, 11));
    only(&with("Hello world\nHello world"), Verdict::Duplicated, "view_doubled");
    assert_eq!(only(&with("Hello"), Verdict::Corrupted, "view_differs").amount, tally(0, 6));
    only(&with(""), Verdict::Corrupted, "view_differs");
    // Nothing streamed, and the reply is there twice all the same.
    let mut seen = observe(reply(), |_, _| LOST);
    seen.view = Some("Hello worldHello world".to_owned());
    assert_eq!(verdicts(&seen), [Verdict::SilentLoss, Verdict::Duplicated]);
    // What streamed was wrong and stayed in view, once.
    let stuck = changed(|seen| {
        seen.delivered[3].text = "Jello".to_owned();
        seen.view = Some("Jello world".to_owned());
    });
    let reasons = judge(&stuck, &Duties::default()).into_iter().map(|f| f.reason.unwrap().to_string());
    assert_eq!(reasons.collect::<Vec<_>>(), ["text_altered", "view_differs"]);
    // The reply itself says it twice; that is no doubling.
    let mut seen = observe(vec![text("ha"), text("ha")], |i, _| if i > 0 { LOST } else { Arrives });
    only(&seen, Verdict::SilentLoss, "unknown_kind");
    seen.view = Some("haha!".to_owned());
    assert_eq!(verdicts(&seen), [Verdict::SilentLoss, Verdict::Corrupted]);
    // No view to hold against the reply while the reply itself did not arrive.
    let mut seen = with("Hello");
    seen.durables.reply = false;
    assert_eq!(verdicts(&seen), [Verdict::DurableLoss]);
}

#[test]
fn a_delta_where_none_belongs_is_a_leak() {
    let all = [Consumer::Webhook, Consumer::Telemetry, Consumer::Idle, Consumer::Store];
    for consumer in all {
        let leak = |seen: &mut Observation| match consumer {
            Consumer::Webhook => seen.side_effects.webhook.deltas = 7,
            Consumer::Telemetry => seen.side_effects.telemetry.deltas = 7,
            Consumer::Idle => seen.side_effects.idle_deltas = 7,
            Consumer::Store => seen.side_effects.stored_deltas = 7,
        };
        let mut seen = changed(leak);
        let forbid = |consumer| Duties { must_not_receive: [consumer].into() };
        let found = judge(&seen, &forbid(consumer));
        assert_eq!((found.len(), found[0].verdict, found[0].amount), (1, Verdict::Leaked, tally(7, 0)));
        let reason = format!("leaked_to_{}", consumer.as_str());
        assert_eq!(found[0].reason, Some(Reason::from(reason)));
        // What the client was told is of something else.
        seen.signal = Signal::Surfaced;
        assert_eq!(judge(&seen, &forbid(consumer))[0].signal, Signal::None);
        // Where it may go it is no leak, and neither is it elsewhere.
        only(&seen, Verdict::Delivered, "");
        let other = if consumer == Consumer::Idle { Consumer::Webhook } else { Consumer::Idle };
        assert_eq!(judge(&seen, &forbid(other))[0].verdict, Verdict::Delivered);
    }
    // Events that are no deltas belong there.
    let busy =
        changed(|seen| (seen.side_effects.webhook.events, seen.side_effects.telemetry.events) = (9, 9));
    assert_eq!(judge(&busy, &Duties { must_not_receive: all.into() })[0].verdict, Verdict::Delivered);
}

#[test]
fn findings_come_worst_first() {
    let mut seen = observe(reply(), |i, _| [Arrives, Twice, Arrives, LOST, Arrives, Arrives][i]);
    seen.durables.rejected = [(Reason::new("unread"), 1)].into();
    seen.side_effects.webhook.deltas = 1;
    let found = judge(&seen, &Duties { must_not_receive: [Consumer::Webhook].into() });
    let verdicts: Vec<Verdict> = found.iter().map(|finding| finding.verdict).collect();
    assert_eq!(verdicts, [Verdict::Leaked, Verdict::DurableLoss, Verdict::SilentLoss, Verdict::Duplicated]);
    seen.signal = Signal::Surfaced;
    assert_eq!(self::verdicts(&seen), [Verdict::DurableLoss, Verdict::Duplicated, Verdict::LoudLoss]);
    assert!(found.iter().all(|finding| !finding.note.is_empty() && !finding.note.ends_with('.')));
}

#[test]
fn hand_made_flows_of_one_hop_are_enough() {
    let mut seen = observe(vec![text("ab")], |_, _| Arrives);
    let delivered = HopFlow { left: tally(1, 2), ..HopFlow::new(Hop::Delivered) };
    seen.flows = [(Class::Text, vec![delivered])].into();
    only(&seen, Verdict::Delivered, "");
}

/// A reply of repeating tokens in both classes, and what becomes of each.
fn scripts(fates: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(Piece, usize)>> {
    let piece = (any::<bool>(), "[ab]{1,2}|é").prop_map(|(r, t)| if r { thought(&t) } else { text(&t) });
    proptest::collection::vec((piece, fates), 0..25)
}

fn played(script: &[(Piece, usize)]) -> Observation {
    let fates = [Arrives, LOST, Stops(Hop::Sent, "queue_full"), Twice];
    observe(script.iter().map(|(piece, _)| piece.clone()).collect(), |i, _| fates[script[i].1])
}

proptest! {
    /// Text is lost exactly when characters stopped, and exactly as much as stopped.
    #[test]
    fn losses_are_what_the_ledger_dropped(script in scripts(0..3)) {
        let found = judge(&played(&script), &Duties::default());
        prop_assert_eq!(found.len(), 1);
        let lost: Tally =
            script.iter().filter(|(_, fate)| *fate > 0).map(|(piece, _)| Tally::of(&piece.text)).sum();
        let verdict = if lost.is_zero() { Verdict::Delivered } else { Verdict::SilentLoss };
        prop_assert_eq!(found[0].verdict, verdict);
        prop_assert!(lost.is_zero() || found[0].amount == lost);
        prop_assert_eq!(found[0].scope.is_some(), !lost.is_zero());
        prop_assert_eq!(found[0].scope == Some(Scope::Total), !script.is_empty() && script.iter().all(|s| s.1 > 0));
    }

    /// With repetitions among the losses too, the judge never blames the rig and never says nothing.
    #[test]
    fn a_ledger_that_adds_up_is_never_invalid(script in scripts(0..4)) {
        let found = judge(&played(&script), &Duties::default());
        prop_assert!(!found.is_empty());
        prop_assert!(found.is_sorted_by_key(|finding| finding.verdict));
        prop_assert!(found.iter().all(|finding| !finding.verdict.is_rig_fault()));
        let whole = script.iter().all(|(_, fate)| *fate == 0);
        prop_assert!(!whole || found[0].verdict == Verdict::Delivered);
    }
}
