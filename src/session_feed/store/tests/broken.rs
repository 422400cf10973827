//! Logs that are wrong in one way each. Their checksums fit: a writer that is wrong wrote them so.

use std::rc::Rc;

use super::super::super::chunk::{BlockKind, Chunk};
use super::super::super::event::{Body, Event, Message, Place};
use super::super::frame::{Frame, Header};
use super::super::load::{LoadError, Position, Problem};
use super::super::load_lines;
use super::super::provenance::{Dangling, Why, dangling};
use super::session;

/// A log of these batches of rows, each with a frame that fits it; `change` may make one that does not.
fn log(batches: &[&[Event]], change: impl Fn(&mut Frame)) -> Vec<u8> {
    let mut bytes = Header::new("s").line().into_bytes();
    for (number, batch) in (0..).zip(batches) {
        let rows: String = batch.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
        let ends = batch.iter().filter(|event| matches!(event.body, Body::TurnEnd(..))).count() as u64;
        let (first, events) = (batch[0].seq, batch.len() as u64);
        let (bytes_of, crc) = (rows.len() as u64, crc32fast::hash(rows.as_bytes()));
        let mut frame = Frame { number, first, events, ends, bytes: bytes_of, crc };
        change(&mut frame);
        bytes.extend_from_slice((frame.line() + &rows).as_bytes());
    }
    bytes
}

/// What a wrong writer does to a frame.
type Change = fn(&mut Frame);

fn plain(events: &[Rc<Event>]) -> Vec<Event> {
    events.iter().map(|event| (**event).clone()).collect()
}

