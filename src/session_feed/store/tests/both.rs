//! What every store does alike, on files.

use std::path::Path;
use std::rc::Rc;

use super::super::super::chunk::{BlockKind, Chunk};
use super::super::super::event::{Body, Called, Event, Message, Place, Returned, TurnEnd};
use super::super::load::{LoadError, Mend, Problem, load, repaired};
use super::super::provenance::Why;
use super::super::{Store as _, StoreError, StoreKind, Written};
use super::session;

/// A closed store of these batches, and what it counted.
fn write(kind: StoreKind, path: &Path, batches: &[&[Rc<Event>]], packed: bool) -> Written {
    let mut store = kind.create(path, "s", packed).unwrap();
    for batch in batches {
        store.append(batch).unwrap();
    }
    store.written()
}

fn for_each(test: impl Fn(StoreKind, &Path)) {
    for kind in StoreKind::ALL {
        let dir = tempfile::tempdir().unwrap();
        test(*kind, &dir.path().join("a log?#%41.db"));
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        let hidden = left.iter().filter(|name| name.to_string_lossy().starts_with('.')).count();
        assert_eq!(hidden, 0, "{kind}: {left:?}");
    }
}

#[test]
fn what_was_written_is_read_and_counted_alike() {
    let events = session(4, 300);
    let batches = [&events[..1], &events[1..90], &[], &events[90..]];
    for_each(|kind, path| {
        let mut rows = Vec::new();
        for packed in [false, true] {
            let _ = std::fs::remove_file(path);
            let wrote = write(kind, path, &batches, packed);
            let before = std::fs::read(path).unwrap();
            let loaded = load(path).unwrap();
            assert_eq!(loaded.stored_events(), events, "{kind}");
            assert_eq!(loaded.stored, wrote, "{kind}");
            assert_eq!((wrote.batches, wrote.fsyncs, wrote.events), (3, 3, 300), "{kind}");
            let chunks = events.iter().filter(|event| matches!(event.body, Body::Chunk(..))).count();
            let embedded: usize = events
                .iter()
                .filter_map(|event| match &event.body {
                    Body::Attempt(attempt) => Some(attempt.stream.len()),
                    _ => None,
                })
                .sum();
            assert_eq!(wrote.chunks, (chunks + embedded) as u64, "{kind}");
            assert_eq!(std::fs::read(path).unwrap(), before, "{kind}: loading writes nothing");
            rows.push((wrote.rows, wrote.packed_rows));
        }
        assert_eq!(rows[0], (300, 0), "{kind}");
        assert!(rows[1].0 < 200 && rows[1].1 > 10, "{kind}: {rows:?}");
    });
}

#[test]
fn nothing_is_written_over_another_file_and_no_hole_is_written() {
    let events = session(4, 30);
    for_each(|kind, path| {
        std::fs::write(path, "mine").unwrap();
        let error = kind.create(path, "s", false).map(|_| ()).unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{kind}: {error}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "mine", "{kind}");
        std::fs::remove_file(path).unwrap();
        let mut store = kind.create(path, "s", false).unwrap();
        store.append(&events[..10]).unwrap();
        let error = store.append(&events[11..]).unwrap_err();
        assert!(matches!(error, StoreError::Hole { expected: 10, found: 11, .. }), "{kind}: {error}");
        store.append(&events[10..]).unwrap();
        drop(store);
        assert_eq!(load(path).unwrap().stored_events(), events, "{kind}");
    });
}

#[test]
fn a_file_of_json_lines_that_appears_meanwhile_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut store = StoreKind::JsonLines.create(&path, "s", false).unwrap();
    std::fs::write(&path, "mine").unwrap();
    let error = store.append(&session(4, 10)).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    std::fs::remove_file(&path).unwrap();
    store.append(&session(4, 10)).unwrap();
    drop(store);
    assert_eq!(load(&path).unwrap().stored_events(), session(4, 10), "and goes on once it is gone");
}

fn events(bodies: Vec<Body>) -> Vec<Rc<Event>> {
    (0..).zip(bodies).map(|(seq, body)| Rc::new(Event { seq, time: 70 + seq, body, cites: None })).collect()
}

/// A turn that a crash cut: a step that is over, and one with chunks, two calls and one answer.
fn cut() -> Vec<Rc<Event>> {
    let turn = Place { turn: 3, step: 0 };
    let [first, second] = [1, 2].map(|step| Place { step, ..turn });
    let call = |id: &str| Box::new(Called { id: id.into(), name: "t".into(), arguments: "{}".into() });
    let result = |id: &str| Box::new(Returned { id: id.into(), text: "r".into(), error: false });
    events(vec![
        Body::TurnStart(turn),
        Body::StepStart(first),
        Body::StepEnd(first),
        Body::StepStart(second),
        Body::Chunk(second, Chunk::of(BlockKind::Text, 0, "orphan")),
        Body::ToolCall(second, call("a")),
        Body::ToolCall(second, call("b")),
        Body::ToolResult(second, result("a")),
    ])
}

