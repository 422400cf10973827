//! What the subscribers of one group got and missed.

use serde::Serialize;

/// Counts over all sockets of a group. None needs to be told a total: what is missing follows from the numbers in the
/// text, from the order on the session socket, or from the durable reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Frames with a piece of a reply.
    pub deltas: u64,
    /// Durable ends of replies.
    pub replies: u64,
    /// Of them, those that may have begun before the socket joined; their text is not compared.
    pub unjudged: u64,
    /// Replies whose durable end did not come before the next block or the end of the connection.
    pub unfinished: u64,
    /// Chunks that did not come, by the numbers in the text.
    pub missing: u64,
    /// Chunks that came again.
    pub duplicated: u64,
    /// Chunks that came after a later one.
    pub reordered: u64,
    /// Of them, those that came after their reply's durable end.
    pub after_end: u64,
    /// Chunks with a number so old that it cannot be said whether they came already.
    pub unplaced: u64,
    /// Places that were skipped in the `order` of the session socket.
    pub order_missing: u64,
    /// Places in that order that came again or too late.
    pub order_repeated: u64,
    /// Replies of which fewer characters had streamed than the durable end holds.
    pub short_replies: u64,
    /// Those characters, text and reasoning.
    pub short_chars: u64,
    /// Characters that had streamed beyond what the durable end holds.
    pub extra_chars: u64,
    /// Replies that streamed as many characters as the durable end holds, but other ones or in another order.
    pub altered: u64,
}

impl Counts {
    /// Whether a subscriber missed any text, by whichever of the ways it was noticed.
    pub fn lost(&self) -> bool {
        self.missing + self.order_missing + self.short_replies > 0
    }

    /// Whether a subscriber got text that its reply does not hold, or not in that order.
    pub fn wrong(&self) -> bool {
        self.duplicated + self.order_repeated + self.reordered + self.extra_chars + self.altered > 0
    }

    /// What was added since an earlier reading. A chunk that had been missing then and came since makes `missing`
    /// smaller; that is shown as none.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            deltas: self.deltas.saturating_sub(earlier.deltas),
            replies: self.replies.saturating_sub(earlier.replies),
            unjudged: self.unjudged.saturating_sub(earlier.unjudged),
            unfinished: self.unfinished.saturating_sub(earlier.unfinished),
            missing: self.missing.saturating_sub(earlier.missing),
            duplicated: self.duplicated.saturating_sub(earlier.duplicated),
            reordered: self.reordered.saturating_sub(earlier.reordered),
            after_end: self.after_end.saturating_sub(earlier.after_end),
            unplaced: self.unplaced.saturating_sub(earlier.unplaced),
            order_missing: self.order_missing.saturating_sub(earlier.order_missing),
            order_repeated: self.order_repeated.saturating_sub(earlier.order_repeated),
            short_replies: self.short_replies.saturating_sub(earlier.short_replies),
            short_chars: self.short_chars.saturating_sub(earlier.short_chars),
            extra_chars: self.extra_chars.saturating_sub(earlier.extra_chars),
            altered: self.altered.saturating_sub(earlier.altered),
        }
    }
}
