//! Clients that got different texts of one delta, in every order of arrival.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::board::Board;
use super::seat::{Seat, Shared, look};
use super::secret::Secret;
use crate::agent_server::client::Incoming;
use crate::agent_server::link::Onlooker;
use crate::agent_server::profile::Catalogue;
use crate::probe::{ClientTrace, Fate, Receipt};
use crate::record::attach::AttachedClient;
use crate::record::observation::Piece;
use crate::record::{Class, Reason, Signal};
use crate::wire::DELTA_KIND;

/// Clients that have joined, at a server that says whatever a test says.
struct Hall {
    board: Shared,
    seats: Vec<(Seat, ClientTrace)>,
}

impl Hall {
    fn of(clients: usize) -> Hall {
        let board = Arc::new(Mutex::new(Board::new(false)));
        let seat = || (Seat::new(board.clone(), Secret::of(None), true), ClientTrace::default());
        let mut hall = Hall { seats: (0..clients).map(|_| seat()).collect(), board };
        (0..clients).for_each(|client| hall.frame(client, "{}", ""));
        look(&hall.board).joined();
        hall
    }

    /// A frame arrives, and all of its text reaches the application.
    fn frame(&mut self, client: usize, frame: &str, text: &str) {
        let (seat, trace) = &mut self.seats[client];
        seat.frame(Incoming::Text(frame));
        let pieces = vec![Piece { class: Class::Text, text: text.to_owned() }];
        let fate = Fate::Reached { pieces, missing: Reason::new("cut") };
        trace.receipts.push(Receipt { fate, signal: Signal::None });
    }

    fn delta(&mut self, client: usize, id: &str, text: &str) {
        let frame = json!({"id": id, "source": "agent", "content": text, "kind": DELTA_KIND});
        self.frame(client, &frame.to_string(), text);
    }

    fn end(&mut self, client: usize, id: &str, text: &str) {
        let message = json!({"content": [{"text": text}]});
        let frame = json!({"id": id, "source": "agent", "kind": "MessageEvent", "llm_message": message});
        self.frame(client, &frame.to_string(), text);
    }

    /// What each client saw, and the deltas that came to none.
    fn seen(self) -> (Vec<AttachedClient>, u64) {
        let traits = Catalogue::embedded().unwrap().client("python-1.58.2").unwrap().profile.traits.clone();
        let board = look(&self.board);
        let seen = self.seats.into_iter().map(|(seat, trace)| seat.seen(&board, &traits, &trace));
        (seen.collect(), board.missing_everywhere())
    }
}

/// Of one delta, as client and text in order of arrival: how often each client's was altered, and contested.
fn judged(clients: usize, arrivals: &[(usize, &str)]) -> (Vec<u64>, Vec<u64>) {
    let mut hall = Hall::of(clients);
    for (client, text) in arrivals {
        hall.delta(*client, "d", text);
    }
    let (seen, _) = hall.seen();
    for client in &seen {
        assert_eq!((client.wire.due, client.wire.got, client.stopped.len()), (1, 1, 0), "{arrivals:?}");
    }
    let each = |count: fn(&AttachedClient) -> u64| seen.iter().map(count).collect();
    (each(|client| client.wire.altered), each(|client| client.wire.contested))
}

#[test]
fn another_text_is_wrong_whether_it_comes_first_or_last() {
    for arrivals in [
        [(0, "lengthy"), (1, "ok"), (2, "ok")],
        [(1, "ok"), (0, "lengthy"), (2, "ok")],
        [(1, "ok"), (2, "ok"), (0, "lengthy")],
    ] {
        assert_eq!(judged(3, &arrivals), (vec![1, 0, 0], vec![0; 3]), "{arrivals:?}");
    }
    assert_eq!(judged(3, &[(0, "ok"), (1, "ok"), (2, "ok")]), (vec![0; 3], vec![0; 3]));
}

