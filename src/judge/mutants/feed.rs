//! What only a session feed has: two sources of one text, and a path that ends at another hop.

use super::*;
use crate::record::Source;

/// A healthy observation with pairs of sources.
fn with(pairs: &[[(&str, &str); 2]]) -> Observation {
    let source = |(name, text): (&str, &str)| Source { name: name.to_owned(), text: text.to_owned() };
    changed(|seen| seen.sources = pairs.iter().map(|pair| pair.map(source)).collect())
}

#[test]
fn two_sources_of_one_text_that_disagree_are_divergent() {
    let edited = with(&[[("chunks", "skill-local"), ("message", "skill-filesystem")]]);
    let finding = only(&edited, Verdict::Divergent, "sources_differ");
    assert!(finding.note.starts_with("`chunks` and `message` are one text"), "{}", finding.note);
    assert!(finding.note.ends_with("first at character 7"), "{}", finding.note);
    let short = with(&[[("log feed", "ha ha"), ("live feed", "ha")]]);
    assert_eq!(only(&short, Verdict::Divergent, "sources_differ").amount, tally(0, 3));
    // One pair of two.
    let one = with(&[[("chunks", "a☃c"), ("message", "a☃c")], [("log feed", "a☃c"), ("live feed", "abc")]]);
    let finding = only(&one, Verdict::Divergent, "sources_differ");
    assert_eq!((finding.amount, finding.lost_at), (tally(0, 1), None));
    assert!(
        finding.note.contains("`live feed`") && finding.note.ends_with("character 2"),
        "{}",
        finding.note
    );
    let both = with(&[[("log feed", "abc"), ("live feed", "ab")], [("chunks", ""), ("message", "a")]]);
    assert_eq!(verdicts(&both), [Verdict::Divergent, Verdict::Divergent]);
    // A loss is worse, and the divergence stands beside it.
    let mut lossy = observe(reply(), |_, _| LOST);
    lossy.sources.clone_from(&edited.sources);
    assert_eq!(verdicts(&lossy), [Verdict::SilentLoss, Verdict::Divergent]);
}

#[test]
fn sources_that_agree_are_healthy_however_many() {
    let pair = [("log feed", "a"), ("live feed", "a")];
    for pairs in [&[][..], &[pair], &[pair, [("chunks", ""), ("message", "")]]] {
        only(&with(pairs), Verdict::Delivered, "");
    }
}

/// The healthy observation, on the path of a listener of a session feed.
fn listened(fate: impl Fn(usize, &Piece) -> Fate) -> Observation {
    let mut seen = observe(reply(), fate);
    let path = [Hop::Produced, Hop::Appended, Hop::Emitted, Hop::Handled];
    for hops in seen.flows.values_mut() {
        let last = hops.pop().unwrap();
        hops.truncate(3);
        hops.push(last);
        hops.iter_mut().zip(path).for_each(|(flow, hop)| flow.hop = hop);
    }
    seen
}

#[test]
fn what_left_the_last_hop_of_a_path_was_delivered() {
    only(&listened(|_, _| Arrives), Verdict::Delivered, "");
    let lost = listened(|_, _| Stops(Hop::Delivered, "event_removed"));
    let finding = only(&lost, Verdict::SilentLoss, "event_removed");
    assert_eq!((finding.lost_at, finding.scope), (Some(Hop::Handled), Some(Scope::Total)));
    // The text does not bear out what the ledger says of the last hop.
    let mut broken = listened(|_, _| Arrives);
    broken.delivered.pop();
    only(&broken, Verdict::Invalid, "ledger_disagrees");
}

#[test]
fn a_durable_event_that_a_feed_lost_stopped_on_its_own_path() {
    let mut seen = listened(|_, _| Arrives);
    seen.durables.rejected = [(Reason::new("append_refused"), 1)].into();
    assert_eq!(only(&seen, Verdict::DurableLoss, "append_refused").lost_at, Some(Hop::Handled));
    let mut seen = listened(|_, _| Arrives);
    seen.durables.reply = false;
    assert_eq!(only(&seen, Verdict::DurableLoss, "reply_not_sent").lost_at, Some(Hop::Handled));
}
