//! `skewlab feed check` on logs that are whole, cut, and wrong in one way each.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;
use skewlab::session_feed::chunk::BlockKind;
use skewlab::session_feed::event::{Body, Event, Place};
use skewlab::session_feed::store::crash::Seeded;
use skewlab::session_feed::store::{JsonlStore, Memory, Store as _, StoreKind};

use crate::runs::{ended, skewlab};

/// A session with a turn that ended and one that did not; the second number is where the first turn ended.
fn session() -> (Vec<Rc<Event>>, usize) {
    let events: Vec<_> = Seeded::new(11).take(400).map(Rc::new).collect();
    let end = events.iter().position(|event| matches!(event.body, Body::TurnEnd(..))).unwrap() + 1;
    (events[..end + 20].to_vec(), end)
}

/// A log of three batches: the turn in two, and what came of the next one.
fn log() -> Vec<u8> {
    let (events, end) = session();
    let mut store = JsonlStore::new(Memory::default(), "mine", true);
    for batch in [&events[..9], &events[9..end], &events[end..]] {
        store.append(batch).unwrap();
    }
    store.medium().durable().to_vec()
}

/// A log whose one batch has these rows, with checksums that fit.
fn rows(rows: &[Event]) -> Vec<u8> {
    fn summed(object: &str) -> String {
        let sum = crc32fast::hash(object.as_bytes());
        format!("{},\"sum\":\"{sum:08x}\"}}\n", object.strip_suffix('}').unwrap())
    }
    let text: String = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n").collect();
    let (events, bytes, crc) = (rows.len(), text.len(), crc32fast::hash(text.as_bytes()));
    let ends = rows.iter().filter(|row| matches!(row.body, Body::TurnEnd(..))).count();
    let header = summed("{\"format\":\"skewlab-session-log\",\"version\":1,\"session\":\"mine\"}");
    let frame = summed(&format!(
        "{{\"frame\":0,\"first\":0,\"events\":{events},\"ends\":{ends},\"bytes\":{bytes},\"crc\":{crc}}}"
    ));
    (header + &frame + &text).into_bytes()
}

struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join("log.jsonl");
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn check(file: &Path, more: &[&str]) -> (i32, String, String) {
    ended(skewlab(&["feed", "check"]).arg(file).args(more))
}

/// The file is refused with exit code 2, this position and these words, and is as it was.
fn refused(bytes: &[u8], at: &str, words: &[&str]) {
    let dir = Dir::new();
    let file = dir.file(bytes);
    let out = dir.0.path().join("out.jsonl");
    for more in [vec![], vec!["--format", "json"], vec!["--repair", out.to_str().unwrap()]] {
        let (code, stdout, stderr) = check(&file, &more);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        let place = format!("{}: {at}", file.display());
        for word in [place.as_str()].iter().chain(words) {
            assert!(stderr.contains(word), "{word}: {stderr}");
        }
    }
    assert_eq!(std::fs::read_dir(dir.0.path()).unwrap().count(), 1, "nothing was written");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

fn plain() -> Vec<Event> {
    session().0.into_iter().map(Rc::unwrap_or_clone).collect()
}

#[test]
fn a_log_is_counted_and_what_a_crash_left_open_is_said() {
    let dir = Dir::new();
    let (events, end) = session();
    let file = dir.file(&log());
    let (code, stdout, stderr) = check(&file, &[]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    for line in [
        ": session \"mine\", JSON lines".to_owned(),
        format!("  events   {}", events.len()),
        "  turns    2, 1 interrupted".to_owned(),
        "  batches  3".to_owned(),
        format!("  bytes    {}", log().len()),
        format!("  seq {}: the end of step 1 of turn 2", events.len()),
        format!("  seq {}: the end of turn 2, as interrupted", events.len() + 1),
    ] {
        assert!(stdout.lines().any(|l| l.ends_with(&line)), "{line}: {stdout}");
    }
    let (code, stdout, _) = check(&file, &["--format", "json"]);
    let said: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &said["schema"], &said["store"]), (0, &1.into(), &"json-lines".into()));
    assert_eq!((&said["stored"]["events"], &said["turns"]), (&events.len().into(), &2.into()));
    let chunks = events.iter().filter(|event| matches!(event.body, Body::Chunk(..))).count();
    assert_eq!(said["stored"]["chunks"], chunks);
    assert_eq!(said["repairs"].as_array().unwrap().len(), 2);
    assert_eq!((&said["repairs"][0]["mend"], &said["repairs"][1]["turn"]), (&"step-end".into(), &2.into()));

    let whole = dir.file(&rows(&plain()[..end]));
    let (code, stdout, _) = check(&whole, &[]);
    assert!(
        code == 0 && stdout.ends_with("nothing to repair\n") && stdout.contains("turns    1\n"),
        "{stdout}"
    );
}

