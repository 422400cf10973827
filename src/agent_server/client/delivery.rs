//! The last step of every pipeline: text that the application shows is noted as delivered, and a mutant
//! may spoil it there.

use std::collections::HashSet;

use crate::agent_server::profile::client::{ClientMutant, Repeats};
use crate::probe::{ClientTrace, Fate};
use crate::record::observation::Piece;
use crate::record::{Class, Hop, Reason};

/// Hands pieces to the application.
#[derive(Debug)]
pub(super) struct Delivery {
    shows: Vec<Class>,
    repeats: Repeats,
    /// Texts that came before: the last one, or all of them.
    before: HashSet<String>,
    mutant: ClientMutant,
    deltas: u32,
}

impl Delivery {
    pub(super) fn new(shows: &[Class], repeats: Repeats, mutant: ClientMutant) -> Delivery {
        Delivery { shows: shows.to_vec(), repeats, before: HashSet::new(), mutant, deltas: 0 }
    }

    /// Hands over what one delta carried. `missing` is why a class that it should have is not among them.
    pub(super) fn hand_over(
        &mut self,
        mut pieces: Vec<Piece>,
        missing: Reason,
        trace: &mut ClientTrace,
    ) -> Fate {
        self.deltas = self.deltas.wrapping_add(1);
        let carried = pieces.len();
        pieces.retain(|p| p.class == Class::Empty || self.shows.contains(&p.class));
        let missing = if pieces.len() < carried { Reason::CLASS_NOT_SHOWN } else { missing };
        if self.repeated(&pieces) {
            return Fate::Stopped { hop: Hop::Delivered, reason: Reason::new("taken_for_a_repetition") };
        }
        if self.hits(self.mutant.drop_every) {
            return Fate::Stopped { hop: Hop::Delivered, reason: Reason::new("mutant_dropped") };
        }
        if self.hits(self.mutant.alter_every) {
            for piece in &mut pieces {
                piece.text = piece.text.chars().map(|c| if c == 'x' { 'y' } else { 'x' }).collect();
            }
        }
        trace.delivered.extend(pieces.iter().cloned());
        if self.hits(self.mutant.repeat_every) {
            trace.delivered.extend(pieces.iter().cloned());
        }
        Fate::Reached { pieces, missing }
    }

    /// Whether this application takes the delta for one that it has had.
    fn repeated(&mut self, pieces: &[Piece]) -> bool {
        if self.repeats == Repeats::Kept || pieces.iter().all(|piece| piece.text.is_empty()) {
            return false;
        }
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        if self.before.contains(&text) {
            return true;
        }
        if self.repeats == Repeats::DroppedNext {
            self.before.clear();
        }
        self.before.insert(text);
        false
    }

    fn hits(&self, every: u32) -> bool {
        every > 0 && self.deltas.is_multiple_of(every)
    }
}
