//! What goes wrong in the stream itself, and how far the turns have come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use hyper::StatusCode;
use tokio::time::Instant;

use super::lock;
use super::webhook::SinkPace;
use crate::agent_server::fault::{Fault, Kind, Lane, Moment, Next};

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

/// The faults of one server's stream and of those that take its place, and which of them have come.
#[derive(Debug, Default)]
pub(super) struct StreamFaults {
    all: Vec<StreamFault>,
    fired: Mutex<BTreeSet<usize>>,
    /// How often each of those that count has struck.
    struck: Mutex<BTreeMap<usize, u32>>,
    /// When the person's first message was sent: times count from here.
    began: OnceLock<Instant>,
    /// The first chunk of each of those that come at a time.
    since: Mutex<BTreeMap<usize, u64>>,
    /// Bytes of a WebSocket fragment, and the fault that it is by.
    fragment: Mutex<Option<(usize, usize)>>,
    /// Appends that are still to fail.
    appends: Mutex<Next<()>>,
    /// Upgrades that are still to be refused, and with what.
    refusals: Mutex<Next<u16>>,
    sinks: SinkPace,
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

    /// Times count from `at`, unless they count from an earlier moment already.
    pub(super) fn begins(&self, at: Instant) {
        self.began.get_or_init(|| at);
    }

    /// Whether that time has come.
    fn reached(&self, time: Duration, now: Instant) -> bool {
        self.began.get().is_some_and(|began| *began + time <= now)
    }

    /// The first chunk that the fault is about, if that is known when the `n`-th comes.
    fn first_chunk(&self, StreamFault { number, fault }: &StreamFault, n: u64, now: Instant) -> Option<u64> {
        match fault.moment {
            Moment::Start => Some(1),
            Moment::Token(first) => Some(first),
            // The first chunk at or after that time.
            Moment::Time(at) => self.reached(at, now).then(|| *lock(&self.since).entry(*number).or_insert(n)),
            Moment::After(..) => None,
        }
    }

    /// What the chunk meets that is the `n`-th since the server's first turn began, from 1.
    pub(super) fn on_chunk(&self, n: u64, now: Instant) -> Strikes {
        let mut strikes = Strikes::default();
        for stream_fault in &self.all {
            let StreamFault { number, fault } = stream_fault;
            let begun = self.first_chunk(stream_fault, n, now);
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

    /// How much later than it is due something on that lane is published after `chunks` chunks.
    pub(super) fn delay(&self, lane: Lane, chunks: u64, now: Instant) -> Duration {
        let mut sum = Duration::ZERO;
        for StreamFault { number, fault } in &self.all {
            let Kind::Delay { lane: slow, by, times } = fault.kind else { continue };
            let begun = match fault.moment {
                Moment::Start => true,
                Moment::Token(first) => chunks >= first,
                Moment::Time(at) => self.reached(at, now),
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

    /// Messages of the legacy socket are sent in fragments of so many bytes from now on. Here and below `by` is the number of the
    /// fault.
    pub(super) fn fragment(&self, by: usize, bytes: usize) {
        *lock(&self.fragment) = Some((by, bytes));
    }

    /// The bytes of a WebSocket fragment, if a message that is sent now is sent in fragments.
    pub(super) fn fragments(&self) -> Option<usize> {
        let (by, bytes) = (*lock(&self.fragment))?;
        self.came(by);
        Some(bytes)
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
    pub(super) fn fail_appends(&self, by: usize, times: u32) {
        lock(&self.appends).add(by, times, ());
    }

    /// Whether this append fails.
    pub(super) fn append_fails(&self) -> bool {
        let fails = lock(&self.appends).take();
        fails.map(|(by, ())| self.came(by)).is_some()
    }

    /// The next upgrades are refused with that status.
    pub(super) fn refuse(&self, by: usize, times: u32, status: u16) {
        lock(&self.refusals).add(by, times, status);
    }

    /// The status of this upgrade, if it is to be refused whatever it asks.
    pub(super) fn refusal(&self) -> Option<StatusCode> {
        let (by, status) = lock(&self.refusals).take()?;
        self.came(by);
        StatusCode::from_u16(status).ok()
    }

    /// Posts that arrive at a sink are answered that late from now on.
    pub(super) fn slow_sink(&self, by: usize, latency: Duration, lasts: Option<Duration>) {
        self.sinks.slow(by, latency, lasts);
    }

    /// How late a post is answered that arrives now, where a fault says so.
    pub(super) fn sink_latency(&self) -> Option<Duration> {
        let (by, latency) = self.sinks.now()?;
        self.came(by);
        Some(latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Hop;

    fn at(moment: &str, kind: Kind) -> StreamFault {
        let moment = moment.parse().unwrap();
        let fault = Fault { name: "f".into(), kind, moment, hop: Hop::Published, subscriber: None };
        StreamFault { number: 0, fault }
    }

    /// The chunks that are copied, of twenty in two turns of a second each with ten seconds between.
    fn copied(moment: &str, every: u64) -> Vec<u64> {
        let began = Instant::now();
        let faults = StreamFaults::new(&[at(moment, Kind::Duplicate { times: 1, every })]);
        faults.begins(began);
        faults.begins(began + Duration::from_secs(11));
        let when = |n: u64| began + Duration::from_millis(n * 100 + if n > 10 { 10_000 } else { 0 });
        (1..=20).filter(|n| faults.on_chunk(*n, when(*n)).copies > 0).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn times_count_from_the_first_message_in_every_turn() {
        assert_eq!(copied("450ms", 0), [5]);
        assert_eq!(copied("5s", 0), [11], "nothing comes in between");
        assert_eq!(copied("11450ms", 0), [15], "and not 450 ms into the second turn");
        assert_eq!(copied("20s", 0), Vec::<u64>::new());
        assert_eq!(copied("11450ms", 2), [16, 18, 20], "each second one from then on");
        assert_eq!(copied("token 15", 2), [16, 18, 20]);
    }
}
