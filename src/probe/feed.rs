//! What was noted of one consumer of a session feed, and the ledger that settles it.
//!
//! Every hop notes for itself what passed it: the log what was appended, the bus what was handed on, the consumer what it
//! took, the store what was synced, the replay what came back. The ledger only joins the notes by the piece's index.

use std::collections::{BTreeMap, BTreeSet};

use super::trace::PieceIndex;
use crate::record::flow::{Class, Hop, HopFlow, Reason};
use crate::record::observation::Piece;
use crate::unit::Tally;

/// The notes of one run, as far as one consumer is concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedTrace {
    /// The hops of this consumer's path, first to last; the first is `produced`, what left the last is delivered.
    pub path: Vec<Hop>,
    /// What the model streamed: text and reasoning, of every attempt.
    pub produced: Vec<Piece>,
    /// The pieces that passed each hop after the first, as often as they did.
    pub passed: BTreeMap<Hop, Vec<PieceIndex>>,
    /// Why pieces stopped, by the hop that they did not leave.
    pub stopped: BTreeMap<(PieceIndex, Hop), Reason>,
}

/// Hop by hop, per class, and what does not add up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedBooks {
    /// Every hop of the path, per class.
    pub flows: BTreeMap<Class, Vec<HopFlow>>,
    /// Contradictions: faults of the rig, never of the subject.
    pub faults: Vec<String>,
}

impl FeedTrace {
    /// Notes that a piece passed a hop.
    pub fn pass(&mut self, hop: Hop, piece: PieceIndex) {
        self.passed.entry(hop).or_default().push(piece);
    }

    /// Notes why a piece did not pass a hop.
    pub fn stop(&mut self, hop: Hop, piece: PieceIndex, reason: Reason) {
        self.stopped.insert((piece, hop), reason);
    }

    /// The pieces that did not leave the last hop and should have, by their place among those produced.
    pub fn lost(&self) -> Vec<usize> {
        let through = self.path.last().and_then(|hop| self.passed.get(hop));
        let arrived: BTreeSet<PieceIndex> = through.into_iter().flatten().copied().collect();
        let stopped = self.stopped.iter().filter(|((piece, hop), reason)| {
            self.path.contains(hop) && !reason.by_design() && !arrived.contains(piece)
        });
        let lost: BTreeSet<usize> =
            stopped.filter_map(|((piece, _), _)| usize::try_from(*piece).ok()).collect();
        lost.into_iter().collect()
    }

