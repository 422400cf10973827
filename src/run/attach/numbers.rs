//! Deltas that nobody got, by the numbers in the texts of a reply.

use std::collections::BTreeSet;

use super::votes::Said;
use crate::wire::numbered;

/// Numbered texts that it takes to believe that a server numbers them.
const NUMBERED: usize = 3;

/// What a text says about its place in the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// It is empty.
    Nothing,
    /// A text without a number.
    Plain,
    Number(u64),
}

impl Word {
    pub(super) fn of(text: &str) -> Word {
        match numbered::number(text) {
            Some(n) => Word::Number(n),
            None if text.is_empty() => Word::Nothing,
            None => Word::Plain,
        }
    }
}

/// The numbers in the texts of one reply, and what was missing in those before.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    seen: BTreeSet<u64>,
    /// A text without a number came.
    plain: bool,
    missing: u64,
}

impl Numbers {
    /// A delta; `None` where nobody knows its right text. Then nothing is said of the reply.
    pub(super) fn take(&mut self, said: Option<&Said>) {
        for word in said.map_or([Word::Plain; 2], |said| said.words) {
            match word {
                Word::Nothing => {}
                Word::Plain => self.plain = true,
                Word::Number(n) => drop(self.seen.insert(n)),
            }
        }
    }

    /// The reply is over.
    pub(super) fn end(&mut self) {
        let ends = (self.seen.first(), self.seen.last());
        if let (false, (Some(first), Some(last))) = (self.plain || self.seen.len() < NUMBERED, ends) {
            self.missing += last - first + 1 - self.seen.len() as u64;
        }
        *self = Numbers { missing: self.missing, ..Numbers::default() };
    }

    /// All that was missing, the reply under way included.
    pub(super) fn missing(mut self) -> u64 {
        self.end();
        self.missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(texts: &[&str]) -> u64 {
        let mut numbers = Numbers::default();
        for text in texts {
            match *text {
                "END" => numbers.end(),
                "?" => numbers.take(None),
                text => numbers.take(Some(&Said::delta(text, ""))),
            }
        }
        numbers.missing()
    }

    #[test]
    fn a_gap_in_the_numbers_of_a_reply_is_missing() {
        assert_eq!(missing(&["", "tok0 ", "tok1 ", "tok3 "]), 1);
        assert_eq!(missing(&["tok0 ", "tok1 ", "tok2 ", "END", "tok7 ", "tok9 ", "tok11 "]), 2);
        assert_eq!(missing(&["tok4 ", "tok3 ", "tok2 "]), 0);
    }

    #[test]
    fn numbers_are_believed_only_where_all_texts_have_one_and_are_known() {
        assert_eq!(missing(&["tok0 ", "tok9 "]), 0, "two may be chance");
        for unknown in ["plain", "?"] {
            assert_eq!(missing(&["tok0 ", "tok1 ", unknown, "tok9 "]), 0, "{unknown}");
            assert_eq!(missing(&["tok0 ", unknown, "END", "tok0 ", "tok1 ", "tok3 "]), 1, "the next reply");
        }
    }
}
