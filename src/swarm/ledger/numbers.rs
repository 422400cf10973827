//! Which of the numbered chunks came: in constant memory.

/// Numbers below the next one whose coming is remembered, each in one bit per class of text.
pub(in crate::swarm) const WINDOW: u64 = 256;
const WORDS: usize = 4;

/// What a number told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::swarm) enum Step {
    /// The one that was due.
    Next,
    /// A later one: this many before it have not come.
    Gap(u64),
    /// One that came already.
    Duplicate,
    /// One that had been missing, after a later one.
    Late,
    /// The other class of text of a chunk that came already: the session socket sends two frames for it.
    OtherHalf,
    /// From before the window, or before the first: it cannot be said whether it came already.
    Unplaced,
}

/// The class of text that carried the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::swarm) enum Half {
    Text = 0,
    Reasoning = 1,
}

/// The numbers of one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::swarm) struct Numbers {
    first: u64,
    /// One past the largest that came, or was made up for.
    next: u64,
    seen: [[u64; WORDS]; 2],
}

impl Numbers {
    /// Nothing came yet, and `first` is due.
    pub(in crate::swarm) fn from(first: u64) -> Numbers {
        Numbers { first, next: first, seen: [[0; WORDS]; 2] }
    }

    /// Takes the next number that came.
    pub(in crate::swarm) fn take(&mut self, n: u64, half: Half) -> Step {
        if n == u64::MAX {
            // There is no number after it: nobody counted that far.
            return Step::Unplaced;
        }
        if n >= self.next {
            let gap = n - self.next;
            self.advance(n + 1);
            self.mark(n, half);
            return if gap == 0 { Step::Next } else { Step::Gap(gap) };
        }
        if n < self.first || self.next - n > WINDOW {
            return Step::Unplaced;
        }
        let (same, other) = (self.has(n, half), self.has(n, half.other()));
        self.mark(n, half);
        match (same, other) {
            (true, _) => Step::Duplicate,
            (false, true) => Step::OtherHalf,
            (false, false) => Step::Late,
        }
    }

    /// The reply is over, and `last` was its last number: how many after the largest that came did not come.
    pub(in crate::swarm) fn end(&mut self, last: u64) -> u64 {
        let end = last.saturating_add(1);
        let tail = end.saturating_sub(self.next);
        if tail > 0 {
            self.advance(end);
        }
        tail
    }

    /// Whether this number is one that is known to be missing.
    pub(in crate::swarm) fn misses(&self, n: u64) -> bool {
        n >= self.first
            && n < self.next
            && self.next - n <= WINDOW
            && !self.has(n, Half::Text)
            && !self.has(n, Half::Reasoning)
    }

    /// Moves the window up to `next`; what enters it has not come.
    fn advance(&mut self, next: u64) {
        if next - self.next >= WINDOW {
            self.seen = [[0; WORDS]; 2];
        } else {
            for n in self.next..next {
                let (word, bit) = place(n);
                self.seen[0][word] &= !bit;
                self.seen[1][word] &= !bit;
            }
        }
        self.next = next;
    }

    fn has(&self, n: u64, half: Half) -> bool {
        let (word, bit) = place(n);
        self.seen[half as usize][word] & bit != 0
    }

    fn mark(&mut self, n: u64, half: Half) {
        let (word, bit) = place(n);
        self.seen[half as usize][word] |= bit;
    }
}

impl Half {
    fn other(self) -> Half {
        match self {
            Half::Text => Half::Reasoning,
            Half::Reasoning => Half::Text,
        }
    }
}

/// Word and bit of a number in the window.
fn place(n: u64) -> (usize, u64) {
    let [low, ..] = n.to_le_bytes();
    (usize::from(low >> 6), 1 << (low & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(numbers: &mut Numbers, came: &[u64]) -> Vec<Step> {
        came.iter().map(|&n| numbers.take(n, Half::Text)).collect()
    }

    #[test]
    fn gap_duplicate_and_late_are_told_apart() {
        let mut numbers = Numbers::from(0);
        let told = steps(&mut numbers, &[0, 1, 1, 4, 3, 3, 2, 5]);
        let expected = [
            Step::Next,
            Step::Next,
            Step::Duplicate,
            Step::Gap(2),
            Step::Late,
            Step::Duplicate,
            Step::Late,
            Step::Next,
        ];
        assert_eq!(told, expected);
        assert_eq!(numbers.end(5), 0);
        assert_eq!(numbers.end(8), 3, "the tail");
        assert!(numbers.misses(6) && numbers.misses(8) && !numbers.misses(9) && !numbers.misses(5));
        assert_eq!(numbers.take(7, Half::Text), Step::Late);
    }

    #[test]
    fn the_window_wraps_and_forgets_nothing_inside_it() {
        let mut numbers = Numbers::from(1000);
        for n in 1000..1000 + 5 * WINDOW {
            if n % 100 != 0 {
                numbers.take(n, Half::Text);
            }
        }
        let next = 1000 + 5 * WINDOW;
        for n in next - WINDOW..next {
            let expected = if n % 100 == 0 { Step::Late } else { Step::Duplicate };
            assert_eq!(numbers.take(n, Half::Text), expected, "{n}");
        }
        assert_eq!(numbers.take(next - WINDOW - 1, Half::Text), Step::Unplaced);
        assert_eq!(numbers.take(999, Half::Text), Step::Unplaced, "from before the first");
        assert_eq!(numbers.take(next + 10 * WINDOW, Half::Text), Step::Gap(10 * WINDOW));
        assert_eq!(numbers.take(next + 10 * WINDOW - 1, Half::Text), Step::Late);
    }

    #[test]
    fn text_and_reasoning_of_one_chunk_are_no_duplicates() {
        let mut numbers = Numbers::from(0);
        let mut take = |n, half| numbers.take(n, half);
        assert_eq!(take(0, Half::Reasoning), Step::Next);
        assert_eq!(take(0, Half::Text), Step::OtherHalf);
        assert_eq!(take(0, Half::Text), Step::Duplicate);
        assert_eq!(take(0, Half::Reasoning), Step::Duplicate);
        assert_eq!(take(2, Half::Text), Step::Gap(1));
        assert_eq!(take(1, Half::Reasoning), Step::Late);
        assert_eq!(take(1, Half::Text), Step::OtherHalf);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut numbers = Numbers::from(0);
        assert_eq!(numbers.take(u64::MAX - 1, Half::Text), Step::Gap(u64::MAX - 1));
        assert_eq!(numbers.take(u64::MAX, Half::Text), Step::Unplaced);
        assert_eq!(numbers.end(u64::MAX), 0);
    }
}
