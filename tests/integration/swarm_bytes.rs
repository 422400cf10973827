//! The subscribers' side against a peer that writes bytes as it is told, for what the emulated server never does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use skewlab::swarm::{
    Block, Closed, Conduct, Fault, GroupReport, Pace, Reading, Refused, Report, SocketSpec, Swarm,
};
use skewlab::wire::numbered;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// Accepts and upgrades connections; each comes out as a bare stream.
fn peer(sockets: usize) -> (SocketAddr, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for _ in 0..sockets {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let key = head.lines().find_map(|l| l.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
            let accept = derive_accept_key(key.as_bytes());
            // The first frame in the same write: it must not be lost behind the head.
            let mut answer = format!(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Accept: {accept}\r\n\r\n"
            )
            .into_bytes();
            answer.extend(text(r#"{"kind":"ConversationStateUpdateEvent","key":"full_state"}"#));
            stream.write_all(&answer).unwrap();
            tell.send(stream).unwrap();
        }
    });
    (addr, told)
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match u16::try_from(payload.len()).unwrap() {
        n @ 0..126 => out.push(n.to_be_bytes()[1]),
        n => {
            out.push(126);
            out.extend(n.to_be_bytes());
        }
    }
    out.extend(payload);
    out
}

fn text(payload: &str) -> Vec<u8> {
    frame(0x81, payload.as_bytes())
}

fn delta(n: u64) -> Vec<u8> {
    let content = numbered::text(n, 24);
    text(&format!(
        r#"{{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-30T07:45:00.123456","source":"agent","content":"{content}","kind":"StreamingDeltaEvent"}}"#
    ))
}

fn end(tokens: u64) -> Vec<u8> {
    let whole: String = (0..tokens).map(|n| numbered::text(n, 24)).collect();
    text(&format!(
        r#"{{"source":"agent","llm_message":{{"content":[{{"type":"text","text":"{whole}"}}]}},"kind":"MessageEvent"}}"#
    ))
}

fn connected(sockets: usize, conduct: Conduct) -> (Swarm, Vec<TcpStream>) {
    let (addr, told) = peer(sockets);
    let path_and_query = "/sockets/events/x".to_owned();
    let spec = SocketSpec { addr, path_and_query, auth_frame: None, group: 0, conduct };
    let mut swarm = Swarm::spawn(1).unwrap();
    let report = swarm.connect(vec![spec; sockets], Pace::default()).unwrap();
    assert_eq!(report.ready, sockets as u64, "{report:?}");
    (swarm, told.iter().take(sockets).collect())
}

fn begin(swarm: &mut Swarm) {
    let block = Block { start: Instant::now(), gap: Duration::ZERO, first: 0, batch: 1 };
    swarm.begin(0, block).unwrap();
}

/// Reports until one is as wanted, or for ten seconds.
fn until(swarm: &mut Swarm, wanted: impl Fn(&GroupReport) -> bool) -> Report {
    let limit = Instant::now() + Duration::from_secs(10);
    loop {
        let report = swarm.report().unwrap();
        if wanted(&report.groups[0]) || Instant::now() > limit {
            return report;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads one frame of the client: opcode byte and unmasked payload.
fn answer(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; 6];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[1] & 0x80, 0x80, "a client's frame is masked");
    let mut payload = vec![0; usize::from(head[1] & 0x7f)];
    stream.read_exact(&mut payload).unwrap();
    payload.iter_mut().enumerate().for_each(|(i, byte)| *byte ^= head[2 + i % 4]);
    (head[0], payload)
}

#[test]
fn a_reply_that_comes_byte_by_byte_is_whole() {
    let (mut swarm, mut streams) = connected(1, Conduct::Healthy);
    begin(&mut swarm);
    let bytes: Vec<u8> = (0..3).flat_map(delta).chain(end(3)).collect();
    for byte in bytes {
        streams[0].write_all(&[byte]).unwrap();
        std::thread::sleep(Duration::from_micros(50));
    }
    let report = until(&mut swarm, |g| g.counts.replies == 1);
    let counts = report.groups[0].counts;
    assert_eq!((counts.deltas, counts.replies, counts.lost()), (3, 1, false), "{counts:?}");
    assert!(report.wakeups > 20, "only {} wake-ups: the bytes came in one piece", report.wakeups);
}

#[test]
fn a_ping_inside_a_fragmented_message_is_answered_and_so_is_a_close() {
    let (mut swarm, mut streams) = connected(1, Conduct::Healthy);
    let stream = &mut streams[0];
    let message = r#"{"kind":"StreamingDeltaEvent","content":"né"}"#.as_bytes();
    // Between the two bytes of the `é`.
    let (left, right) = message.split_at(message.len() - 3);
    stream.write_all(&frame(0x01, left)).unwrap();
    stream.write_all(&frame(0x89, b"still there?")).unwrap();
    stream.write_all(&frame(0x80, right)).unwrap();
    assert_eq!(answer(stream), (0x8a, b"still there?".to_vec()));
    stream.write_all(&frame(0x88, &1012_u16.to_be_bytes())).unwrap();
    assert_eq!(answer(stream), (0x88, 1012_u16.to_be_bytes().to_vec()));
    let report = until(&mut swarm, |g| g.open == 0);
    let group = &report.groups[0];
    assert_eq!((group.counts.deltas, group.unreadable), (1, 0));
    assert_eq!(group.closed[&Closed::ByServer(Some(1012))], 1);
}

#[test]
fn whatever_ends_a_connection_is_told_apart() {
    let after = |bytes: Vec<u8>| {
        let (mut swarm, mut streams) = connected(1, Conduct::Healthy);
        streams[0].write_all(&bytes).unwrap();
        streams.clear();
        let report = until(&mut swarm, |g| g.open == 0);
        assert_eq!(report.groups[0].open, 0);
        let (why, count) = report.groups[0].closed.first_key_value().unwrap();
        assert_eq!(*count, 1);
        (why.clone(), report.groups[0].counts.unfinished)
    };
    assert_eq!(after(Vec::new()).0, Closed::EndOfStream);
    assert_eq!(after(delta(0)), (Closed::EndOfStream, 1), "in the middle of a reply");
    assert_eq!(after(frame(0x88, &[])).0, Closed::ByServer(None));
    let masked = vec![0x81, 0x81, 1, 2, 3, 4, b'x'];
    assert_eq!(after(masked).0, Closed::Fault(Fault::Protocol("the server masked a frame")));
    assert_eq!(after(frame(0x81, b"\xff")).0, Closed::Fault(Fault::NotUtf8));
    let mut huge = vec![0x81, 127];
    huge.extend((1_u64 << 40).to_be_bytes());
    assert_eq!(after(huge).0, Closed::Fault(Fault::Oversized));
}

#[test]
fn a_fault_is_answered_with_its_code() {
    let (_swarm, mut streams) = connected(1, Conduct::Healthy);
    streams[0].write_all(&frame(0x81, b"\xff")).unwrap();
    assert_eq!(answer(&mut streams[0]), (0x88, 1007_u16.to_be_bytes().to_vec()));
}

#[test]
fn a_server_that_ends_in_the_handshake_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let closing = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 16]).unwrap();
    });
    let mut swarm = Swarm::spawn(1).unwrap();
    let path_and_query = "/".to_owned();
    let spec = SocketSpec { addr, path_and_query, auth_frame: None, group: 0, conduct: Conduct::Healthy };
    let report = swarm.connect(vec![spec], Pace::default()).unwrap();
    closing.join().unwrap();
    let (why, _) = report.refused.first_key_value().unwrap();
    assert!(matches!(why, Refused::Closed(Closed::EndOfStream | Closed::Broken(_))), "{why:?}");
}

