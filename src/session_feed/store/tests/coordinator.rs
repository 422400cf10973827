//! When batches are written, how many, and what a failure leaves.

use std::io;
use std::rc::Rc;

use super::super::super::chunk::{BlockKind, Chunk};
use super::super::super::event::{Body, Event, Place, TurnEnd};
use super::super::{
    Coordinator, FlushPolicy, JsonlStore, Medium, Memory, Store as _, StoreError, load_lines,
};
use super::{session, written};

/// The text deltas of one step, each so many milliseconds after the one before.
fn deltas(n: u64, apart: u64) -> impl Iterator<Item = Rc<Event>> {
    let place = Place { turn: 1, step: 1 };
    (0..n).map(move |seq| {
        let body = Body::Chunk(place, Chunk::of(BlockKind::Text, 0, "x"));
        Rc::new(Event { seq, time: seq * apart, body, cites: None })
    })
}

fn memory(policy: &str) -> Coordinator<JsonlStore<Memory>> {
    let store = JsonlStore::new(Memory::default(), "s", false);
    Coordinator::new(store, policy.parse().unwrap())
}

#[test]
fn twenty_events_ten_milliseconds_apart_are_one_append_within_a_window_and_twenty_without() {
    for (policy, at_end, after) in
        [("window-200ms", 0, 1), ("every-event", 20, 20), ("turn-end", 0, 0), ("window-50ms", 3, 4)]
    {
        let mut all = memory(policy);
        for event in deltas(20, 10) {
            let now = event.time;
            all.offer(event, now).unwrap();
        }
        assert_eq!(all.written().batches, at_end, "{policy}");
        all.tick(199).unwrap();
        assert_eq!(all.written().batches, at_end, "{policy}");
        all.tick(200).unwrap();
        assert_eq!((all.written().batches, all.written().fsyncs), (after, after), "{policy}");
        assert_eq!(all.store().medium().syncs(), after, "{policy}");
        let durable = if policy == "turn-end" { 0 } else { 20 };
        assert_eq!(all.durable(), durable, "{policy}");
    }
}

#[test]
fn a_window_is_counted_from_its_first_event_and_written_without_the_one_that_comes_too_late() {
    let mut all = memory("window-200ms");
    for event in deltas(4, 100) {
        let now = event.time;
        all.offer(event, now).unwrap();
    }
    // 0 and 100 went at 200, when the third one came; a window that began anew with each event would hold all four.
    assert_eq!((all.durable(), all.pending(), all.due()), (2, 2, Some(400)));
    all.barrier().unwrap();
    assert_eq!((all.durable(), all.pending(), all.due()), (4, 0, None));
    all.barrier().unwrap();
    assert_eq!(all.written().batches, 2, "nothing pending is no batch");
}

#[test]
fn turn_end_and_checkpoints_write_where_they_say() {
    let place = Place { turn: 1, step: 1 };
    let turn = Place { turn: 1, step: 0 };
    let bodies = [
        Body::TurnStart(turn),
        Body::StepStart(place),
        Body::Chunk(place, Chunk::of(BlockKind::Text, 0, "x")),
        Body::StepEnd(place),
        Body::TurnEnd(turn, TurnEnd::Completed),
    ];
    for (policy, expected) in [("turn-end", vec![0, 0, 0, 0, 5]), ("checkpoints", vec![0, 2, 2, 4, 5])] {
        let mut all = memory(policy);
        let mut durable = Vec::new();
        for (seq, body) in (0..).zip(bodies.clone()) {
            all.offer(Rc::new(Event { seq, time: 0, body, cites: None }), 0).unwrap();
            durable.push(all.durable());
        }
        assert_eq!(durable, expected, "{policy}");
    }
}

/// A disk that is full from some write or sync on, for some time.
#[derive(Debug, Default)]
struct Full {
    memory: Memory,
    calls: u32,
    fails: std::ops::Range<u32>,
    stuck: bool,
}

impl Full {
    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        if self.fails.contains(&self.calls) { Err(io::Error::other("no space")) } else { Ok(()) }
    }
}

impl Medium for Full {
    fn place(&self) -> String {
        "disk".to_owned()
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let half = if self.fails.contains(&(self.calls + 1)) { bytes.len() / 2 } else { bytes.len() };
        self.memory.write(&bytes[..half])?;
        self.call()
    }
    fn sync(&mut self) -> io::Result<()> {
        self.call()?;
        self.memory.sync()
    }
    fn take_back(&mut self) -> io::Result<()> {
        if self.stuck { Err(io::Error::other("gone")) } else { self.memory.take_back() }
    }
}

