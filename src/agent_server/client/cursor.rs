//! The contiguous cursor of the session socket: live durable frames may come out of order (measured on
//! 1.45.0), and only an unbroken run moves it, so that a reconnect asks again for what is missing.

use std::collections::BTreeSet;

/// The highest sequence number up to which nothing is missing.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    at: Option<i64>,
    ahead: BTreeSet<i64>,
}

impl Cursor {
    /// The first frame of a connection: where a replay starts, or for a live-only one where the log ends.
    pub(super) fn start(&mut self, from: Option<i64>, through: Option<i64>) {
        let at = from.or(through).unwrap_or(-1).max(-1);
        self.at = Some(self.at.map_or(at, |seen| seen.max(at)));
        self.advance();
    }

    /// A durable frame.
    pub(super) fn saw(&mut self, seq: i64) {
        self.ahead.insert(seq);
        self.advance();
    }

    /// Where it stands; `None` before the first frame.
    pub(super) fn at(&self) -> Option<i64> {
        self.at
    }

    fn advance(&mut self) {
        let Some(mut at) = self.at else { return };
        while let Some(&next) = self.ahead.first() {
            if next > at + 1 {
                break;
            }
            self.ahead.pop_first();
            at = at.max(next);
        }
        self.at = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unbroken_run_moves_it() {
        let mut cursor = Cursor::default();
        cursor.start(None, None);
        cursor.saw(0);
        cursor.saw(2);
        assert_eq!(cursor.at(), Some(0));
        cursor.saw(1);
        assert_eq!(cursor.at(), Some(2));
        cursor.saw(1);
        assert_eq!(cursor.at(), Some(2));
    }

    #[test]
    fn it_starts_at_the_replay_or_at_the_end_of_the_log() {
        let start = |from, through| {
            let mut cursor = Cursor::default();
            cursor.start(from, through);
            cursor.at()
        };
        assert_eq!(start(Some(4), Some(9)), Some(4));
        assert_eq!(start(Some(-7), Some(9)), Some(-1));
        assert_eq!(start(None, Some(9)), Some(9));
    }
}
