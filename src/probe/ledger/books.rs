//! The books: what entered and left every hop, class by class.

use std::collections::BTreeMap;

use super::Seat;
use super::stops::Stops;
use crate::probe::trace::{Fate, PieceIndex};
use crate::record::flow::{Class, Hop, HopFlow, Reason};
use crate::record::observation::Piece;
use crate::unit::Tally;

/// The hops inside a client, first to last.
const CLIENT_HOPS: [Hop; 4] = [Hop::Parsed, Hop::Decoded, Hop::Admitted, Hop::Delivered];

/// A class that the application does not show is missing by design, and by nothing else.
fn why_missing(class: Class, shows: &[Class], missing: &Reason) -> Reason {
    match shows.contains(&class) {
        false => Reason::CLASS_NOT_SHOWN,
        true if missing.by_design() => Reason::new("text_missing"),
        true => missing.clone(),
    }
}

pub(super) struct Books {
    pub(super) flows: BTreeMap<Class, Vec<HopFlow>>,
}

impl Books {
    pub(super) fn open() -> Books {
        let hops = || Hop::ALL.into_iter().map(HopFlow::new).collect();
        Books { flows: Class::ALL.into_iter().map(|c| (c, hops())).collect() }
    }

    fn at(&mut self, class: Class, hop: Hop) -> &mut HopFlow {
        // Every class has every hop, in order, from `open` on.
        let hops = self.flows.entry(class).or_default();
        if hops.is_empty() {
            hops.extend(Hop::ALL.into_iter().map(HopFlow::new));
        }
        &mut hops[hop as usize]
    }

    pub(super) fn server_side(&mut self, index: PieceIndex, piece: &Piece, stops: &Stops) {
        let class = piece.class;
        let one = Tally::of(&piece.text);
        let times = |n: u64| Tally { frames: one.frames * n, chars: one.chars * n };
        self.pass(class, Hop::Produced, one);

        let published = self.at(class, Hop::Published);
        published.entered += one;
        if let Some(reason) = stops.published.get(&index) {
            *published.dropped.entry(reason.clone()).or_default() += one;
            return;
        }
        published.left += one;

        let handed = stops.handed.get(&index).copied().unwrap_or(0);
        let dispatched = self.at(class, Hop::Dispatched);
        dispatched.entered += one;
        dispatched.left += times(handed);
        if handed == 0 {
            let reason = stops.dispatched.get(&index).cloned().unwrap_or_else(|| stops.absent(index));
            *dispatched.dropped.entry(reason).or_default() += one;
            return;
        }
        if handed > 1 {
            *dispatched.added.entry(Reason::new("dispatched_twice")).or_default() += times(handed - 1);
        }

        let written = stops.written.get(&index).copied().unwrap_or(0);
        let stopped = stops.sent.get(&index).map_or(&[][..], Vec::as_slice);
        let sent = self.at(class, Hop::Sent);
        sent.entered += times(handed);
        sent.left += times(written);
        for reason in stopped {
            *sent.dropped.entry(reason.clone()).or_default() += one;
        }
        let ended = written + stopped.len() as u64;
        if ended > handed {
            *sent.added.entry(Reason::new("sent_twice")).or_default() += times(ended - handed);
        }
    }

    pub(super) fn client_side(
        &mut self,
        piece: &Piece,
        seat: Seat<'_>,
        fate: Option<&Fate>,
        unread: Option<&Reason>,
    ) {
        let (class, one) = (piece.class, Tally::of(&piece.text));
        let received = self.at(class, Hop::Received);
        received.entered += one;
        let Some(fate) = fate else {
            if let Some(reason) = unread {
                *received.dropped.entry(reason.clone()).or_default() += one;
            }
            return;
        };
        received.left += one;
        match fate {
            Fate::Stopped { hop, reason } => {
                for passed in CLIENT_HOPS.into_iter().take_while(|h| h < hop) {
                    self.pass(class, passed, one);
                }
                let excused = *reason == Reason::NOT_STREAMING && seat.streams;
                let reason = if excused { Reason::new("not_drawn") } else { reason.clone() };
                self.stop(class, *hop, one, reason);
            }
            Fate::Reached { pieces, missing } => {
                for passed in [Hop::Parsed, Hop::Decoded, Hop::Admitted] {
                    self.pass(class, passed, one);
                }
                match pieces.iter().find(|p| p.class == class) {
                    Some(arrived) => self.arrive(class, one, Tally::of(&arrived.text)),
                    None if class == Class::Empty => self.pass(class, Hop::Delivered, one),
                    None => self.stop(class, Hop::Delivered, one, why_missing(class, seat.shows, missing)),
                }
            }
        }
    }

    /// Text that arrived in a class in which the frame carried none: reasoning shown as text, say.
    pub(super) fn arrive_elsewhere<'a>(
        &mut self,
        produced: impl Iterator<Item = &'a Piece>,
        fate: Option<&Fate>,
    ) {
        let Some(Fate::Reached { pieces, .. }) = fate else { return };
        let carried: Vec<Class> = produced.map(|p| p.class).collect();
        for piece in pieces.iter().filter(|p| p.class != Class::Empty && !carried.contains(&p.class)) {
            let chars = Tally { frames: 0, ..Tally::of(&piece.text) };
            let flow = self.at(piece.class, Hop::Delivered);
            flow.left += chars;
            *flow.added.entry(Reason::TEXT_FROM_ELSEWHERE).or_default() += chars;
        }
    }

    fn stop(&mut self, class: Class, hop: Hop, tally: Tally, reason: Reason) {
        let flow = self.at(class, hop);
        flow.entered += tally;
        *flow.dropped.entry(reason).or_default() += tally;
    }

    /// A piece that got there, perhaps shorter or longer than it was.
    fn arrive(&mut self, class: Class, one: Tally, arrived: Tally) {
        let flow = self.at(class, Hop::Delivered);
        flow.entered += one;
        flow.left += arrived;
        let difference = Tally { frames: 0, chars: one.chars.abs_diff(arrived.chars) };
        if !difference.is_zero() {
            let side = if arrived.chars < one.chars { &mut flow.dropped } else { &mut flow.added };
            *side.entry(Reason::TEXT_ALTERED).or_default() += difference;
        }
    }

    fn pass(&mut self, class: Class, hop: Hop, tally: Tally) {
        let flow = self.at(class, hop);
        flow.entered += tally;
        flow.left += tally;
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (class, hops) in &self.flows {
            for (at, flow) in hops.iter().enumerate() {
                let (class, hop) = (class.as_str(), flow.hop);
                if !flow.balances() {
                    faults.push(format!("{class} text does not add up at hop `{hop}`"));
                }
                if let Some(next) = hops.get(at + 1)
                    && flow.left != next.entered
                {
                    let next = next.hop;
                    faults.push(format!("{class} text left hop `{hop}` and did not reach hop `{next}`"));
                }
            }
        }
        faults
    }
}
