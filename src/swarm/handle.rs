//! Holding a swarm: its thread is told what to do, and answers with plain data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::{Poll, Waker};

use super::engine::{Command, Engine, WAKE};
use super::error::SwarmError;
use super::report::{ConnectReport, Progress, Report};
use super::spec::{Block, Pace, Reading, SocketSpec};

/// How far a group is, shared with the thread.
#[derive(Debug, Default)]
pub(super) struct Beacon {
    pub(super) deltas: AtomicU64,
    pub(super) replies: AtomicU64,
    pub(super) bytes: AtomicU64,
}

/// A swarm of sockets that one thread reads.
#[derive(Debug)]
pub struct Swarm {
    commands: Sender<Command>,
    waker: Waker,
    beacon: Arc<[Beacon]>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Swarm {
    /// Starts the thread, with no sockets yet and that many groups.
    pub fn spawn(groups: usize) -> Result<Swarm, SwarmError> {
        let poll = Poll::new().map_err(SwarmError::Start)?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(SwarmError::Start)?;
        let beacon: Arc<[Beacon]> = (0..groups.max(1)).map(|_| Beacon::default()).collect();
        let (commands, told) = channel();
        let shared = beacon.clone();
        let thread = std::thread::Builder::new()
            .name("swarm".to_owned())
            .spawn(move || Engine::new(poll, told, shared).run())
            .map_err(SwarmError::Start)?;
        Ok(Swarm { commands, waker, beacon, thread: Some(thread) })
    }

    /// Opens sockets, and returns when each is ready or has failed. Ready means that its first frame came. The n-th
    /// socket that could be begun since the start is socket n for [`Swarm::say`].
    pub fn connect(&mut self, specs: Vec<SocketSpec>, pace: Pace) -> Result<ConnectReport, SwarmError> {
        let groups = self.beacon.len();
        if let Some(spec) = specs.iter().find(|spec| spec.group >= groups) {
            return Err(SwarmError::NoGroup { group: spec.group, groups });
        }
        let specs: Arc<[SocketSpec]> = specs.into();
        let shared = specs.clone();
        let report = self.ask(|reply| Command::Connect { specs: shared, pace, reply });
        drop(specs);
        report
    }

    /// Begins a block on a group. It is in force when this returns; only then may its first chunk be emitted.
    pub fn begin(&mut self, group: usize, block: Block) -> Result<(), SwarmError> {
        let groups = self.beacon.len();
        if group >= groups {
            return Err(SwarmError::NoGroup { group, groups });
        }
        self.ask(|reply| Command::Begin { group, block, reply })
    }

    /// From here on bytes are read so. Only between blocks, when nothing is on its way: who begins to read frames
    /// again in the middle of one sees a protocol error.
    pub fn read(&mut self, reading: Reading) -> Result<(), SwarmError> {
        self.ask(|reply| Command::Read { reading, reply })
    }

    /// Sends a text message on one socket; false if that is not open.
    pub fn say(&mut self, socket: usize, text: &str) -> Result<bool, SwarmError> {
        let text = text.to_owned();
        self.ask(|reply| Command::Say { socket, text, reply })
    }

    /// Forgets what was counted and timed, blocks included, after a warm-up.
    pub fn forget(&mut self) -> Result<(), SwarmError> {
        self.ask(|reply| Command::Forget { reply })
    }

    /// A snapshot.
    pub fn report(&mut self) -> Result<Report, SwarmError> {
        self.ask(|reply| Command::Report { reply })
    }

    /// How far a group is, without waking the thread; zero for a group that there is not.
    pub fn progress(&self, group: usize) -> Progress {
        let Some(beacon) = self.beacon.get(group) else { return Progress::default() };
        // Replies first: whoever sees them sees the deltas before them too.
        let replies = beacon.replies.load(Ordering::Acquire);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Progress { deltas: read(&beacon.deltas), replies, bytes: read(&beacon.bytes) }
    }

    /// Waits until a group got that many durable ends in all, or until `limit` has passed; returns whether it did.
    pub fn wait_for_replies(&self, group: usize, replies: u64, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        while self.progress(group).replies < replies {
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        true
    }

    /// Reads what is on its way, reports, and closes every socket.
    pub fn stop(mut self) -> Result<Report, SwarmError> {
        let report = self.ask(|reply| Command::Stop { reply });
        let ended = self.join();
        ended.and(report)
    }

    fn ask<T>(&mut self, command: impl FnOnce(Sender<T>) -> Command) -> Result<T, SwarmError> {
        let (reply, answer) = channel();
        let told = self.commands.send(command(reply)).is_ok() && self.waker.wake().is_ok();
        match told.then(|| answer.recv()) {
            Some(Ok(answer)) => Ok(answer),
            // The thread ended without an answer: why is what it ended with.
            _ => Err(self.join().err().unwrap_or(SwarmError::Gone)),
        }
    }

    fn join(&mut self) -> Result<(), SwarmError> {
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(SwarmError::Poll(error)),
            Some(Err(_)) => Err(SwarmError::Gone),
        }
    }
}

impl Drop for Swarm {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let (reply, _) = channel();
            let _ = self.commands.send(Command::Stop { reply });
            let _ = self.waker.wake();
            let _ = self.join();
        }
    }
}
