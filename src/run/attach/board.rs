//! What all clients together got: which deltas there are, and when each first arrived at anybody.
//!
//! Nobody says what a foreign server produced. What one client got is due to every other one that was subscribed, and
//! where texts differ, `votes` says which is right.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDateTime};

use super::heard::{Delta, Key};
use super::numbers::Numbers;
use super::votes::{Said, Votes};
use crate::probe::Delays;

/// Time zones differ by quarters of an hour.
const QUARTER_S: f64 = 900.0;
/// The furthest zone, and the longest delay that is taken for one rather than for another clock.
const ZONES_S: f64 = 14.0 * 3600.0;
const CLOCKS_DIFFER_S: f64 = 60.0;

/// Place of a delta or a durable end among all that came.
pub(super) type Index = u32;

/// One delta or durable end.
#[derive(Debug)]
pub(super) struct Entry {
    first: Instant,
    stamp: Option<NaiveDateTime>,
    /// The clients that got it, by text.
    pub(super) votes: Votes,
    /// Whether it is the durable end of a reply.
    pub(super) durable: bool,
    /// Whether others can tell that they got the same.
    pub(super) shared: bool,
}

/// What all clients together got.
#[derive(Debug)]
pub(super) struct Board {
    keys: HashMap<Key, Index>,
    entries: Vec<Entry>,
    /// The first that is due to all that joined; `None` before that.
    from: Option<Index>,
    /// The first that is not due any more.
    until: Option<Index>,
    /// Clients of which it is known whether they joined.
    pub(super) answered: u32,
    /// Clients that are subscribed.
    pub(super) open: u32,
    /// When a frame came last.
    pub(super) last: Instant,
    /// When this run asked for a turn.
    pub(super) said: Option<Instant>,
    pub(super) spread: Delays,
    pub(super) gap: Delays,
    pub(super) first_delta: Delays,
    pub(super) own_timestamp: Delays,
    /// Whether the server's clock is this machine's.
    own_clock: bool,
    unidentified: u64,
    places: HashMap<(String, u64), [u64; 3]>,
}

/// What became of an arrival.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) at: Index,
    /// Its text, where it is due and not the one that came first.
    pub(super) other: Option<Said>,
}

impl Board {
    pub(super) fn new(own_clock: bool) -> Board {
        let nothing = Delays::new;
        Board {
            keys: HashMap::new(),
            entries: Vec::new(),
            from: None,
            until: None,
            answered: 0,
            open: 0,
            last: Instant::now(),
            said: None,
            spread: nothing(),
            gap: nothing(),
            first_delta: nothing(),
            own_timestamp: nothing(),
            own_clock,
            unidentified: 0,
            places: HashMap::new(),
        }
    }

    /// A delta arrived at a client. `again` says whether that client had an entry already.
    pub(super) fn delta(&mut self, delta: &Delta, now: Instant, again: impl Fn(Index) -> bool) -> Arrived {
        let said = Said::delta(&delta.text, &delta.reasoning);
        if let Some(at) = delta.key.as_ref().and_then(|key| self.keys.get(key)).copied() {
            return self.again(at, said, now, again(at));
        }
        let stamp = delta.timestamp.as_deref().filter(|_| self.own_clock).and_then(stamp);
        let shared = delta.key.is_some();
        let votes = Votes::first(said);
        let at = self.add(delta.key.clone(), Entry { first: now, stamp, votes, durable: false, shared });
        if self.is_due(at) {
            self.unidentified += u64::from(!shared);
            self.place(delta.key.as_ref());
            self.since_stamp(at);
        }
        Arrived { at, other: None }
    }

    /// A durable end with that id arrived at a client.
    pub(super) fn durable(
        &mut self,
        id: String,
        text: &str,
        now: Instant,
        again: impl Fn(Index) -> bool,
    ) -> Arrived {
        let (key, said) = (Key::Durable(id), Said::durable(text));
        if let Some(at) = self.keys.get(&key).copied() {
            return self.again(at, said, now, again(at));
        }
        let entry = Entry { first: now, stamp: None, votes: Votes::first(said), durable: true, shared: true };
        Arrived { at: self.add(Some(key), entry), other: None }
    }

