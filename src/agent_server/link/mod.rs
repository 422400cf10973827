//! A client's connections: dialling, authenticating, reading frames into the client, and after an end whatever its era does.
//!
//! | file | idea |
//! |---|---|
//! | `dial` | from a target to an open socket |
//! | `intake` | what was read and waits for an application that is busy |
//! | `read` | frames off one socket into the client, until it ends |

mod dial;
mod intake;
mod read;
#[cfg(test)]
mod tests;

use std::time::Duration;

use rand::Rng as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use self::dial::{Opened, Refused, fits, open};
use self::read::{End, Seat, leave};
use super::client::{Client, Incoming};
use super::profile::client::{ClientTraits, Retry, SocketSupport};
use super::rest;
use super::server::{Dialer, Io, PeerId};
use crate::probe::trace::{ClientTrace, Ended};
use crate::record::Reason;
use crate::seed::Seed;

/// Where a client connects to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The server.
    pub dialer: Dialer,
    /// The conversation.
    pub conversation: String,
    /// The session API key, if the server wants one.
    pub key: Option<String>,
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not ready yet.
    Connecting,
    /// Subscribed, and ready by the client's own rule.
    Ready,
    /// It will not get ready: refused, closed, or timed out.
    Failed,
}

/// What became of a client that attended a conversation.
#[derive(Debug)]
pub struct Attended {
    /// Its notes.
    pub trace: ClientTrace,
    /// The names of its connections in the server's notes, in order; empty when nothing was dialled.
    pub peers: Vec<PeerId>,
}

/// Somebody who looks on while a client attends: told of everything before the client is.
pub trait Onlooker: Send {
    /// The connection stands and nothing was written yet. What is returned is used instead of it.
    fn connected(&mut self, io: Io) -> Io {
        io
    }

    /// The server took the upgrade, with this `Sec-WebSocket-Extensions` if it sent one.
    fn opened(&mut self, _extensions: Option<&str>) {}

    /// It did not: the HTTP status, or 0 where there was no answer, and the reason in words without a key.
    fn refused(&mut self, _status: u16, _why: &str) {}

    /// A frame was read. Each of these calls leaves one receipt in the client's trace, in the same order.
    fn frame(&mut self, _frame: Incoming<'_>) {}

    /// The client counts itself as connected.
    fn ready(&mut self) {}

    /// The connection ended, and this client did not end it by leaving.
    fn closed(&mut self, _code: u16, _reason: &str) {}

    /// The client has read the durable events over REST.
    fn reconciled(&mut self) {}

    /// The client will not connect any more, and nobody told it to leave.
    fn gave_up(&mut self) {}
}

/// Nobody looks on.
impl Onlooker for () {}

/// How long a polite close may take.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// How long the first frame may take for a client that has no ready timeout of its own.
const FIRST_FRAME_WAIT: Duration = Duration::from_secs(30);

/// Between a close and the connection that follows at once (0 to 10 ms measured on Python 1.22.1 to 1.58.2).
const AT_ONCE: Duration = Duration::from_millis(1);

/// Connects and reads until `stop` turns true or the client's era gives up.
pub async fn attend(
    target: &Target,
    traits: &ClientTraits,
    client: Client,
    phase: &watch::Sender<Phase>,
    stop: watch::Receiver<bool>,
) -> Attended {
    attend_before(target, traits, client, phase, stop, &mut ()).await
}

/// The same with somebody who looks on.
pub async fn attend_before(
    target: &Target,
    traits: &ClientTraits,
    client: Client,
    phase: &watch::Sender<Phase>,
    stop: watch::Receiver<bool>,
    onlooker: &mut impl Onlooker,
) -> Attended {
    let own_timeout = !traits.connect.ready_timeout_s.is_zero();
    let wait = if own_timeout { traits.connect.ready_timeout_s.duration() } else { FIRST_FRAME_WAIT };
    let mut visit = Visit {
        target,
        traits,
        seat: Seat { client, trace: ClientTrace::default(), onlooker },
        waiting: Waiting { phase, ready_by: Instant::now() + wait, own_timeout },
        stop,
        peers: Vec::new(),
    };
    visit.all().await;
    if !*visit.stop.borrow() {
        visit.seat.onlooker.gave_up();
    }
    if *phase.borrow() == Phase::Connecting {
        visit.never_ready().await;
    }
    visit.reread().await;
    let Visit { seat: Seat { mut client, mut trace, .. }, peers, .. } = visit;
    client.finish(&mut trace);
    Attended { trace, peers }
}

/// Who waits for the client to get ready, and for how long.
struct Waiting<'a> {
    phase: &'a watch::Sender<Phase>,
    ready_by: Instant,
    /// Whether not being ready by then is an error of the client's own.
    own_timeout: bool,
}

impl Waiting<'_> {
    fn on(&self) -> bool {
        *self.phase.borrow() == Phase::Connecting
    }
}

/// A client's stay, over all of its connections.
struct Visit<'a, O> {
    target: &'a Target,
    traits: &'a ClientTraits,
    seat: Seat<'a, O>,
    waiting: Waiting<'a>,
    stop: watch::Receiver<bool>,
    peers: Vec<PeerId>,
}

