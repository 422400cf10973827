//! What is counted and timed over the sockets of one group.

use std::collections::BTreeMap;
use std::time::Instant;

use super::closed::Closed;
use super::heard::{Delta, Heard, hear};
use super::ledger::Ledger;
use super::report::{BlockReport, GroupReport, Times};
use super::spec::Block;
use crate::record::client_bench::Counts;

/// What one socket remembers of the times of its deltas.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pulse {
    /// The delta frame before, within this reply.
    last: Option<Instant>,
    /// Deltas since the socket is open.
    pub(super) deltas: u64,
    /// Whether the block's first delta came, and its durable end.
    pub(super) began: bool,
    pub(super) ended: bool,
}

impl Pulse {
    /// A block begins.
    pub(super) fn rest(&mut self) {
        *self = Pulse { deltas: self.deltas, ..Pulse::default() };
    }
}

/// One server under test.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) bytes: u64,
    messages: u64,
    unreadable: u64,
    counts: Counts,
    closed: BTreeMap<Closed, u64>,
    times: Times,
    block: Option<Running>,
    blocks: Vec<BlockReport>,
    begun: u64,
}

/// The block under way, and what had been counted when it began.
#[derive(Debug)]
struct Running {
    block: Block,
    bytes: u64,
    counts: Counts,
}

impl Group {
    /// Takes one whole text message.
    pub(super) fn text(&mut self, text: &str, now: Instant, ledger: &mut Ledger, pulse: &mut Pulse) {
        self.messages += 1;
        match hear(text) {
            Ok(Heard::Delta(delta)) => self.delta(&delta, now, ledger, pulse),
            Ok(Heard::Reply(reply)) => {
                ledger.reply(&reply, &mut self.counts);
                pulse.ended = true;
                pulse.last = None;
            }
            Ok(Heard::Asked) => ledger.asked(),
            Ok(Heard::Aborted) => ledger.aborted(),
            Ok(Heard::Other) => {}
            Err(_) => self.unreadable += 1,
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, now: Instant, ledger: &mut Ledger, pulse: &mut Pulse) {
        let number = ledger.delta(delta, &mut self.counts);
        pulse.deltas += 1;
        let batch = self.block.as_ref().map_or(1, |running| running.block.batch.max(1));
        if let Some(last) = pulse.last.replace(now) {
            let gap = now.saturating_duration_since(last);
            self.times.frame_gap.record(gap);
            for _ in 0..batch {
                self.times.token_gap.record(gap / batch);
            }
        }
        let Some(Running { block, .. }) = &self.block else { return };
        if let Some(n) = number {
            self.times.delay.record(now.saturating_duration_since(block.intended(n)));
        }
        if !std::mem::replace(&mut pulse.began, true) {
            self.times.first_delta.record(now.saturating_duration_since(block.start));
        }
    }

    /// A message that is not text: no server of this protocol sends one.
    pub(super) fn binary(&mut self) {
        self.messages += 1;
        self.unreadable += 1;
    }

    /// A socket that had been open is closed.
    pub(super) fn closed(&mut self, why: Closed, ledger: &mut Ledger) {
        ledger.closed(&mut self.counts);
        *self.closed.entry(why).or_default() += 1;
    }

    /// Begins a block; the one before is over.
    pub(super) fn begin<'a>(&mut self, block: Block, sockets: impl Iterator<Item = Seat<'a>>) {
        // One pass for both: what the block before still owed, and the new beginning.
        let mut owed = Owed::default();
        let mut counts = self.counts;
        for Seat { ledger, pulse } in sockets {
            owed.add(pulse);
            ledger.begin(block.first, &mut counts);
            pulse.rest();
        }
        self.counts = counts;
        self.finish(owed);
        self.block = Some(Running { block, bytes: self.bytes, counts: self.counts });
        self.begun += 1;
    }

    fn finish(&mut self, owed: Owed) {
        let over = self.running(owed);
        self.blocks.extend(over);
    }

    fn running(&self, owed: Owed) -> Option<BlockReport> {
        let running = self.block.as_ref()?;
        Some(BlockReport {
            number: self.begun,
            bytes: self.bytes - running.bytes,
            counts: self.counts.since(&running.counts),
            without_delta: owed.deltas,
            without_end: owed.ends,
        })
    }

    /// Forgets what was counted and timed, after a warm-up.
    pub(super) fn forget(&mut self) {
        *self = Group::default();
    }

    /// Everything so far, the block under way as the last one.
    pub(super) fn report(&self, open: u64, unread: u64, owed: Owed) -> GroupReport {
        let mut blocks = self.blocks.clone();
        blocks.extend(self.running(owed));
        GroupReport {
            open,
            unread,
            bytes: self.bytes,
            messages: self.messages,
            unreadable: self.unreadable,
            counts: self.counts,
            closed: self.closed.clone(),
            times: self.times.clone(),
            blocks,
        }
    }

