//! `/sockets/session/{id}` (1.45.0 on): sync, replay by cursor, then live, with a byte budget per connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Message;

use super::bus::Published;
use super::conversation::Conversation;
use super::inbound;
use super::legacy::strikes;
use super::net::PeerId;
use super::query::SocketQuery;
use super::subscriber::Subscriber;
use super::upgrade::{Socket, close};
use super::{Inner, lock};
use crate::agent_server::profile::server::SessionEndpoint;
use crate::probe::trace::Origin;
use crate::record::{Hop, Reason};
use crate::wire::SessionFrame;
use crate::wire::session::SessionDelta;

/// A client on the session socket, as a subscriber: never waits, always queues, and is dropped whole when
/// its budget is spent.
#[derive(Debug)]
pub(super) struct SessionSocket {
    server: Arc<Inner>,
    peer: PeerId,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(String, Origin)>,
    pending_bytes: usize,
    /// Live events that came before the replay was over.
    buffer: Option<Vec<Published>>,
    /// Why the connection ends.
    over: Option<&'static str>,
    /// It is closed for another reason than its budget.
    hung_up: Option<(u16, String)>,
    gone: bool,
    /// Deltas and durable events so far, for the faults that strike every n-th one.
    deltas: u32,
    durables: u32,
}

impl State {
    /// Frames that wait, and their bytes; those of one that is being written are among these.
    fn depth(&self) -> (u64, u64) {
        (self.queue.len() as u64, self.pending_bytes as u64)
    }
}

impl SessionSocket {
    /// Takes an event from the durable bus. Deltas never come here: this subscriber does not opt in.
    pub(super) fn deliver(&self, published: &Published) {
        self.server.note(|notes| notes.dispatched(self.peer, published.origin));
        if let Some(buffer) = &mut lock(&self.state).buffer {
            buffer.push(published.clone());
            return;
        }
        self.event(published);
    }

    fn event(&self, published: &Published) {
        let event = (*published.event).clone();
        let frame = match published.seq {
            Some(_) if self.loses_durable() => return,
            Some(seq) => SessionFrame::Durable { seq, event },
            None => SessionFrame::Transient { event },
        };
        self.queue(&frame, published.origin);
    }

    fn loses_durable(&self) -> bool {
        let mut state = lock(&self.state);
        state.durables += 1;
        strikes(state.durables, self.server.traits.mutant.drop_durable_every)
    }

    /// Sends a progress frame, unless a deliberate fault swallows it.
    pub(super) fn send(&self, frame: &SessionFrame, origin: Origin) {
        self.server.note(|notes| notes.dispatched(self.peer, origin));
        let SessionFrame::Delta(delta) = frame else { return self.queue(frame, origin) };
        let mutant = &self.server.traits.mutant;
        let number = {
            let mut state = lock(&self.state);
            state.deltas += 1;
            state.deltas
        };
        if strikes(number, mutant.forget_every) {
            return;
        }
        if strikes(number, mutant.drop_every) {
            let reason = Reason::new("mutant_drop");
            self.server.note(|notes| notes.stopped(self.peer, origin, Hop::Sent, &reason));
            return;
        }
        if strikes(number, mutant.alter_every) {
            let content = "#".repeat(delta.content.chars().count());
            self.queue(&SessionFrame::Delta(SessionDelta { content, ..delta.clone() }), origin);
        } else {
            self.queue(frame, origin);
        }
        if strikes(number, mutant.repeat_every) {
            self.queue(frame, origin);
        }
    }

    pub(super) fn peer(&self) -> PeerId {
        self.peer
    }

    /// Closes the connection; what is queued is given up.
    pub(super) fn hang_up(&self, code: u16, reason: &str) {
        let mut state = lock(&self.state);
        (state.hung_up, state.over) = (Some((code, reason.to_owned())), Some("hung_up"));
        drop(state);
        self.wake.notify_one();
    }

    /// Queues a text as it is. False when the connection is over, or because of it.
    pub(super) fn raw(&self, text: String) -> bool {
        self.enqueue(text, Origin::Other)
    }

