//! Durable events that this client should have got.

use super::evidence::{Evidence, count};
use crate::record::{Finding, Hop, Reason, Verdict};
use crate::unit::Tally;

/// The server wrote durable events to this client and the reply was not among them.
const REPLY_NOT_SENT: Reason = Reason::new("reply_not_sent");
/// The server was ended in the middle of a turn: whoever was there waits for a reply that nobody makes.
const TURN_KILLED: Reason = Reason::new("turn_killed");

/// At most one finding.
pub(super) fn loss(evidence: &Evidence) -> Option<Finding> {
    let (seen, durables) = (evidence.seen, &evidence.seen.durables);
    let rejected: u64 = durables.rejected.values().sum();
    let owed = seen.completed && durables.reply_due && !durables.reply;
    // `max_by_key` takes the last of equals; the first in order is the stable choice.
    let most = durables.rejected.iter().rev().max_by_key(|(_, times)| **times);
    // What the idle policy ended has a verdict of its own. Who cancels waits for nothing, and an error says that nothing comes.
    let reaped = seen.reaped.is_some_and(|reaped| reaped.running);
    let killed = if reaped { 0 } else { u64::from(seen.turns_killed) };
    let (hop, reason, frames) = match most {
        Some((reason, _)) if rejected > 0 => (place(evidence, reason), reason.clone(), rejected),
        _ if owed => (on_path(evidence, Hop::Sent), REPLY_NOT_SENT, 1),
        _ if killed > 0 => (on_path(evidence, Hop::Produced), TURN_KILLED, killed),
        _ => return None,
    };
    // That a connection broke is all that tells of a server that is gone.
    let signal =
        if reason == TURN_KILLED { seen.durable_signal.max(seen.signal) } else { seen.durable_signal };
    let (due, noticed) = (count(durables.due, "durable event"), evidence.noticed(signal, frames));
    let stopped = format!("{} stopped with the server", count(killed, "turn"));
    let note = if rejected > 0 {
        let reply = if owed { "; the reply did not arrive" } else { "" };
        let stopped = if killed > 0 { format!("; {stopped}") } else { String::new() };
        format!(
            "{rejected} of {due} lost; most stopped at `{hop}` because `{reason}`{reply}{stopped}; {noticed}"
        )
    } else if owed {
        format!("the run finished, {due} were due and the reply was not among those that arrived; {noticed}")
    } else {
        format!("{stopped}, so the reply never comes; {noticed}")
    };
    let amount = Tally { frames, chars: 0 };
    let finding = evidence.finding(Verdict::DurableLoss, amount, note);
    Some(Finding { lost_at: Some(hop), reason: Some(reason), signal, ..finding })
}

/// Where a reason stops a durable event. The record counts durables by reason alone; a delta that stopped
/// for the same reason shows the hop, and a few reasons can only mean one. The rest is taken for the decoder.
fn place(evidence: &Evidence, reason: &Reason) -> Hop {
    let same = |flow: &&crate::record::HopFlow| flow.dropped.contains_key(reason);
    if let Some(flow) = evidence.seen.flows.values().flatten().find(same) {
        return flow.hop;
    }
    let hop = match reason.as_str() {
        "not_sent" | "connection_closed" | "connection_lost" => Hop::Sent,
        "unread" | "frame_too_large" => Hop::Received,
        "not_json" => Hop::Parsed,
        code if code.starts_with("guard_") => Hop::Admitted,
        _ => Hop::Decoded,
    };
    on_path(evidence, hop)
}

/// A hop of an agent server, or where there is no such hop on the path the last one that there is.
fn on_path(evidence: &Evidence, hop: Hop) -> Hop {
    let last = evidence.last_hop().filter(|last| !Hop::ALL.contains(last));
    last.unwrap_or(hop)
}
