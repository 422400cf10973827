//! The state of one way between two ends, which faults change while it is in use.
//!
//! Several faults of one kind: windows (silences, stalls) join, settings (rates, proxies, pieces) are those of the last fault that
//! came, and what the next few handshakes meet is a queue. A fault has come once something met it, so that one whose setting
//! another took over before anything passed has not.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

use tokio::time::Instant;

use super::next::Next;

/// What makes a buffering proxy let go of what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// So many bytes.
    Bytes(usize),
    /// That much time since the first byte.
    Time(Duration),
    /// The end of the turn.
    Turn,
}

/// How long something lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    Time(Instant),
    End,
}

impl Until {
    fn of(lasts: Option<Duration>) -> Until {
        lasts.map_or(Until::End, |lasts| Until::Time(Instant::now() + lasts))
    }

    pub(super) fn over(self, now: Instant) -> bool {
        matches!(self, Until::Time(at) if at <= now)
    }

    /// The end of two windows that are open at once, this one from now on: both hold.
    fn joined(self, open: Option<Until>) -> Until {
        match (self, open) {
            (Until::Time(this), Some(Until::Time(other))) => Until::Time(this.max(other)),
            (Until::Time(_), Some(Until::End)) => Until::End,
            (this, _) => this,
        }
    }
}

/// A setting, and the fault that it is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forced<T> {
    pub(super) what: T,
    pub(super) by: usize,
}

/// The conditions of one way. Shared by whoever changes them and by every connection under them.
#[derive(Debug, Default)]
pub struct Conditions(Mutex<State>);

#[derive(Debug, Default)]
pub(super) struct State {
    /// Connections that were opened under them.
    pub(super) opened: u64,
    /// Connections up to this one are gone.
    pub(super) cut: u64,
    /// Nothing passes in either direction.
    pub(super) silent: Option<Until>,
    /// Nothing is read.
    pub(super) stalled: Option<Until>,
    pub(super) bytes_per_s: Option<Forced<u64>>,
    pub(super) hold: Option<Forced<Hold>>,
    /// The proxy lets everything through that it held until the end of the turn.
    pub(super) released: bool,
    pub(super) lifetime: Option<Forced<Duration>>,
    /// How much longer the next handshakes take.
    pub(super) handshakes: Next<Duration>,
    /// Bytes of one read.
    pub(super) chop: Option<Forced<usize>>,
    /// Faults that something has met.
    pub(super) met: BTreeSet<usize>,
    no_pong: bool,
    /// Bytes that were read.
    pub(super) passed: u64,
    /// The name of the last connection in the server's notes.
    peer: Option<u64>,
    /// Pongs that were kept back.
    eaten: u64,
    /// Who waits for a change.
    pub(super) waiting: Vec<Waker>,
}