#[test]
fn a_torn_last_frame_is_left_out_and_said_and_the_repaired_log_is_a_new_file() {
    let dir = Dir::new();
    let (_, end) = session();
    let (whole, cut) = (log(), log().len() - 30);
    let last = whole.windows(9).rposition(|w| w == b"{\"frame\":").unwrap();
    let line = whole[..last].split(|b| *b == b'\n').count();
    let file = dir.file(&whole[..cut]);
    let (code, stdout, _) = check(&file, &[]);
    let said = format!(
        "  left out the last batch, {} bytes from line {line} (byte {last}) on: the file ends",
        cut - last
    );
    assert!(code == 0 && stdout.contains(&said), "{stdout}");
    assert!(stdout.contains(&format!("  events   {end}\n")), "{stdout}");

    // A flipped bit in the last batch, behind the last turn end, costs as much.
    let mut flipped = whole.clone();
    flipped[cut] ^= 4;
    let (code, stdout, _) = check(&dir.file(&flipped), &[]);
    let said =
        format!("{} bytes from line {line} (byte {last}) on: its checksum does not fit", whole.len() - last);
    assert!(code == 0 && stdout.contains(&said), "{stdout}");

    let file = dir.file(&whole[..cut]);
    let out = dir.0.path().join("out.jsonl");
    let repair = ["--repair", out.to_str().unwrap()];
    let (code, stdout, _) = check(&file, &repair);
    assert!(code == 0 && stdout.contains("repaired, and written to"), "{stdout}");
    assert_eq!(std::fs::read(&file).unwrap(), whole[..cut], "the log is as it was");
    assert_eq!(std::fs::read(&out).unwrap(), whole[..last], "all that was kept, and no turn was open");
    let (code, _, stderr) = check(&file, &repair);
    assert!(code == 2 && stderr.contains("out.jsonl exists"), "{stderr}");

    // With an open turn: what was there, byte for byte, and a batch more.
    std::fs::remove_file(&out).unwrap();
    assert_eq!(check(&dir.file(&whole), &repair).0, 0);
    assert!(std::fs::read(&out).unwrap().starts_with(&whole));
    let (code, stdout, _) = check(&out, &[]);
    assert!(
        code == 0 && stdout.contains("batches  4") && stdout.ends_with("nothing to repair\n"),
        "{stdout}"
    );
}

#[test]
fn a_flipped_bit_before_the_last_turn_end_is_refused_where_it_is() {
    let whole = log();
    let frames: Vec<usize> = (0..whole.len()).filter(|i| whole[*i..].starts_with(b"{\"frame\":")).collect();
    let line = whole[..frames[1]].split(|b| *b == b'\n').count();
    let at = format!("line {line} (byte {})", frames[1]);
    let mut flipped = whole.clone();
    flipped[frames[2] - 40] ^= 1;
    refused(&flipped, &at, &["the rows of frame 1: expected the checksum", "more frames follow"]);
    // Nothing behind it, but the turn ended in it.
    refused(&flipped[..frames[2]], &at, &["expected the checksum", "a turn ends in it"]);
}

#[test]
fn holes_repetitions_and_citations_of_nothing_are_refused_at_their_line() {
    let mut holed = plain();
    holed.remove(12);
    refused(&rows(&holed), "line 15 (byte ", &["a hole in the log: expected seq 12, found 13"]);
    let mut twice = plain();
    twice.insert(13, twice[12].clone());
    refused(&rows(&twice), "line 16 (byte ", &["a repeated seq: expected 13, found 12 once more"]);
    let mut cites = plain();
    let at = cites.iter().position(|event| event.cites.is_some()).unwrap();
    cites[at].cites = Some([9000].into());
    let said = format!("the message with seq {at} cites seq 9000, which is not in the log");
    refused(&rows(&cites), &format!("line {} (byte ", at + 3), &[&said, "expected an earlier chunk"]);
}

