//! From the notes of both ends to one observation.

use super::evidence::{Against, Ends, Read};
use crate::agent_server::link::Attended;
use crate::agent_server::profile::Profile;
use crate::agent_server::profile::client::ClientTraits;
use crate::agent_server::server::Notes;
use crate::probe::trace::LinkTrace;
use crate::probe::{Ledger, Seat};
use crate::record::{Figures, Observation, Reaped, SideEffects, Source};
use crate::unit::Tally;

/// What the server has to say when the turn is over: its notes, and what happened beside the sockets.
pub(super) struct Evening {
    pub(super) notes: Notes,
    pub(super) side_effects: SideEffects,
    /// Whoever ended the server, if somebody did.
    pub(super) reaped: Option<Reaped>,
}

/// Settles the ledger of one client and puts everything that it could notice beside it.
pub(super) fn observation(
    evening: &Evening,
    profile: &Profile<ClientTraits>,
    attended: Attended,
    read: &Read,
    against: &Against<'_>,
) -> Observation {
    let notes = &evening.notes;
    let links: Vec<LinkTrace> =
        attended.peers.iter().map(|peer| notes.links.get(peer).cloned().unwrap_or_default()).collect();
    let trace = attended.trace;
    let traits = &profile.traits;
    let seat = Seat { endpoint: traits.connect.endpoint, shows: &traits.shows, streams: traits.streams };
    let ledger = Ledger::settle(&notes.server, seat, &links, &trace);
    let ends = Ends { notes, links: &links, trace: &trace, read };
    let (first_frame, times) =
        (ends.first_frame(&Ledger::total(&ledger.flows), against), ends.times(&profile.traits.shows));
    let late = ends.late();
    // Who has a view, or items with attempts, is judged by what stands there in the end.
    let superseded = if trace.view.is_none() { ends.superseded() } else { Tally::default() };
    Observation {
        streams: profile.traits.streams,
        shows: profile.traits.shows.clone(),
        produced: notes.server.produced.clone(),
        delivered: trace.delivered,
        reply: notes.server.reply.clone(),
        view: trace.view.map(|view| without_abandoned(view, notes)),
        completed: notes.server.completed,
        cut: notes.server.cut,
        turns_killed: LinkTrace::killed_turns(&links),
        unattended: LinkTrace::none_attended(&links),
        durables: ledger.durables,
        flows: ledger.flows,
        signal: ledger.signal,
        durable_signal: ledger.durable_signal,
        surfaced: trace.surfaced,
        log: trace.log,
        side_effects: evening.side_effects.clone(),
        cpu_ratio: None,
        figures: Figures::new(),
        lost_pieces: Vec::new(),
        sources: phantoms(notes),
        subscribed: None,
        first_frame,
        times,
        baseline: None,
        superseded,
        late,
        queue: LinkTrace::queue(&links),
        receive_queue: Some(trace.receive_queue).filter(|queue| queue.peak_frames > 0),
        reaped: evening.reaped,
        rig_faults: ledger.faults,
    }
}

/// The view without what is left of turns that never got their reply: it stands before the reply, and is no part of it.
fn without_abandoned(view: String, notes: &Notes) -> String {
    let reply = notes.server.reply.as_str();
    match view.strip_suffix(reply) {
        Some(before)
            if !reply.is_empty()
                && !before.is_empty()
                && (notes.abandoned.starts_with(before) || notes.abandoned.ends_with(before)) =>
        {
            reply.to_owned()
        }
        _ => view,
    }
}

/// Events that were announced and are in no log: what the live feed had of them beside what the log has.
fn phantoms(notes: &Notes) -> Vec<[Source; 2]> {
    if notes.phantoms.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> =
        (1..).zip(&notes.phantoms).map(|(n, frame): (u64, _)| format!("{n} {frame}")).collect();
    let source = |name: &str, text| Source { name: name.to_owned(), text, chunks: false, events: true };
    vec![[source("live feed", lines.join("\n")), source("log", String::new())]]
}