#[test]
fn unreadable_frames_are_counted_and_end_nothing() {
    let (mut swarm, mut streams) = connected(1, Conduct::Healthy);
    for bytes in [text("not json"), text("[1]"), frame(0x82, b"\x00"), delta(0)] {
        streams[0].write_all(&bytes).unwrap();
    }
    let report = until(&mut swarm, |g| g.counts.deltas == 1);
    assert_eq!((report.groups[0].unreadable, report.groups[0].messages), (3, 5));
    streams[0].write_all(&delta(1)[..9]).unwrap();
    let unread = swarm.stop().unwrap().groups[0].unread;
    assert_eq!(unread, 1, "half a frame when it is stopped");
}

/// Writes a block of that many deltas and its end to every stream.
fn push(streams: &mut [TcpStream], tokens: u64) {
    let frames: Vec<Vec<u8>> = (0..tokens).map(delta).chain([end(tokens)]).collect();
    for bytes in &frames {
        for stream in &mut *streams {
            stream.write_all(bytes).unwrap();
        }
    }
}

#[test]
fn a_delivery_allocates_nothing_and_a_socket_holds_less_than_a_kibibyte() {
    const SOCKETS: usize = 100;
    let (mut swarm, mut streams) = connected(SOCKETS, Conduct::Healthy);
    // The first block warms up; so does the first report.
    for replies in 1..=2_u64 {
        begin(&mut swarm);
        push(&mut streams, 200);
        assert!(swarm.wait_for_replies(0, replies * SOCKETS as u64, Duration::from_secs(20)));
    }
    swarm.report().unwrap();
    begin(&mut swarm);
    let before = swarm.report().unwrap();
    let frames: Vec<Vec<u8>> = (0..200).map(delta).collect();
    let (mut deltas, limit) = (before.groups[0].counts.deltas, Instant::now() + Duration::from_secs(20));
    for bytes in &frames {
        for stream in &mut streams {
            stream.write_all(bytes).unwrap();
        }
        // One delta a socket at a time: a reader that falls behind fills its buffer, and the frame that this cuts is kept,
        // which costs a socket an allocation the first time.
        deltas += SOCKETS as u64;
        while swarm.progress(0).deltas < deltas && Instant::now() < limit {
            std::thread::yield_now();
        }
    }
    let after = swarm.report().unwrap();
    assert_eq!(after.groups[0].counts.deltas, deltas);
    assert_eq!(after.allocations - before.allocations, 0, "for {} deliveries", 200 * SOCKETS);
    let each = after.memory.socket_bytes / after.memory.sockets;
    assert!((200..1024).contains(&each), "{each} bytes a socket");
}

