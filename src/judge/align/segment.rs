//! Delivered text cut into produced pieces, wherever its sender or a browser cut it.

use std::collections::HashMap;
use std::ops::Range;

use super::gap;

/// Bytes that the search may hash: text length times the sum of the distinct piece lengths. Beyond it the
/// text counts as one that cannot be cut.
const CUT_CAP: usize = 64_000_000;

/// Both texts as sequences of numbered pieces; equal pieces have equal numbers.
pub(super) struct Cut {
    pub(super) produced: Vec<usize>,
    pub(super) delivered: Vec<usize>,
    /// Scalar values of each numbered piece.
    pub(super) chars: Vec<usize>,
}

/// Produced pieces by text, and where each occurs.
struct Pieces<'a> {
    number: HashMap<&'a str, usize>,
    occurs: Vec<Vec<usize>>,
    /// Distinct lengths in bytes, longest first.
    lengths: Vec<usize>,
}

impl Cut {
    /// `None` when some part of the text is no produced piece, or when the search would be too long.
    ///
    /// Of several ways to cut it follows the produced order where it can, and else takes the longest piece.
    pub(super) fn new(produced: &[&str], text: &str) -> Option<Cut> {
        let produced: Vec<&str> = produced.iter().copied().filter(|piece| !piece.is_empty()).collect();
        let mut pieces = Pieces { number: HashMap::new(), occurs: Vec::new(), lengths: Vec::new() };
        let mut sequence = Vec::with_capacity(produced.len());
        let mut chars = Vec::new();
        for (at, piece) in produced.iter().copied().enumerate() {
            let number = *pieces.number.entry(piece).or_insert(chars.len());
            if number == chars.len() {
                chars.push(piece.chars().count());
                pieces.occurs.push(Vec::new());
                pieces.lengths.push(piece.len());
            }
            pieces.occurs[number].push(at);
            sequence.push(number);
        }
        pieces.lengths.sort_unstable_by(|a, b| b.cmp(a));
        pieces.lengths.dedup();
        let work = pieces.lengths.iter().fold(0_usize, |sum, len| sum.saturating_add(*len));
        if work.saturating_mul(text.len()) > CUT_CAP {
            return None;
        }
        let delivered = pieces.walk(&produced, text)?;
        Some(Cut { produced: sequence, delivered, chars })
    }

    /// Ranges of scalar values of the produced text that whole missing pieces cover; `None` when the pieces
    /// delivered are no subsequence of the pieces produced.
    pub(super) fn skipped(&self) -> Option<Vec<Range<usize>>> {
        let runs = gap::skipped(&self.produced, &self.delivered)?;
        let offsets = self.offsets(&self.produced);
        Some(runs.into_iter().map(|run| offsets[run.start]..offsets[run.end]).collect())
    }

    /// Where each piece of a sequence starts, in scalar values; one more entry than pieces.
    pub(super) fn offsets(&self, sequence: &[usize]) -> Vec<usize> {
        let mut at = 0;
        let starts = sequence.iter().map(|number| {
            at += self.chars[*number];
            at
        });
        std::iter::once(0).chain(starts).collect()
    }
}

impl Pieces<'_> {
    /// The piece of exactly this length at a place, if there is one.
    fn at(&self, text: &str, start: usize, len: usize) -> Option<usize> {
        text.get(start..start + len).and_then(|part| self.number.get(part).copied())
    }

    /// Walks the text from the start, only ever to places from which its end can be reached.
    fn walk(&self, produced: &[&str], text: &str) -> Option<Vec<usize>> {
        let mut reaches = vec![false; text.len() + 1];
        reaches[text.len()] = true;
        for start in (0..text.len()).rev() {
            let fits = |len: &usize| {
                reaches.get(start + len).is_some_and(|end| *end) && self.at(text, start, *len).is_some()
            };
            reaches[start] = self.lengths.iter().any(fits);
        }
        let (mut at, mut next) = (0, 0);
        let mut walked = Vec::new();
        while at < text.len() {
            let follow = produced.get(next).map(|piece| piece.len());
            let mut lengths = follow.into_iter().filter(|len| text.get(at..at + len) == Some(produced[next]));
            let fits = |len: &usize| {
                reaches.get(at + len).is_some_and(|end| *end) && self.at(text, at, *len).is_some()
            };
            let len = lengths.find(fits).or_else(|| self.lengths.iter().copied().find(fits))?;
            let number = self.at(text, at, len)?;
            let places = &self.occurs[number];
            // After the last occurrence the walk starts over: the text was repeated or moved.
            let place = places.get(places.partition_point(|place| *place < next)).or(places.first())?;
            (at, next) = (at + len, place + 1);
            walked.push(number);
        }
        Some(walked)
    }
}
