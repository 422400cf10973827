//! Frames off one socket into the client, until either side ends it.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Bytes, Error as WsError, Message};

use super::intake::{Frame, Intake};
use super::{Onlooker, Phase, Target, Waiting};
use crate::agent_server::client::{Client, Incoming};
use crate::agent_server::profile::client::{ClientTraits, Keepalive, Reconcile};
use crate::agent_server::rest;
use crate::agent_server::server::Io;
use crate::probe::trace::ClientTrace;
use crate::record::Reason;
use crate::unit::Seconds;

/// A client, its notes and who looks on.
pub(super) struct Seat<'a, O> {
    pub(super) client: Client,
    pub(super) trace: ClientTrace,
    pub(super) onlooker: &'a mut O,
}

impl<O: Onlooker> Seat<'_, O> {
    fn receive(&mut self, frame: Incoming<'_>) {
        self.onlooker.frame(frame);
        self.client.receive(frame, &mut self.trace);
    }

    /// The connection is over, and this client did not leave.
    fn closed(&mut self, code: u16, why: &str, unread: Reason) -> End {
        self.trace.unread = Some(unread);
        self.onlooker.closed(code, why);
        self.client.closed(code, why, &mut self.trace);
        End::Closed(code)
    }
}

/// How a connection ended.
pub(super) enum End {
    /// The client left.
    Left,
    /// With that code, or 1005 and 1006 where none came.
    Closed(u16),
}

/// How a connection came to its end: what the client is told once it has handled what it read before.
struct Ending {
    code: u16,
    why: String,
    unread: Reason,
}

/// What a message off the socket is to the client.
enum Came {
    Frame(Frame),
    /// A ping, or a pong.
    Control,
    End(Ending),
}

/// When the next thing of its own is due on a connection.
struct Timers {
    /// An animation frame.
    tick: Option<Instant>,
    /// The next ping.
    ping: Option<Instant>,
    /// Until when the pong has to be there.
    pong: Option<Instant>,
    /// Until when a frame has to come, for who watches that.
    frame: Option<Instant>,
    /// From when on the application is no longer busy.
    free: Option<Instant>,
}

impl Timers {
    fn next(&self, ready_by: Option<Instant>) -> Option<Instant> {
        [self.tick, self.ping, self.pong, self.frame, self.free, ready_by].into_iter().flatten().min()
    }
}

pub(super) async fn read(
    socket: &mut WebSocketStream<Io>,
    target: &Target,
    traits: &ClientTraits,
    seat: &mut Seat<'_, impl Onlooker>,
    waiting: &Waiting<'_>,
    stop: &mut watch::Receiver<bool>,
) -> End {
    let keepalive = traits.reconnect.keepalive;
    let watchdog = Some(traits.policy.watchdog_s).filter(|wait| !wait.is_zero()).map(Seconds::duration);
    let mut timers = Timers {
        tick: None,
        ping: keepalive.map(|k| Instant::now() + k.every_s.duration()),
        pong: None,
        frame: watchdog.map(|wait| Instant::now() + wait),
        free: None,
    };
    let mut intake = Intake::of(&traits.intake);
    let mut waits = waiting.on();
    let mut ending = None;
    loop {
        let ready_by = waits.then_some(waiting.ready_by);
        timers.free = intake.due();
        let blocked = intake.blocks();
        let due = if blocked { timers.free } else { timers.next(ready_by) };
        tokio::select! {
            biased;
            message = socket.next(), if ending.is_none() && intake.reads() => {
                if matches!(message, Some(Ok(Message::Pong(_)))) {
                    if target.dialer.pongs_come() {
                        timers.pong = None;
                    }
                    continue;
                }
                timers.frame = watchdog.map(|wait| Instant::now() + wait);
                match came(message, socket, target).await {
                    Came::Frame(frame) => {
                        if let Some(frame) = intake.offer(frame, &mut seat.trace.receive_queue) {
                            seat.receive(frame.incoming());
                            handled(target, traits, seat, &mut timers, (&mut waits, waiting)).await;
                        }
                    }
                    Came::Control => {}
                    Came::End(end) => {
                        intake.ended(&mut seat.trace.receive_queue);
                        (timers.ping, timers.pong, timers.frame) = (None, None, None);
                        ending = Some(end);
                    }
                }
            }
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                let now = Instant::now();
                if timers.free.is_some_and(|at| at <= now) {
                    for frame in intake.take() {
                        seat.receive(frame.incoming());
                        handled(target, traits, seat, &mut timers, (&mut waits, waiting)).await;
                    }
                }
                if timers.tick.take_if(|at| *at <= now).is_some() {
                    seat.client.tick(&mut seat.trace);
                }
                if blocked {
                    // What has come meanwhile is read before anything is called late.
                    continue;
                }
                if timers.pong.is_some_and(|at| at <= now) {
                    intake.ended(&mut seat.trace.receive_queue);
                    return ping_timeout(socket, seat).await;
                }
                if timers.frame.is_some_and(|at| at <= now) {
                    intake.ended(&mut seat.trace.receive_queue);
                    return seat.closed(1006, "no frame for too long", Reason::new("watchdog"));
                }
                if timers.ping.is_some_and(|at| at <= now) {
                    ping(socket, keepalive, &mut timers, now).await;
                }
                if waits && waiting.ready_by <= now {
                    waits = false;
                    if waiting.own_timeout {
                        seat.client.not_ready(&mut seat.trace);
                    }
                    // Its application was told and has gone on; what its socket still brings shows where frames stop.
                    waiting.phase.send_replace(Phase::Failed);
                }
            }
            changed = stop.changed() => {
                if changed.is_err() || *stop.borrow() {
                    let left = if intake.is_busy() { Reason::new("not_handled") } else { Reason::CLIENT_LEFT };
                    intake.ended(&mut seat.trace.receive_queue);
                    seat.trace.unread = Some(target.dialer.why_unread().map_or(left, Reason::new));
                    return End::Left;
                }
            }
        }
        // What was read before the end is handled before it is told.
        if let Some(Ending { code, why, unread }) = ending.take_if(|_| intake.is_empty()) {
            return seat.closed(code, &why, unread);
        }
    }
}

