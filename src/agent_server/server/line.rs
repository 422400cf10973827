//! The server's end of a legacy connection: who writes and who reads share it, and frames leave in the order in which
//! they were handed over.
//!
//! A frame that the connection takes at once costs one lock and one write. Only behind a slow peer does a frame wait, as a
//! future that keeps its place.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use futures_util::{SinkExt, Stream, StreamExt};
use tokio_tungstenite::tungstenite::{Error as WsError, Message};

use super::lock;
use super::upgrade::Socket;

/// A connection that is written and read from one thread.
#[derive(Debug)]
pub(super) struct Line {
    socket: Mutex<Socket>,
    /// Frames that could not be written at once, and are not yet.
    waiting: AtomicU32,
    /// Their bytes.
    bytes: AtomicUsize,
    /// Whose turn it is among them.
    turn: tokio::sync::Mutex<()>,
}

/// What became of a frame.
pub(super) enum Written<'a> {
    /// It is out, or it cannot get out any more (`false`).
    Now(bool),
    /// The same, later.
    Later(Pin<Box<dyn Future<Output = bool> + Send + 'a>>),
}

impl Line {
    pub(super) fn new(socket: Socket) -> Line {
        let (waiting, bytes) = (AtomicU32::new(0), AtomicUsize::new(0));
        Line { socket: Mutex::new(socket), waiting, bytes, turn: tokio::sync::Mutex::default() }
    }

    /// Frames that wait, and their bytes.
    pub(super) fn depth(&self) -> (u64, u64) {
        (self.waiting.load(Ordering::Relaxed).into(), self.bytes.load(Ordering::Relaxed) as u64)
    }

    /// Hands a frame over. A future that comes back must be polled before the next frame is handed over, so that it
    /// gets its place; dropped, it gives the place up.
    pub(super) fn write(&self, message: Message) -> Written<'_> {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return self.later(message);
        }
        let mut cx = Context::from_waker(Waker::noop());
        let mut socket = lock(&self.socket);
        let bytes = message.len();
        let taken = match socket.poll_ready_unpin(&mut cx) {
            Poll::Ready(Ok(())) => socket.start_send_unpin(message),
            Poll::Ready(Err(_)) => return Written::Now(false),
            // Somebody gave up in the middle of a frame; this one goes behind it.
            Poll::Pending => {
                drop(socket);
                return self.later(message);
            }
        };
        match taken.map(|()| socket.poll_flush_unpin(&mut cx)) {
            Ok(Poll::Ready(Ok(()))) => Written::Now(true),
            Ok(Poll::Ready(Err(_))) | Err(_) => Written::Now(false),
            Ok(Poll::Pending) => {
                drop(socket);
                let place = Place::taken(self, bytes);
                // Nobody waits, so the turn is free.
                let turn = self.turn.try_lock();
                Written::Later(Box::pin(async move {
                    let _held = (place, turn);
                    self.flushed().await
                }))
            }
        }
    }

    fn later(&self, message: Message) -> Written<'_> {
        let place = Place::taken(self, message.len());
        Written::Later(Box::pin(async move {
            let _held = (place, self.turn.lock().await);
            self.sent(message).await
        }))
    }

    async fn sent(&self, message: Message) -> bool {
        if poll_fn(|cx| lock(&self.socket).poll_ready_unpin(cx)).await.is_err() {
            return false;
        }
        let taken = lock(&self.socket).start_send_unpin(message);
        taken.is_ok() && self.flushed().await
    }

    async fn flushed(&self) -> bool {
        poll_fn(|cx| lock(&self.socket).poll_flush_unpin(cx)).await.is_ok()
    }

    /// Writes a frame to the end, behind those that wait.
    pub(super) async fn send(&self, message: Message) -> bool {
        match self.write(message) {
            Written::Now(done) => done,
            Written::Later(rest) => rest.await,
        }
    }

    /// What the peer sends.
    pub(super) fn read(&self) -> Reading<'_> {
        Reading(self)
    }
}

/// The reading half.
#[derive(Debug)]
pub(super) struct Reading<'a>(&'a Line);

impl Stream for Reading<'_> {
    type Item = Result<Message, WsError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        lock(&self.0.socket).poll_next_unpin(cx)
    }
}

/// A place among those that wait; given up when it is dropped, however that comes about.
struct Place<'a> {
    line: &'a Line,
    bytes: usize,
}

impl Place<'_> {
    fn taken(line: &Line, bytes: usize) -> Place<'_> {
        line.waiting.fetch_add(1, Ordering::Relaxed);
        line.bytes.fetch_add(bytes, Ordering::Relaxed);
        Place { line, bytes }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.line.waiting.fetch_sub(1, Ordering::Relaxed);
        self.line.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, DuplexStream};
    use tokio::time::timeout;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;
    use crate::agent_server::server::Io;

    /// A line to a peer that holds 64 bytes before it reads.
    async fn narrow() -> (Line, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(64);
        let socket = WebSocketStream::from_raw_socket(Io::Memory(ours), Role::Server, None).await;
        (Line::new(socket), theirs)
    }

    fn message(n: u8) -> Message {
        Message::text(char::from(b'a' + n).to_string().repeat(48))
    }

    /// Polls once, as a bus does when it calls everybody.
    async fn begun<'a>(line: &'a Line, n: u8) -> Option<Pin<Box<dyn Future<Output = bool> + Send + 'a>>> {
        match line.write(message(n)) {
            Written::Now(done) => {
                assert!(done);
                None
            }
            Written::Later(mut rest) => {
                assert!(poll_fn(|cx| Poll::Ready(rest.as_mut().poll(cx))).await.is_pending());
                Some(rest)
            }
        }
    }

    /// The frames' first letters, in the order in which they came.
    async fn letters(mut peer: DuplexStream, frames: usize) -> String {
        let mut seen = String::new();
        for _ in 0..frames {
            let mut frame = [0; 50];
            peer.read_exact(&mut frame).await.unwrap();
            assert!(frame[2..].iter().all(|b| *b == frame[2]), "frames are not mixed");
            seen.push(char::from(frame[2]));
        }
        seen
    }

    #[tokio::test(start_paused = true)]
    async fn frames_behind_a_slow_peer_keep_their_order() {
        let (line, peer) = narrow().await;
        let mut waiting = Vec::new();
        for n in 0..5 {
            waiting.extend(begun(&line, n).await);
        }
        assert_eq!(waiting.len(), 4, "one frame fits");
        assert_eq!(line.depth(), (4, 4 * 48));
        let reading = tokio::spawn(letters(peer, 6));
        for rest in waiting {
            assert!(rest.await);
        }
        assert_eq!(line.depth(), (0, 0));
        assert!(line.send(message(5)).await);
        assert_eq!(reading.await.unwrap(), "abcdef");
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_leaves_the_line_usable() {
        let (line, peer) = narrow().await;
        assert!(begun(&line, 0).await.is_none());
        // Half of the second frame is in the pipe when its writer gives up; a third never began.
        let second = begun(&line, 1).await.unwrap();
        let third = begun(&line, 2).await.unwrap();
        drop(third);
        assert!(timeout(Duration::from_secs(1), second).await.is_err());
        let reading = tokio::spawn(letters(peer, 3));
        assert!(line.send(message(3)).await);
        assert_eq!(reading.await.unwrap(), "abd");
    }

    #[tokio::test]
    async fn a_peer_that_is_gone_is_no_frame() {
        let (line, peer) = narrow().await;
        drop(peer);
        assert!(!line.send(message(0)).await);
    }
}
