//! One delta from the model to every subscriber of a server, by bus, encoding and number of subscribers, without the
//! kernel: the peers are always ready and swallow what is written to them.
//!
//! What it costs with sockets is what `skewlab bench fanout` measures.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]

mod measurement;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use criterion::measurement::{Measurement, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use measurement::{AllocatedBytes, AllocationCount, counts, times};
use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::profile::server::{BusKind, Encoding};
use skewlab::agent_server::server::{
    Chunk, Clock, Feed, Finish, Io, Script, Server, ServerConfig, SinkModel,
};
use skewlab::run::fanout::Subject;
use skewlab::seed::Seed;
use skewlab::wire::{Mutation, numbered};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// A client that asks for one conversation's events and then swallows them.
struct Swallow {
    request: Option<String>,
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
struct Stage {
    runtime: Runtime,
    server: Server,
    chunks: mpsc::Sender<Chunk>,
    published: u64,
}

impl Stage {
    fn new(bus: BusKind, encoding: Encoding, subscribers: u64) -> Stage {
        let base = Catalogue::embedded()
            .expect("the embedded profiles read")
            .server("1.58.2")
            .expect("it is embedded");
        let subject = Subject::of(&base, bus, encoding);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        let (chunks, feed) = Feed::new(1024);
        let script = Script {
            user: "go".into(),
            chunks: Vec::new(),
            gap: Duration::ZERO,
            finish: Finish::Message,
            feed: Some(feed),
        };
        let config = ServerConfig {
            keys: Vec::new(),
            script,
            mutation: Mutation::default(),
            seed: Seed(1),
            sinks: vec![SinkModel::default()],
            keeps_notes: false,
            telemetry: true,
            auto_title: false,
        };
        let server = runtime.block_on(async {
            let server = Server::new(&subject.profile, config, Clock::wall());
            let conversation = server.create_conversation().await;
            for peer in 0..subscribers {
                let request = format!(
                    "GET /sockets/events/{conversation} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\n\
                     upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                );
                let server = server.clone();
                tokio::spawn(async move { server.serve(Io::Other(Box::new(Swallow { request: Some(request) })), peer).await });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            server.say(&conversation, "go");
            server
        });
        let mut stage = Stage { runtime, server, chunks, published: 0 };
        // Buffers have grown when the first deltas are through.
        (0..64).for_each(|_| stage.token());
        let wrote = stage.server.side_effects().costs;
        // A bench of frames that went nowhere would look fast.
        assert_eq!(wrote.frames, 64 * subscribers, "{}", subject.name);
        stage
    }

    /// One delta, to the last subscriber.
    fn token(&mut self) {
        self.published += 1;
        let chunk = Chunk { text: Some(numbered::text(self.published, 16)), reasoning: None };
        self.chunks.try_send(chunk).expect("the feed has room for one");
        self.runtime.block_on(self.server.published(self.published));
    }
}

fn fanout<M: Measurement>(c: &mut Criterion<M>, unit: &str) {
    for bus in [BusKind::Shared, BusKind::OptIn, BusKind::Widened, BusKind::Split] {
        for encoding in [Encoding::PerSubscriber, Encoding::Once] {
            let mut group =
                c.benchmark_group(format!("fanout {unit}/{}/{}", bus.as_str(), encoding.as_str()));
            for subscribers in [1, 100] {
                let mut stage = Stage::new(bus, encoding, subscribers);
                group.throughput(Throughput::Elements(subscribers.max(1)));
                group.bench_function(subscribers.to_string(), |b| b.iter(|| stage.token()));
            }
            group.finish();
        }
    }
}

fn fanout_time(c: &mut Criterion<WallTime>) {
    fanout(c, "time");
}

fn fanout_allocations(c: &mut Criterion<AllocationCount>) {
    fanout(c, "allocations");
}

fn fanout_bytes(c: &mut Criterion<AllocatedBytes>) {
    fanout(c, "bytes");
}

criterion_group! { name = time; config = times(); targets = fanout_time }
criterion_group! { name = allocations; config = counts(AllocationCount); targets = fanout_allocations }
criterion_group! { name = bytes; config = counts(AllocatedBytes); targets = fanout_bytes }
criterion_main!(time, allocations, bytes);
