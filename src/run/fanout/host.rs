//! One emulated server alone on a thread of its own, and its meter: CPU, allocations and counts are read there, so
//! that no client's work is ever billed to it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::error::FanOutError;
use crate::agent_server::profile::{Profile, ServerTraits};
use crate::agent_server::server::net::Listening;
use crate::agent_server::server::{Chunk, Clock, Feed, Server, ServerConfig};
use crate::probe::alloc::Allocations;
use crate::probe::lag::loop_lag;
use crate::probe::{Cores, cpu};
use crate::record::SideEffects;
use crate::record::bench::Quantiles;
use crate::seed::Seed;

/// Chunks that may wait between the generator and the server: more than one block ever holds.
pub(super) const FEED_ROOM: usize = 1 << 20;

/// How often the event loop's punctuality is looked at. Each look is a wake-up that is billed to the server, so there
/// are few.
const LAG_TICK: Duration = Duration::from_millis(200);

/// What the server's thread has spent and done so far.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// CPU of the thread.
    pub(super) cpu: Duration,
    /// Time that the thread was ready to run and did not, where the kernel says.
    pub(super) run_delay: Option<Duration>,
    /// Its allocations.
    pub(super) allocations: Allocations,
    /// Everything that the server counted.
    pub(super) effects: SideEffects,
}

enum Command {
    Read(oneshot::Sender<Reading>),
    /// Wait until that many deltas are out, then read.
    Await {
        deltas: u64,
        reply: oneshot::Sender<Reading>,
    },
}

/// A server on its thread. Dropping it ends the thread.
pub(super) struct Host {
    pub(super) addr: SocketAddr,
    pub(super) conversation: String,
    pub(super) chunks: mpsc::Sender<Chunk>,
    server: Server,
    commands: Option<mpsc::UnboundedSender<Command>>,
    thread: Option<JoinHandle<Quantiles>>,
}

impl Host {
    /// Starts a server and its one turn, whose chunks come from `chunks`.
    pub(super) fn start(
        name: &str,
        profile: &Profile<ServerTraits>,
        seed: Seed,
        cores: Option<Cores>,
    ) -> Result<Host, FanOutError> {
        let (chunks, feed) = Feed::new(FEED_ROOM);
        let config = ServerConfig::measured(feed, seed);
        let (ready, started) = std::sync::mpsc::channel();
        let (commands, inbox) = mpsc::unbounded_channel();
        let profile = profile.clone();
        let thread = std::thread::Builder::new()
            .name(format!("server {name}"))
            .spawn(move || {
                // Where it is refused the thread stays where it is, and noise shows in the control.
                let _ = cores.is_some_and(|cores| cores.take_one());
                on_thread(&profile, config, &ready, inbox)
            })
            .map_err(|error| FanOutError::Thread { what: "a server", error })?;
        let (addr, conversation, server) =
            started.recv().map_err(|_| FanOutError::Server("its thread ended".into()))??;
        Ok(Host { addr, conversation, chunks, server, commands: Some(commands), thread: Some(thread) })
    }

    /// Deltas that are out, read without waking the server.
    pub(super) fn published(&self) -> u64 {
        self.server.deltas_published()
    }

    /// Reads the meter.
    pub(super) fn read(&self) -> Result<Reading, FanOutError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Read(reply))?;
        answer.blocking_recv().map_err(|_| gone())
    }

    /// Has the meter read as soon as that many deltas are out.
    pub(super) fn read_when_out(&self, deltas: u64) -> Result<oneshot::Receiver<Reading>, FanOutError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Await { deltas, reply })?;
        Ok(answer)
    }

    fn send(&self, command: Command) -> Result<(), FanOutError> {
        let commands = self.commands.as_ref().ok_or_else(gone)?;
        commands.send(command).map_err(|_| gone())
    }

    /// Ends the server, and says how late its event loop was.
    pub(super) fn stop(mut self) -> Quantiles {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Quantiles> {
        self.commands = None;
        self.thread.take()?.join().ok()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

fn gone() -> FanOutError {
    FanOutError::Server("its thread ended in the middle of the bench".into())
}

type Started = Result<(SocketAddr, String, Server), FanOutError>;

fn on_thread(
    profile: &Profile<ServerTraits>,
    config: ServerConfig,
    ready: &std::sync::mpsc::Sender<Started>,
    inbox: mpsc::UnboundedReceiver<Command>,
) -> Quantiles {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // Whoever waits for the server is told; if nobody does, there is nothing left to do.
            let _ = ready.send(Err(FanOutError::Server(error.to_string())));
            return Quantiles::default();
        }
    };
    runtime.block_on(serve(profile, config, ready, inbox))
}

async fn serve(
    profile: &Profile<ServerTraits>,
    config: ServerConfig,
    ready: &std::sync::mpsc::Sender<Started>,
    mut inbox: mpsc::UnboundedReceiver<Command>,
) -> Quantiles {
    let server = Server::new(profile, config, Clock::wall());
    let listening = match Listening::bind(&server, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await {
        Ok(listening) => listening,
        Err(error) => {
            let _ = ready.send(Err(FanOutError::Server(error.to_string())));
            return Quantiles::default();
        }
    };
    let Ok(addr) = listening.addr() else { return Quantiles::default() };
    tokio::spawn(listening.run());
    let conversation = server.create_conversation().await;
    server.say(&conversation, "go");
    let stop = Arc::new(AtomicBool::new(false));
    let lag = tokio::spawn(loop_lag(LAG_TICK, stop.clone()));
    if ready.send(Ok((addr, conversation, server.clone()))).is_err() {
        return Quantiles::default();
    }
    while let Some(command) = inbox.recv().await {
        match command {
            Command::Read(reply) => {
                let _ = reply.send(reading(&server));
            }
            Command::Await { deltas, reply } => {
                // On a task of its own: a publish that never ends must not keep this thread from ending.
                let server = server.clone();
                tokio::spawn(async move {
                    server.published(deltas).await;
                    let _ = reply.send(reading(&server));
                });
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    lag.await.map(|late| late.quantiles()).unwrap_or_default()
}

fn reading(server: &Server) -> Reading {
    Reading {
        effects: server.side_effects(),
        run_delay: cpu::run_delay(),
        allocations: Allocations::here(),
        cpu: cpu::thread_cpu(),
    }
}
