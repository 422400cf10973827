//! The state of one way between two ends, which faults change while it is in use.

use std::sync::{Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

use tokio::time::Instant;

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
    pub(super) bytes_per_s: Option<u64>,
    pub(super) hold: Option<Hold>,
    /// The proxy lets everything through that it held until the end of the turn.
    pub(super) released: bool,
    pub(super) lifetime: Option<Duration>,
    /// Connections that lived as long as they may.
    pub(super) expired: u64,
    /// Handshakes that still take longer, and how long.
    pub(super) handshakes: (u32, Duration),
    /// Bytes of one read.
    pub(super) chop: Option<usize>,
    no_pong: bool,
    /// Bytes that were read.
    pub(super) passed: u64,
    /// The name of the last connection in the server's notes.
    peer: Option<u64>,
    /// Handshakes that were held up, and pongs that were kept back.
    pub(super) held_up: u64,
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
        self.change(|state| state.silent = Some(Until::of(lasts)));
    }

    /// Nothing is read.
    pub fn stall(&self, lasts: Option<Duration>) {
        self.change(|state| state.stalled = Some(Until::of(lasts)));
    }

    /// So many bytes a second are read.
    pub fn slow(&self, bytes_per_s: u64) {
        self.change(|state| state.bytes_per_s = Some(bytes_per_s.max(1)));
    }

    /// What is to be read is collected first.
    pub fn hold(&self, hold: Hold) {
        self.change(|state| (state.hold, state.released) = (Some(hold), false));
    }

    /// What was to be held until the end of the turn passes, and nothing is held any more.
    pub fn release(&self) {
        self.change(|state| state.released = true);
    }

    /// No connection lives longer.
    pub fn lifetime(&self, every: Duration) {
        self.change(|state| state.lifetime = Some(every));
    }

    /// The next handshakes take that long.
    pub fn handshakes(&self, lasts: Duration, times: u32) {
        self.change(|state| state.handshakes = (times, lasts));
    }

    /// At most so many bytes a read.
    pub fn chop(&self, bytes: usize) {
        self.change(|state| state.chop = Some(bytes.max(1)));
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

    /// Connections that lived as long as they may.
    pub fn expired(&self) -> u64 {
        self.state().expired
    }

    /// Handshakes that were held up.
    pub fn held_up(&self) -> u64 {
        self.state().held_up
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
