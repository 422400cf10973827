//! What one socket got of each reply, in constant memory.
//!
//! Loss is noticed in three ways that do not depend on each other: by the numbers in the text
//! ([`crate::wire::numbered`]), by the `order` of the session socket, and by the characters of the durable end. The
//! first two find a hole at once and the last one finds a reply whose tail, or whose reasoning, never came.

mod numbers;
mod trail;

#[cfg(test)]
mod tests;

use numbers::{Half, Numbers, Step};
use trail::Trail;

use super::heard::{Delta, Place, Reply};
use crate::record::client_bench::Counts;
use crate::wire::numbered;

/// Where a socket is in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No piece came yet. `whole`: the next one is certainly the first of its reply.
    Waiting { whole: bool },
    /// Pieces came.
    Streaming { whole: bool },
    /// The durable end came.
    Over,
}

/// The books of one socket.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    phase: Phase,
    /// The number that a reply begins with.
    first: u64,
    numbers: Numbers,
    /// Whether the reply's text is numbered; unknown before its first piece that is not empty.
    numbered: Option<bool>,
    text: Trail,
    reasoning: Trail,
    item: u64,
    attempt: u64,
    next_order: u64,
}

impl Ledger {
    /// Of a socket that may have joined in the middle of a reply.
    pub(super) fn new() -> Ledger {
        Ledger {
            phase: Phase::Waiting { whole: false },
            first: 0,
            numbers: Numbers::from(0),
            numbered: None,
            text: Trail::default(),
            reasoning: Trail::default(),
            item: 0,
            attempt: 0,
            next_order: 0,
        }
    }

    /// The next reply begins with chunk `first`, and nothing of it was sent yet.
    pub(super) fn begin(&mut self, first: u64, counts: &mut Counts) {
        self.cut_off(counts);
        self.first = first;
        self.wait();
    }

    /// The connection ended.
    pub(super) fn closed(&mut self, counts: &mut Counts) {
        self.cut_off(counts);
        self.phase = Phase::Over;
    }

    /// The person spoke, so a reply that has not begun yet will be seen from its beginning.
    pub(super) fn asked(&mut self) {
        if self.phase == (Phase::Waiting { whole: false }) {
            self.wait();
        }
    }

    /// The reply was given up and will have no durable end.
    pub(super) fn aborted(&mut self) {
        self.wait();
    }

    /// Takes a piece; returns the number that it carries.
    pub(super) fn delta(&mut self, delta: &Delta<'_>, counts: &mut Counts) -> Option<u64> {
        counts.deltas += 1;
        let text = numbered::number(&delta.text).map(|n| (n, Half::Text));
        let number = text.or_else(|| numbered::number(&delta.reasoning).map(|n| (n, Half::Reasoning)));
        if self.phase == Phase::Over
            && let Some((n, half)) = number
            && self.numbers.misses(n)
        {
            self.numbers.take(n, half);
            counts.missing = counts.missing.saturating_sub(1);
            counts.reordered += 1;
            counts.after_end += 1;
            return Some(n);
        }
        if let Some(place) = &delta.place {
            self.place(place, counts);
        }
        self.stream(number.map(|(n, _)| n));
        self.text.add(&delta.text);
        self.reasoning.add(&delta.reasoning);
        if self.numbered.is_none() && !(delta.text.is_empty() && delta.reasoning.is_empty()) {
            self.numbered = Some(number.is_some());
        }
        let (n, half) = number.filter(|_| self.numbered == Some(true))?;
        match self.numbers.take(n, half) {
            Step::Next | Step::OtherHalf => {}
            Step::Gap(gap) => counts.missing = counts.missing.saturating_add(gap),
            Step::Duplicate => counts.duplicated += 1,
            Step::Late => {
                counts.missing = counts.missing.saturating_sub(1);
                counts.reordered += 1;
            }
            Step::Unplaced => counts.unplaced += 1,
        }
        Some(n)
    }

    /// Takes the durable end.
    pub(super) fn reply(&mut self, reply: &Reply<'_>, counts: &mut Counts) {
        counts.replies += 1;
        if self.phase == Phase::Over {
            // One reply after another of which nothing streamed.
            self.wait();
        }
        let nothing = matches!(self.phase, Phase::Waiting { .. });
        let (Phase::Waiting { whole } | Phase::Streaming { whole }) = self.phase else { return };
        self.phase = Phase::Over;
        if whole || !nothing {
            let numbered = self.numbered.unwrap_or(nothing);
            let last = reply.text.last().filter(|_| numbered).and_then(|text| last_number(text));
            if let Some(last) = last {
                counts.missing = counts.missing.saturating_add(self.numbers.end(last));
            }
        }
        if !whole {
            counts.unjudged += 1;
            return;
        }
        let mut short = 0;
        let mut altered = false;
        let mut compare = |had: Trail, held: Trail| {
            short += held.chars.saturating_sub(had.chars);
            counts.extra_chars += had.chars.saturating_sub(held.chars);
            altered |= had.chars == held.chars && had != held;
        };
        compare(self.text, Trail::of(reply.text.iter().map(AsRef::as_ref)));
        if let Some(reasoning) = &reply.reasoning {
            compare(self.reasoning, Trail::of([reasoning.as_ref()]));
        }
        counts.short_chars += short;
        counts.short_replies += u64::from(short > 0);
        counts.altered += u64::from(altered);
    }

    /// A piece comes: the first of a reply begins it.
    fn stream(&mut self, number: Option<u64>) {
        let whole = match self.phase {
            Phase::Streaming { .. } => return,
            Phase::Over => {
                self.wait();
                true
            }
            Phase::Waiting { whole } => whole || number == Some(self.first),
        };
        if let (false, Some(n)) = (whole, number) {
            self.numbers = Numbers::from(n);
        }
        self.phase = Phase::Streaming { whole };
    }

    /// Holds the place of a session frame against the one that was due.
    fn place(&mut self, place: &Place<'_>, counts: &mut Counts) {
        let item = Trail::of([place.item.as_ref()]).fingerprint();
        if item != self.item || place.attempt > self.attempt {
            if item != self.item {
                // The item before it should have ended with its durable event.
                self.cut_off(counts);
            }
            if matches!(self.phase, Phase::Streaming { .. }) {
                // Another attempt at a reply, or another reply, begins at its beginning.
                self.wait();
            }
            (self.item, self.attempt) = (item, place.attempt);
            let joined_late = self.phase == (Phase::Waiting { whole: false });
            self.next_order = if joined_late { place.order } else { 0 };
            if joined_late && place.order == 0 {
                self.wait();
            }
        }
        match place.order.checked_sub(self.next_order) {
            Some(gap) => {
                counts.order_missing = counts.order_missing.saturating_add(gap);
                self.next_order = place.order.saturating_add(1);
            }
            None => counts.order_repeated += 1,
        }
    }

    fn cut_off(&mut self, counts: &mut Counts) {
        if matches!(self.phase, Phase::Streaming { .. }) {
            counts.unfinished += 1;
        }
    }

    fn wait(&mut self) {
        self.phase = Phase::Waiting { whole: true };
        self.numbers = Numbers::from(self.first);
        self.numbered = None;
        self.text = Trail::default();
        self.reasoning = Trail::default();
    }
}

/// The number of the last chunk in a text that ends with one: `…tok498 tok499 ....` has 499.
fn last_number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches('.').strip_suffix(' ')?;
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let word = before.ends_with(|c: char| c.is_ascii_alphabetic());
    text[before.len()..].parse().ok().filter(|_| word)
}