#[test]
fn what_a_crash_left_open_is_closed_and_said_and_written_only_on_request() {
    for_each(|kind, path| {
        let stored = cut();
        write(kind, path, &[&stored[..5], &stored[5..]], false);
        let before = std::fs::read(path).unwrap();
        let loaded = load(path).unwrap();
        assert_eq!(loaded.stored_events(), stored, "{kind}");
        let turn = Place { turn: 3, step: 0 };
        let step = Place { turn: 3, step: 2 };
        let added: Vec<&Event> = loaded.added().iter().map(|event| &**event).collect();
        assert!(matches!(&added[0].body, Body::ToolResult(p, r) if *p == step && r.id == "b" && r.error));
        assert_eq!(added[1].body, Body::StepEnd(step));
        assert_eq!(added[2].body, Body::TurnEnd(turn, TurnEnd::Interrupted));
        assert_eq!(added.len(), 3, "no message is made of an orphan chunk");
        assert!(added.iter().zip(8..).all(|(event, seq)| event.seq == seq && event.time == 77));
        let said = [
            Mend::ToolResult { seq: 8, call: "b".to_owned() },
            Mend::StepEnd { seq: 9, place: step },
            Mend::TurnEnd { seq: 10, turn: 3 },
        ];
        assert_eq!(loaded.mends, said, "{kind}");

        let to = path.with_file_name("repaired");
        let all = repaired(path, &to).unwrap().events;
        assert_eq!(std::fs::read(path).unwrap(), before, "{kind}: the log itself is as it was");
        let again = load(&to).unwrap();
        assert_eq!((again.stored_events(), again.mends.len()), (&all[..], 0), "{kind}");
        assert_eq!(again.stored.batches, 3, "{kind}");
        if kind == StoreKind::JsonLines {
            assert!(std::fs::read(&to).unwrap().starts_with(&before));
        }
        let error = repaired(path, &to).unwrap_err().to_string();
        assert!(error.contains("exists"), "{kind}: {error}");
        // Nothing to close: the copy is the log.
        let twice = path.with_file_name("twice");
        assert!(repaired(&to, &twice).unwrap().mends.is_empty(), "{kind}");
        assert_eq!(load(&twice).unwrap().events, all, "{kind}");
    });
}

#[test]
fn a_whole_log_needs_no_repair_and_a_step_that_is_over_is_not_ended_again() {
    let stored = cut();
    for (kept, added) in [(0, 0), (1, 1), (2, 2), (3, 1), (4, 2), (6, 3), (7, 4), (8, 3)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        // An event of a turn that is over comes first, so that there is a file also when nothing is kept.
        let turn = Place { turn: 2, step: 0 };
        let call = Box::new(Called { id: "old".into(), name: "t".into(), arguments: "{}".into() });
        let mut bodies =
            vec![Body::TurnStart(turn), Body::ToolCall(turn, call), Body::TurnEnd(turn, TurnEnd::Aborted)];
        bodies.extend(stored[..kept].iter().map(|event| event.body.clone()));
        write(StoreKind::JsonLines, &path, &[&events(bodies)], false);
        let loaded = load(&path).unwrap();
        assert_eq!((loaded.added().len(), loaded.mends.len()), (added, added), "{kept} events");
    }
}

#[test]
fn a_message_that_cites_a_chunk_that_is_not_there_is_refused() {
    for_each(|kind, path| {
        let message =
            Message { turn: 1, step: 1, blocks: vec![], usage: None, interrupted: false, stream: None };
        let mut all = events(vec![Body::Message(Box::new(message))]);
        Rc::make_mut(&mut all[0]).cites = Some([9].into());
        write(kind, path, &[&all], false);
        let LoadError::Refused { problem, .. } = load(path).unwrap_err() else { panic!("{kind}") };
        assert_eq!(problem, Problem::Dangling { message: 0, cited: 9, why: Why::Missing }, "{kind}");
    });
}

#[test]
fn a_file_that_is_not_there_is_said_so() {
    let error = load(Path::new("/nowhere/log")).unwrap_err();
    assert!(
        matches!(&error, LoadError::Read { .. }) && error.to_string().contains("/nowhere/log"),
        "{error}"
    );
}
