//! Text that does not arrive.

use proptest::prelude::*;

use super::*;

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
fn a_loss_that_surfaces_is_loud_and_a_run_without_an_end_tells_nobody() {
    let mut seen = observe(reply(), |i, _| if i > 2 { Stops(Hop::Received, "closed") } else { Arrives });
    only(&seen, Verdict::SilentLoss, "closed");
    (seen.signal, seen.surfaced) = (Signal::Surfaced, vec!["close 1013".to_owned()]);
    let finding = only(&seen, Verdict::LoudLoss, "closed");
    assert!(finding.note.ends_with("the application was told: close 1013"), "{}", finding.note);
    // Nobody knows of a reply that does not come whether it will.
    (seen.signal, seen.completed, seen.durables.reply) = (Signal::None, false, false);
    for (cut, said) in [
        (None, "the run did not end normally"),
        (Some(CutShort::Unended), "the run never ended"),
        (Some(CutShort::Cancelled), "the run was cancelled"),
        (Some(CutShort::Failed), "the run ended with an error"),
    ] {
        seen.cut = cut;
        let finding = only(&seen, Verdict::SilentLoss, "closed");
        assert!(
            finding.note.ends_with(&format!("{said}; the application could notice nothing")),
            "{finding:?}"
        );
        assert_eq!(finding.signal, Signal::None);
    }
    // An error that ended the run and is shown says that the text is not whole; one that did not is about something else.
    (seen.durable_signal, seen.surfaced) = (Signal::Surfaced, vec!["error banner: overloaded".to_owned()]);
    let finding = only(&seen, Verdict::LoudLoss, "closed");
    assert_eq!(finding.signal, Signal::Surfaced);
    assert!(finding.note.ends_with("the application was told: error banner: overloaded"), "{}", finding.note);
    seen.cut = Some(CutShort::Unended);
    only(&seen, Verdict::SilentLoss, "closed");
    // A connection that broke for all to see is loud without an end as well.
    seen.signal = Signal::Surfaced;
    only(&seen, Verdict::LoudLoss, "closed");
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
fn a_class_that_is_gone_is_gone_however_the_other_fared() {
    let mut seen = observe(reply(), |_, piece| if piece.class == Class::Reasoning { LOST } else { Arrives });
    seen.delivered[1].text = " w?r".to_owned();
    assert_eq!(verdicts(&seen), [Verdict::SilentLoss, Verdict::Corrupted]);
    assert_eq!((headline(&seen).scope, headline(&seen).amount), (Some(Scope::Class), tally(3, 12)));
    assert!(headline(&seen).note.starts_with("11 of 23 characters arrived, no reasoning"));
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
    let finding = only(&seen, Verdict::SilentLoss, "unknown_kind");
    assert_eq!(finding.amount, tally(1, 4));
    assert!(finding.note.starts_with("2 of 9 characters arrived; "), "{}", finding.note);
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
