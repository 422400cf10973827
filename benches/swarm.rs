//! What reading a delta costs a subscriber, against a reader that only counts the bytes: `cargo bench --bench swarm`.
//!
//! One writer, one reading thread, the same sockets and bytes for both ways of reading, in blocks that alternate. The
//! reader's own thread CPU is compared, so what the writer costs is in neither. `raw/raw` is the control: where it lies
//! far from 1, the machine was not idle and no figure here is worth quoting.

#![expect(clippy::unwrap_used, reason = "a bench that cannot run says so by ending")]
#![expect(clippy::cast_precision_loss, reason = "counts of one run are far below 2^52")]

use std::hint::black_box;
use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use skewlab::swarm::{Block, Conduct, Pace, Reading, Report, SocketSpec, Swarm};
use skewlab::wire::numbered;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;

/// Blocks of each way of reading; the first warms up.
const BLOCKS: usize = 8;
/// Deltas of a block over all sockets, flat out.
const DELTAS: u64 = 50_000;

fn main() {
    // `cargo test --benches` builds and starts it; only `cargo bench` asks for the work.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    for (sockets, gap) in
        [(1, Duration::ZERO), (50, Duration::ZERO), (1000, Duration::ZERO), (1000, Duration::from_millis(50))]
    {
        compare(sockets, gap);
    }
    header();
}

/// Blocks of raw, full and raw again, on one set of sockets.
fn compare(sockets: usize, gap: Duration) {
    let tokens = if gap.is_zero() { DELTAS / sockets as u64 } else { 20 };
    let (addr, push) = writer(sockets, tokens, gap);
    let mut swarm = Swarm::spawn(1).unwrap();
    let path_and_query = "/sockets/events/x".to_owned();
    let spec = SocketSpec { addr, path_and_query, auth_frame: None, group: 0, conduct: Conduct::Healthy };
    let ready = swarm.connect(vec![spec; sockets], Pace::default()).unwrap();
    assert_eq!(ready.ready, sockets as u64, "{ready:?}");
    let (mut raw, mut again, mut full) = (Vec::new(), Vec::new(), Vec::new());
    let mut allocations = Vec::new();
    for n in 0..BLOCKS {
        raw.push(block(&mut swarm, &push, Reading::Raw).0);
        let (cpu, allocated) = block(&mut swarm, &push, Reading::Full);
        full.push(cpu);
        allocations.push(allocated as f64);
        again.push(block(&mut swarm, &push, Reading::Raw).0);
        if n == 0 {
            // The first of each warms up.
            (raw, again, full, allocations) = Default::default();
        }
    }
    let last = swarm.stop().unwrap();
    let counts = last.groups[0].counts;
    assert_eq!((counts.deltas, counts.lost()), (BLOCKS as u64 * tokens * sockets as u64, false));
    let ratios = |of: &[f64], vs: &[f64]| of.iter().zip(vs).map(|(of, vs)| of / vs).collect::<Vec<_>>();
    let spread = |mut of: Vec<f64>| {
        of.sort_by(f64::total_cmp);
        (of[of.len() / 2], of[1], of[of.len() - 2])
    };
    let each = |cpu: Vec<f64>| spread(cpu).0 / (tokens as f64 * sockets as f64);
    let (ratio, low, high) = spread(ratios(&full, &raw));
    let (control, control_low, control_high) = spread(ratios(&again, &raw));
    println!(
        "{sockets:5} sockets, {:>9}: full/raw {ratio:.2} ({low:.2}..{high:.2})  raw/raw {control:.2} \
         ({control_low:.2}..{control_high:.2})  full {:.0} ns, raw {:.0} ns a delta  {:.4} allocations a delta  \
         {} heap bytes a socket",
        if gap.is_zero() { "flat out".to_owned() } else { format!("{:.0}/s each", 1.0 / gap.as_secs_f64()) },
        each(full),
        each(raw),
        spread(allocations).0 / (tokens as f64 * sockets as f64),
        last.memory.socket_bytes / last.memory.sockets,
    );
}

