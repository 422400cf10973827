//! Which of the model's pieces a delta on the wire carries: a delta has no identity that the model also knows by.

use std::collections::{BTreeSet, HashMap};

use crate::record::Class;
use crate::record::observation::Piece;

/// Finds the pieces of one delta after the other.
pub(super) struct Placing<'a> {
    produced: &'a [Piece],
    /// Where each text stands, ascending.
    at: HashMap<(Class, &'a str), Vec<usize>>,
    /// The first piece behind everything that was found.
    next: usize,
    /// Pieces before `next` that no delta carried yet.
    skipped: BTreeSet<usize>,
    /// Where the deltas stand that were found, by id.
    known: HashMap<String, usize>,
}

impl<'a> Placing<'a> {
    pub(super) fn new(produced: &'a [Piece]) -> Placing<'a> {
        let mut at: HashMap<(Class, &str), Vec<usize>> = HashMap::new();
        for (index, piece) in produced.iter().enumerate() {
            at.entry((piece.class, &piece.text)).or_default().push(index);
        }
        Placing { produced, at, next: 0, skipped: BTreeSet::new(), known: HashMap::new() }
    }

    /// The first of the pieces that a delta carries; `None` for what the model did not send.
    ///
    /// The same event once more is the same pieces once more. What lies between two deltas was not sent, or was sent
    /// later: up to 1.22.0 a server that waits for its webhook sends deltas in another order.
    pub(super) fn place(&mut self, id: Option<&str>, carried: &[Piece]) -> Option<usize> {
        let (produced, first) = (self.produced, carried.first()?);
        let fits = |at: usize| produced.get(at..at + carried.len()).is_some_and(|there| there == carried);
        if let Some(at) = id.and_then(|id| self.known.get(id)).copied().filter(|at| fits(*at)) {
            return Some(at);
        }
        let places = self.at.get(&(first.class, &*first.text)).map_or(&[][..], Vec::as_slice);
        let ahead = &places[places.partition_point(|at| *at < self.next)..];
        let at = if let Some(at) = ahead.iter().copied().find(|at| fits(*at)) {
            self.skipped.extend(self.next..at);
            self.next = at + carried.len();
            at
        } else {
            let free = |at: usize| (at..at + carried.len()).all(|piece| self.skipped.contains(&piece));
            let at = self.skipped.iter().copied().find(|at| fits(*at) && free(*at))?;
            for piece in at..at + carried.len() {
                self.skipped.remove(&piece);
            }
            at
        };
        if let Some(id) = id {
            self.known.entry(id.to_owned()).or_insert(at);
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::server::piece;
    use super::*;

    fn placed(produced: &[&str], wire: &[(&str, &str)]) -> Vec<Option<usize>> {
        let produced: Vec<Piece> = produced.iter().map(|text| piece(text, false)).collect();
        let mut placing = Placing::new(&produced);
        wire.iter().map(|(id, text)| placing.place(Some(id), &[piece(text, false)])).collect()
    }

    #[test]
    fn in_order_with_repeated_texts() {
        let wire = [("1", "ha"), ("2", "ha"), ("3", "!"), ("4", "ha")];
        assert_eq!(placed(&["ha", "ha", "!", "ha"], &wire), [Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_missing_one_is_skipped_and_a_late_one_is_found() {
        assert_eq!(placed(&["a", "b", "c"], &[("1", "a"), ("3", "c")]), [Some(0), Some(2)]);
        let swapped = [("1", "a"), ("3", "c"), ("2", "b")];
        assert_eq!(placed(&["a", "b", "c"], &swapped), [Some(0), Some(2), Some(1)]);
    }

    #[test]
    fn the_same_event_twice_is_the_same_pieces_and_anything_else_is_foreign() {
        let wire = [("1", "a"), ("1", "a"), ("2", "b"), ("3", "b"), ("4", "z")];
        assert_eq!(placed(&["a", "b"], &wire), [Some(0), Some(0), Some(1), None, None]);
        // One id on all deltas says nothing.
        assert_eq!(placed(&["a", "b"], &[("1", "a"), ("1", "b")]), [Some(0), Some(1)]);
    }
}
