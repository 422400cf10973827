//! Text that arrives and is wrong, and cells without any.

use super::*;

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
fn altered_text_is_corrupted() {
    let altered = changed(|seen| seen.delivered[4].text = " w?r".to_owned());
    assert_eq!(only(&altered, Verdict::Corrupted, "text_altered").amount, tally(0, 1));
    let longer = changed(|seen| seen.delivered.push(text(" ☃☃")));
    assert_eq!(only(&longer, Verdict::Corrupted, "text_altered").amount, tally(0, 3));
    let swapped = changed(|seen| seen.delivered.swap(3, 4));
    only(&swapped, Verdict::Reordered, "order_changed");
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
fn reasoning_shown_as_text_is_corrupted_even_where_it_repeats_the_text() {
    // "ld" of another class's frame comes after the reply: to the text alone that looks like a repetition.
    let mut seen = healthy();
    seen.delivered.push(text("ld"));
    only(&seen, Verdict::Duplicated, "text_twice");
    let flow = seen.flows.get_mut(&Class::Text).unwrap().last_mut().unwrap();
    *flow.added.entry(Reason::TEXT_FROM_ELSEWHERE).or_default() += tally(1, 2);
    flow.left += tally(1, 2);
    let finding = only(&seen, Verdict::Corrupted, "text_from_elsewhere");
    assert_eq!(finding.note, "2 characters of text came in frames of another class");
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
