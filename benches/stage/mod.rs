//! A server and its subscribers on one thread, without the kernel: the peers are always ready, and swallow and count
//! what is written to them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::profile::server::{BusKind, Encoding};
use skewlab::agent_server::server::{Chunk, Clock, Feed, Io, Server, ServerConfig};
use skewlab::record::DeltaCosts;
use skewlab::run::ClockKind;
use skewlab::run::fanout::Subject;
use skewlab::seed::Seed;
use skewlab::wire::{Dialect, Event, EventBody, Source};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// The text of every token: one length, so that no count depends on how many went before.
const TEXT: &str = "sixteen bytes...";

/// Deltas before anything is measured: the buffers have grown then. The next one falls neither on a new block of the
/// feed's channel (32 chunks) nor on a webhook post (10 events).
const WARM_UP: u64 = 72;

/// A client that asks for one conversation's events and then swallows them.
struct Swallow {
    request: Option<String>,
    bytes: Arc<AtomicU64>,
}

impl AsyncRead for Swallow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.request.take() {
            Some(request) => {
                buf.put_slice(request.as_bytes());
                Poll::Ready(Ok(()))
            }
            None => Poll::Pending,
        }
    }
}

impl AsyncWrite for Swallow {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A server with its subscribers, on this thread.
pub(crate) struct Stage {
    runtime: Runtime,
    server: Server,
    chunks: mpsc::Sender<Chunk>,
    published: u64,
    due: Due,
    swallowed: Arc<AtomicU64>,
    /// Bytes swallowed before the first delta: handshakes, snapshots, and what opens a turn.
    before: u64,
}

/// What each delta has to cost, told from the bus alone.
#[derive(Clone, Copy)]
struct Due {
    invocations: u64,
    serialisations: u64,
    bytes_encoded: u64,
    frames: u64,
    wire_bytes: u64,
}

impl Due {
    fn of(bus: BusKind, encoding: Encoding, sockets: u64) -> Due {
        let body = EventBody::StreamingDelta { content: Some(TEXT.into()), reasoning_content: None };
        // Ids and timestamps have one length each.
        let event = Event {
            id: "00000000-0000-4000-8000-000000000001".into(),
            timestamp: "2026-11-30T07:45:00.123456".into(),
            source: Source::Agent,
            parent_id: None,
            body,
        };
        let frame = event.encode(Dialect::CURRENT).len() as u64;
        let body = event.encode(Dialect::CURRENT.webhook()).len() as u64;
        // The length of a WebSocket header depends on the payload; this one is for 126 bytes to 64 KiB.
        let header = 4;
        // Idle clocks, telemetry and webhook; the webhook serialises for itself.
        let (internal, webhook) = match bus {
            BusKind::Shared | BusKind::Widened => (3, 1),
            BusKind::OptIn | BusKind::Split => (0, 0),
        };
        let encoded = match encoding {
            Encoding::PerSubscriber => sockets,
            Encoding::Once => sockets.min(1),
        };
        Due {
            invocations: internal + sockets,
            serialisations: webhook + encoded,
            bytes_encoded: webhook * body + encoded * frame,
            frames: sockets,
            wire_bytes: sockets * (header + frame),
        }
    }
}

impl Stage {
    /// A server of 1.58.2 with another bus and encoding, after [`WARM_UP`] deltas. On the virtual clock time stands still
    /// while deltas flow, so that no timestamp and no timer makes one of them dearer than the next.
    pub(crate) fn new(bus: BusKind, encoding: Encoding, sockets: u64, kind: ClockKind) -> Stage {
        let base = Catalogue::embedded()
            .expect("the embedded profiles read")
            .server("1.58.2")
            .expect("it is embedded");
        let subject = Subject::of(&base, bus, encoding);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(kind == ClockKind::Virtual)
            .build()
            .expect("a runtime starts");
        let (chunks, feed) = Feed::new(1);
        let config = ServerConfig::measured(feed, Seed(1));
        let swallowed = Arc::new(AtomicU64::new(0));
        let server = runtime.block_on(async {
            let clock = match kind {
                ClockKind::Virtual => Clock::fixed(),
                ClockKind::Wall => Clock::wall(),
            };
            let server = Server::new(&subject.profile, config, clock);
            let conversation = server.create_conversation().await;
            for peer in 0..sockets {
                let request = Some(format!(
                    "GET /sockets/events/{conversation} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\n\
                     upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                ));
                let (server, bytes) = (server.clone(), swallowed.clone());
                tokio::spawn(async move { server.serve(Io::Other(Box::new(Swallow { request, bytes })), peer).await });
            }
            let everybody = async {
                while server.notes().links.values().filter(|l| l.joined_after.is_some()).count() as u64 != sockets {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(10), everybody).await.expect("every socket joins the bus");
            assert!(server.say(&conversation, "go"));
            server
        });
        let due = Due::of(bus, encoding, sockets);
        let mut stage = Stage { runtime, server, chunks, published: 0, due, swallowed, before: 0 };
        stage.token(Stage::chunk());
        // Publishes come in their order: what opens a connection and a turn is out before the first delta.
        stage.before = stage.swallowed.load(Ordering::Relaxed) - due.wire_bytes;
        (1..WARM_UP).for_each(|_| stage.token(Stage::chunk()));
        stage.check();
        stage
    }

    /// What the model emits for one token. It is the model's to make, so make it before the clock runs.
    pub(crate) fn chunk() -> Chunk {
        Chunk { text: Some(TEXT.into()), reasoning: None }
    }

    /// One token of the model, from the moment in which the turn that waits for it gets it until the last subscriber
    /// has it: the wake-up of the turn, the event with its id and timestamp, the task of the publish, the calls, and
    /// the frames in the sockets.
    ///
    /// Not every token pays for the block of the feed's channel (each 32nd) or, where the bus gives deltas to all, for
    /// a webhook post (each 10th): over many tokens they are in the mean.
    pub(crate) fn token(&mut self, chunk: Chunk) {
        self.published += 1;
        self.chunks.try_send(chunk).expect("the turn has taken the token before");
        self.runtime.block_on(self.server.published(self.published));
    }

    /// Holds every delta so far against what it had to cost: a bench of frames that went nowhere would look fast.
    pub(crate) fn check(&self) {
        let (due, n) = (self.due, self.published);
        let owed = DeltaCosts {
            published: n,
            invocations: n * due.invocations,
            serialisations: n * due.serialisations,
            bytes_encoded: n * due.bytes_encoded,
            frames: n * due.frames,
            wire_bytes: n * due.wire_bytes,
            log_lines: 0,
        };
        assert_eq!(self.server.side_effects().costs, owed);
        assert_eq!(
            self.swallowed.load(Ordering::Relaxed) - self.before,
            owed.wire_bytes,
            "bytes at the peers"
        );
    }
}
