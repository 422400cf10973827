//! The rules of bus and log, one test a rule.

use serde_json::json;

use super::*;
use crate::session_feed::bus::STREAM_CHUNK;
use crate::session_feed::event::Other;

fn rules(contained: bool, reentrant_append: ReentrantAppend) -> BusTraits {
    BusTraits { contained, reentrant_append }
}

fn other(kind: &str) -> Body {
    Body::Other(Box::new(Other { kind: kind.into(), data: json!({}) }))
}

/// Writes down what it hears, and does what it is told about `"poke"`.
struct Scribe {
    heard: Rc<RefCell<Vec<String>>>,
    name: &'static str,
    at_poke: fn(&Harness) -> Result<(), Thrown>,
}

impl Listener for Scribe {
    fn hear(&self, harness: &Harness, what: Payload<'_>) -> Result<(), Thrown> {
        let Payload::Logged { session, event } = what else { return Ok(()) };
        let kind = event.body.kind();
        self.heard.borrow_mut().push(format!("{} {session} {} {kind}", self.name, event.seq));
        if kind == "poke" { (self.at_poke)(harness) } else { Ok(()) }
    }
}

type Heard = Rc<RefCell<Vec<String>>>;

fn scribes(harness: &Harness, first: fn(&Harness) -> Result<(), Thrown>) -> Heard {
    let heard = Heard::default();
    for (name, at_poke) in [("a", first), ("b", (|_| Ok(())) as fn(&Harness) -> _)] {
        harness.on(SESSION_EVENT, Rc::new(Scribe { heard: heard.clone(), name, at_poke }));
    }
    heard
}

fn throws(_: &Harness) -> Result<(), Thrown> {
    Err(Thrown("no".to_owned()))
}

fn appends(harness: &Harness) -> Result<(), Thrown> {
    harness.append(0, other("note"), None).map(drop).map_err(|e| Thrown(e.to_string()))
}

#[test]
fn a_seq_is_the_length_of_the_log_and_sessions_have_their_own() {
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 7, true);
    let (one, two) = (harness.open(Vec::new()), harness.open(Vec::new()));
    let heard = scribes(&harness, |_| Ok(()));
    let seqs = [one, two, one].map(|s| harness.append(s, other("x"), None).unwrap());
    assert_eq!(seqs, [0, 0, 1]);
    assert_eq!(*heard.borrow(), ["a 0 0 x", "b 0 0 x", "a 1 0 x", "b 1 0 x", "a 0 1 x", "b 0 1 x"]);
    assert_eq!(harness.log(one).iter().map(|e| (e.seq, e.time)).collect::<Vec<_>>(), [(0, 7), (1, 7)]);
}

#[test]
fn a_session_that_starts_from_a_log_tells_nobody_of_it() {
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    let heard = scribes(&harness, |_| Ok(()));
    let seed = Event { seq: 0, time: 0, body: other("x"), cites: None };
    let session = harness.open(vec![Rc::new(seed)]);
    assert!(heard.borrow().is_empty() && harness.bus().counts().dispatches == 0);
    assert_eq!(harness.append(session, other("y"), None).unwrap(), 1);
}

#[test]
fn without_containment_the_first_throw_ends_the_dispatch_and_reaches_who_appended() {
    let harness = Harness::new(rules(false, ReentrantAppend::Allowed), 0, true);
    let heard = scribes(&harness, throws);
    let error = harness.append(0, other("poke"), None).unwrap_err();
    assert_eq!(error, AppendError::Thrown(Thrown("no".to_owned())));
    assert_eq!(*heard.borrow(), ["a 0 0 poke"], "nobody after it is called");
    assert_eq!(harness.length(0), 1, "the event was in the log before");
    assert!(harness.lines().is_empty());
}

