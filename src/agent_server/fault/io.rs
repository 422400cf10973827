//! A byte stream under conditions: what is read waits, comes in pieces or never; what is written gets lost; and it ends when
//! they say so.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::conditions::{Conditions, Forced, Hold, State, Until};

/// Bytes that are taken from the stream beneath at once.
const TAKEN: usize = 64 * 1024;

/// A stream under conditions.
#[derive(Debug)]
pub struct Conditioned<S> {
    /// Gone once the connection is.
    inner: Option<S>,
    conditions: Arc<Conditions>,
    number: u64,
    opened: Instant,
    /// Until when the handshake is held up.
    handshake: Option<Instant>,
    /// Bytes that came and may not pass yet, and since when.
    held: Vec<u8>,
    held_since: Option<Instant>,
    /// Bytes that may pass.
    ready: Vec<u8>,
    ended: bool,
    /// Whether something was read: the answer to the handshake comes first, and no proxy holds that back.
    begun: bool,
    /// Bytes that a slow reader may read by now, and when that was counted.
    allowance: (f64, Instant),
    sleep: Option<Pin<Box<Sleep>>>,
}

/// What the conditions say of a read.
enum May {
    Read,
    WaitUntil(Instant),
    Wait,
    Never,
}

impl<S> Conditioned<S> {
    /// The next connection under those conditions.
    pub fn new(inner: S, conditions: &Arc<Conditions>) -> Conditioned<S> {
        let now = Instant::now();
        let mut state = conditions.state();
        state.opened += 1;
        let slow = state.handshakes.take();
        state.met.extend(slow.map(|(by, _)| by));
        let handshake = slow.map(|(_, lasts)| now + lasts);
        Conditioned {
            inner: Some(inner),
            conditions: conditions.clone(),
            number: state.opened,
            opened: now,
            handshake,
            held: Vec::new(),
            held_since: None,
            ready: Vec::new(),
            ended: false,
            begun: false,
            allowance: (0.0, now),
            sleep: None,
        }
    }

    fn dead(&self, state: &State, now: Instant) -> bool {
        self.inner.is_none() || state.cut >= self.number || self.end(state).is_some_and(|end| end <= now)
    }

    /// When it has lived as long as it may.
    fn end(&self, state: &State) -> Option<Instant> {
        state.lifetime.map(|lifetime| self.opened + lifetime.what)
    }

    fn may_read(&self, state: &State, now: Instant) -> May {
        if self.dead(state, now) {
            return May::Never;
        }
        let end = self.end(state);
        let wait = |at: Instant| May::WaitUntil(end.map_or(at, |end| end.min(at)));
        let handshake = self.handshake.filter(|at| *at > now);
        if let Some(at) = handshake {
            return wait(at);
        }
        for until in [state.silent, state.stalled].into_iter().flatten() {
            match until {
                Until::Time(at) if at > now => return wait(at),
                Until::Time(_) => {}
                Until::End => return end.map_or(May::Wait, May::WaitUntil),
            }
        }
        May::Read
    }

    /// The connection is over; the peer sees it too.
    fn bury(&mut self, now: Instant) {
        let mut state = self.conditions.state();
        if self.inner.is_some() && self.end(&state).is_some_and(|end| end <= now) {
            let by = state.lifetime.map(|lifetime| lifetime.by);
            state.met.extend(by);
        }
        drop(state);
        self.inner = None;
    }

    /// Moves to `ready` what the proxy lets go of; says when it will, if time decides.
    fn let_go(&mut self, hold: Option<Forced<Hold>>, released: bool, now: Instant) -> Option<Instant> {
        if self.held.is_empty() {
            return None;
        }
        let since = *self.held_since.get_or_insert(now);
        let hold = hold.filter(|_| self.begun);
        if let Some(Forced { by, .. }) = hold {
            self.conditions.state().met.insert(by);
        }
        let hold = hold.map(|hold| hold.what);
        let due = match hold {
            None => true,
            Some(Hold::Bytes(bytes)) => self.held.len() >= bytes,
            Some(Hold::Time(time)) => since + time <= now,
            Some(Hold::Turn) => released,
        };
        if due || self.ended {
            self.ready.append(&mut self.held);
            self.held_since = None;
            return None;
        }
        match hold {
            Some(Hold::Time(time)) => Some(since + time),
            _ => None,
        }
    }

