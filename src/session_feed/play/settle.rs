//! From a run that is over to what is handed to the judge.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Run;
use super::edit::edit;
use super::trace::{PieceOf, ReadBack};
use crate::probe::FeedTrace;
use crate::record::observation::Piece;
use crate::record::{Class, CutShort, Durables, Figures, Reason, Signal};
use crate::session_feed::chunk::{Block, BlockKind, Chunk};
use crate::session_feed::consumer::{Consumer, Feed, agreement, request, scripts, transcript};
use crate::session_feed::consumer::{piece_of, text_of};
use crate::session_feed::event::{Body, Event, Place, TurnEnd};
use crate::session_feed::fault::Fault;
use crate::session_feed::store::{LoadError, Loaded, Store};

/// Two accounts of one text, which ought to be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accounts {
    /// What they are accounts of and from where: `chunks` and `message`, `log feed` and `live feed`.
    pub names: [&'static str; 2],
    /// What each says.
    pub texts: [String; 2],
    /// Whether that is a line for each chunk, with its number and what it is, instead of its text.
    pub chunks: bool,
}

/// What one consumer got of one session, and everything that was noted on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Hop by hop.
    pub trace: FeedTrace,
    /// Whether the consumer wants text while it streams.
    pub streams: bool,
    /// The classes that it shows.
    pub shows: Vec<Class>,
    /// The text that it got, in order.
    pub delivered: Vec<Piece>,
    /// The committed text.
    pub reply: String,
    /// The committed text as the consumer shows it, for one that does.
    pub view: Option<String>,
    /// Whether the turn ended as it should, or was cancelled by the person.
    pub completed: bool,
    /// How it ended instead.
    pub cut: Option<CutShort>,
    /// The durable events.
    pub durables: Durables,
    /// The loudest thing that could be noticed.
    pub signal: Signal,
    /// What surfaced.
    pub surfaced: Vec<String>,
    /// Lines of the process's log.
    pub log: BTreeMap<String, u64>,
    /// Exact counts.
    pub figures: Figures,
    /// Texts that there are two accounts of.
    pub accounts: Vec<Accounts>,
    /// Steps of which the consumer saw a committed message with text.
    pub messages_at: BTreeSet<(u32, u32)>,
    /// Steps of which it saw a delta.
    pub deltas_at: BTreeSet<(u32, u32)>,
    /// What the next model request would be made of: who says it, and the text.
    pub request: Vec<(&'static str, String)>,
    /// Whether the plan's fault came. One that never did says nothing about what it would have done.
    pub fired: bool,
    /// Contradictions inside the rig.
    pub rig_faults: Vec<String>,
}

/// The log that was read back, with the edit that a fault makes to it, or why there is none.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) events: Vec<Rc<Event>>,
    pub(super) loaded: Option<Loaded>,
    pub(super) refused: Option<String>,
    /// Whether an edit changed anything.
    pub(super) edited: bool,
}

impl<S: Store + 'static> Run<'_, S> {
    /// Looks at everything.
    pub(super) fn settle(self, stored: Option<Result<Loaded, LoadError>>) -> Played {
        let stored = match stored {
            None => Stored::default(),
            Some(Ok(loaded)) => {
                let mut events = loaded.events.clone();
                let edited = edit(&mut events, self.plan.fault);
                Stored { events, loaded: Some(loaded), refused: None, edited }
            }
            Some(Err(error)) => Stored { refused: Some(error.to_string()), ..Stored::default() },
        };
        let consumer = self.plan.consumer;
        let mut trace = FeedTrace { path: consumer.path(self.plan.variant.traits()), ..FeedTrace::default() };
        let mut pieces = PieceOf::new();
        for (ordinal, chunk) in (0..).zip(&self.produced) {
            if let Some(piece) = piece_of(chunk) {
                pieces.insert(ordinal, u32::try_from(trace.produced.len()).unwrap_or(u32::MAX));
                trace.produced.push(piece);
            }
        }
        let reading = self.attended.is_none().then(|| reading(consumer, &stored));
        match (&self.attended, &reading) {
            (Some(attended), _) => self.trace_listener(&mut trace, attended, &pieces),
            (None, Some(reading)) => self.trace_reader(&mut trace, &reading.back, &pieces),
            (None, None) => {}
        }
        self.played(trace, &stored, reading.as_ref())
    }