    /// What is not due is not compared, and takes no memory for it.
    fn again(&mut self, at: Index, said: Said, now: Instant, had: bool) -> Arrived {
        let nothing = Arrived { at, other: None };
        if !self.is_due(at) {
            return nothing;
        }
        let Some(entry) = self.entries.get_mut(at as usize) else { return nothing };
        let other = Some(said).filter(|said| said != entry.votes.came_first());
        if !had {
            entry.votes.vote(said);
            if !entry.durable {
                self.spread.record(now.saturating_duration_since(entry.first));
                self.since_stamp(at);
            }
        }
        Arrived { at, other }
    }

    fn add(&mut self, key: Option<Key>, entry: Entry) -> Index {
        let at = Index::try_from(self.entries.len()).unwrap_or(Index::MAX - 1);
        if let Some(key) = key {
            self.keys.insert(key, at);
        }
        self.entries.push(entry);
        at
    }

    fn place(&mut self, key: Option<&Key>) {
        let Some(Key::Place(item, attempt, order)) = key else { return };
        let [first, last, count] = self.places.entry((item.clone(), *attempt)).or_insert([*order, *order, 0]);
        (*first, *last, *count) = ((*first).min(*order), (*last).max(*order), *count + 1);
    }

    /// The time from the frame's own timestamp, naive local time, to now. The zone is not on the wire; the nearest
    /// quarter of an hour is taken for it.
    fn since_stamp(&mut self, at: Index) {
        let Some(then) = self.entries.get(at as usize).and_then(|entry| entry.stamp) else { return };
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(unix.as_secs()).unwrap_or(i64::MAX);
        let Some(now) = DateTime::from_timestamp(seconds, unix.subsec_nanos()) else { return };
        let Ok(apart) = (now.naive_utc() - then)
            .to_std()
            .map(|apart| apart.as_secs_f64())
            .or_else(|_| (then - now.naive_utc()).to_std().map(|apart| -apart.as_secs_f64()))
        else {
            return;
        };
        let zone = (apart / QUARTER_S).round() * QUARTER_S;
        let delay = apart - zone;
        if zone.abs() <= ZONES_S && (0.0..CLOCKS_DIFFER_S).contains(&delay) {
            self.own_timestamp.record(Duration::from_secs_f64(delay));
        } else {
            self.own_clock = false;
        }
    }

    /// Everybody has joined: what comes from now on is due to all.
    pub(super) fn joined(&mut self) {
        self.from = Some(self.next());
    }

    /// The time is over: what is new from now on is due to nobody.
    pub(super) fn cut(&mut self) {
        self.until = Some(self.next());
    }

    fn next(&self) -> Index {
        Index::try_from(self.entries.len()).unwrap_or(Index::MAX)
    }

    /// Whether everybody has joined.
    pub(super) fn has_joined(&self) -> bool {
        self.from.is_some()
    }

    /// Whether this one came while it was measured.
    pub(super) fn is_due(&self, at: Index) -> bool {
        self.from.is_some_and(|from| at >= from) && self.until.is_none_or(|until| at < until)
    }

    /// Whether all that are subscribed have all that is due.
    pub(super) fn is_complete(&self) -> bool {
        self.due().all(|(_, entry)| entry.votes.clients() >= self.open || !entry.shared)
    }

    /// Everything that came while it was measured.
    pub(super) fn due(&self) -> impl Iterator<Item = (Index, &Entry)> {
        (0..).zip(&self.entries).filter(|(at, _)| self.is_due(*at))
    }

    pub(super) fn entry(&self, at: Index) -> Option<&Entry> {
        self.entries.get(at as usize)
    }

    /// Delta frames without an identity.
    pub(super) fn unidentified(&self) -> u64 {
        self.unidentified
    }

    /// Deltas that nobody got, by number or by place.
    pub(super) fn missing_everywhere(&self) -> u64 {
        let mut numbers = Numbers::default();
        for (_, entry) in self.due() {
            if entry.durable { numbers.end() } else { numbers.take(entry.votes.right()) }
        }
        let places = self.places.values().map(|[first, last, count]| last - first + 1 - count);
        numbers.missing().max(places.sum())
    }

    /// Whether the server's clock turned out to be this machine's.
    pub(super) fn is_own_clock(&self) -> bool {
        self.own_clock && self.own_timestamp.count() > 0
    }
}

fn stamp(text: &str) -> Option<NaiveDateTime> {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()
}