impl<O: Onlooker> Visit<'_, O> {
    async fn all(&mut self) {
        let seat = &mut self.seat;
        if self.traits.connect.socket == SocketSupport::Unavailable {
            seat.onlooker.refused(0, "this client opens no socket");
            seat.client.without_socket(&mut seat.trace);
            return;
        }
        if let Err(why) = fits(self.target, &self.traits.connect).await {
            seat.onlooker.refused(0, &why.to_string());
            seat.client.declines(&why, &mut seat.trace);
            return;
        }
        let mut attempt = 0;
        loop {
            let known = self.peers.len();
            let Some(retry) = self.one(&mut attempt).await else { return };
            let wait = match retry {
                Retry::Never => return,
                Retry::AtOnce => AT_ONCE,
                Retry::Backoff => self.backoff(attempt),
            };
            attempt += 1;
            if !self.pause(wait).await {
                return;
            }
            // What is left of an end belongs to that connection once there is another one.
            if self.peers.len() > known {
                let trace = &mut self.seat.trace;
                let unread = trace.unread.take().unwrap_or(Reason::CLIENT_LEFT);
                trace.earlier.push(Ended { receipts: trace.receipts.len(), unread });
            }
        }
    }

    /// One connection, to its end: what the client does then, or nothing when it has left.
    async fn one(&mut self, attempt: &mut u32) -> Option<Retry> {
        let policy = &self.traits.reconnect;
        let cursor = self.seat.client.cursor();
        let opening = open(self.target, &self.traits.connect, cursor, self.seat.onlooker);
        let limit = policy.open_timeout_s;
        let limited = async {
            if limit.is_zero() {
                return opening.await;
            }
            let slow = Refused { peer: None, status: 0, why: "the handshake took too long".to_owned() };
            timeout(limit.duration(), opening).await.unwrap_or(Err(slow))
        };
        let opened = tokio::select! {
            biased;
            opened = limited => opened,
            _ = self.stop.wait_for(|stop| *stop) => return None,
        };
        match opened {
            Err(Refused { peer, status, why }) => {
                let seat = &mut self.seat;
                self.peers.extend(peer);
                if peer.is_some() {
                    let why =
                        if status == 0 { "handshake_failed".to_owned() } else { format!("http_{status}") };
                    seat.trace.unread = Some(Reason::from(why));
                }
                seat.onlooker.refused(status, &why);
                seat.client.refused(status, &mut seat.trace);
                // Somebody else starts the turn all the same; who has a limit of its own is waited for.
                if !self.waiting.own_timeout && self.waiting.on() {
                    self.waiting.phase.send_replace(Phase::Failed);
                }
                Some(policy.refused)
            }
            Ok(Opened { peer, mut socket }) => {
                *attempt = 0;
                self.seat.client.opened(!self.peers.is_empty());
                self.peers.push(peer);
                let end = read::read(
                    &mut socket,
                    self.target,
                    self.traits,
                    &mut self.seat,
                    &self.waiting,
                    &mut self.stop,
                )
                .await;
                let _ = timeout(CLOSE_WAIT, leave(&mut socket)).await;
                match end {
                    End::Left => None,
                    End::Closed(code) => {
                        if self.waiting.on() && !self.waiting.own_timeout {
                            self.waiting.phase.send_replace(Phase::Failed);
                        }
                        Some(policy.after(code))
                    }
                }
            }
        }
    }

    /// The wait before the next attempt, with its jitter: the same in every run of a cell.
    fn backoff(&self, attempt: u32) -> Duration {
        let policy = &self.traits.reconnect;
        let wait = policy.wait(attempt);
        if policy.jitter_percent == 0 {
            return wait;
        }
        let place = format!("{} {} {attempt}", self.target.conversation, self.peers.len());
        let share = Seed(0).derive(&place).rng().next_u32() % (policy.jitter_percent + 1);
        wait + wait * share / 100
    }

    /// Waits; false when the client is to leave, or was not ready in time.
    async fn pause(&mut self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        let ready_by = self.waiting.ready_by;
        let timed = self.waiting.on() && self.waiting.own_timeout && ready_by < until;
        let late = tokio::select! {
            biased;
            _ = self.stop.wait_for(|stop| *stop) => return false,
            () = sleep_until(ready_by), if timed => true,
            () = sleep_until(until) => false,
        };
        if late {
            self.not_ready();
        }
        !late
    }

    /// Reads the durable events once more when the run is over, as far as the client's era does.
    async fn reread(&mut self) {
        if !self.traits.reconnect.rereads || self.peers.is_empty() {
            return;
        }
        // A client that has gone deaf still waits for its run to end. Nobody will say so where the sender is gone.
        let _ = self.stop.wait_for(|stop| *stop).await;
        // It polls, so that who is deaf knows how the run ended as well. One that failed raises, and nothing is read then (read in
        // 1.58.2: the log is reconciled on the way out of a run that did not).
        if let Ok(Some(status)) = rest::status(self.target).await
            && self.seat.client.run_is(&status, &mut self.seat.trace)
        {
            return;
        }
        if let Ok(events) = rest::events(self.target).await {
            self.seat.client.reconcile(&events, &mut self.seat.trace);
        }
    }

    fn not_ready(&mut self) {
        self.seat.client.not_ready(&mut self.seat.trace);
        self.waiting.phase.send_replace(Phase::Failed);
    }

    /// Whoever waits for this client to get ready waits its whole time, and is then told.
    async fn never_ready(&mut self) {
        if self.waiting.own_timeout {
            let late = tokio::select! {
                biased;
                _ = self.stop.wait_for(|stop| *stop) => false,
                () = sleep_until(self.waiting.ready_by) => true,
            };
            if late {
                self.not_ready();
            }
        }
        self.waiting.phase.send_replace(Phase::Failed);
    }
}