#[test]
fn without_a_majority_no_client_is_right() {
    for arrivals in [&[(0, "a"), (1, "b")][..], &[(1, "a"), (0, "b")]] {
        assert_eq!(judged(2, arrivals), (vec![0; 2], vec![1; 2]));
    }
    let most_and_two_others = [(0, "a"), (1, "b"), (2, "c"), (3, "a")];
    assert_eq!(judged(4, &most_and_two_others), (vec![0; 4], vec![1; 4]), "half is no majority");
}

#[test]
fn one_client_alone_is_right_until_it_contradicts_itself() {
    assert_eq!(judged(1, &[(0, "a")]), (vec![0], vec![0]));
    let mut hall = Hall::of(1);
    for text in ["a", "a", "b"] {
        hall.delta(0, "d", text);
    }
    let wire = hall.seen().0[0].wire;
    assert_eq!((wire.got, wire.twice, wire.altered, wire.contested), (1, 2, 1, 0));
}

#[test]
fn a_text_that_comes_late_or_a_second_time_is_judged_all_the_same() {
    let mut hall = Hall::of(4);
    hall.delta(0, "d", "wrong");
    hall.delta(1, "d", "right");
    look(&hall.board).cut();
    hall.delta(2, "d", "wrong");
    hall.delta(3, "d", "right");
    // It corrects itself, and what it got first stays its vote: two against two.
    hall.delta(0, "d", "right");
    hall.delta(0, "new", "due to nobody");
    let contested: Vec<u64> = hall.seen().0.iter().map(|client| client.wire.contested).collect();
    assert_eq!(contested, [1; 4]);

    let mut hall = Hall::of(3);
    hall.delta(0, "d", "wrong");
    hall.delta(0, "d", "right");
    look(&hall.board).cut();
    hall.delta(1, "d", "right");
    hall.delta(2, "d", "right");
    let seen = hall.seen().0;
    let wires: Vec<_> = seen.iter().map(|client| (client.wire.twice, client.wire.altered)).collect();
    assert_eq!(wires, [(1, 1), (0, 0), (0, 0)], "of the two that came there, one was wrong");
}

#[test]
fn durable_ends_are_voted_on_as_deltas_are() {
    let mut hall = Hall::of(3);
    hall.end(0, "m", "other");
    (1..3).for_each(|client| hall.end(client, "m", "reply"));
    let altered: Vec<u64> = hall.seen().0.iter().map(|client| client.durable.altered).collect();
    assert_eq!(altered, [1, 0, 0]);
}

#[test]
fn what_is_due_to_others_is_the_majority_s_and_not_the_first_one_s() {
    let mut hall = Hall::of(4);
    for n in 0..4 {
        // It comes first, is longer, and its number would leave a gap of thousands.
        hall.delta(0, &format!("d{n}"), &if n == 2 { "tok9999 ".to_owned() } else { format!("tok{n} ") });
        (1..3).for_each(|client| hall.delta(client, &format!("d{n}"), &format!("tok{n} ")));
    }
    let (seen, nowhere) = hall.seen();
    assert_eq!(nowhere, 0);
    assert_eq!(seen.iter().map(|client| client.wire.altered).collect::<Vec<_>>(), [1, 0, 0, 0]);
    assert!(seen.iter().all(|client| client.stopped.is_empty()), "{seen:#?}");
    assert_eq!((seen[3].wire.missing(), seen[3].wire.missing_chars), (4, 4 * 5));
}

#[test]
fn text_that_stopped_is_found_beside_another_text_as_beside_the_same() {
    let mut hall = Hall::of(3);
    hall.delta(0, "d", "abc");
    hall.delta(1, "d", "abc");
    hall.delta(2, "d", "longer");
    for (_, trace) in &mut hall.seats {
        let Some(Receipt { fate: Fate::Reached { pieces, .. }, .. }) = trace.receipts.last_mut() else {
            panic!("no receipt")
        };
        pieces[0].text.pop();
    }
    let stopped = hall.seen().0.into_iter().map(|client| client.stopped[0].amount.chars);
    assert_eq!(stopped.collect::<Vec<_>>(), [1; 3]);
}
