//! The thread: one poll, one read buffer, all sockets.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, atomic::Ordering};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};

use super::dial::{self, Dial};
use super::group::{Group, Owed, Seat};
use super::handle::Beacon;
use super::refused::Refused;
use super::report::{ConnectReport, Memory, Report};
use super::socket::{End, Socket};
use super::spec::{Block, Conduct, Pace, Reading, SocketSpec};
use crate::probe::Allocations;
use crate::probe::cpu::thread_cpu;

/// The waker's token; sockets count from 0.
pub(super) const WAKE: Token = Token(usize::MAX);

/// Bytes of the one read buffer.
const BUFFER: usize = 64 * 1024;

/// Bytes that one socket may take from the others in a row.
const TURN: usize = 4 * BUFFER;

/// How often sockets that read slowly are given their bytes.
const SLOW_TICK: Duration = Duration::from_millis(10);

/// How long what is still on its way is read after `stop`.
const LAST_READS: Duration = Duration::from_millis(200);

/// What the thread is told.
#[derive(Debug)]
pub(super) enum Command {
    /// The specifications stay the caller's, so that this thread frees nothing that it did not allocate.
    Connect {
        specs: Arc<[SocketSpec]>,
        pace: Pace,
        reply: Sender<ConnectReport>,
    },
    Begin {
        group: usize,
        block: Block,
        reply: Sender<()>,
    },
    Read {
        reading: Reading,
        reply: Sender<()>,
    },
    Say {
        socket: usize,
        text: String,
        reply: Sender<bool>,
    },
    Forget {
        reply: Sender<()>,
    },
    Report {
        reply: Sender<Report>,
    },
    Stop {
        reply: Sender<Report>,
    },
}

/// Everything that the thread owns.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) poll: Poll,
    pub(super) commands: Receiver<Command>,
    pub(super) beacon: Arc<[Beacon]>,
    sockets: Vec<Socket>,
    groups: Vec<Group>,
    buffer: Vec<u8>,
    reading: Reading,
    dial: Option<Dial>,
    /// Connections begun to each address.
    dialled: HashMap<SocketAddr, usize>,
    /// Sockets that had more to read when their turn was over.
    again: Vec<usize>,
    /// The list of the round before, emptied: taking turns with it, a round allocates nothing.
    spare: Vec<usize>,
    slow: Vec<usize>,
    next_tick: Instant,
    wakeups: u64,
    masks: u64,
    stopped: bool,
    /// What the thread held before its first socket.
    shared: Allocations,
    /// What commands and answers allocated, or freed for others.
    given_away: Allocations,
}

impl Engine {
    pub(super) fn new(poll: Poll, commands: Receiver<Command>, beacon: Arc<[Beacon]>) -> Engine {
        Engine {
            groups: beacon.iter().map(|_| Group::default()).collect(),
            poll,
            commands,
            beacon,
            sockets: Vec::new(),
            buffer: vec![0; BUFFER],
            reading: Reading::Full,
            dial: None,
            dialled: HashMap::new(),
            again: Vec::new(),
            spare: Vec::new(),
            slow: Vec::new(),
            next_tick: Instant::now(),
            wakeups: 0,
            masks: 0,
            stopped: false,
            shared: Allocations::default(),
            given_away: Allocations::default(),
        }
    }

