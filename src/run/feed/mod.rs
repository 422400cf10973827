//! Cells of the session feed: one session played to one consumer, as one observation.

mod wall;

use super::cell::ClockKind;
use super::fault::CellFault;
use super::parties::Parties;
use crate::record::{Observation, SideEffects, Source, Subscribed};
use crate::scenario::FeedCell;
use crate::session_feed::store::FlushPolicy;
use crate::session_feed::{Listeners, Plan, Played, play};

/// Runs one cell to its end on this thread. Nothing in it is drawn, so it needs no seed.
pub fn run_feed(cell: &FeedCell, parties: &Parties, clock: ClockKind) -> Result<Vec<Observation>, CellFault> {
    let variant = parties.variant(cell);
    let variant =
        variant.ok_or_else(|| CellFault::Setup(format!("variant `{}` was not resolved", cell.variant)))?;
    let plan = Plan {
        variant,
        consumer: cell.consumer,
        script: &cell.workload.script,
        fault: cell.fault,
        // The log was flushed at the end of a turn on the day that the mirror went.
        policy: cell.policy.unwrap_or(FlushPolicy::TurnEnd),
        packed: cell.packed,
        listeners: Listeners { log: cell.log_listeners, live: cell.live_listeners },
        sessions: cell.workload.sessions,
    };
    let played = match clock {
        ClockKind::Virtual => play(&plan),
        ClockKind::Wall => wall::on_disk(&plan)?,
    };
    if !played.fired {
        return Err(CellFault::NeverFired(plan.fault.to_string()));
    }
    Ok(vec![observation(&plan, played)])
}

/// Settles the ledger of the consumer, and puts everything that it could notice beside it.
fn observation(plan: &Plan<'_>, played: Played) -> Observation {
    let books = played.trace.settle();
    let lost_pieces = if played.streams { played.trace.lost() } else { Vec::new() };
    // Who reads what is stored subscribes to nothing.
    let subscribed = (!plan.consumer.reads()).then_some(Subscribed {
        wants_deltas: played.streams,
        messages: played.messages_at,
        deltas: played.deltas_at,
    });
    let sources = played.accounts.into_iter().map(|accounts| {
        let ([one, other], [first, second], chunks) = (accounts.names, accounts.texts, accounts.chunks);
        let source = |name: &str, text: String| Source { name: name.to_owned(), text, chunks, events: false };
        [source(one, first), source(other, second)]
    });
    let mut rig_faults = books.faults;
    rig_faults.extend(played.rig_faults);
    Observation {
        streams: played.streams,
        shows: played.shows,
        produced: played.trace.produced,
        delivered: played.delivered,
        reply: played.reply,
        view: played.view,
        completed: played.completed,
        cut: played.cut,
        // Whoever listens lives in the process that is killed, and whoever reads the log waits for nothing.
        turns_killed: 0,
        unattended: None,
        durables: played.durables,
        flows: books.flows,
        signal: played.signal,
        durable_signal: played.signal,
        surfaced: played.surfaced,
        log: played.log,
        side_effects: SideEffects::default(),
        cpu_ratio: None,
        figures: played.figures,
        lost_pieces,
        sources: sources.collect(),
        subscribed,
        first_frame: None,
        times: None,
        baseline: None,
        superseded: crate::unit::Tally::default(),
        late: Vec::new(),
        queue: None,
        receive_queue: None,
        reaped: None,
        rig_faults,
    }
}