/// The client has handled a frame: what follows from it at once.
async fn handled(
    target: &Target,
    traits: &ClientTraits,
    seat: &mut Seat<'_, impl Onlooker>,
    timers: &mut Timers,
    (waits, waiting): (&mut bool, &Waiting<'_>),
) {
    timers.tick = seat.client.next_tick().map(|wait| timers.tick.unwrap_or_else(|| Instant::now() + wait));
    if traits.reconnect.reconcile != Reconcile::Nothing && seat.client.wants_events() {
        reconcile(target, seat).await;
    }
    if *waits && seat.client.is_ready() {
        *waits = false;
        seat.onlooker.ready();
        waiting.phase.send_replace(Phase::Ready);
    }
}

/// Sends a ping and waits for its pong.
async fn ping(
    socket: &mut WebSocketStream<Io>,
    keepalive: Option<Keepalive>,
    timers: &mut Timers,
    now: Instant,
) {
    let Some(keepalive) = keepalive else { return };
    // A connection that is gone is noticed by reading it.
    let _ = socket.send(Message::Ping(Bytes::new())).await;
    timers.ping = Some(now + keepalive.every_s.duration());
    timers.pong.get_or_insert(now + keepalive.timeout_s.duration());
}

/// The pong did not come: the client closes, and takes it for an abnormal end.
async fn ping_timeout(socket: &mut WebSocketStream<Io>, seat: &mut Seat<'_, impl Onlooker>) -> End {
    let why = "keepalive ping timeout";
    let frame = CloseFrame { code: CloseCode::Error, reason: why.into() };
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
    seat.closed(1011, why, Reason::new("ping_timeout"))
}

/// What one message is; a frame over the client's limit is answered with its close.
async fn came(
    message: Option<Result<Message, WsError>>,
    socket: &mut WebSocketStream<Io>,
    target: &Target,
) -> Came {
    let end = |code, why: String, unread| Came::End(Ending { code, why, unread });
    match message {
        Some(Ok(Message::Text(text))) => Came::Frame(Frame::Text(text)),
        Some(Ok(Message::Binary(bytes))) => Came::Frame(Frame::Binary(bytes)),
        Some(Ok(Message::Close(frame))) => {
            let (code, why) = frame.map_or((1005, String::new()), |f| (f.code.into(), f.reason.to_string()));
            end(code, why, Reason::new("connection_closed"))
        }
        Some(Ok(_)) => Came::Control,
        // The client's own limit: it closes with 1009 and never sees the frame.
        Some(Err(WsError::Capacity(_))) => {
            let why = "message too big";
            let frame = CloseFrame { code: CloseCode::Size, reason: why.into() };
            let _ = socket.send(Message::Close(Some(frame))).await;
            end(1009, why.to_owned(), Reason::FRAME_TOO_LARGE)
        }
        Some(Err(_)) | None => {
            let why = target.dialer.why_unread().unwrap_or("connection_lost");
            end(1006, String::new(), Reason::new(why))
        }
    }
}

/// Reads the durable events over REST. What cannot be read stays missing.
async fn reconcile(target: &Target, seat: &mut Seat<'_, impl Onlooker>) {
    if let Ok(events) = rest::events(target).await {
        seat.client.reconcile(&events, &mut seat.trace);
        seat.onlooker.reconciled();
    }
}

pub(super) async fn leave(socket: &mut WebSocketStream<Io>) {
    let _ = socket.close(None).await;
    while socket.next().await.is_some_and(|m| m.is_ok()) {}
}