/// One block; CPU of the reading thread, ns, and its allocations.
fn block(swarm: &mut Swarm, push: &Pusher, reading: Reading) -> (f64, u64) {
    swarm.read(reading).unwrap();
    if reading == Reading::Full {
        let block = Block { start: Instant::now(), gap: Duration::ZERO, first: 0, batch: 1 };
        swarm.begin(0, block).unwrap();
    }
    let before = swarm.report().unwrap();
    push.go.send(()).unwrap();
    let bytes: u64 = push.done.recv().unwrap();
    let come = |report: &Report| report.groups[0].bytes - before.groups[0].bytes;
    let limit = Instant::now() + Duration::from_secs(10);
    sleep(Duration::from_millis(5));
    let mut after = swarm.report().unwrap();
    while come(&after) < bytes && Instant::now() < limit {
        sleep(Duration::from_millis(5));
        after = swarm.report().unwrap();
    }
    assert_eq!(come(&after), bytes, "bytes that did not come");
    (after.cpu.saturating_sub(before.cpu).as_nanos() as f64, after.allocations - before.allocations)
}

struct Pusher {
    go: Sender<()>,
    /// Bytes that the block had.
    done: Receiver<u64>,
}

/// A server that writes a block of deltas and its durable end to every socket when it is told to.
fn writer(sockets: usize, tokens: u64, gap: Duration) -> (SocketAddr, Pusher) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let ((go, told), (tell, done)) = (channel(), channel());
    let whole: String = (0..tokens).map(|n| numbered::text(n, 24)).collect();
    let mut frames: Vec<Vec<u8>> = (0..tokens).map(delta).collect();
    frames.push(frame(&format!(
        r#"{{"source":"agent","llm_message":{{"content":[{{"type":"text","text":"{whole}"}}]}},"kind":"MessageEvent"}}"#
    )));
    std::thread::spawn(move || {
        let mut streams: Vec<TcpStream> = (0..sockets).map(|_| upgraded(&listener)).collect();
        while told.recv().is_ok() {
            for bytes in &frames {
                let due = Instant::now() + gap;
                for stream in &mut streams {
                    stream.write_all(bytes).unwrap();
                }
                sleep(due.saturating_duration_since(Instant::now()));
            }
            let bytes: usize = frames.iter().map(Vec::len).sum();
            let _ = tell.send(bytes as u64 * sockets as u64);
        }
    });
    (addr, Pusher { go, done })
}

fn upgraded(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nodelay(true).unwrap();
    let mut head = [0; 1024];
    let size = stream.read(&mut head).unwrap();
    let head = std::str::from_utf8(&head[..size]).unwrap();
    let key = head.lines().find_map(|l| l.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
    let accept = derive_accept_key(key.as_bytes());
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    let mut answer = format!("{head}Sec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes();
    answer.extend(frame(r#"{"kind":"ConversationStateUpdateEvent"}"#));
    stream.write_all(&answer).unwrap();
    stream
}

/// A delta of 1.58.2, as long as a real one.
fn delta(n: u64) -> Vec<u8> {
    let content = numbered::text(n, 24);
    frame(&format!(
        r#"{{"id":"00000000-0000-4000-8000-{n:012}","timestamp":"2026-11-30T07:45:00.123456","source":"agent","content":"{content}","kind":"StreamingDeltaEvent"}}"#
    ))
}

fn frame(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let header = FrameHeader {
        opcode: tokio_tungstenite::tungstenite::protocol::frame::coding::OpCode::Data(
            tokio_tungstenite::tungstenite::protocol::frame::coding::Data::Text,
        ),
        ..FrameHeader::default()
    };
    header.format(text.len() as u64, &mut out).unwrap();
    out.extend(text.as_bytes());
    out
}

/// What the library's own reading of a frame header costs; the swarm reads it by hand.
fn header() {
    let bytes = delta(17);
    let rounds = 10_000_000;
    let began = Instant::now();
    for _ in 0..rounds {
        black_box(FrameHeader::parse(&mut Cursor::new(black_box(&bytes[..]))).unwrap());
    }
    println!("header, by tungstenite: {:.1} ns", began.elapsed().as_nanos() as f64 / f64::from(rounds));
}
