//! One socket: from connecting to closed.

use std::io::{self, Read, Write};
use std::time::Instant;

use mio::net::TcpStream;

use super::assembly::{Assembly, Item};
use super::closed::Closed;
use super::frame::{self, Kind};
use super::group::{Group, Pulse};
use super::handshake::Handshake;
use super::ledger::Ledger;
use super::refused::Refused;
use super::spec::{Conduct, Reading, SocketSpec};

/// A socket in the table of its thread. What only the beginning needs is boxed and given back.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Option<TcpStream>,
    setup: Option<Box<Setup>>,
    pub(super) conduct: Conduct,
    pub(super) group: usize,
    assembly: Assembly,
    pub(super) ledger: Ledger,
    pub(super) pulse: Pulse,
    /// Bytes that the connection did not take yet.
    outbox: Vec<u8>,
}

/// What a socket needs until it is ready.
#[derive(Debug)]
struct Setup {
    stage: Stage,
    spec: SocketSpec,
}

#[derive(Debug)]
enum Stage {
    Connecting,
    Upgrading(Handshake),
    Joining,
}

/// Why a socket is no more.
#[derive(Debug)]
pub(super) enum End {
    /// It had not been ready.
    Refused(Refused),
    /// It had.
    Closed(Closed),
}

/// Where a pass over a socket's bytes leads.
struct Pass<'a> {
    reading: Reading,
    group: &'a mut Group,
    mask: [u8; 4],
}

impl Socket {
    pub(super) fn new(stream: TcpStream, spec: SocketSpec) -> Socket {
        Socket {
            stream: Some(stream),
            conduct: spec.conduct,
            group: spec.group,
            setup: Some(Box::new(Setup { stage: Stage::Connecting, spec })),
            assembly: Assembly::default(),
            ledger: Ledger::new(),
            pulse: Pulse::default(),
            outbox: Vec::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stream.is_some() && self.setup.is_none()
    }

    pub(super) fn in_setup(&self) -> bool {
        self.stream.is_some() && self.setup.is_some()
    }

    /// What has not come, of a socket that is not ready.
    pub(super) fn stage(&self) -> &'static str {
        match self.setup.as_ref().map(|setup| &setup.stage) {
            Some(Stage::Connecting) => "the connection",
            Some(Stage::Upgrading(_)) => "the answer to the upgrade",
            _ => "the first frame",
        }
    }

    /// Something may be written: finishes connecting, and writes what was kept.
    pub(super) fn writable(&mut self) -> Result<(), End> {
        if let (Some(stream), Some(setup)) = (&self.stream, &mut self.setup)
            && matches!(setup.stage, Stage::Connecting)
        {
            let refused = |error| End::Refused(Refused::from_io(&error));
            if let Some(error) = stream.take_error().map_err(refused)? {
                return Err(refused(error));
            }
            match stream.peer_addr() {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotConnected => return Ok(()),
                Err(error) => return Err(refused(error)),
            }
            let host = setup.spec.addr.to_string();
            let (handshake, request) = Handshake::start(&host, &setup.spec.path_and_query);
            self.outbox.extend_from_slice(request.as_bytes());
            setup.stage = Stage::Upgrading(handshake);
        }
        self.flush()
    }

