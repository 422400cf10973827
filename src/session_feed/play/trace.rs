//! The notes of one run as the ledger wants them: which piece passed which hop on the consumer's path, and why not.

use std::collections::{BTreeMap, BTreeSet};

use super::{Attended, Run};
use crate::probe::FeedTrace;
use crate::probe::trace::PieceIndex;
use crate::record::{Hop, Reason};
use crate::session_feed::consumer::{Consumer, Feed, Read};
use crate::session_feed::event::Seq;
use crate::session_feed::fault::Fault;
use crate::session_feed::harness::Ordinal;
use crate::session_feed::profile::KeptChunks;
use crate::session_feed::store::Store;

/// The piece that a chunk carries, by the chunk's number.
pub(super) type PieceOf = BTreeMap<Ordinal, PieceIndex>;

/// What a reader read back, and what it could not.
#[derive(Debug, Default)]
pub(super) struct ReadBack {
    /// Where it read text.
    pub(super) from: BTreeSet<Read>,
    /// Events that the store held before any repair.
    pub(super) stored: Seq,
    /// Why what was there and was not read was not.
    pub(super) why_not: Option<Reason>,
}

impl<S: Store + 'static> Run<'_, S> {
    /// Fills the trace of a consumer that listens.
    pub(super) fn trace_listener(&self, trace: &mut FeedTrace, attended: &Attended, pieces: &PieceOf) {
        let noted = self.harness.noted();
        let appended: BTreeSet<Ordinal> =
            noted.appended.iter().filter(|(_, s, _)| *s == self.session).map(|(o, ..)| *o).collect();
        let emitted: BTreeSet<Ordinal> =
            noted.emitted.get(attended.feed.event()).into_iter().flatten().copied().collect();
        let mut handled: BTreeMap<Ordinal, u64> = BTreeMap::new();
        attended.seen.handled.iter().for_each(|o| *handled.entry(*o).or_default() += 1);
        for (ordinal, piece) in pieces {
            if attended.feed == Feed::Log {
                if !appended.contains(ordinal) {
                    trace.stop(Hop::Appended, *piece, self.not_appended());
                    continue;
                }
                trace.pass(Hop::Appended, *piece);
            }
            if !emitted.contains(ordinal) {
                if let Some(reason) = self.not_emitted(attended.feed, *ordinal) {
                    trace.stop(Hop::Emitted, *piece, reason);
                }
                continue;
            }
            trace.pass(Hop::Emitted, *piece);
            if !self.plan.consumer.streams() {
                trace.stop(Hop::Handled, *piece, Reason::NOT_STREAMING);
                continue;
            }
            let times = handled.get(ordinal).copied().unwrap_or(0);
            (0..times).for_each(|_| trace.pass(Hop::Handled, *piece));
            if times == 0
                && let Some(reason) = self.not_handled(attended, *ordinal)
            {
                trace.stop(Hop::Handled, *piece, reason);
            }
        }
    }

    /// Why a chunk is not in the log.
    fn not_appended(&self) -> Reason {
        match self.plan.variant.traits().durable.chunks {
            KeptChunks::Event => Reason::new("append_failed"),
            KeptChunks::None => Reason::new("not_persisted"),
            KeptChunks::Embedded => Reason::new("embedded"),
        }
    }

    /// Why a chunk did not go out under the name that the consumer listens to. None: nobody knows, and the ledger says so.
    fn not_emitted(&self, feed: Feed, ordinal: Ordinal) -> Option<Reason> {
        if !feed.streams(self.plan.variant.traits()) {
            return Some(Reason::new("event_removed"));
        }
        let forget_every = self.plan.variant.traits().live.forget_every;
        if feed != Feed::Log && (ordinal + 1).checked_rem(forget_every) == Some(0) {
            return Some(Reason::new("forgotten"));
        }
        match self.plan.fault {
            Fault::KillBetween(k) if k == ordinal + 1 => Some(Reason::new("killed")),
            Fault::LogListenerThrows(k) if k == ordinal + 1 => Some(Reason::new("listener_threw")),
            _ => None,
        }
    }

    /// Why a chunk that went out was not taken.
    fn not_handled(&self, attended: &Attended, ordinal: Ordinal) -> Option<Reason> {
        if let Some(reason) = attended.seen.stopped.get(&ordinal) {
            return Some(reason.clone());
        }
        if attended.overflowed.contains(&ordinal) {
            return Some(Reason::new("queue_full"));
        }
        let there = attended.not_there.iter().find(|(o, _)| *o == ordinal);
        there.map(|(_, why)| Reason::new(why)).or_else(|| self.done.killed.then(|| Reason::new("killed")))
    }

    /// Fills the trace of a consumer that reads the stored log.
    pub(super) fn trace_reader(&self, trace: &mut FeedTrace, read: &ReadBack, pieces: &PieceOf) {
        let carriers = self.carriers();
        for (ordinal, piece) in pieces {
            let Some(carriers) = carriers.get(ordinal).filter(|c| !c.is_empty()) else {
                let settles = self.plan.variant.traits().durable.chunks == KeptChunks::Embedded;
                let reason = if settles { Reason::new("not_settled") } else { self.not_appended() };
                trace.stop(Hop::Appended, *piece, reason);
                continue;
            };
            trace.pass(Hop::Appended, *piece);
            let stored = |read_at: &&Read| match **read_at {
                Read::Chunk(seq) | Read::Settlement(seq) => seq < read.stored,
            };
            if !carriers.iter().any(|at| stored(&at)) {
                trace.stop(Hop::Durable, *piece, Reason::new("not_flushed"));
                continue;
            }
            trace.pass(Hop::Durable, *piece);
            if !self.plan.consumer.streams() {
                trace.stop(Hop::Replayed, *piece, Reason::NOT_STREAMING);
            } else if carriers.iter().any(|at| read.from.contains(at)) {
                trace.pass(Hop::Replayed, *piece);
            } else if let Some(reason) = &read.why_not {
                trace.stop(Hop::Replayed, *piece, reason.clone());
            }
        }
    }

    /// The events that a reader can get each chunk from.
    fn carriers(&self) -> BTreeMap<Ordinal, Vec<Read>> {
        let mut carriers: BTreeMap<Ordinal, Vec<Read>> = BTreeMap::new();
        for (ordinal, session, seq) in &self.harness.noted().appended {
            if *session == self.session {
                carriers.entry(*ordinal).or_default().push(Read::Chunk(*seq));
            }
        }
        // A message is text to who shows it, and a script only where the chunks stand in it.
        let embedded = self.plan.variant.traits().durable.chunks == KeptChunks::Embedded;
        if embedded || self.plan.consumer == Consumer::Transcript {
            for (seq, ordinals) in &self.done.settled {
                for ordinal in ordinals {
                    carriers.entry(*ordinal).or_default().push(Read::Settlement(*seq));
                }
            }
        }
        carriers
    }
}