#[test]
fn a_failed_batch_stays_in_order_and_nothing_is_tried_again_before_the_next_barrier() {
    let events = session(5, 60);
    let mut healthy = JsonlStore::new(Memory::default(), "s", true);
    // The first batch takes four calls, the others three: fails in every one of the second batch's.
    for failing in 5..=7 {
        let disk = Full { fails: failing..failing + 1, ..Full::default() };
        let mut all = Coordinator::new(JsonlStore::new(disk, "s", true), FlushPolicy::Window(200));
        for event in &events[..20] {
            all.offer(event.clone(), 0).unwrap();
        }
        all.tick(200).unwrap();
        for event in &events[20..40] {
            all.offer(event.clone(), 300).unwrap();
        }
        let error = all.tick(500).unwrap_err();
        assert!(matches!(&error, StoreError::Io { place, .. } if place == "disk"), "{error}");
        assert_eq!((all.durable(), all.pending(), all.paused(), all.due()), (20, 20, true, None));
        for event in &events[40..] {
            all.offer(event.clone(), 900).unwrap();
        }
        all.tick(9000).unwrap();
        assert_eq!((all.durable(), all.pending()), (20, 40), "no retry by itself");
        all.barrier().unwrap();
        assert_eq!((all.durable(), all.pending(), all.paused()), (60, 0, false));
        let bytes = all.into_store().medium().memory.durable().to_vec();
        assert_eq!(load_lines(&bytes).unwrap().stored_events(), events, "failing in call {failing}");
        // What failed left no trace: the bytes are those of two batches that went well.
        healthy = JsonlStore::new(Memory::default(), "s", true);
        healthy.append(&events[..20]).unwrap();
        healthy.append(&events[20..]).unwrap();
        assert_eq!(bytes, healthy.medium().durable());
    }
    assert_eq!(healthy.written().batches, 2);
}

#[test]
fn a_first_batch_that_failed_is_written_with_its_header_at_the_next_barrier() {
    let events = session(5, 30);
    let healthy = written(&[&events], true);
    for failing in 1..=4 {
        let disk = Full { fails: failing..failing + 1, ..Full::default() };
        let mut all = Coordinator::new(JsonlStore::new(disk, "s", true), FlushPolicy::Window(200));
        for event in &events {
            all.offer(event.clone(), 0).unwrap();
        }
        assert!(all.barrier().is_err(), "call {failing}");
        assert_eq!((all.durable(), all.written().batches), (0, 0), "call {failing}");
        all.barrier().unwrap();
        assert_eq!(all.store().medium().memory.durable(), healthy.medium().durable(), "call {failing}");
        assert_eq!(all.written(), healthy.written(), "call {failing}");
    }
}

#[test]
fn a_batch_that_cannot_be_taken_back_ends_the_store() {
    let events = session(5, 40);
    let disk = Full { fails: 5..6, stuck: true, ..Full::default() };
    let mut store = JsonlStore::new(disk, "s", false);
    store.append(&events[..20]).unwrap();
    assert!(matches!(store.append(&events[20..]), Err(StoreError::Io { .. })));
    let error = store.append(&events[20..]).unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
}

#[test]
fn a_batch_that_leaves_a_hole_or_repeats_is_refused_and_leaves_nothing() {
    let events = session(5, 40);
    let mut store = JsonlStore::new(Memory::default(), "s", false);
    store.append(&events[..20]).unwrap();
    let mut holed = events[20..].to_vec();
    holed.remove(3);
    for (batch, wanted) in [(&events[21..], (20, 21)), (&events[19..], (20, 19)), (&holed[..], (23, 24))] {
        let error = store.append(batch).unwrap_err();
        let StoreError::Hole { expected, found, .. } = error else { panic!("{error}") };
        assert_eq!((expected, found), wanted);
    }
    assert_eq!((store.written().batches, store.next()), (1, 20));
    store.append(&events[20..]).unwrap();
}

#[test]
fn policies_are_read_by_name_and_the_nearest_name_is_suggested() {
    for name in ["turn-end", "checkpoints", "window-200ms", "window-7ms", "every-event"] {
        assert_eq!(name.parse::<FlushPolicy>().unwrap().to_string(), name);
    }
    for (word, near) in [("turn_end", Some("turn-end")), ("window-200", Some("window-200ms")), ("x", None)] {
        let said = word.parse::<FlushPolicy>().unwrap_err().to_string();
        assert!(said.contains(&format!("`{word}`")), "{said}");
        assert_eq!(said.contains("did you mean"), near.is_some(), "{said}");
        assert!(near.is_none_or(|near| said.contains(&format!("did you mean `{near}`"))), "{said}");
    }
    for word in
        ["window-0ms", "window-+5ms", "window--1ms", "window-ms", "window-05ms", "window-99999999999ms"]
    {
        assert!(word.parse::<FlushPolicy>().is_err(), "{word}");
    }
}