    fn played(&self, trace: FeedTrace, stored: &Stored, reading: Option<&Reading>) -> Played {
        let consumer = self.plan.consumer;
        let log = self.harness.log(self.session);
        let mut surfaced: Vec<String> = self.done.error.iter().cloned().collect();
        surfaced.extend(self.done.killed.then(|| "the process was killed".to_owned()));
        surfaced.extend(reading.iter().flat_map(|r| r.surfaced.clone()));
        surfaced.extend(stored.refused.iter().filter(|_| consumer.reads()).cloned());
        let lines = self.harness.lines();
        let signal = match (surfaced.is_empty(), lines.is_empty()) {
            (false, _) => Signal::Surfaced,
            (true, false) => Signal::Log,
            (true, true) => Signal::None,
        };
        let seen = self.attended.as_ref().map(|a| &a.seen);
        let (delivered, view) = match (reading, seen) {
            (Some(reading), _) => (reading.delivered.clone(), reading.view.clone()),
            (None, Some(seen)) => {
                (seen.pieces.clone(), (consumer == Consumer::Acp).then(|| seen.view.clone()))
            }
            (None, None) => (Vec::new(), None),
        };
        let events: Vec<&Event> = if consumer.reads() {
            stored.events.iter().map(|e| &**e).collect()
        } else {
            log.iter().map(|e| &**e).collect()
        };
        let places = |at: &BTreeSet<Place>| at.iter().map(|p| (p.turn, p.step)).collect();
        let count = events.len() as u64;
        // What the turn committed, wherever it is read: an edit of the stored log must not become the truth.
        let truth: Vec<&Event> = log.iter().map(|e| &**e).collect();
        let has_reply = |events: &[&Event]| events.iter().any(|e| matches!(e.body, Body::Message(_)));
        Played {
            streams: consumer.streams(),
            shows: vec![Class::Text, Class::Reasoning],
            delivered: if consumer.streams() { delivered } else { Vec::new() },
            reply: reply(&truth),
            view,
            completed: matches!(self.done.ended, Some(TurnEnd::Completed | TurnEnd::Aborted)),
            cut: match self.done.ended {
                Some(TurnEnd::Completed | TurnEnd::Aborted) => None,
                Some(_) => Some(CutShort::Failed),
                None => Some(CutShort::Unended),
            },
            durables: Durables {
                due: count,
                sent: count,
                accepted: count,
                recovered: 0,
                rejected: BTreeMap::new(),
                reply_due: has_reply(&events),
                reply: has_reply(&events),
            },
            signal,
            surfaced,
            log: lines,
            figures: self.figures(&log, stored, reading),
            accounts: self.accounts(&log, stored),
            messages_at: seen.map(|s| places(&s.messages_at)).unwrap_or_default(),
            deltas_at: seen.map(|s| places(&s.deltas_at)).unwrap_or_default(),
            request: request(stored.events.iter().map(|e| &**e))
                .into_iter()
                .map(|s| (s.role, s.text))
                .collect(),
            fired: match self.plan.fault {
                // A queue is there from the beginning, whatever it comes to drop.
                Fault::None | Fault::Queued(_) => true,
                Fault::EditMessage | Fault::EditChunk => stored.edited,
                _ => self.done.fired,
            },
            rig_faults: self.keeper.failure().into_iter().collect(),
            trace,
        }
    }

    /// Texts that there are two accounts of: a message and its chunks, and two feeds of one stream.
    fn accounts(&self, log: &[Rc<Event>], stored: &Stored) -> Vec<Accounts> {
        let mut accounts = Vec::new();
        // Before an edit reaches a store there is only what is in memory.
        let events = if stored.loaded.is_some() { &stored.events[..] } else { log };
        let twice = agreement(events.iter().map(|e| &**e));
        if !twice.is_empty() {
            let texts = [
                twice.iter().map(|t| t.chunks.as_str()).collect(),
                twice.iter().map(|t| t.message.as_str()).collect(),
            ];
            accounts.push(Accounts { names: ["chunks", "message"], texts, chunks: false });
        }
        if let Some([on_log, on_live]) = self.two_feeds() {
            // Not the text alone: a chunk that begins a block has none, and one of two equal words is not the other.
            let lines = |ordinals: &[u64]| -> String {
                let chunk = |o: &u64| Some((*o, self.produced.get(usize::try_from(*o).ok()?)?));
                let line = |(o, chunk): (u64, &Chunk)| {
                    format!("{} {}\n", o + 1, serde_json::to_string(chunk).unwrap_or_default())
                };
                ordinals.iter().filter_map(chunk).map(line).collect()
            };
            let texts = [lines(&on_log), lines(&on_live)];
            accounts.push(Accounts { names: ["log feed", "live feed"], texts, chunks: true });
        }
        accounts
    }