#[test]
fn an_end_of_what_is_not_open_is_refused_at_its_line() {
    let (events, end) = session();
    // The end of the first turn, as if it were that of another one.
    let mut other = plain()[..end].to_vec();
    let Body::TurnEnd(place, how) = other[end - 1].body.clone() else { panic!("no end") };
    other[end - 1].body = Body::TurnEnd(Place { turn: place.turn + 1, ..place }, how);
    refused(&rows(&other), &format!("line {} (byte ", end + 2), &["the end of turn 2, and turn 1 is open"]);
    let mut twice = plain()[..end].to_vec();
    twice.push(Event { seq: end as u64, ..twice[end - 1].clone() });
    refused(&rows(&twice), &format!("line {} (byte ", end + 3), &["the end of turn 1, and no turn is open"]);
    let mut step = plain()[..end].to_vec();
    let at = events.iter().position(|event| matches!(event.body, Body::StepEnd(_))).unwrap();
    step[at].body = Body::StepEnd(Place { turn: 1, step: 7 });
    let said = "the end of step 7 of turn 1, and step 1 of turn 1 is open";
    refused(&rows(&step), &format!("line {} (byte ", at + 3), &[said]);
}

/// Row 23: the chunks and the message made of them are two accounts of one text.
#[test]
fn steps_whose_chunks_and_message_differ_are_said_with_their_place() {
    let dir = Dir::new();
    let (_, end) = session();
    let mut edited = plain()[..end].to_vec();
    let block = edited.iter_mut().find_map(|event| match &mut event.body {
        Body::Message(message) => message.blocks.iter_mut().find(|block| block.kind == BlockKind::Text),
        _ => None,
    });
    block.unwrap().text.insert(0, '\u{1b}');
    let file = dir.file(&rows(&edited));
    let (code, stdout, stderr) = check(&file, &[]);
    assert_eq!((code, stderr.as_str()), (10, ""), "{stdout}");
    assert!(stdout.contains("1 step whose chunks and message differ:\n  turn 1, step "), "{stdout}");
    assert!(stdout.contains("\\u{1b}") && !stdout.contains('\u{1b}'), "{stdout}");
    let (code, stdout, _) = check(&file, &["--format", "json"]);
    let said: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, said["divergent_steps"].as_array().unwrap().len()), (10, 1));
    assert_eq!(said["divergent_steps"][0]["turn"], 1);
    assert_ne!(said["divergent_steps"][0]["chunks"], said["divergent_steps"][0]["message"]);
    let whole = dir.file(&rows(&plain()[..end]));
    assert_eq!(check(&whole, &[]).0, 0, "the neighbour that nobody edited");
}

#[test]
fn files_of_others_are_named() {
    let newer = String::from_utf8(log()).unwrap().replacen("\"version\":1", "\"version\":2", 1);
    refused(newer.as_bytes(), "line 1 (byte 0)", &["expected version 1 of the format, found 2"]);
    let crlf = String::from_utf8(log()).unwrap().replace('\n', "\r\n");
    refused(crlf.as_bytes(), "line 1 (byte 0)", &["ends in CRLF", "expected LF alone"]);
    refused(b"", "line 1 (byte 0)", &["not a session log"]);
    let (code, _, stderr) = check(Path::new("/nowhere/log"), &[]);
    assert!(code == 2 && stderr.contains("cannot read /nowhere/log"), "{stderr}");
}

#[test]
fn a_database_is_read_with_the_feature_and_named_without() {
    if cfg!(feature = "sqlite") {
        let dir = Dir::new();
        let file = dir.0.path().join("log.db");
        let kind = *StoreKind::ALL.last().unwrap();
        let mut store = kind.create(&file, "mine", true).unwrap();
        store.append(&session().0).unwrap();
        drop(store);
        let (code, stdout, stderr) = check(&file, &[]);
        assert!(code == 0 && stdout.contains("session \"mine\", SQLite"), "{stdout}{stderr}");
        let bytes = std::fs::read(&file).unwrap();
        refused(&bytes[..bytes.len() - 100], "the file", &["the SQLite file is truncated", "bytes, found"]);
    } else {
        refused(b"SQLite format 3\0 and so on", "the file", &["an SQLite file", "the feature `sqlite`"]);
    }
}
