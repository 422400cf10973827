//! The floor under a server: a thread that writes the same frame to the same number of sockets with nothing but
//! `write`. It speaks just enough HTTP to be dialled by the subscribers.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::error::FanOutError;
use super::generator::Schedule;
use crate::probe::{Cores, cpu};

/// A block to write: the frames, and when each is due.
struct Block {
    frames: Vec<Vec<u8>>,
    schedule: Schedule,
    done: Sender<io::Result<Duration>>,
}

enum Command {
    /// Take that many connections and answer when they are upgraded.
    Accept(usize, Sender<io::Result<()>>),
    Write(Block),
}

/// The writer on its thread. Dropping it ends the thread.
pub(super) struct RawWriter {
    pub(super) addr: SocketAddr,
    halt: Arc<AtomicBool>,
    commands: Option<Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

impl RawWriter {
    pub(super) fn start(cores: Option<Cores>) -> Result<RawWriter, FanOutError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(FanOutError::Reference)?;
        let addr = listener.local_addr().map_err(FanOutError::Reference)?;
        let (commands, inbox) = channel();
        let halt = Arc::new(AtomicBool::new(false));
        let halted = halt.clone();
        let thread = std::thread::Builder::new()
            .name("raw writer".into())
            .spawn(move || {
                let _ = cores.is_some_and(|cores| cores.take_one());
                run(&listener, &inbox, &halted);
            })
            .map_err(|error| FanOutError::Thread { what: "the reference writer", error })?;
        Ok(RawWriter { addr, halt, commands: Some(commands), thread: Some(thread) })
    }

    /// Has `count` connections accepted; the answer comes when all are upgraded.
    pub(super) fn accept(&self, count: usize) -> Receiver<io::Result<()>> {
        let (done, answer) = channel();
        self.send(Command::Accept(count, done));
        answer
    }

    /// Writes each frame to every socket at its time; the answer is the CPU that it took.
    pub(super) fn write(&self, frames: Vec<Vec<u8>>, schedule: Schedule) -> Receiver<io::Result<Duration>> {
        let (done, answer) = channel();
        self.send(Command::Write(Block { frames, schedule, done }));
        answer
    }

    /// Ends the block under way, and every later one.
    pub(super) fn halt(&self) {
        self.halt.store(true, Ordering::Relaxed);
    }

    /// A thread that is gone drops the answer's sender, which is how whoever waits gets to know.
    fn send(&self, command: Command) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
    }
}

impl Drop for RawWriter {
    fn drop(&mut self) {
        self.halt();
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(listener: &TcpListener, inbox: &Receiver<Command>, halt: &AtomicBool) {
    let mut sockets = Vec::new();
    while let Ok(command) = inbox.recv() {
        match command {
            Command::Accept(count, done) => {
                let accepted = (0..count).try_for_each(|_| {
                    sockets.push(upgraded(listener)?);
                    Ok(())
                });
                let _ = done.send(accepted);
            }
            Command::Write(block) => {
                let _ = block.done.send(written(&mut sockets, &block, halt));
            }
        }
    }
}

/// Takes one connection through its handshake, and sends one frame, as a server sends its snapshot.
fn upgraded(listener: &TcpListener) -> io::Result<TcpStream> {
    let (mut socket, _) = listener.accept()?;
    socket.set_nodelay(true)?;
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request);
    let key = request.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("sec-websocket-key").then(|| value.trim())
    });
    let accept = derive_accept_key(key.unwrap_or_default().as_bytes());
    write!(
        socket,
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )?;
    socket.write_all(&frame("{}"))?;
    Ok(socket)
}

fn written(sockets: &mut [TcpStream], block: &Block, halt: &AtomicBool) -> io::Result<Duration> {
    let before = cpu::thread_cpu();
    for (n, frame) in (0_u32..).zip(&block.frames) {
        let due = block.schedule.due(n);
        loop {
            let now = Instant::now();
            if halt.load(Ordering::Relaxed) {
                return Ok(cpu::thread_cpu().saturating_sub(before));
            }
            if now >= due {
                break;
            }
            // In steps, so that a halt is noticed while chunks are far apart.
            std::thread::sleep((due - now).min(Duration::from_millis(100)));
        }
        for socket in &mut *sockets {
            socket.write_all(frame)?;
        }
    }
    Ok(cpu::thread_cpu().saturating_sub(before))
}

/// A server's text frame: no mask, no fragments.
pub(super) fn frame(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match (u8::try_from(text.len()), u16::try_from(text.len())) {
        (Ok(short @ 0..=125), _) => frame.push(short),
        (_, Ok(longer)) => {
            frame.push(126);
            frame.extend(longer.to_be_bytes());
        }
        _ => {
            frame.push(127);
            frame.extend((text.len() as u64).to_be_bytes());
        }
    }
    frame.extend(text.as_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_waits_for_a_frame_can_be_halted() {
        let writer = RawWriter::start(None).unwrap();
        let (start, gap) = (Instant::now(), Duration::from_hours(1));
        let block = || writer.write(vec![frame("a"), frame("b")], Schedule { start, gap });
        assert!(
            block().recv_timeout(Duration::from_millis(300)).is_err(),
            "the second frame is an hour away"
        );
        writer.halt();
        let began = Instant::now();
        assert!(block().recv_timeout(Duration::from_secs(20)).is_ok());
        assert!(began.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_frame_is_as_long_as_its_header_says() {
        for (length, header) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let text = "x".repeat(length);
            assert_eq!(frame(&text).len(), header + length);
        }
        assert_eq!(frame("ab"), [0x81, 2, b'a', b'b']);
    }
}