#[test]
fn raw_reading_counts_the_same_bytes_and_full_reading_goes_on_after_it() {
    let (mut swarm, mut streams) = connected(3, Conduct::Healthy);
    let sent =
        |tokens: u64| 3 * ((0..tokens).map(|n| delta(n).len()).sum::<usize>() + end(tokens).len()) as u64;
    for round in 0..2 {
        let start = swarm.report().unwrap().groups[0].bytes;
        swarm.read(Reading::Raw).unwrap();
        push(&mut streams, 50);
        let raw = until(&mut swarm, |g| g.bytes == start + sent(50));
        assert_eq!(raw.groups[0].bytes, start + sent(50));
        assert_eq!(raw.groups[0].counts.deltas, round * 150, "nothing is parsed");
        swarm.read(Reading::Full).unwrap();
        begin(&mut swarm);
        push(&mut streams, 50);
        let full = until(&mut swarm, |g| g.counts.replies == (round + 1) * 3);
        assert_eq!(full.groups[0].bytes, start + 2 * sent(50));
        assert_eq!((full.groups[0].counts.deltas, full.groups[0].counts.lost()), ((round + 1) * 150, false));
    }
}

#[test]
fn a_socket_that_dies_leaves_after_the_deltas_that_it_was_given() {
    let (mut swarm, mut streams) = connected(1, Conduct::DiesAfter(3));
    for n in 0..3 {
        streams[0].write_all(&delta(n)).unwrap();
    }
    let report = until(&mut swarm, |g| g.open == 0);
    assert_eq!(report.groups[0].closed[&Closed::Died], 1);
    assert_eq!(streams[0].read(&mut [0; 8]).unwrap_or(0), 0, "and says nothing");
}

#[test]
fn a_slow_socket_takes_no_more_than_it_may() {
    let (mut swarm, mut streams) = connected(1, Conduct::Slow(20_000));
    let start = swarm.report().unwrap().groups[0].bytes;
    let began = Instant::now();
    streams[0].set_nonblocking(true).unwrap();
    // More than the buffers hold, for a second: what does not fit is refused.
    let payload = text(&"x".repeat(60_000));
    while began.elapsed() < Duration::from_secs(1) {
        let _ = streams[0].write(&payload);
        std::thread::sleep(Duration::from_millis(5));
    }
    let read = swarm.report().unwrap().groups[0].bytes - start;
    let most = began.elapsed().as_secs_f64() * 20_000.0 + 2_000.0;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand bytes")]
    let read = read as f64;
    assert!(read > 10_000.0 && read <= most, "{read} bytes read, {most} allowed");
}
