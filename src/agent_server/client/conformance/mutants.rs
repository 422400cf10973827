//! Every deliberate fault is visible in the notes, and without one there is none.

use super::super::{Client, Incoming};
use super::{choice, corpus_frame};
use crate::agent_server::profile::client::ClientMutant;
use crate::probe::{ClientTrace, Fate};

/// Four deltas and a message through `python-1.58.2` with a mutant.
fn run(mutant: ClientMutant) -> (String, ClientTrace) {
    let mut choice = choice("python-1.58.2");
    choice.profile.traits.mutant = mutant;
    let mut client = Client::new(&choice.profile, None).unwrap();
    let mut trace = ClientTrace::default();
    for text in ["a", "b", "c", "d"] {
        let frame = corpus_frame("delta_content").replace("Hel", text);
        client.receive(Incoming::Text(&frame), &mut trace);
    }
    client.receive(Incoming::Text(&corpus_frame("message_agent")), &mut trace);
    client.finish(&mut trace);
    (trace.delivered.iter().map(|p| p.text.as_str()).collect(), trace)
}

#[test]
fn each_mutant_spoils_what_it_says() {
    assert_eq!(run(ClientMutant::default()).0, "abcd");
    assert_eq!(run(ClientMutant { drop_every: 2, ..ClientMutant::default() }).0, "ac");
    assert_eq!(run(ClientMutant { repeat_every: 3, ..ClientMutant::default() }).0, "abccd");
    assert_eq!(run(ClientMutant { alter_every: 4, ..ClientMutant::default() }).0, "abcx");
}

#[test]
fn a_refused_durable_has_a_receipt_that_says_so() {
    let (text, trace) = run(ClientMutant { reject_durables: true, ..ClientMutant::default() });
    assert_eq!(text, "abcd");
    let last = &trace.receipts.last().unwrap().fate;
    assert!(matches!(last, Fate::Stopped { reason, .. } if reason.as_str() == "mutant_rejected"));
}

#[test]
#[should_panic(expected = "client mutant")]
fn the_panicking_one_panics() {
    run(ClientMutant { panic: true, ..ClientMutant::default() });
}
