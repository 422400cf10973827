//! One text inside another: the single stretch that was left out or put in, or else all such stretches.

use std::ops::Range;

/// The single stretch of `want` whose removal gives `got`, if one does.
///
/// Where tokens repeat, several places explain the same texts. Whole pieces are likelier than parts of
/// them; then a lost tail is likelier than a lost beginning, and that likelier than a gap.
pub(super) fn lost(want: &[char], got: &[char], pieces: &[&str]) -> Option<Range<usize>> {
    let (first, last) = starts(want, got)?;
    let len = want.len() - got.len();
    let mut ends = vec![0];
    for piece in pieces {
        ends.push(ends[ends.len() - 1] + piece.chars().count());
    }
    let whole =
        |start: &usize| ends.binary_search(start).is_ok() && ends.binary_search(&(start + len)).is_ok();
    let tail = (last == got.len()).then_some(last);
    let from = ends.partition_point(|end| *end < first);
    let places = ends[from..].iter().copied().take_while(|end| *end <= last);
    let start = tail.into_iter().chain(places).find(whole).or(tail).unwrap_or(first);
    Some(start..start + len)
}

/// The single stretch of `got` whose removal gives `want`, if one does. The last possible place: whatever
/// was repeated is there in the same words as before it.
pub(super) fn added(want: &[char], got: &[char]) -> Option<Range<usize>> {
    let (_, last) = starts(got, want)?;
    Some(last..last + (got.len() - want.len()))
}

/// First and last place where a single stretch can be taken out of `long` so that `short` remains.
fn starts(long: &[char], short: &[char]) -> Option<(usize, usize)> {
    if short.len() > long.len() {
        return None;
    }
    let prefix = long.iter().zip(short).take_while(|(a, b)| a == b).count();
    let suffix = long.iter().rev().zip(short.iter().rev()).take_while(|(a, b)| a == b).count();
    (prefix + suffix >= short.len()).then(|| (short.len() - suffix, prefix))
}

/// The stretches of `long` that are not part of `short`, taking every character of `short` as early as
/// possible; `None` when `short` is no subsequence of `long`.
pub(super) fn skipped<T: PartialEq>(long: &[T], short: &[T]) -> Option<Vec<Range<usize>>> {
    let mut wanted = short.iter().peekable();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, item) in long.iter().enumerate() {
        if wanted.next_if(|next| *next == item).is_some() {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    wanted.peek().is_none().then_some(runs)
}
