//! What goes wrong in the stream itself, and how far the turns have come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::lock;
use crate::agent_server::fault::{Fault, Kind, Lane, Moment};
use crate::record::Hop;

/// How far the turns of a server have come, and of those that took its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Chunks of the model so far.
    pub chunks: u64,
    /// Deltas that were given to a bus.
    pub deltas: u64,
    /// Replies that were published.
    pub replies: u64,
    /// Turns that are over, however they ended.
    pub turns: u64,
}

/// A fault that the turn does itself, with its number among the faults of the cell.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamFault {
    /// Its number.
    pub number: usize,
    /// What it is.
    pub fault: Fault,
}

/// The faults of one server's stream, and which of them have come.
#[derive(Debug, Default)]
pub(super) struct StreamFaults {
    all: Vec<StreamFault>,
    fired: Mutex<BTreeSet<usize>>,
    /// How often each of those that count has struck.
    struck: Mutex<BTreeMap<usize, u32>>,
    /// Appends that are still to fail.
    appends: AtomicU32,
    failed: AtomicU32,
}

/// What a chunk meets.
#[derive(Debug, Default)]
pub(super) struct Strikes {
    /// Copies of its delta.
    pub(super) copies: u32,
    /// Its delta goes behind the next one, by that fault.
    pub(super) behind: Option<usize>,
    /// Its delta goes behind the reply.
    pub(super) late: bool,
    /// What happens once it is out, in order, each with its number.
    pub(super) then: Vec<(usize, Kind)>,
}

impl StreamFaults {
    pub(super) fn new(all: &[StreamFault]) -> StreamFaults {
        StreamFaults { all: all.to_vec(), ..StreamFaults::default() }
    }

    /// The fault with that number has come.
    pub(super) fn came(&self, number: usize) {
        lock(&self.fired).insert(number);
    }

    /// The numbers of those that have come.
    pub(super) fn fired(&self) -> BTreeSet<usize> {
        lock(&self.fired).clone()
    }

    /// What the chunk meets that is the `n`-th since the server's first turn began, from 1, `elapsed` into that turn.
    pub(super) fn on_chunk(&self, n: u64, elapsed: Duration) -> Strikes {
        let mut strikes = Strikes::default();
        for StreamFault { number, fault } in &self.all {
            let begun = match fault.moment {
                Moment::Start => Some(1),
                Moment::Token(first) => Some(first),
                // The first chunk at or after that time.
                Moment::Time(at) if elapsed >= at => {
                    Some(if lock(&self.fired).contains(number) { 0 } else { n })
                }
                Moment::Time(_) | Moment::After(..) => None,
            };
            let Some(begun) = begun.filter(|first| *first <= n) else { continue };
            let strikes_now = match fault.kind {
                Kind::Duplicate { every, .. } | Kind::Reorder { every } if every > 0 => {
                    (n - begun + 1).is_multiple_of(every)
                }
                _ => n == begun,
            };
            if !strikes_now {
                continue;
            }
            match &fault.kind {
                Kind::Duplicate { times, .. } => {
                    strikes.copies += *times;
                    self.came(*number);
                }
                // It has come once its delta is behind another one.
                Kind::Reorder { .. } => strikes.behind = strikes.behind.or(Some(*number)),
                Kind::Late => {
                    strikes.late = true;
                    self.came(*number);
                }
                Kind::Tool { .. } | Kind::ProviderError { .. } | Kind::Cancel | Kind::Retry => {
                    strikes.then.push((*number, fault.kind.clone()));
                }
                _ => {}
            }
        }
        strikes
    }

    /// How much later than it is due something on that lane is published after `chunks` chunks, `elapsed` into the turn.
    pub(super) fn delay(&self, lane: Lane, chunks: u64, elapsed: Duration) -> Duration {
        let mut sum = Duration::ZERO;
        for StreamFault { number, fault } in &self.all {
            let Kind::Delay { lane: slow, by, times } = fault.kind else { continue };
            let begun = match fault.moment {
                Moment::Start => true,
                Moment::Token(first) => chunks >= first,
                Moment::Time(at) => elapsed >= at,
                Moment::After(..) => false,
            };
            if slow == lane && begun && self.still(*number, times) {
                lock(&self.fired).insert(*number);
                sum += by;
            }
        }
        sum
    }

    /// Whether a fault that strikes so often strikes once more; 0 is for always.
    fn still(&self, number: usize, times: u32) -> bool {
        let mut struck = lock(&self.struck);
        let struck = struck.entry(number).or_default();
        *struck += 1;
        times == 0 || *struck <= times
    }

    /// The text of the reply, which may differ from the text of its deltas.
    pub(super) fn reply(&self, mut text: String) -> String {
        for StreamFault { number, fault } in &self.all {
            if let Kind::Final { append } = &fault.kind {
                lock(&self.fired).insert(*number);
                if append.is_empty() {
                    text.pop();
                } else {
                    text.push_str(append);
                }
            }
        }
        text
    }

    /// A frame as somebody relays it who decodes its bytes piece by piece: a character that is cut becomes U+FFFD.
    pub(super) fn relayed(&self, text: String) -> String {
        let bytes = self.all.iter().find_map(|StreamFault { number, fault }| match fault.kind {
            Kind::Lossy { bytes } => Some((*number, bytes)),
            _ => None,
        });
        let Some((number, bytes)) = bytes else { return text };
        if text.is_ascii() {
            return text;
        }
        lock(&self.fired).insert(number);
        text.as_bytes().chunks(bytes.max(1)).map(String::from_utf8_lossy).collect()
    }

    /// The bytes of a WebSocket fragment, if messages are sent in fragments.
    pub(super) fn fragments(&self) -> Option<usize> {
        self.all.iter().find_map(|StreamFault { number, fault }| match fault.kind {
            Kind::Fragment { bytes } if fault.hop == Hop::Sent => {
                lock(&self.fired).insert(*number);
                Some(bytes)
            }
            _ => None,
        })
    }

    /// How many deltas are kept for whoever connects, and by which fault.
    pub(super) fn kept(&self) -> Option<(usize, usize)> {
        self.all.iter().find_map(|StreamFault { number, fault }| match fault.kind {
            Kind::ReplayDeltas { count } => Some((*number, usize::try_from(count).unwrap_or(usize::MAX))),
            _ => None,
        })
    }

    /// Kept deltas went out again.
    pub(super) fn replayed(&self) {
        if let Some((number, _)) = self.kept() {
            self.came(number);
        }
    }

    /// The next appends to the log fail.
    pub(super) fn fail_appends(&self, times: u32) {
        self.appends.fetch_add(times, Ordering::SeqCst);
    }

    /// Whether this append fails.
    pub(super) fn append_fails(&self) -> bool {
        let fails =
            self.appends.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        self.failed.fetch_add(u32::from(fails), Ordering::SeqCst);
        fails
    }

    /// How many have failed.
    pub(super) fn failed_appends(&self) -> u32 {
        self.failed.load(Ordering::SeqCst)
    }
}
