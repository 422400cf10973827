//! From a capture to an observation, by the ledger that every cell goes through.

use super::{Capture, ClientSide, ServerSide, canvas, client, server};
use crate::probe::ledger::Endpoint;
use crate::probe::{Ledger, LinkTrace, Seat};
use crate::record::{Class, Hop, HopFlow, Observation, Reason};

/// The seat of the client in the cell: what its profile says that it is meant to do.
#[derive(Debug, Clone, Copy)]
pub struct Seated<'a> {
    /// The socket that it opens.
    pub endpoint: Endpoint,
    /// The classes of text that its application shows.
    pub shows: &'a [Class],
    /// Whether it streams at all.
    pub streams: bool,
    /// The callback list that its application uses; `None` where the library has one alone.
    pub list: Option<&'a str>,
    /// Why that list is not called with a delta, by its profile; `None` when it is.
    pub not_called: Option<&'a str>,
}

impl Seated<'_> {
    /// The reason for a delta that reached another list, or none.
    pub(super) fn not_called(&self) -> Reason {
        self.not_called.map_or(Reason::new("not_called"), |why| Reason::from(why.to_owned()))
    }
}

/// Settles the ledger of a captured cell. A pure function: a stored capture gives the same evidence.
pub fn observe(capture: &Capture, seated: &Seated<'_>) -> Observation {
    let (server, link, frames, mut faults) = match &capture.server {
        ServerSide::Live { status, events } => {
            let wired = server::wired(capture, status, events);
            (wired.server, wired.link, wired.frames, wired.faults)
        }
        ServerSide::Emulated { trace, link } => {
            (*trace.clone(), *link.clone(), server::frames(&capture.sockets), Vec::new())
        }
    };
    let trace = match &capture.client {
        ClientSide::Library { said } => client::trace(said, &frames, seated),
        ClientSide::Canvas { seen, console, shown_errors, failed } => {
            canvas::trace(seen, console, shown_errors, failed.as_deref(), &frames, seated.streams)
        }
        ClientSide::Emulated { trace } => *trace.clone(),
    };
    faults.extend(capture.rig_faults.iter().cloned());
    let seat = Seat { endpoint: seated.endpoint, shows: seated.shows, streams: seated.streams };
    let mut ledger = Ledger::settle(&server, seat, &link, &trace);
    faults.append(&mut ledger.faults);
    for flow in ledger.flows.values_mut().flatten() {
        unsee(flow, capture);
    }
    let view = trace.view.as_ref().map(|view| same_to_the_eye(view, &server.reply));
    Observation {
        streams: seated.streams,
        shows: seated.shows.to_vec(),
        produced: server.produced.clone(),
        delivered: trace.delivered.clone(),
        reply: server.reply.clone(),
        view,
        completed: server.completed,
        unattended: unattended(&link),
        durables: ledger.durables,
        flows: ledger.flows,
        signal: ledger.signal,
        durable_signal: ledger.durable_signal,
        surfaced: trace.surfaced,
        log: trace.log,
        side_effects: capture.side_effects.clone(),
        cpu_ratio: None,
        rig_faults: faults,
    }
}

/// A hop inside a foreign process at which nothing was seen to stop is unseen: its figures are taken away, for nobody
/// counted them.
fn unsee(flow: &mut HopFlow, capture: &Capture) {
    let foreign = match flow.hop {
        Hop::Published | Hop::Dispatched => matches!(capture.server, ServerSide::Live { .. }),
        Hop::Received | Hop::Parsed | Hop::Decoded | Hop::Admitted => {
            !matches!(capture.client, ClientSide::Emulated { .. })
        }
        Hop::Produced | Hop::Sent | Hop::Delivered => false,
    };
    if foreign && flow.dropped.is_empty() && flow.added.is_empty() {
        *flow = HopFlow { unseen: true, ..HopFlow::new(flow.hop) };
    }
}

/// A rendered page loses white space at the ends of lines and blocks. Where nothing else differs the view is the reply.
fn same_to_the_eye(view: &str, reply: &str) -> String {
    if canvas::visible(view) == canvas::visible(reply) { reply.to_owned() } else { view.to_owned() }
}

/// Why the client never got a frame, if it did not.
fn unattended(link: &LinkTrace) -> Option<Reason> {
    let why = match (link.refused, &link.closed) {
        (Some(status), _) => Reason::from(format!("http_{status}")),
        (None, Some((code, _))) => Reason::from(format!("closed_{code}")),
        (None, None) => Reason::new("not_subscribed"),
    };
    link.sent.is_empty().then_some(why)
}
