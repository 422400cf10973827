//! The differing regions of two texts of which neither contains the other.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Texts;
use super::segment::Cut;

/// Insertions and deletions that a diff may take. Its time grows with the length of the texts plus the square
/// of this, so that a million characters with a few changes are quick and two strangers are given up on.
const EDIT_CAP: usize = 2_000;

/// A stretch of the produced text that stands where a stretch of the delivered text stands. Either may be
/// empty. Both in scalar values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) want: Range<usize>,
    pub(super) got: Range<usize>,
}

/// Every region in which the texts differ, by the finest unit that stays below the cap; `None` above it in all.
pub(super) fn regions(texts: &Texts, cut: Option<&Cut>) -> Option<Vec<Region>> {
    let by_piece = cut.and_then(|cut| {
        let regions = compare(&cut.produced, &cut.delivered)?;
        Some(scale(regions, &cut.offsets(&cut.produced), &cut.offsets(&cut.delivered)))
    });
    by_piece.or_else(|| compare(&texts.want, &texts.got)).or_else(|| in_place(&texts.want, &texts.got))
}

/// Regions by words: coarser, and so an upper bound. `None` above the cap.
pub(super) fn by_words(texts: &Texts) -> Option<Vec<Region>> {
    let (want, got) = (words(texts.want_text), words(texts.got_text));
    Some(scale(compare(&want, &got)?, &offsets(&want), &offsets(&got)))
}

/// Texts of one length, character against character: what was replaced in place moves nothing. `None` for
/// other lengths, and where most characters differ, since then something moved after all.
fn in_place(want: &[char], got: &[char]) -> Option<Vec<Region>> {
    let differing: Vec<usize> = (0..want.len()).filter(|i| want.get(*i) != got.get(*i)).collect();
    if want.len() != got.len() || differing.len() * 2 > want.len() {
        return None;
    }
    let mut regions: Vec<Region> = Vec::new();
    for at in differing {
        match regions.last_mut().filter(|region| region.want.end == at) {
            Some(region) => (region.want.end, region.got.end) = (at + 1, at + 1),
            None => regions.push(Region { want: at..at + 1, got: at..at + 1 }),
        }
    }
    Some(regions)
}

/// Everything between what both texts begin and end with.
pub(super) fn middle(texts: &Texts) -> Region {
    let (start, end) = shared(&texts.want, &texts.got);
    Region { want: start..texts.want.len() - end, got: start..texts.got.len() - end }
}

/// Length of the common start, and of the common end of the rest.
fn shared<T: PartialEq>(a: &[T], b: &[T]) -> (usize, usize) {
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    (start, end)
}

/// Regions counted in units; `None` above the cap.
fn compare<T: Eq + Hash + Ord>(want: &[T], got: &[T]) -> Option<Vec<Region>> {
    let (start, end) = shared(want, got);
    let (want, got) = (&want[start..want.len() - end], &got[start..got.len() - end]);
    if !within(want, got, EDIT_CAP) {
        return None;
    }
    let ops = capture_diff_slices(Algorithm::Myers, want, got);
    let differing = ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    Some(differing.map(|op| Region { want: shift(op.old_range()), got: shift(op.new_range()) }).collect())
}

/// Whether at most `cap` insertions and deletions turn one into the other: the forward half of Myers'
/// algorithm, which `similar` has no way to bound but by time, and time would differ from run to run.
pub(super) fn within<T: PartialEq>(want: &[T], got: &[T], cap: usize) -> bool {
    if want.len().abs_diff(got.len()) > cap {
        return false;
    }
    // `furthest[k]` is how far into `want` one gets on the diagonal `want - got = k - middle`.
    let middle = cap + 1;
    let mut furthest = vec![0_usize; 2 * cap + 3];
    for edits in 0..=cap {
        for k in (middle - edits..=middle + edits).step_by(2) {
            let down = k == middle - edits || (k < middle + edits && furthest[k - 1] < furthest[k + 1]);
            let mut x = if down { furthest[k + 1] } else { furthest[k - 1] + 1 };
            // Diagonals that lie beside the texts hold nothing.
            if x > want.len() || x + middle < k || x + middle - k > got.len() {
                furthest[k] = x;
                continue;
            }
            let y = x + middle - k;
            x += want[x..].iter().zip(&got[y..]).take_while(|(a, b)| a == b).count();
            furthest[k] = x;
            if x == want.len() && x + middle - k == got.len() {
                return true;
            }
        }
    }
    false
}

/// Regions counted in scalar values instead of units.
fn scale(regions: Vec<Region>, want: &[usize], got: &[usize]) -> Vec<Region> {
    let range = |units: Range<usize>, starts: &[usize]| starts[units.start]..starts[units.end];
    regions.into_iter().map(|r| Region { want: range(r.want, want), got: range(r.got, got) }).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace).collect()
}

fn offsets(words: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let ends = words.iter().map(|word| {
        at += word.chars().count();
        at
    });
    std::iter::once(0).chain(ends).collect()
}