    /// Runs until it is told to stop.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        self.shared = Allocations::here();
        while !self.stopped {
            let rest = self.rests();
            self.turn(&mut events, rest)?;
        }
        Ok(())
    }

    fn turn(&mut self, events: &mut Events, rest: Option<Duration>) -> io::Result<()> {
        match self.poll.poll(events, rest) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            done => done?,
        }
        self.wakeups += 1;
        let mut again = std::mem::replace(&mut self.again, std::mem::take(&mut self.spare));
        for event in events.iter() {
            match event.token() {
                WAKE => {}
                Token(n) => self.event(n, event.is_writable(), event.is_readable(), event.is_read_closed()),
            }
        }
        for n in again.drain(..) {
            self.read(n, false);
        }
        self.spare = again;
        self.tick();
        self.dial();
        for (beacon, group) in self.beacon.iter().zip(&self.groups) {
            let (deltas, replies) = group.progress();
            beacon.deltas.store(deltas, Ordering::Relaxed);
            beacon.bytes.store(group.bytes, Ordering::Relaxed);
            beacon.replies.store(replies, Ordering::Release);
        }
        self.commands(events)
    }

    /// How long the thread may sleep.
    fn rests(&self) -> Option<Duration> {
        if !self.again.is_empty() {
            return Some(Duration::ZERO);
        }
        let now = Instant::now();
        let dial = self.dial.as_ref().and_then(|dial| dial.rests(now));
        let tick = (!self.slow.is_empty()).then(|| self.next_tick.saturating_duration_since(now));
        [dial, tick].into_iter().flatten().min()
    }

    fn event(&mut self, n: usize, writable: bool, readable: bool, ends: bool) {
        let Some(socket) = self.sockets.get_mut(n) else { return };
        if writable && let Err(end) = socket.writable() {
            self.end(n, end);
            return;
        }
        if readable || ends {
            self.read(n, ends);
        }
    }

    /// Reads a socket's bytes, all that its conduct lets it take.
    fn read(&mut self, n: usize, ends: bool) {
        let Some(socket) = self.sockets.get(n) else { return };
        if !(socket.is_open() && socket.conduct.holds_back()) {
            self.read_up_to(n, TURN, ends);
        }
    }

    fn read_up_to(&mut self, n: usize, budget: usize, ends: bool) {
        let mask = self.mask();
        let Some(socket) = self.sockets.get_mut(n) else { return };
        let Some(group) = self.groups.get_mut(socket.group) else { return };
        let was_in_setup = socket.in_setup();
        let more = socket.read(&mut self.buffer, budget, ends, self.reading, group, mask);
        if was_in_setup && socket.is_open() {
            if matches!(socket.conduct, Conduct::Slow(_)) {
                self.slow.push(n);
            }
            if let Some(dial) = &mut self.dial {
                dial.ready();
            }
        }
        match more {
            Ok(false) => {}
            Ok(true) if socket.is_open() && socket.conduct.holds_back() => {}
            Ok(true) => self.again.push(n),
            Err(end) => self.end(n, end),
        }
    }

    /// Gives the slow sockets what they take in one tick.
    fn tick(&mut self) {
        if self.slow.is_empty() {
            return;
        }
        let now = Instant::now();
        if now < self.next_tick {
            return;
        }
        self.next_tick = now + SLOW_TICK;
        for n in std::mem::take(&mut self.slow) {
            let Some(Socket { conduct: Conduct::Slow(rate), .. }) = self.sockets.get(n) else { continue };
            let bytes = (*rate as usize / 100).max(1);
            self.read_up_to(n, bytes, false);
            if self.sockets.get(n).is_some_and(Socket::is_open) {
                self.slow.push(n);
            }
        }
    }

    fn end(&mut self, n: usize, end: End) {
        let Some(socket) = self.sockets.get_mut(n) else { return };
        socket.leave(None);
        match end {
            End::Refused(why) => {
                if let Some(dial) = &mut self.dial {
                    dial.failed(why);
                }
            }
            End::Closed(why) => {
                if let Some(group) = self.groups.get_mut(socket.group) {
                    group.closed(why, &mut socket.ledger);
                }
            }
        }
    }

    /// Begins what is due, gives up what took too long, and tells when all is done.
    fn dial(&mut self) {
        let Some(mut dial) = self.dial.take() else { return };
        let now = Instant::now();
        for spec in dial.due(now) {
            let nth = self.dialled.entry(spec.addr).or_default();
            let opened = dial::open(&spec, *nth).and_then(|mut stream| {
                let both = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(&mut stream, Token(self.sockets.len()), both)?;
                Ok(stream)
            });
            match opened {
                Ok(stream) => {
                    *nth += 1;
                    dial.begun(now, self.sockets.len());
                    self.sockets.push(Socket::new(stream, spec));
                }
                Err(error) => dial.refused(Refused::from_io(&error)),
            }
        }
        while let Some(n) = dial.expired(now) {
            if let Some(socket) = self.sockets.get_mut(n).filter(|socket| socket.in_setup()) {
                let why = dial.timed_out(socket.stage());
                socket.leave(None);
                dial.failed(why);
            }
        }
        if dial.is_done() {
            dial.tell();
        } else {
            self.dial = Some(dial);
        }
    }

    /// Obeys what there is. What commands and answers cost is no socket's doing: one thread allocates them and the other
    /// frees them.
    fn commands(&mut self, events: &mut Events) -> io::Result<()> {
        loop {
            let before = Allocations::here();
            let Ok(command) = self.commands.try_recv() else { return Ok(()) };
            let opens = matches!(command, Command::Connect { .. });
            self.obey(command, events)?;
            if !opens {
                let given = Allocations::here().since(&before);
                self.given_away.count += given.count;
                self.given_away.live_bytes += given.live_bytes;
            }
        }
    }

    /// A reply whose receiver is gone was not wanted.
    fn obey(&mut self, command: Command, events: &mut Events) -> io::Result<()> {
        match command {
            Command::Connect { specs, pace, reply } => {
                self.sockets.reserve_exact(specs.len());
                // Every socket may have more than one round reads.
                self.again.reserve(self.sockets.len() + specs.len());
                self.spare.reserve(self.sockets.len() + specs.len());
                self.dial = Some(Dial::new(specs.to_vec(), pace, reply));
                self.dial();
            }
            Command::Begin { group, block, reply } => {
                let mine = self.sockets.iter_mut().filter(|s| s.group == group && s.is_open());
                let seats = mine.map(|s| Seat { ledger: &mut s.ledger, pulse: &mut s.pulse });
                if let Some(group) = self.groups.get_mut(group) {
                    group.begin(block, seats);
                }
                let _ = reply.send(());
            }
            Command::Read { reading, reply } => {
                if reading != self.reading {
                    self.sockets.iter_mut().for_each(Socket::resume);
                    self.reading = reading;
                }
                let _ = reply.send(());
            }
            Command::Say { socket, text, reply } => {
                let mask = self.mask();
                let open = self.sockets.get_mut(socket).filter(|s| s.is_open());
                let said = open.map(|open| open.say(&text, mask));
                let sent = matches!(said, Some(Ok(())));
                if let Some(Err(end)) = said {
                    self.end(socket, end);
                }
                let _ = reply.send(sent);
            }
            Command::Forget { reply } => {
                self.groups.iter_mut().for_each(Group::forget);
                let _ = reply.send(());
            }
            Command::Report { reply } => {
                let _ = reply.send(self.report(false));
            }
            Command::Stop { reply } => {
                self.stop(events)?;
                let _ = reply.send(self.report(true));
                let mask = self.mask();
                self.sockets.iter_mut().for_each(|socket| socket.leave(Some(mask)));
            }
        }
        Ok(())
    }

    /// Reads what is on its way, and begins nothing more.
    fn stop(&mut self, events: &mut Events) -> io::Result<()> {
        self.stopped = true;
        if let Some(dial) = self.dial.take() {
            dial.tell();
        }
        let until = Instant::now() + LAST_READS;
        loop {
            let busy = !self.again.is_empty();
            self.turn(events, Some(Duration::from_millis(1)))?;
            if (events.is_empty() && !busy) || Instant::now() > until {
                return Ok(());
            }
        }
    }

    fn report(&self, last: bool) -> Report {
        // Read before the report itself costs anything.
        let (held, cpu) = (Allocations::here(), thread_cpu());
        let groups = self.groups.iter().enumerate().map(|(index, group)| {
            let (mut open, mut unread, mut owed) = (0, 0, Owed::default());
            for socket in self.sockets.iter().filter(|s| s.group == index && s.is_open()) {
                open += 1;
                unread += u64::from(last && socket.is_unread());
                owed.add(&socket.pulse);
            }
            group.report(open, unread, owed)
        });
        let groups = groups.collect();
        let sockets = held.live_bytes - self.given_away.live_bytes - self.shared.live_bytes;
        let memory = Memory {
            sockets: self.sockets.len() as u64,
            socket_bytes: u64::try_from(sockets).unwrap_or_default(),
            shared_bytes: u64::try_from(self.shared.live_bytes).unwrap_or_default(),
        };
        let allocations = held.count - self.given_away.count;
        Report { groups, cpu, wakeups: self.wakeups, allocations, memory }
    }

    /// The next frame mask. Masks keep a hostile page from writing requests into a proxy's cache (RFC 6455, section
    /// 10.3), which nobody can do here, so they need not be unpredictable.
    fn mask(&mut self) -> [u8; 4] {
        self.masks = self.masks.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let [a, b, c, d, ..] = self.masks.to_be_bytes();
        [a, b, c, d]
    }
}