#[test]
fn with_containment_everybody_is_called_and_a_line_is_written() {
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    let heard = scribes(&harness, throws);
    assert_eq!(harness.append(0, other("poke"), None), Ok(0));
    assert_eq!(*heard.borrow(), ["a 0 0 poke", "b 0 0 poke"]);
    assert_eq!(harness.lines().values().sum::<u64>(), 1);
    assert_eq!(harness.bus().counts().contained, 1);
}

#[test]
fn an_append_from_a_listener_is_refused_or_turns_the_order_around() {
    let refused = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    scribes(&refused, appends);
    assert_eq!(refused.append(0, other("poke"), None), Ok(0));
    assert_eq!((refused.length(0), refused.bus().counts().contained), (1, 1));
    assert_eq!(refused.append(0, other("x"), None), Ok(1), "the refusal is over with the dispatch");

    let allowed = Harness::new(rules(false, ReentrantAppend::Allowed), 0, true);
    let heard = scribes(&allowed, appends);
    assert_eq!(allowed.append(0, other("poke"), None), Ok(0));
    assert_eq!(*heard.borrow(), ["a 0 0 poke", "a 0 1 note", "b 0 1 note", "b 0 0 poke"]);
}

#[test]
fn a_listener_of_the_live_feed_may_append_under_either_rule() {
    struct Appends;
    impl Listener for Appends {
        fn hear(&self, harness: &Harness, _: Payload<'_>) -> Result<(), Thrown> {
            appends(harness)
        }
    }
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    harness.on(STREAM_CHUNK, Rc::new(Appends));
    let chunk = Chunk::BlockEnd { index: 0 };
    harness
        .emit(STREAM_CHUNK, Payload::Chunk { session: 0, place: Place::default(), chunk: &chunk })
        .unwrap();
    assert_eq!((harness.length(0), harness.bus().counts().contained), (1, 0));
}

#[test]
fn a_name_that_nobody_emits_can_be_listened_to_and_is_never_heard() {
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    let heard = Heard::default();
    let scribe = Scribe { heard: heard.clone(), name: "a", at_poke: |_| Ok(()) };
    harness.on("agent/stream-chunks", Rc::new(scribe));
    harness.append(0, other("x"), None).unwrap();
    let counts = harness.bus().counts();
    assert_eq!((heard.borrow().len(), counts.dispatches, counts.internal, counts.callbacks), (0, 1, 1, 0));
}

#[test]
fn data_that_would_not_come_back_is_refused_before_anything_is_appended() {
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    let heard = scribes(&harness, |_| Ok(()));
    let lossy = Body::Other(Box::new(Other { kind: "plugin/x".into(), data: json!({ "n": -0.0 }) }));
    let error = harness.append(0, lossy, None).unwrap_err().to_string();
    assert_eq!(error, "`plugin/x` at `.n`: negative zero is no lossless JSON");
    assert!(harness.length(0) == 0 && heard.borrow().is_empty());
}

#[test]
fn time_passes_in_the_order_of_those_who_wait() {
    struct Waits(Cell<Option<u64>>, u64, Rc<RefCell<Vec<(u64, u64)>>>);
    impl Timed for Waits {
        fn tick(&self, _: &Harness, now: u64) {
            self.2.borrow_mut().push((self.1, now));
            let next = now + self.1;
            self.0.set((next <= 12).then_some(next));
        }
        fn due(&self) -> Option<u64> {
            self.0.get()
        }
    }
    let harness = Harness::new(rules(true, ReentrantAppend::Refused), 0, true);
    let ticks = Rc::default();
    for every in [5, 3] {
        harness.add_timed(Rc::new(Waits(Cell::new(Some(every)), every, Rc::clone(&ticks))));
    }
    harness.advance(7);
    assert_eq!((*ticks.borrow()).clone(), [(3, 3), (5, 5), (3, 6)]);
    harness.settle();
    assert_eq!(ticks.borrow().len(), 6, "{ticks:?}");
    assert_eq!(harness.now(), 12);
}