    /// Parks the reader until that time, or until the conditions change.
    fn park(&mut self, cx: &mut Context<'_>, until: Option<Instant>) -> bool {
        self.conditions.state().waiting.push(cx.waker().clone());
        let Some(at) = until else { return true };
        let mut sleep = Box::pin(sleep_until(at));
        let parked = sleep.as_mut().poll(cx).is_pending();
        self.sleep = Some(sleep);
        parked
    }
}

fn gone() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

impl<S: AsyncRead + Unpin> AsyncRead for Conditioned<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let now = Instant::now();
            let (may, hold, released, rate, chop, end) = {
                let state = this.conditions.state();
                let end = this.end(&state);
                (this.may_read(&state, now), state.hold, state.released, state.bytes_per_s, state.chop, end)
            };
            match may {
                May::Read => {}
                May::WaitUntil(at) => {
                    if this.park(cx, Some(at)) {
                        return Poll::Pending;
                    }
                    continue;
                }
                May::Wait => {
                    this.park(cx, None);
                    return Poll::Pending;
                }
                May::Never => {
                    this.bury(now);
                    return Poll::Ready(Err(gone()));
                }
            }
            let Some(inner) = &mut this.inner else { return Poll::Ready(Err(gone())) };
            let mut pending = false;
            if !this.ended && this.ready.is_empty() {
                let mut taken = vec![0; TAKEN];
                let mut into = ReadBuf::new(&mut taken);
                match Pin::new(inner).poll_read(cx, &mut into) {
                    Poll::Ready(Ok(())) => {
                        this.ended = into.filled().is_empty();
                        this.held.extend_from_slice(into.filled());
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => pending = true,
                }
            }
            let due = this.let_go(hold, released, now);
            if this.ready.is_empty() {
                if this.ended {
                    return Poll::Ready(Ok(()));
                }
                if !pending {
                    continue;
                }
                let until = [due, end].into_iter().flatten().min();
                if this.park(cx, until) {
                    return Poll::Pending;
                }
                continue;
            }
            let (chop, rate) = (chop.filter(|_| this.begun), rate.filter(|_| this.begun));
            let meets = [chop.map(|chop| chop.by), rate.map(|rate| rate.by)];
            this.conditions.state().met.extend(meets.into_iter().flatten());
            let chop = chop.map_or(usize::MAX, |chop| chop.what);
            let mut most = this.ready.len().min(buf.remaining()).min(chop);
            if let Some(rate) = rate.map(|rate| rate.what) {
                most = this.allowed(rate, now, most);
                if most == 0 {
                    let next =
                        now + Duration::from_secs_f64(1.0 / rate_of(rate)).max(Duration::from_millis(1));
                    if this.park(cx, Some(next)) {
                        return Poll::Pending;
                    }
                    continue;
                }
            }
            this.begun = true;
            buf.put_slice(&this.ready[..most]);
            this.ready.drain(..most);
            this.conditions.state().passed += most as u64;
            return Poll::Ready(Ok(()));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate in bytes is far below 2^52")]
fn rate_of(bytes_per_s: u64) -> f64 {
    bytes_per_s as f64
}

impl<S> Conditioned<S> {
    /// How many bytes a slow reader may read now; they are taken from what it may.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive number of bytes"
    )]
    fn allowed(&mut self, rate: u64, now: Instant, most: usize) -> usize {
        let (left, counted) = self.allowance;
        // What a second allows is the most that is saved up.
        let left =
            (left + now.duration_since(counted).as_secs_f64() * rate_of(rate)).min(rate_of(rate).max(1.0));
        let whole = left.floor() as usize;
        let used = whole.min(most);
        #[expect(clippy::cast_precision_loss, reason = "a buffer's length")]
        let rest = left - used as f64;
        self.allowance = (rest, now);
        used
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Conditioned<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let now = Instant::now();
        let (dead, silent) = {
            let state = this.conditions.state();
            (this.dead(&state, now), state.silent.filter(|until| !until.over(now)))
        };
        if dead {
            this.bury(now);
            return Poll::Ready(Err(gone()));
        }
        match (silent, &mut this.inner) {
            // Nobody is told that it never arrives.
            (Some(Until::End), _) => Poll::Ready(Ok(bytes.len())),
            (Some(Until::Time(at)), _) => {
                if this.park(cx, Some(at)) {
                    return Poll::Pending;
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            (None, Some(inner)) => Pin::new(inner).poll_write(cx, bytes),
            (None, None) => Poll::Ready(Err(gone())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().inner {
            Some(inner) => Pin::new(inner).poll_flush(cx),
            None => Poll::Ready(Err(gone())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().inner {
            Some(inner) => Pin::new(inner).poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}