    fn queue(&self, frame: &SessionFrame, origin: Origin) {
        let delta = matches!(origin, Origin::Delta { .. });
        let text = frame.encode();
        let text = if delta { self.server.faults.relayed(text) } else { text };
        if delta {
            self.server.costs.serialised(text.len());
        }
        self.enqueue(text, origin);
    }

    fn enqueue(&self, text: String, origin: Origin) -> bool {
        let limits = &self.server.traits.session;
        let mut state = lock(&self.state);
        let over = if text.len() > limits.max_frame_bytes {
            Some("frame_too_large")
        } else if state.pending_bytes + text.len() > limits.max_pending_bytes {
            Some("slow_consumer")
        } else {
            None
        };
        let stop = if state.gone { Some("socket_closed") } else { state.over.or(over) };
        if let Some(reason) = stop {
            state.over = state.over.or(over);
            self.server.note(|notes| notes.stopped(self.peer, origin, Hop::Sent, &Reason::new(reason)));
        } else {
            state.pending_bytes += text.len();
            state.queue.push_back((text, origin));
            // One alone goes out at once.
            if state.queue.len() > 1 {
                let (depth, limit) = (state.depth(), limits.max_pending_bytes as u64);
                self.server.note(|notes| notes.waits(self.peer, depth, Some(limit)));
            }
        }
        drop(state);
        self.wake.notify_one();
        stop.is_none()
    }

    /// Ends the buffering: what the replay already carried is left out.
    fn go_live(&self, replayed_through: Option<i64>) {
        let buffered = lock(&self.state).buffer.take().unwrap_or_default();
        for published in buffered {
            let seen =
                published.seq.is_some_and(|seq| replayed_through.is_some_and(|through| seq <= through));
            if !seen {
                self.event(&published);
            }
        }
    }

    /// Writes what is queued until the connection ends; returns why, if the server ends it. A budget that is
    /// spent ends it at once: what is queued is given up. A frame whose write is under way cannot be called back, and goes out
    /// before the close.
    async fn drain(&self, sink: &mut SplitSink<Socket, Message>) -> Option<&'static str> {
        loop {
            let next = {
                let mut state = lock(&self.state);
                if state.over.is_some() {
                    return state.over;
                }
                state.queue.pop_front()
            };
            let Some((text, origin)) = next else {
                self.wake.notified().await;
                continue;
            };
            let bytes = text.len();
            let taken = tokio::select! {
                biased;
                taken = sink.feed(Message::text(text)) => Some(taken.is_ok()),
                () = self.spent() => None,
            };
            let sent = match taken {
                Some(true) => tokio::select! {
                    biased;
                    out = sink.flush() => Some(out.is_ok()),
                    () = self.spent() => Some(true),
                },
                other => other,
            };
            lock(&self.state).pending_bytes -= bytes;
            let reason = match sent {
                Some(true) => {
                    if matches!(origin, Origin::Delta { .. }) {
                        self.server.costs.wrote(bytes);
                    }
                    self.server.note(|notes| notes.sent(self.peer, origin));
                    continue;
                }
                Some(false) => Reason::SOCKET_CLOSED,
                None => {
                    // It is in the connection's own buffer, and goes out before the close if the peer reads again.
                    self.server.note(|notes| notes.sent(self.peer, origin));
                    return lock(&self.state).over;
                }
            };
            self.server.note(|notes| notes.stopped(self.peer, origin, Hop::Sent, &reason));
            return lock(&self.state).over;
        }
    }

    /// Waits until the budget is spent.
    async fn spent(&self) {
        while lock(&self.state).over.is_none() {
            self.wake.notified().await;
        }
    }

    /// What is still queued when the connection is gone stops here, with its reason.
    fn abandon(&self, reason: &'static str) {
        let mut state = lock(&self.state);
        state.gone = true;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        for (_, origin) in left {
            self.server.note(|notes| notes.stopped(self.peer, origin, Hop::Sent, &Reason::new(reason)));
        }
    }
}