/// Line and problem that the log is refused with.
fn refused(bytes: &[u8]) -> (u64, Problem) {
    match load_lines(bytes) {
        Err(LoadError::Refused { at: Position::Line { line, byte }, problem, .. }) => {
            let before = &bytes[..usize::try_from(byte).unwrap()];
            assert_eq!(before.split(|b| *b == b'\n').count() as u64, line, "the two agree");
            (line, problem)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_healthy_neighbour_of_all_of_these_is_loaded() {
    let events = plain(&session(11, 200));
    let loaded = load_lines(&log(&[&events[..90], &events[90..]], |_| ())).unwrap();
    assert_eq!(plain(loaded.stored_events()), events);
}

#[test]
fn a_hole_and_a_repetition_are_refused_at_their_row() {
    let mut events = plain(&session(11, 40));
    events.remove(17);
    // Line 1 is the header, line 2 the frame's, and seq n stands in line n + 3.
    assert_eq!(refused(&log(&[&events], |_| ())), (20, Problem::Hole { expected: 17, found: 18 }));
    let mut events = plain(&session(11, 40));
    events.insert(18, events[17].clone());
    assert_eq!(refused(&log(&[&events], |_| ())), (21, Problem::Duplicate { expected: 18, found: 17 }));
    let events = plain(&session(11, 40));
    let twice = log(&[&events[..20], &events[..20]], |_| ());
    assert_eq!(refused(&twice), (24, Problem::Duplicate { expected: 20, found: 0 }), "a batch once more");
}

#[test]
fn a_frame_that_is_not_the_next_or_not_what_it_says_is_refused_even_at_the_end() {
    let events = plain(&session(11, 40));
    let skipped = log(&[&events[..20], &events[20..]], |frame| frame.number *= 2);
    assert_eq!(refused(&skipped), (23, Problem::Frame { expected: 1, found: 2 }));
    let claims: [(Change, &str); 3] = [
        (|frame| frame.events += 1, "events"),
        (|frame| frame.ends += 1, "ends of a turn"),
        (|frame| frame.first += 1, "as its first seq"),
    ];
    for (change, wanted) in claims {
        let (line, problem) = refused(&log(&[&events], change));
        assert!(matches!(problem, Problem::Count { frame: 0, what, .. } if what == wanted), "{problem}");
        assert_eq!(line, 2, "the line of the frame");
    }
    // More bytes than there are, and a frame where the rows should be: this is no torn end.
    let mut longer = log(&[&events[..20], &events[20..]], |frame| frame.bytes += 1_000_000);
    assert!(matches!(refused(&longer), (2, Problem::Count { what: "bytes of rows", .. })));
    let second = longer.windows(9).rposition(|window| window == b"{\"frame\":").unwrap();
    let first = longer.windows(9).position(|window| window == b"{\"frame\":").unwrap();
    let line = first + longer[first..].iter().position(|b| *b == b'\n').unwrap() + 1;
    longer.drain(line..second);
    assert!(matches!(refused(&longer), (2, Problem::Count { what: "bytes of rows", .. })));
    // Fewer bytes than there are: what is left over is no frame.
    let mut bytes = log(&[&events], |_| ());
    bytes.extend_from_slice(b"{\"type\":\"turn/end\"}\n");
    assert!(matches!(refused(&bytes), (43, Problem::FrameLine { frame: 1, .. })));
}

#[test]
fn rows_that_are_no_events_are_refused_with_what_is_wrong() {
    let header = Header::new("s").line();
    let packed = "{\"packed\":\"text\",\"seq\":0,\"turn\":1,\"step\":1,\"index\":0,\"time\":5,";
    for (row, wanted) in [
        ("{}".to_owned(), "missing field"),
        ("{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{\"turns\":1}}".to_owned(), "turns"),
        (format!("{packed}\"after\":[1],\"texts\":[\"a\",\"b\"]}}"), "3 events or more, found 2"),
        (format!("{packed}\"after\":[1],\"texts\":[\"a\",\"b\",\"c\"]}}"), "expected 3 times, found 2"),
        (format!("{packed}\"after\":[1,2],\"texts\":[\"a\",\"b\",\"c\"],\"x\":1}}"), "unknown field"),
        ("\u{1b}[31m".to_owned(), "expected value"),
    ] {
        let rows = row + "\n";
        let (bytes, crc) = (rows.len() as u64, crc32fast::hash(rows.as_bytes()));
        let frame = Frame { number: 0, first: 0, events: 1, ends: 0, bytes, crc };
        let (line, problem) = refused((header.clone() + &frame.line() + &rows).as_bytes());
        let Problem::Row(said) = &problem else { panic!("{problem}") };
        assert!(line == 3 && said.contains(wanted) && !said.contains('\u{1b}'), "{line}: {said}");
    }
}

#[test]
fn headers_of_others_and_of_later_versions_are_told_apart() {
    let newer = Header { version: 2, ..Header::new("s") }.line();
    assert_eq!(refused(newer.as_bytes()), (1, Problem::Version(2)));
    let other = Header { format: "other".to_owned(), ..Header::new("s") }.line();
    assert_eq!(refused(other.as_bytes()), (1, Problem::Format("other".to_owned())));
    let renamed = Header::new("s").line().replace("\"s\"", "\"t\"");
    assert_eq!(refused(renamed.as_bytes()), (1, Problem::Header));
    for text in ["", "\n", "{}\n", "[1]\n", "hello\n", "{\"format\":\"skewlab-session-log\"", "\u{0}\u{0}\n"]
    {
        assert_eq!(refused(text.as_bytes()), (1, Problem::NotALog), "{text:?}");
    }
}

/// A step of three chunks and its message, another step of one, then a chunk more; the message cites these.
fn citing(seqs: &[u64]) -> Vec<Event> {
    let [first, second] = [1, 2].map(|step| Place { turn: 1, step });
    let chunk = |place| Body::Chunk(place, Chunk::of(BlockKind::Text, 0, "x"));
    let message = Message { turn: 1, step: 2, blocks: vec![], usage: None, interrupted: false, stream: None };
    let bodies = [
        Body::StepStart(first),
        chunk(first),
        Body::StepStart(second),
        chunk(second),
        chunk(second),
        Body::Message(Box::new(message)),
        chunk(second),
    ];
    let event = |(seq, body): (u64, Body)| {
        let cites = matches!(body, Body::Message(_)).then(|| seqs.into());
        Event { seq, time: seq, body, cites }
    };
    (0..).zip(bodies).map(event).collect()
}

#[test]
fn a_message_that_cites_what_it_cannot_be_made_of_is_refused_at_its_row() {
    assert_eq!(dangling(&citing(&[3, 4])), []);
    assert_eq!(dangling(&citing(&[])), [], "a stream known to be empty");
    load_lines(&log(&[&citing(&[3, 4])], |_| ())).unwrap();
    let wrong =
        [(1, Why::OtherStep), (2, Why::NotAChunk), (5, Why::NotAChunk), (6, Why::Later), (7, Why::Missing)];
    for (cited, why) in wrong {
        let events = citing(&[3, cited]);
        assert_eq!(dangling(&events), [Dangling { message: 5, cited, why }]);
        let problem = Problem::Dangling { message: 5, cited, why };
        // A batch apart from its message, so that the whole log is looked at and not one batch.
        assert_eq!(refused(&log(&[&events[..4], &events[4..]], |_| ())), (9, problem));
    }
}

#[test]
fn chunks_that_were_dropped_leave_their_citations_dangling() {
    let mut events = plain(&session(11, 200));
    let cited: usize = events.iter().filter_map(|event| event.cites.as_ref()).map(|cites| cites.len()).sum();
    assert!(cited > 20);
    assert_eq!(dangling(&events), []);
    events.retain(|event| !matches!(event.body, Body::Chunk(..)));
    let found = dangling(&events);
    assert_eq!(found.len(), cited, "every one of them");
    assert!(found.iter().all(|one| one.why == Why::Missing));
    assert!(
        matches!(refused(&log(&[&events], |_| ())).1, Problem::Hole { .. }),
        "and the load refuses the hole first"
    );
}
