//! What only a session feed has: two sources of one text, and a path that ends at another hop.

use super::*;
use crate::record::Source;

/// A healthy observation with pairs of sources.
fn with(pairs: &[[(&str, &str); 2]]) -> Observation {
    let source = |(name, text): (&str, &str)| Source {
        name: name.to_owned(),
        text: text.to_owned(),
        chunks: false,
        events: false,
    };
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
fn two_feeds_that_differ_by_a_chunk_without_text_are_divergent() {
    let feeds = |log: &str, live: &str| {
        let mut seen = with(&[[("log feed", log), ("live feed", live)]]);
        seen.sources.iter_mut().flatten().for_each(|source| source.chunks = true);
        seen
    };
    let all = "1 {\"type\":\"block-start\"}\n2 {\"text\":\"ha\"}\n3 {\"text\":\"ha\"}\n";
    only(&feeds(all, all), Verdict::Delivered, "");
    let finding = only(&feeds(all, &all[all.find('2').unwrap()..]), Verdict::Divergent, "sources_differ");
    assert_eq!(finding.amount, tally(1, 0));
    assert!(
        finding.note.contains("1 chunk, first at chunk 1; 1 only on `log feed`, 0 only on `live feed`"),
        "{}",
        finding.note
    );
    // Two equal words are two chunks.
    let (one, other) = ("2 {\"text\":\"ha\"}\n", "3 {\"text\":\"ha\"}\n");
    assert_eq!(only(&feeds(one, other), Verdict::Divergent, "sources_differ").amount, tally(2, 0));
    let turned =
        only(&feeds(&[one, other].concat(), &[other, one].concat()), Verdict::Divergent, "sources_differ");
    assert!(turned.note.contains("in their order"), "{}", turned.note);
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

#[test]
fn where_pieces_are_numbered_the_scope_is_theirs_and_not_that_of_the_text() {
    let piece = || Piece { class: Class::Text, text: "ha ".to_owned() };
    let said: Vec<Piece> = (0..4).map(|_| piece()).collect();
    for (lost, scope) in [
        (&[0, 1][..], Scope::Prefix),
        (&[2, 3], Scope::Tail),
        (&[1, 2], Scope::Gap),
        (&[0, 3], Scope::Scattered),
        (&[], Scope::Tail),
    ] {
        // With nothing said of pieces the text alone is looked at, and two of four equal words are as good as the last two.
        let gone = if lost.is_empty() { &[2, 3] } else { lost };
        let fate = |at: usize, _: &Piece| {
            if gone.contains(&at) { Stops(Hop::Delivered, "away") } else { Arrives }
        };
        let mut seen = observe(said.clone(), fate);
        seen.lost_pieces = lost.to_vec();
        assert_eq!(only(&seen, Verdict::SilentLoss, "away").scope, Some(scope), "{lost:?}");
    }
}

#[test]
fn scripts_that_could_not_be_made_are_no_delivery_even_without_text() {
    let with = |failed, derived| {
        changed(|seen| {
            seen.figures = [(Figure::ScriptsFailed, failed), (Figure::ScriptsDerived, derived)].into();
            seen.signal = Signal::Surfaced;
            seen.surfaced = vec!["turn 1 step 1: no script can be derived (no_chunks)".to_owned()];
        })
    };
    only(&with(0, 2), Verdict::Delivered, "");
    let finding = only(&with(2, 0), Verdict::LoudLoss, "script_not_derived");
    assert!(
        finding.note.contains("2 of 2 scripts") && finding.note.contains("(no_chunks)"),
        "{}",
        finding.note
    );
    assert_eq!(finding.scope, Some(Scope::Total));
    assert_eq!(only(&with(1, 2), Verdict::LoudLoss, "script_not_derived").scope, None);
}