    /// Joins the notes. A piece that came to a hop, did not leave it and has no reason is a fault.
    pub fn settle(&self) -> FeedBooks {
        let hops = || self.path.iter().copied().map(HopFlow::new).collect::<Vec<_>>();
        let mut flows: BTreeMap<Class, Vec<HopFlow>> = Class::ALL.into_iter().map(|c| (c, hops())).collect();
        let mut faults = Vec::new();
        let times: BTreeMap<Hop, BTreeMap<PieceIndex, u64>> = self
            .passed
            .iter()
            .map(|(hop, pieces)| {
                let mut times = BTreeMap::new();
                for piece in pieces {
                    *times.entry(*piece).or_default() += 1;
                }
                (*hop, times)
            })
            .collect();
        for (index, piece) in (0..).zip(&self.produced) {
            let one = Tally::of(&piece.text);
            let all = |n: u64| Tally { frames: one.frames * n, chars: one.chars * n };
            let Some(flows) = flows.get_mut(&piece.class) else { continue };
            let mut came = 1;
            for (place, flow) in flows.iter_mut().enumerate() {
                let hop = flow.hop;
                let left = match place {
                    0 => came,
                    _ => times.get(&hop).and_then(|times| times.get(&index)).copied().unwrap_or(0),
                };
                flow.entered += all(came);
                flow.left += all(left);
                if came == 0 {
                    if left > 0 {
                        faults.push(format!("piece {index} passed hop `{hop}` and had not come to it"));
                    }
                    continue;
                }
                if left > came {
                    *flow.added.entry(Reason::new("passed_twice")).or_default() += all(left - came);
                } else if left < came {
                    match self.stopped.get(&(index, hop)) {
                        Some(reason) => *flow.dropped.entry(reason.clone()).or_default() += all(came - left),
                        None => faults.push(format!(
                            "piece {index} came to hop `{hop}` and nobody knows what became of it"
                        )),
                    }
                }
                came = left;
            }
        }
        for (hop, times) in &times {
            if !self.path.contains(hop) {
                faults.push(format!("hop `{hop}` was passed and is not on the path of this consumer"));
            }
            let beyond = u64::from(*times.keys().next_back().unwrap_or(&0));
            if beyond >= self.produced.len() as u64 && !times.is_empty() {
                faults.push(format!("piece {beyond} passed hop `{hop}` and was never produced"));
            }
        }
        for (class, hops) in &flows {
            for pair in hops.windows(2) {
                if pair[0].left != pair[1].entered {
                    let (class, hop, next) = (class.as_str(), pair[0].hop, pair[1].hop);
                    faults.push(format!("{class} text left hop `{hop}` and did not reach hop `{next}`"));
                }
            }
        }
        FeedBooks { flows, faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> FeedTrace {
        let piece = |class, text: &str| Piece { class, text: text.to_owned() };
        FeedTrace {
            path: vec![Hop::Produced, Hop::Appended, Hop::Emitted, Hop::Handled],
            produced: vec![piece(Class::Reasoning, "hm"), piece(Class::Text, "ab"), piece(Class::Text, "c")],
            ..FeedTrace::default()
        }
    }

    fn pass_all(trace: &mut FeedTrace, piece: PieceIndex) {
        for hop in [Hop::Appended, Hop::Emitted, Hop::Handled] {
            trace.pass(hop, piece);
        }
    }

    #[test]
    fn what_comes_to_a_hop_leaves_it_or_stops_with_a_reason() {
        let mut trace = trace();
        pass_all(&mut trace, 0);
        pass_all(&mut trace, 1);
        trace.pass(Hop::Appended, 2);
        trace.stop(Hop::Emitted, 2, Reason::new("event_removed"));
        let books = trace.settle();
        assert_eq!(books.faults, Vec::<String>::new());
        let text = &books.flows[&Class::Text];
        assert!(text.iter().all(HopFlow::balances));
        assert_eq!(text[3].left, Tally { frames: 1, chars: 2 });
        assert_eq!(text[2].dropped[&Reason::new("event_removed")], Tally { frames: 1, chars: 1 });
        assert_eq!(books.flows[&Class::Reasoning][3].left, Tally { frames: 1, chars: 2 });
    }

    #[test]
    fn what_stopped_and_should_not_have_is_lost_unless_it_came_after_all() {
        let mut trace = trace();
        pass_all(&mut trace, 0);
        assert_eq!(trace.lost(), [0_usize; 0]);
        trace.stop(Hop::Handled, 0, Reason::new("away"));
        trace.stop(Hop::Emitted, 1, Reason::new("event_removed"));
        trace.stop(Hop::Handled, 2, Reason::NOT_STREAMING);
        assert_eq!(trace.lost(), [1]);
    }

    #[test]
    fn a_piece_that_vanishes_and_one_from_nowhere_are_faults() {
        let mut lost = trace();
        pass_all(&mut lost, 0);
        pass_all(&mut lost, 1);
        assert!(lost.settle().faults[0].contains("piece 2 came to hop `appended`"));
        let mut more = trace();
        (0..4).for_each(|piece| pass_all(&mut more, piece));
        assert!(more.settle().faults[0].contains("piece 3 passed hop"), "{:?}", more.settle().faults);
        let mut skips = trace();
        (0..3).for_each(|piece| pass_all(&mut skips, piece));
        skips.passed.insert(Hop::Emitted, vec![0, 1]);
        skips.stop(Hop::Emitted, 2, Reason::new("event_removed"));
        assert!(
            skips.settle().faults[0].contains("piece 2 passed hop `handled`"),
            "{:?}",
            skips.settle().faults
        );
        let mut elsewhere = trace();
        (0..3).for_each(|piece| pass_all(&mut elsewhere, piece));
        elsewhere.pass(Hop::Replayed, 0);
        assert!(elsewhere.settle().faults[0].contains("not on the path"));
    }

    #[test]
    fn a_piece_that_passes_twice_is_added_and_goes_on_twice() {
        let mut trace = trace();
        (0..3).for_each(|piece| pass_all(&mut trace, piece));
        trace.pass(Hop::Handled, 1);
        let books = trace.settle();
        assert_eq!(books.faults, Vec::<String>::new());
        assert_eq!(books.flows[&Class::Text][3].left, Tally { frames: 3, chars: 5 });
    }
}