    /// Deltas and durable ends so far.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.counts.deltas, self.counts.replies)
    }
}

/// What of a socket a block touches.
#[derive(Debug)]
pub(super) struct Seat<'a> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) pulse: &'a mut Pulse,
}

/// Open sockets that a block still owes something.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Owed {
    deltas: u64,
    ends: u64,
}

impl Owed {
    pub(super) fn add(&mut self, pulse: &Pulse) {
        self.deltas += u64::from(!pulse.began);
        self.ends += u64::from(!pulse.ended);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::wire::numbered;

    fn delta(n: u64) -> String {
        let text = numbered::text(n, 12);
        format!(r#"{{"id":"i","source":"agent","content":"{text}","kind":"StreamingDeltaEvent"}}"#)
    }

    fn end(text: &str) -> String {
        format!(
            r#"{{"source":"agent","llm_message":{{"content":[{{"type":"text","text":"{text}"}}]}},"kind":"MessageEvent"}}"#
        )
    }

    #[test]
    fn delays_count_from_the_plan_and_gaps_from_the_frame_before() {
        let (mut group, mut ledger, mut pulse) = (Group::default(), Ledger::new(), Pulse::default());
        let start = Instant::now();
        let ms = Duration::from_millis;
        let block = Block { start, gap: ms(10), first: 0, batch: 2 };
        group.begin(block, std::iter::once(Seat { ledger: &mut ledger, pulse: &mut pulse }));
        // A generator that stalls for 100 ms and then catches up: nine chunks, all at 100 ms.
        for n in 0..9 {
            group.text(&delta(n), start + ms(100), &mut ledger, &mut pulse);
        }
        let report = group.report(1, 0, Owed::default());
        let delay = report.times.delay.quantiles();
        assert_eq!(delay.count, 9);
        assert!(delay.max_ns >= 100_000_000, "the first was due 100 ms before: {delay:?}");
        assert!((59_000_000..=62_000_000).contains(&delay.p50_ns), "the middle one 60 ms: {delay:?}");
        let gaps = (report.times.frame_gap.quantiles(), report.times.token_gap.quantiles());
        assert_eq!((gaps.0.count, gaps.1.count), (8, 16), "two tokens a frame");
        assert!(gaps.0.max_ns < 1_000, "and the gaps alone would have hidden it");
        assert_eq!(report.times.first_delta.quantiles().count, 1);
        group.text(&delta(9), start + ms(140), &mut ledger, &mut pulse);
        let times = group.report(1, 0, Owed::default()).times;
        let close = |ns: u64, wanted: u64| ns.abs_diff(wanted * 1_000_000) < 100_000;
        assert!(close(times.frame_gap.quantiles().max_ns, 40));
        assert!(close(times.token_gap.quantiles().max_ns, 20));
    }

    #[test]
    fn each_block_has_its_own_counts_and_says_who_got_nothing() {
        let mut group = Group::default();
        let mut ledgers = [Ledger::new(), Ledger::new()];
        let mut pulses = [Pulse::default(), Pulse::default()];
        let now = Instant::now();
        let block = Block { start: now, gap: Duration::ZERO, first: 0, batch: 1 };
        for _ in 0..2 {
            let seats = ledgers.iter_mut().zip(&mut pulses);
            group.begin(block, seats.map(|(ledger, pulse)| Seat { ledger, pulse }));
            for frame in [delta(0), delta(2), end("tok0 .......tok1 .......tok2 .......")] {
                group.text(&frame, now, &mut ledgers[0], &mut pulses[0]);
            }
        }
        group.text(&delta(0), now, &mut ledgers[1], &mut pulses[1]);
        group.text("{", now, &mut ledgers[1], &mut pulses[1]);
        let mut owed = Owed::default();
        for pulse in &pulses {
            owed.add(pulse);
        }
        let report = group.report(2, 0, owed);
        assert_eq!(report.blocks.len(), 2);
        let of =
            |b: &BlockReport| (b.number, b.counts.deltas, b.counts.missing, b.without_delta, b.without_end);
        assert_eq!(of(&report.blocks[0]), (1, 2, 1, 1, 1));
        assert_eq!(of(&report.blocks[1]), (2, 3, 1, 0, 1));
        assert_eq!((report.counts.deltas, report.counts.missing, report.unreadable), (5, 2, 1));
        group.closed(Closed::EndOfStream, &mut ledgers[1]);
        let report = group.report(1, 0, owed);
        assert_eq!((report.counts.unfinished, report.closed[&Closed::EndOfStream]), (1, 1));
    }
}
