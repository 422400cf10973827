//! A mutant for every verdict: a healthy observation, changed in one way, turns red with exactly that
//! headline; its healthy neighbour stays green.

mod budget;
mod feed;
mod loss;
mod pace;
mod wrong;

use super::judge;
use super::sample::{Arrives, Fate, Stops, Twice, healthy, observe, reply, text, thought};
use crate::record::observation::Piece;
use crate::record::{
    Class, Consumer, CutShort, Duties, Figure, Finding, Hop, HopFlow, Observation, Reason, Scope, Signal,
    Verdict,
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
            (seen.reply, seen.view) = (String::new(), None);
            (seen.durables.reply_due, seen.durables.reply) = (false, false);
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
    // Its healthy neighbours: the run was cancelled or failed, or there was nothing to say.
    only(&changed(|seen| (seen.durables.reply, seen.completed) = (false, false)), Verdict::Delivered, "");
}

#[test]
fn a_turn_that_stops_with_its_server_owes_a_reply() {
    let cut = |seen: &mut Observation, how| {
        (seen.completed, seen.cut, seen.view) = (false, Some(how), None);
        (seen.durables.reply_due, seen.durables.reply) = (false, false);
    };
    let mut killed = changed(|seen| {
        cut(seen, CutShort::Unended);
        seen.turns_killed = 1;
    });
    let finding = only(&killed, Verdict::DurableLoss, "turn_killed");
    assert_eq!(
        (finding.lost_at, finding.amount, finding.signal),
        (Some(Hop::Produced), tally(1, 0), Signal::None)
    );
    assert_eq!(
        finding.note,
        "1 turn stopped with the server, so the reply never comes; the application could notice nothing"
    );
    // That the connection broke is shown, and the reply is lost all the same.
    (killed.signal, killed.surfaced) = (Signal::Surfaced, vec!["banner: 1006".to_owned()]);
    let finding = only(&killed, Verdict::DurableLoss, "turn_killed");
    assert!(
        finding.signal == Signal::Surfaced && finding.note.ends_with("told: banner: 1006"),
        "{finding:?}"
    );
    // The next turn has its reply; this one still has none.
    let again = changed(|seen| seen.turns_killed = 1);
    only(&again, Verdict::DurableLoss, "turn_killed");
    // What was refused as well takes the blame, and the turn is named.
    killed.durables.rejected = [(Reason::new("unread"), 2)].into();
    let finding = only(&killed, Verdict::DurableLoss, "unread");
    assert!(finding.note.contains("because `unread`; 1 turn stopped with the server; "), "{}", finding.note);
    // Who cancels waits for nothing, an error says that nothing comes, and who was not there is owed nothing.
    for (how, said) in [
        (CutShort::Cancelled, "the run was cancelled"),
        (CutShort::Failed, "the run ended with an error"),
        (CutShort::Unended, "the run never ended"),
    ] {
        let finding = only(&changed(|seen| cut(seen, how)), Verdict::Delivered, "");
        assert_eq!(finding.note, format!("23 of 23 characters arrived in order, once; {said}"));
    }
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
        let forbid = |consumer| Duties { must_not_receive: [consumer].into(), ..Duties::default() };
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
    assert_eq!(
        judge(&busy, &Duties { must_not_receive: all.into(), ..Duties::default() })[0].verdict,
        Verdict::Delivered
    );
}

#[test]
fn findings_come_worst_first() {
    let mut seen = observe(reply(), |i, _| [Arrives, Twice, Arrives, LOST, Arrives, Arrives][i]);
    seen.durables.rejected = [(Reason::new("unread"), 1)].into();
    seen.side_effects.webhook.deltas = 1;
    let found = judge(&seen, &Duties { must_not_receive: [Consumer::Webhook].into(), ..Duties::default() });
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
