//! From a cell in which something goes wrong to the smallest one in which the same does.
//!
//! Whole kinds of things are taken away first, then single ones, then tokens: halves, quarters, and so on down to one. What is
//! left cannot do without any single thing that was tried; there may be a smaller cell that no single step leads to.

use super::specimen::Specimen;

/// Cells that shrinking one may run.
pub(super) const MOST_RUNS: u64 = 200;

/// A shrunk specimen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Smallest {
    pub(super) specimen: Specimen,
    /// Cells that were run for it.
    pub(super) runs: u64,
}

/// Shrinks `from` as long as `same` says that a smaller one goes wrong in the same way.
pub(super) fn shrink(from: &Specimen, same: &mut dyn FnMut(&Specimen) -> bool) -> Smallest {
    let mut work = Work { best: from.clone(), runs: 0, same };
    // A pass that changes something may have made room for another one.
    while work.pass() && work.runs < MOST_RUNS {}
    Smallest { specimen: work.best, runs: work.runs }
}

struct Work<'a> {
    best: Specimen,
    runs: u64,
    same: &'a mut dyn FnMut(&Specimen) -> bool,
}

impl Work<'_> {
    /// Whether it got smaller.
    fn pass(&mut self) -> bool {
        let before = self.best.clone();
        self.parts(|s| s.faults.len(), |s, at| drop(s.faults.remove(at)));
        self.parts(|s| s.steps.len(), |s, at| drop(s.steps.remove(at)));
        self.parts(|s| s.traits.len(), |s, at| drop(s.traits.remove(at)));
        for subscribers in 1..self.best.subscribers {
            if self.takes(self.best.with_subscribers(subscribers)) {
                break;
            }
        }
        if self.best.tokens.iter().any(|token| token.stall.is_some()) {
            let mut fluent = self.best.clone();
            fluent.tokens.iter_mut().for_each(|token| token.stall = None);
            self.takes(fluent);
        }
        self.tokens();
        self.best != before
    }

    /// All parts of one kind at once, or else one after the other.
    fn parts(&mut self, count: impl Fn(&Specimen) -> usize, remove: impl Fn(&mut Specimen, usize)) {
        let all = count(&self.best);
        if all > 1 {
            let mut without = self.best.clone();
            (0..all).for_each(|_| remove(&mut without, 0));
            if self.takes(without) {
                return;
            }
        }
        for at in (0..all).rev() {
            let mut without = self.best.clone();
            remove(&mut without, at);
            self.takes(without);
        }
    }

    /// Stretches of tokens from the end on, each time half as long.
    fn tokens(&mut self) {
        let mut length = self.best.tokens.len().div_ceil(2);
        while length > 0 {
            let mut end = self.best.tokens.len();
            while end > 0 {
                let from = end.saturating_sub(length);
                if end - from < self.best.tokens.len() {
                    self.takes(self.best.without_tokens(from, end));
                }
                end = from.min(self.best.tokens.len());
            }
            length /= 2;
        }
    }

    /// Goes on with a smaller specimen if it goes wrong in the same way.
    fn takes(&mut self, smaller: Specimen) -> bool {
        if self.runs >= MOST_RUNS || smaller == self.best {
            return false;
        }
        self.runs += 1;
        let takes = (self.same)(&smaller);
        if takes {
            self.best = smaller;
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::draw::{KIT, healthy};
    use super::*;
    use crate::seed::Seed;
    use crate::suite::explore::dice::Dice;

    fn big() -> Specimen {
        let mut dice = Dice::new(Seed(1));
        let mut big = healthy(("1.58.2".to_owned(), "python-1.58.2".to_owned()), &mut dice);
        let token = big.tokens[0].clone();
        big.tokens = (0..100).map(|_| token.clone()).collect();
        for (n, token) in big.tokens.iter_mut().enumerate() {
            token.chunk.text = Some(format!("{n}"));
        }
        big.subscribers = 3;
        big.steps = ["-id", "-source", "+seq=1"].map(str::to_owned).to_vec();
        big.traits = KIT[..3].to_vec();
        big
    }

    fn texts(specimen: &Specimen) -> Vec<String> {
        specimen.tokens.iter().filter_map(|token| token.chunk.text.clone()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_needed_is_kept_and_nothing_else(a in 0..100_u32, b in 0..100_u32, step in 0..3_usize) {
            let big = big();
            let step = big.steps[step].clone();
            let needed = [a.to_string(), b.to_string()];
            let mut same = |s: &Specimen| {
                needed.iter().all(|n| texts(s).contains(n)) && s.steps.contains(&step) && s.subscribers > 1
            };
            let Smallest { specimen, runs } = shrink(&big, &mut same);
            let mut left = [a, b].to_vec();
            left.sort_unstable();
            left.dedup();
            prop_assert_eq!(texts(&specimen), left.iter().map(u32::to_string).collect::<Vec<_>>());
            prop_assert_eq!(&specimen.steps, &[step]);
            prop_assert_eq!((specimen.subscribers, specimen.traits.len()), (2, 0));
            prop_assert!(runs <= MOST_RUNS, "{}", runs);
        }
    }

    #[test]
    fn a_cell_that_needs_everything_stays_and_ends_in_time() {
        let big = big();
        let Smallest { specimen, runs } = shrink(&big, &mut |_| false);
        assert_eq!((specimen, runs <= MOST_RUNS), (big, true));
    }
}