    /// Sends a text message.
    pub(super) fn say(&mut self, text: &str, mask: [u8; 4]) -> Result<(), End> {
        frame::write(&mut self.outbox, Kind::Text, text.as_bytes(), mask);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), End> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while !self.outbox.is_empty() {
            match stream.write(&self.outbox) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(self.broken(&error)),
            }
        }
        self.outbox = Vec::new();
        Ok(())
    }

    /// Reads up to `budget` bytes through the thread's buffer; returns whether there may be more. A short read means
    /// that a stream is drained (epoll(7), question 9) unless its end is known to follow, which `ends` says.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        mut budget: usize,
        ends: bool,
        reading: Reading,
        group: &mut Group,
        mask: [u8; 4],
    ) -> Result<bool, End> {
        while budget > 0 {
            let Some(stream) = &mut self.stream else { return Ok(false) };
            let limit = buffer.len().min(budget);
            match stream.read(&mut buffer[..limit]) {
                Ok(0) => return Err(self.ended(Closed::EndOfStream)),
                Ok(size) => {
                    budget -= size;
                    self.bytes(&buffer[..size], Pass { reading, group: &mut *group, mask })?;
                    if size < limit && !ends {
                        return Ok(false);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(true)
    }

    fn bytes(&mut self, mut bytes: &[u8], pass: Pass<'_>) -> Result<(), End> {
        pass.group.bytes += bytes.len() as u64;
        if let Some(setup) = &mut self.setup
            && let Stage::Upgrading(handshake) = &mut setup.stage
        {
            let Some(used) = handshake.feed(bytes).map_err(End::Refused)? else { return Ok(()) };
            bytes = &bytes[used..];
            setup.stage = Stage::Joining;
            if let Some(auth) = setup.spec.auth_frame.take() {
                self.say(&auth, pass.mask)?;
            }
        }
        if pass.reading == Reading::Raw && self.setup.is_none() {
            return Ok(());
        }
        self.frames(bytes, Instant::now(), pass)
    }

    /// All frames of one read came at `now`.
    fn frames(&mut self, bytes: &[u8], now: Instant, pass: Pass<'_>) -> Result<(), End> {
        let Pass { group, mask, .. } = pass;
        let Socket { assembly, ledger, pulse, outbox, setup, .. } = self;
        let mut end = None;
        let fed = assembly.feed(bytes, &mut |item| match item {
            Item::Text(text) => {
                *setup = None;
                group.text(text, now, ledger, pulse);
            }
            Item::Binary => group.binary(),
            Item::Ping(payload) => frame::write(outbox, Kind::Pong, payload, mask),
            Item::Pong => {}
            Item::Close(code) => {
                let code_again = code.map(u16::to_be_bytes);
                frame::write(outbox, Kind::Close, code_again.as_ref().map_or(&[], |c| &c[..]), mask);
                end = Some(Closed::ByServer(code));
            }
        });
        if let Err(fault) = fed {
            frame::write(outbox, Kind::Close, &fault.code().to_be_bytes(), mask);
            end = Some(Closed::Fault(fault));
        }
        if matches!(self.conduct, Conduct::DiesAfter(deltas) if self.pulse.deltas >= deltas) {
            end = Some(Closed::Died);
        }
        match end {
            None if self.outbox.is_empty() => Ok(()),
            None => self.flush(),
            Some(closed) => {
                if closed != Closed::Died {
                    // The peer may be gone already, which is as good.
                    let _ = self.flush();
                }
                Err(self.ended(closed))
            }
        }
    }

    fn broken(&self, error: &io::Error) -> End {
        self.ended(Closed::Broken(error.kind().to_string()))
    }

    fn ended(&self, closed: Closed) -> End {
        if self.setup.is_some() { End::Refused(Refused::Closed(closed)) } else { End::Closed(closed) }
    }

    /// Gives everything back. A close frame goes first where the connection is still good.
    pub(super) fn leave(&mut self, farewell: Option<[u8; 4]>) {
        if let Some(mask) = farewell
            && self.is_open()
        {
            frame::write(&mut self.outbox, Kind::Close, &1000_u16.to_be_bytes(), mask);
            let _ = self.flush();
        }
        self.stream = None;
        self.setup = None;
        self.assembly = Assembly::default();
        self.outbox = Vec::new();
    }

    /// From here on frames are read again: what is held of bytes from before is not their beginning.
    pub(super) fn resume(&mut self) {
        self.assembly = Assembly::default();
    }

    /// Whether bytes came that nobody read, or half a frame is held.
    pub(super) fn is_unread(&self) -> bool {
        let waiting = self.stream.as_ref().is_some_and(|s| matches!(s.peek(&mut [0; 1]), Ok(1..)));
        waiting || self.assembly.is_partial()
    }
}
