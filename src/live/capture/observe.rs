//! From a capture to an observation, by the ledger that every cell goes through.

use std::collections::HashSet;

use super::server::WiredFrame;
use super::{Capture, ClientSide, ServerSide, canvas, client, late, server};
use crate::live::tap::{Side, WireSocket};
use crate::probe::ClientTrace;
use crate::probe::ledger::Endpoint;
use crate::probe::trace::Ended;
use crate::probe::{Ledger, LinkTrace, Seat};
use crate::record::observation::Piece;
use crate::record::{Class, Figures, Hop, HopFlow, Observation, Reason, SideEffects};

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
    /// Whether the model's provider is meant to fail: then no reply is due.
    pub fails: bool,
}

impl Seated<'_> {
    /// The reason for a delta that reached another list, or none.
    pub(super) fn not_called(&self) -> Reason {
        self.not_called.map_or(Reason::new("not_called"), |why| Reason::from(why.to_owned()))
    }
}

/// Settles the ledger of a captured cell. A pure function: a stored capture gives the same evidence.
pub fn observe(capture: &Capture, seated: &Seated<'_>) -> Observation {
    let (server, links, frames, mut faults) = match &capture.server {
        ServerSide::Live { status, events } => {
            let wired = server::wired(capture, status, events, seated.fails);
            (wired.server, vec![wired.link], wired.frames, wired.faults)
        }
        ServerSide::Emulated { trace, link, earlier } => {
            let frames = server::frames(&capture.sockets);
            let links: Vec<LinkTrace> = earlier.iter().chain([&**link]).cloned().collect();
            let faults = missed(&links, &frames, capture).into_iter().collect();
            (*trace.clone(), links, frames, faults)
        }
    };
    let unreadable = capture.sockets.iter().filter_map(|s| s.unreadable.as_ref());
    faults.extend(unreadable.map(|why| format!("the tap: {why}")));
    let foreign = matches!(capture.server, ServerSide::Live { .. });
    let mut late = Vec::new();
    let mut trace = match &capture.client {
        ClientSide::Library { said } => {
            let (trace, after) = client::trace(said, &frames, seated);
            late = after;
            trace
        }
        ClientSide::Canvas { seen, console, shown_errors, failed } => {
            canvas::trace(seen, console, shown_errors, failed.as_deref(), &frames, seated.streams)
        }
        ClientSide::Emulated { trace } => *trace.clone(),
    };
    connected(&mut trace, &links, capture);
    if foreign && matches!(capture.client, ClientSide::Emulated { .. }) {
        late = late::places(&trace, &frames);
    }
    if let ClientSide::Canvas { seen, .. } = &capture.client
        && seated.streams
    {
        faults.extend(canvas::behind(seen, &frames));
    }
    faults.extend(conjured(&server.produced, &trace.delivered, &frames, seated.shows));
    faults.extend(capture.rig_faults.iter().cloned());
    let seat = Seat { endpoint: seated.endpoint, shows: seated.shows, streams: seated.streams };
    let mut ledger = Ledger::settle(&server, seat, &links, &trace);
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
        cut: server.cut,
        // A package is not ended in a turn; where its reply is not in the log it is due all the same.
        turns_killed: 0,
        unattended: LinkTrace::none_attended(&links),
        durables: ledger.durables,
        flows: ledger.flows,
        signal: ledger.signal,
        durable_signal: ledger.durable_signal,
        surfaced: trace.surfaced,
        log: trace.log,
        side_effects: SideEffects { foreign, ..capture.side_effects.clone() },
        cpu_ratio: None,
        figures: Figures::new(),
        lost_pieces: Vec::new(),
        sources: Vec::new(),
        subscribed: None,
        first_frame: None,
        times: None,
        baseline: None,
        superseded: crate::unit::Tally::default(),
        late,
        queue: None,
        receive_queue: None,
        reaped: None,
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
        // The last five are the other subject's.
        Hop::Produced
        | Hop::Sent
        | Hop::Delivered
        | Hop::Appended
        | Hop::Emitted
        | Hop::Handled
        | Hop::Durable
        | Hop::Replayed => false,
    };
    if foreign && flow.dropped.is_empty() && flow.added.is_empty() {
        *flow = HopFlow { unseen: true, ..HopFlow::new(flow.hop) };
    }
}

/// A rendered page makes one space or one line of any white space, and none at the ends. Where nothing else differs
/// the view is the reply. White space that is gone altogether joins two words, and is no such thing.
fn same_to_the_eye(view: &str, reply: &str) -> String {
    if view.split_whitespace().eq(reply.split_whitespace()) { reply.to_owned() } else { view.to_owned() }
}

/// Text that arrived whole though the wire did not carry it like that: one of the two notes is wrong. A frame that passed
/// twice may have been taken once.
fn conjured(
    produced: &[Piece],
    delivered: &[Piece],
    frames: &[WiredFrame],
    shows: &[Class],
) -> Option<String> {
    fn text<'a>(class: Class, pieces: impl Iterator<Item = &'a Piece>) -> String {
        pieces.filter(|piece| piece.class == class).map(|piece| piece.text.as_str()).collect()
    }
    let wire: Vec<(Option<&str>, Vec<Piece>)> =
        frames.iter().filter_map(|f| Some((f.id.as_deref(), server::pieces(&f.value)?))).collect();
    let mut ids = HashSet::new();
    let once: Vec<&Vec<Piece>> =
        wire.iter().filter(|(id, _)| id.is_none_or(|id| ids.insert(id))).map(|(_, pieces)| pieces).collect();
    let wrong = |class: &&Class| {
        let made = text(**class, produced.iter());
        made == text(**class, delivered.iter())
            && made != text(**class, wire.iter().flat_map(|(_, pieces)| pieces))
            && made != text(**class, once.iter().copied().flatten())
    };
    let class = shows.iter().find(wrong)?.as_str();
    Some(format!("the {class} arrived as the model made it, and the frames on the wire say otherwise"))
}

/// Lays the client's receipts out over its connections, one a link.
fn connected(trace: &mut ClientTrace, links: &[LinkTrace], capture: &Capture) {
    if !matches!(capture.client, ClientSide::Emulated { .. }) {
        // A receipt a frame, as they passed on each socket; what passed no more was on a connection that had ended.
        let (mut receipts, before) = (0, links.len().saturating_sub(1).min(capture.sockets.len()));
        let ended = |socket: &WireSocket| {
            receipts += socket.frames.iter().filter(|frame| frame.from == Side::Server).count();
            let unread = if socket.closed.is_some() { "connection_closed" } else { "connection_lost" };
            Ended { receipts, unread: Reason::new(unread) }
        };
        trace.earlier = capture.sockets[..before].iter().map(ended).collect();
    }
    if trace.earlier.len() + 1 != links.len() {
        // A released server's connections are one sequence of frames here, and older captures have the last one alone.
        trace.earlier.clear();
    }
}

/// Frames that an emulated server wrote and that the tap did not see on connections that stand.
fn missed(links: &[LinkTrace], frames: &[WiredFrame], capture: &Capture) -> Option<String> {
    let (wrote, passed) = (links.iter().map(|link| link.sent.len()).sum::<usize>(), frames.len());
    let stands = capture.sockets.iter().all(|s| s.closed.is_none() && !s.over);
    (stands && !capture.sockets.is_empty() && passed < wrote)
        .then(|| format!("the server wrote {wrote} frames and {passed} passed the tap"))
}