impl Conditions {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn change(&self, what: impl FnOnce(&mut State)) {
        let waiting = {
            let mut state = self.state();
            what(&mut state);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ends every connection that is open now, without a word.
    pub fn cut(&self) {
        self.change(|state| state.cut = state.opened);
    }

    /// Nothing passes, in either direction.
    pub fn silence(&self, lasts: Option<Duration>) {
        self.change(|state| state.silent = Some(Until::of(lasts).joined(state.silent)));
    }

    /// Nothing is read.
    pub fn stall(&self, lasts: Option<Duration>) {
        self.change(|state| state.stalled = Some(Until::of(lasts).joined(state.stalled)));
    }

    /// So many bytes a second are read from now on. Here and below `by` is the number of the fault.
    pub fn slow(&self, by: usize, bytes_per_s: u64) {
        self.change(|state| state.bytes_per_s = Some(Forced { what: bytes_per_s.max(1), by }));
    }

    /// What is to be read is collected first.
    pub fn hold(&self, by: usize, hold: Hold) {
        self.change(|state| (state.hold, state.released) = (Some(Forced { what: hold, by }), false));
    }

    /// What was to be held until the end of the turn passes, and nothing is held any more.
    pub fn release(&self) {
        self.change(|state| state.released = true);
    }

    /// No connection lives longer.
    pub fn lifetime(&self, by: usize, every: Duration) {
        self.change(|state| state.lifetime = Some(Forced { what: every, by }));
    }

    /// The next handshakes take that long, behind those that were to be held up already.
    pub fn handshakes(&self, by: usize, lasts: Duration, times: u32) {
        self.change(|state| state.handshakes.add(by, times, lasts));
    }

    /// At most so many bytes a read.
    pub fn chop(&self, by: usize, bytes: usize) {
        self.change(|state| state.chop = Some(Forced { what: bytes.max(1), by }));
    }

    /// Pongs do not come.
    pub fn eat_pongs(&self) {
        self.change(|state| state.no_pong = true);
    }

    /// A pong has come: whether it may pass.
    pub fn pongs_come(&self) -> bool {
        let mut state = self.state();
        state.eaten += u64::from(state.no_pong);
        !state.no_pong
    }

    /// Until when nothing is read on them, if that has an end.
    pub fn waits_until(&self) -> Option<Instant> {
        let state = self.state();
        let end = |until: Option<Until>| match until {
            Some(Until::Time(at)) => Some(at),
            _ => None,
        };
        [end(state.silent), end(state.stalled)].into_iter().flatten().max()
    }

    /// Whether what was sent before may still come, however long nothing stood still.
    pub fn linger(&self) -> bool {
        let state = self.state();
        state.bytes_per_s.is_some() || state.hold.is_some()
    }

    /// Bytes that were read under them so far.
    pub fn passed(&self) -> u64 {
        self.state().passed
    }

    /// A connection was opened, which the server knows by that name.
    pub fn names(&self, peer: u64) {
        self.state().peer = Some(peer);
    }

    /// The name of the last connection in the server's notes.
    pub fn peer(&self) -> Option<u64> {
        self.state().peer
    }

    /// Whether something has met the fault with that number: a read that it slowed or cut, bytes that it held, a handshake that
    /// it held up, a connection that it ended.
    pub fn met(&self, by: usize) -> bool {
        self.state().met.contains(&by)
    }

    /// Pongs that came and were kept back.
    pub fn eaten(&self) -> u64 {
        self.state().eaten
    }

    /// Why nothing is read now, if it is for these conditions: `half_open` or `reader_stalled`.
    pub fn why_unread(&self) -> Option<&'static str> {
        let (state, now) = (self.state(), Instant::now());
        let holds = |until: Option<Until>| until.is_some_and(|until| !until.over(now));
        if holds(state.silent) {
            Some("half_open")
        } else if holds(state.stalled) {
            Some("reader_stalled")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent_s(way: &Conditions) -> Option<u64> {
        let now = Instant::now();
        way.waits_until().map(|at| at.duration_since(now).as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn windows_join() {
        let (way, s) = (Conditions::default(), Duration::from_secs);
        way.silence(Some(s(10)));
        way.silence(Some(s(4)));
        assert_eq!(silent_s(&way), Some(10), "a shorter one takes nothing from a longer one");
        way.silence(Some(s(20)));
        assert_eq!(silent_s(&way), Some(20));
        tokio::time::advance(s(30)).await;
        assert_eq!(way.why_unread(), None);
        way.stall(Some(s(5)));
        assert_eq!((silent_s(&way), way.why_unread()), (Some(5), Some("reader_stalled")));
        way.stall(None);
        way.stall(Some(s(1)));
        tokio::time::advance(s(60)).await;
        assert_eq!(way.why_unread(), Some("reader_stalled"), "what lasts to the end does");
    }
    #[tokio::test(start_paused = true)]
    async fn a_setting_that_another_took_over_before_anything_passed_was_never_met() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let way = std::sync::Arc::new(Conditions::default());
        let (ours, mut theirs) = tokio::io::duplex(1024);
        way.slow(0, 10);
        way.hold(1, Hold::Bytes(4));
        way.chop(2, 1);
        let mut read = super::super::Conditioned::new(ours, &way);
        way.slow(3, 1_000);
        way.hold(4, Hold::Bytes(2));
        way.chop(5, 2);
        theirs.write_all(b"the answer to the handshake is not touched").await.unwrap();
        let mut buffer = [0; 64];
        assert_eq!(read.read(&mut buffer).await.unwrap(), 42);
        assert!((0..6).all(|by| !way.met(by)));
        theirs.write_all(b"abcdef").await.unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(read.read(&mut buffer).await.unwrap(), 2);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|by| way.met(by)), [false, false, false, true, true, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn handshakes_are_held_up_in_the_order_of_the_faults() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let way = std::sync::Arc::new(Conditions::default());
        let s = Duration::from_secs;
        way.handshakes(0, s(5), 1);
        way.handshakes(1, s(9), 2);
        let mut waits = Vec::new();
        for _ in 0..4 {
            let (ours, mut theirs) = tokio::io::duplex(64);
            let mut read = super::super::Conditioned::new(ours, &way);
            theirs.write_all(b"x").await.unwrap();
            let began = Instant::now();
            read.read_u8().await.unwrap();
            waits.push(began.elapsed().as_secs());
        }
        assert_eq!(waits, [5, 9, 9, 0]);
        assert!(way.met(0) && way.met(1) && !way.met(2));
    }
}
