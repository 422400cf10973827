//! From the blocks of one number of subscribers to the figures per token.

use super::lane::BlockCost;
use super::per_chunk;
use super::readers::GroupSeen;
use super::subject::Subject;
use crate::record::SideEffects;
use crate::record::bench::{Delivery, PerClock, PerToken, Point, Settings};

/// All blocks at one number of subscribers.
pub(super) struct Level {
    subscribers: u32,
    blocks: Vec<Vec<BlockCost>>,
    seen: Vec<GroupSeen>,
}

impl Level {
    pub(super) fn new(subscribers: u32, lanes: usize) -> Level {
        Level { subscribers, blocks: (0..lanes).map(|_| Vec::new()).collect(), seen: Vec::new() }
    }

    pub(super) fn add(&mut self, lane: usize, cost: BlockCost) {
        self.blocks[lane].push(cost);
    }

    /// What the subscribers of every lane saw.
    pub(super) fn saw(&mut self, seen: Vec<GroupSeen>) {
        self.seen = seen;
    }

    /// CPU per chunk of each block, in the order they ran; nothing for a lane without a block.
    pub(super) fn cpu_ns(&self, lane: usize, settings: &Settings) -> Option<(u32, Vec<f64>)> {
        let blocks = self.blocks.get(lane).filter(|b| !b.is_empty())?;
        Some((self.subscribers, blocks.iter().map(|b| per_chunk(b, settings.tokens)).collect()))
    }

    /// The point, if a single block was measured for it.
    pub(super) fn point(&self, lane: usize, subject: &Subject, settings: &Settings) -> Option<Point> {
        let (_, cpu_ns_blocks) = self.cpu_ns(lane, settings)?;
        let blocks = &self.blocks[lane];
        let chunks = f64::from(settings.tokens);
        let allocations = blocks
            .iter()
            .filter_map(|b| b.readings.as_ref())
            .map(|(before, after)| count(after.allocations.since(&before.allocations).count) / chunks);
        // Counts only grow, so nothing is ever negative.
        let readings = || blocks.iter().filter_map(|b| b.readings.as_ref());
        let total = |of: fn(&SideEffects) -> u64| -> u64 {
            readings().map(|(before, after)| of(&after.effects).saturating_sub(of(&before.effects))).sum()
        };
        let all = chunks * count(blocks.len() as u64);
        let each = |of: fn(&SideEffects) -> u64| count(total(of)) / all;
        let text = f64::from(self.subscribers) * count(blocks.iter().map(|b| b.text_bytes).sum());
        // Those that never read are sent frames too, and no text is due to them.
        let comparable = text > 0.0 && settings.stalled == 0;
        let per_token = PerToken {
            cpu_ns: median(cpu_ns_blocks.clone()),
            allocations: median(allocations.collect()),
            invocations: each(|e| e.costs.invocations),
            serialisations: each(|e| e.costs.serialisations),
            bytes_encoded: each(|e| e.costs.bytes_encoded),
            frames: each(|e| e.costs.frames),
            wire_bytes: each(|e| e.costs.wire_bytes),
            wire_bytes_per_text_byte: comparable.then(|| count(total(|e| e.costs.wire_bytes)) / text),
            webhook_posts: each(|e| e.webhook.posts),
            webhook_events: each(|e| e.webhook.events),
            telemetry: each(|e| e.telemetry.events),
            idle_writes: PerClock {
                process: each(|e| e.idle_writes.process),
                updated_at: each(|e| e.idle_writes.updated_at),
                eviction: each(|e| e.idle_writes.eviction),
            },
            log_lines: each(|e| e.costs.log_lines),
        };
        Some(Point {
            bus: subject.bus.clone(),
            encoding: subject.encoding.clone(),
            subscribers: self.subscribers,
            repeats: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
            per_token,
            cpu_ns_blocks,
        })
    }

    /// What its subscribers saw; nothing without subscribers, or when the level was cut short.
    pub(super) fn delivery(&self, lane: usize, subject: &Subject, settings: &Settings) -> Option<Delivery> {
        let seen = self.seen.get(lane).filter(|_| self.subscribers > 0)?;
        let due = u64::from(settings.tokens) * self.blocks[lane].len() as u64 * u64::from(self.subscribers);
        Some(Delivery {
            bus: subject.bus.clone(),
            encoding: subject.encoding.clone(),
            subscribers: self.subscribers,
            due,
            received: seen.deltas,
            reach: count(seen.deltas) / count(due),
            missing: seen.missing,
            duplicated: seen.duplicated,
            reordered: seen.reordered,
            batch_ratio: f64::from(settings.batch),
            first_delta: seen.first_delta,
            frame_gap: seen.frame_gap,
            token_gap: seen.token_gap,
            delay: seen.delay,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^52")]
fn count(n: u64) -> f64 {
    n as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(vec![]).to_bits(), 0.0_f64.to_bits());
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
    }
}
