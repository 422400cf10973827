//! The exact counts of one run.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::listeners::Watcher;
use super::settle::{Reading, Stored};
use super::{BEGINS, Run};
use crate::record::{Figure, Figures};
use crate::session_feed::consumer::{AWAY, Consumer, agreement, request};
use crate::session_feed::event::{Body, Event};
use crate::session_feed::store::Store;
use crate::session_feed::store::provenance::dangling;

impl<S: Store + 'static> Run<'_, S> {
    pub(super) fn figures(&self, log: &[Rc<Event>], stored: &Stored, reading: Option<&Reading>) -> Figures {
        use Figure as F;
        let counts = self.harness.bus().counts();
        let of = |what: fn(&Body) -> bool| log.iter().filter(|e| what(&e.body)).count() as u64;
        let mut figures = Figures::from([
            (F::Chunks, self.done.streamed),
            (F::Events, log.len() as u64),
            (F::Attempts, self.done.attempts),
            (F::LogChunks, of(|body| matches!(body, Body::Chunk(..)))),
            (F::Messages, of(|body| matches!(body, Body::Message(_)))),
            (F::InterruptedMessages, of(|body| matches!(body, Body::Message(m) if m.interrupted))),
            (F::Dispatches, counts.dispatches),
            (F::InternalDispatches, counts.internal),
            (F::ChunkDispatches, counts.chunk_dispatches),
            (F::FrameDispatches, counts.frame_dispatches),
            (F::Callbacks, counts.callbacks),
            (F::ChunkCallbacks, counts.chunk_callbacks),
            (F::ContainedThrows, counts.contained),
            (F::ForwardedBytes, self.harness.noted().forwarded),
            (F::SchemaSites, self.plan.variant.traits().schema_sites()),
        ]);
        if let Some(attended) = &self.attended {
            let seen = &attended.seen;
            figures.extend([
                (F::HandledChunks, seen.handled.len() as u64),
                (F::Filtered, seen.filtered),
                (F::LookupHits, seen.hits),
                (F::LookupMisses, seen.misses),
                (F::Updates, seen.updates),
                (F::StyleErrors, seen.style_errors),
                (F::SeqGaps, seen.gaps),
            ]);
            figures.extend(seen.first_text.map(|at| (F::FirstTextMs, at - BEGINS)));
            if matches!(self.plan.consumer, Consumer::LateJoiner | Consumer::Reconnecting) {
                let handled: BTreeSet<u64> =
                    seen.handled.iter().chain(&attended.overflowed).copied().collect();
                let away = seen.stopped.iter().filter(|(_, why)| why.as_str() == AWAY).map(|(o, _)| *o);
                let missed: BTreeSet<u64> = attended.not_there.iter().map(|(o, _)| *o).chain(away).collect();
                figures.insert(F::MissedWhileAway, missed.difference(&handled).count() as u64);
            }
        }
        if let Some([on_log, on_live]) = self.two_feeds() {
            let [on_log, on_live] = [on_log, on_live].map(|o| o.into_iter().collect::<BTreeSet<_>>());
            figures.insert(F::DivergentChunks, on_log.symmetric_difference(&on_live).count() as u64);
        } else {
            // One feed cannot differ from itself.
            figures.insert(F::DivergentChunks, 0);
        }
        let dropped: BTreeSet<u64> = self.watchers.iter().flat_map(Watcher::dropped).collect();
        figures.insert(F::DroppedChunks, dropped.len() as u64);
        figures.extend(of_store(log, stored));
        if let Some(reading) = reading {
            match self.plan.consumer {
                Consumer::SnapshotReplay => {
                    figures.insert(F::ScriptsDerived, reading.derived);
                    figures.insert(F::ScriptsFailed, reading.failed);
                }
                Consumer::Resume => {
                    let said = request(stored.events.iter().map(|e| &**e)).len();
                    figures.insert(F::RequestMessages, said as u64);
                }
                _ => {}
            }
        }
        figures
    }
}

/// What the store holds, and what was made of it on load.
fn of_store(log: &[Rc<Event>], stored: &Stored) -> Figures {
    use Figure as F;
    let cited = |events: &[Rc<Event>]| -> u64 {
        events.iter().filter_map(|e| e.cites.as_ref()).map(|c| c.len() as u64).sum()
    };
    let Some(loaded) = &stored.loaded else {
        if stored.refused.is_some() {
            // What nobody can load can still be asked of the log that it was written from.
            let dangling = dangling(log).len() as u64;
            return Figures::from([(F::Cited, cited(log)), (F::Dangling, dangling)]);
        }
        // Nothing was ever written, and nothing is a count.
        let all = [F::DurableBytes, F::DurableEvents, F::DurableChunks, F::Batches, F::Rows, F::PackedRows];
        let read = [F::Cited, F::Dangling, F::RepairedEvents, F::DivergentSteps];
        return all.into_iter().chain(read).map(|figure| (figure, 0)).collect();
    };
    let written = &loaded.stored;
    let events = || stored.events.iter().map(|e| &**e);
    let twice = agreement(events());
    Figures::from([
        (F::DurableBytes, written.bytes),
        (F::DurableEvents, written.events),
        (F::DurableChunks, written.chunks),
        (F::Batches, written.batches),
        (F::Rows, written.rows),
        (F::PackedRows, written.packed_rows),
        (F::Cited, cited(&stored.events)),
        (F::Dangling, dangling(&stored.events).len() as u64),
        (F::RepairedEvents, loaded.added().len() as u64),
        (F::DivergentSteps, twice.iter().filter(|t| t.chunks != t.message).count() as u64),
    ])
}