/// Runs an authenticated connection until either side ends it.
pub(super) async fn run(
    server: Arc<Inner>,
    conversation: Arc<Conversation>,
    socket: Socket,
    peer: PeerId,
    query: SocketQuery,
) {
    let (mut sink, mut stream) = socket.split();
    let state = Mutex::new(State { buffer: Some(Vec::new()), ..State::default() });
    let socket = Arc::new(SessionSocket { server: server.clone(), peer, state, wake: Notify::new() });
    let try_again_later = server.traits.socket.close.try_again_later;
    let Ok(subscriptions) = conversation.subscribe(Arc::new(Subscriber::Session(socket.clone()))) else {
        let reason = "Too many connections for this conversation";
        server.notes().came(peer);
        server.notes().link(peer).closed = Some((try_again_later, reason.to_owned()));
        close(&mut sink, try_again_later, reason).await;
        return;
    };
    server.notes().joined(peer);
    socket.deliver(&conversation.snapshot(&server));
    join_progress(&server, &conversation, &socket);
    let attend = async {
        catch_up(&conversation, &socket, query.after_seq).await;
        while let Some((code, detail)) = inbound::unusable(&server, &conversation, &mut stream).await {
            let code = code.to_owned();
            socket.queue(&SessionFrame::Error { code, detail }, Origin::Other);
        }
    };
    // In a fixed order, here and below: the same seed must give the same bytes.
    let ended = tokio::select! {
        biased;
        why = socket.drain(&mut sink) => why,
        () = attend => None,
    };
    if let Some(reason) = ended {
        let hung_up = lock(&socket.state).hung_up.take();
        let (code, reason) = hung_up.unwrap_or_else(|| (try_again_later, reason.to_owned()));
        server.notes().link(peer).closed = Some((code, reason.clone()));
        close(&mut sink, code, &reason).await;
    }
    let left = lock(&socket.state).depth();
    server.note(|notes| notes.left(peer, left));
    socket.abandon(ended.unwrap_or("socket_closed"));
    conversation.unsubscribe(&subscriptions);
    lock(&conversation.progress).retain(|s| !Arc::ptr_eq(s, &socket));
}

/// Joins the progress bus, where there is one and it has room; without it the connection gets no deltas.
fn join_progress(server: &Arc<Inner>, conversation: &Conversation, socket: &Arc<SessionSocket>) {
    let mut progress = lock(&conversation.progress);
    let cap = server.traits.bus.max_subscribers;
    let reason = match server.traits.session.endpoint {
        SessionEndpoint::Full if cap == 0 || progress.len() < cap => {
            progress.push(socket.clone());
            return;
        }
        SessionEndpoint::Full => "progress_bus_full",
        _ => "endpoint_carries_no_deltas",
    };
    server.notes().link(socket.peer).carries_no_deltas = Some(Reason::new(reason));
}

/// Sync, then the log after the cursor, then what came meanwhile.
async fn catch_up(conversation: &Conversation, socket: &SessionSocket, after_seq: Option<i64>) {
    let through_seq = conversation.through_seq();
    socket.queue(&SessionFrame::Sync { from_seq: after_seq, through_seq }, Origin::Other);
    if let (Some(after), Some(through)) = (after_seq, through_seq) {
        let mut from = usize::try_from(after.saturating_add(1)).unwrap_or(0);
        loop {
            let page = conversation.log_from(from, socket.server.traits.session.replay_page.get());
            from += page.len();
            let due: Vec<_> =
                page.into_iter().filter(|logged| logged.seq.is_some_and(|seq| seq <= through)).collect();
            if due.is_empty() {
                break;
            }
            for logged in due {
                let (seq, event) = (logged.seq.unwrap_or(through), (*logged.event).clone());
                socket.queue(&SessionFrame::Durable { seq, event }, logged.origin);
                // The writer gets its turn after each frame, so that a long history does not spend the budget.
                tokio::task::yield_now().await;
            }
        }
    }
    socket.go_live(after_seq.and(through_seq));
}