    /// The chunks that came through the log feed and through the live feed, where both carry them.
    pub(super) fn two_feeds(&self) -> Option<[Vec<u64>; 2]> {
        let traits = self.plan.variant.traits();
        let live = [Feed::Chunks, Feed::Frames].into_iter().find(|feed| feed.streams(traits))?;
        if !Feed::Log.streams(traits) {
            return None;
        }
        let noted = self.harness.noted();
        Some([Feed::Log, live].map(|feed| match self.watchers.iter().find(|w| w.feed == feed) {
            Some(watcher) => watcher.got(),
            None => noted.emitted.get(feed.event()).cloned().unwrap_or_default(),
        }))
    }
}

/// What a consumer makes of a stored log.
pub(super) struct Reading {
    pub(super) back: ReadBack,
    pub(super) delivered: Vec<Piece>,
    pub(super) view: Option<String>,
    pub(super) surfaced: Vec<String>,
    pub(super) derived: u64,
    pub(super) failed: u64,
}

fn reading(consumer: Consumer, stored: &Stored) -> Reading {
    let events = || stored.events.iter().map(|e| &**e);
    let mut reading = Reading {
        back: ReadBack {
            stored: stored.loaded.as_ref().map_or(0, |l| l.stored.events),
            ..ReadBack::default()
        },
        delivered: Vec::new(),
        view: None,
        surfaced: Vec::new(),
        derived: 0,
        failed: 0,
    };
    match consumer {
        Consumer::Resume => {
            let said = request(events()).into_iter().filter(|said| said.role == "assistant");
            reading.view = Some(said.map(|said| said.text).collect());
        }
        Consumer::Transcript => {
            let shown = transcript(events());
            reading.back.from = shown.iter().flat_map(|step| step.from.iter().copied()).collect();
            reading.back.why_not = Some(Reason::SUPERSEDED);
            let blocks = shown.iter().flat_map(|step| &step.blocks);
            reading.delivered = blocks.filter_map(of_block).collect();
            // Text that was never committed is shown from its chunks, and is no part of a reply.
            let committed: BTreeSet<Place> = events()
                .filter_map(|e| matches!(e.body, Body::Message(_)).then(|| e.body.place()).flatten())
                .collect();
            let shown = shown.iter().filter(|step| committed.contains(&step.place));
            reading.view = Some(shown.map(|step| text_of(&step.blocks, false)).collect());
        }
        Consumer::SnapshotReplay => {
            let scripts = scripts(events());
            let all = || scripts.derived.iter();
            reading.back.from = all().flat_map(|(_, _, from)| from.iter().copied()).collect();
            reading.back.why_not = Some(Reason::new("no_finish"));
            reading.delivered = all().flat_map(|(_, chunks, _)| chunks.iter().filter_map(piece_of)).collect();
            (reading.derived, reading.failed) = (scripts.derived.len() as u64, scripts.failed.len() as u64);
            let said = scripts.failed.iter().map(|(place, why)| {
                format!("turn {} step {}: no script can be derived ({why})", place.turn, place.step)
            });
            reading.surfaced = said.collect();
        }
        _ => {}
    }
    reading
}

fn of_block(block: &Block) -> Option<Piece> {
    let class = match block.kind {
        BlockKind::Text => Class::Text,
        BlockKind::Reasoning => Class::Reasoning,
        BlockKind::ToolCall => return None,
    };
    Some(Piece { class, text: block.text.clone() })
}

/// The committed text of all messages.
fn reply(events: &[&Event]) -> String {
    let messages = events.iter().filter_map(|event| match &event.body {
        Body::Message(message) => Some(text_of(&message.blocks, false)),
        _ => None,
    });
    messages.collect()
}
