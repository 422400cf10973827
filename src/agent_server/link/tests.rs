//! What each era does when a connection ends, held against recordings of the released packages.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::*;
use crate::agent_server::fault::Conditions;
use crate::agent_server::profile::Catalogue;
use crate::agent_server::server::{Clock, Finish, Script, Server, ServerConfig};
use crate::probe::ledger::Endpoint;

/// What was seen of a client's connections.
#[derive(Debug, Default, Clone, PartialEq)]
struct Seen {
    dialled: Vec<Instant>,
    ended: Vec<Instant>,
    reconciled: usize,
    deaf: bool,
}

/// Shares what it saw while the client still runs.
#[derive(Clone, Default)]
struct Watch(std::sync::Arc<std::sync::Mutex<Seen>>);

impl Watch {
    fn note(&self, what: impl FnOnce(&mut Seen)) {
        what(&mut self.0.lock().unwrap());
    }

    fn seen(&self) -> Seen {
        self.0.lock().unwrap().clone()
    }
}

impl Onlooker for Watch {
    fn connected(&mut self, io: Io) -> Io {
        self.note(|seen| seen.dialled.push(Instant::now()));
        io
    }

    fn refused(&mut self, _: u16, _: &str) {
        self.note(|seen| seen.ended.push(Instant::now()));
    }

    fn closed(&mut self, _: u16, _: &str) {
        self.note(|seen| seen.ended.push(Instant::now()));
    }

    fn reconciled(&mut self) {
        self.note(|seen| seen.reconciled += 1);
    }

    fn gave_up(&mut self) {
        self.note(|seen| seen.deaf = true);
    }
}

/// A client on a server of its day, to which something happens once it is connected, and four seconds later.
async fn four_seconds(server: &str, client: &str, happens: &str) -> Seen {
    let catalogue = Catalogue::embedded().unwrap();
    let script = Script {
        user: "hi".into(),
        chunks: Vec::new(),
        gap: Duration::ZERO,
        finish: Finish::Message,
        feed: None,
        tail: Duration::ZERO,
        stalls: Vec::new(),
    };
    let config = ServerConfig {
        keys: vec!["rig".into()],
        script,
        mutation: crate::wire::Mutation::default(),
        seed: Seed(1),
        sinks: Vec::new(),
        keeps_notes: true,
        telemetry: false,
        auto_title: false,
        faults: Vec::new(),
        mortal: false,
    };
    let server = Server::new(&catalogue.server(server).unwrap(), config, Clock::fixed());
    let conversation = server.create_conversation().await;
    let conditions = std::sync::Arc::new(Conditions::default());
    let dialer = Dialer::memory(&server).through(&conditions);
    let target = Target { dialer, conversation: conversation.clone(), key: Some("rig".into()) };
    let choice = catalogue.client(client).unwrap();
    let (watch, (stop, stopped)) = (Watch::default(), watch::channel(false));
    if happens == "http403" {
        server.refuse(0, 403, 1_000);
    }
    let (mut onlooker, traits) = (watch.clone(), choice.profile.traits.clone());
    let visitor = Client::new(&choice.profile, None).unwrap();
    let visit = tokio::spawn(async move {
        let (phase, _phases) = watch::channel(Phase::Connecting);
        attend_before(&target, &traits, visitor, &phase, stopped, &mut onlooker).await
    });
    sleep(Duration::from_millis(1)).await;
    match happens {
        "http403" => {}
        "abort" => conditions.cut(),
        "big" => {
            let frame = format!("{{\"filler\":\"{}\"}}", "x".repeat(2 * 1024 * 1024));
            server.inject(&conversation, Endpoint::Events, &frame).await;
        }
        code => assert_eq!(server.hang_up(None, code.parse().unwrap(), "").await, 1),
    }
    sleep(Duration::from_millis(3_990)).await;
    let seen = watch.seen();
    stop.send_replace(true);
    visit.await.unwrap();
    seen
}

/// Seconds between an end and the next dial.
fn gaps(seen: &Seen) -> Vec<f64> {
    let next = seen.dialled.iter().skip(1);
    seen.ended.iter().zip(next).map(|(end, dial)| dial.duration_since(*end).as_secs_f64()).collect()
}

fn fixture(text: &str) -> serde_json::Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// What a real clock adds, and what a recording was rounded to.
const TOLERANCE_S: f64 = 0.03;

#[tokio::test(start_paused = true)]
async fn python_connects_again_as_it_was_recorded() {
    let recorded = fixture(include_str!("../../../tests/fixtures/reconnect/python.json"));
    assert_eq!(recorded.len(), 5);
    for (release, cases) in recorded {
        let cases = cases.as_object().unwrap();
        assert_eq!(cases.len(), 10, "{release}");
        for (happens, recorded) in cases {
            let seen = four_seconds(&release, &format!("python-{release}"), happens).await;
            let of = format!("{release} {happens}: {seen:?}");
            assert_eq!(seen.dialled.len() as u64, recorded["connections_in_4s"].as_u64().unwrap(), "{of}");
            assert_eq!(!seen.deaf, recorded["thread_alive"].as_bool().unwrap(), "{of}");
            assert_eq!(seen.reconciled as u64, recorded["on_reconnect_calls"].as_u64().unwrap(), "{of}");
            let gaps = gaps(&seen);
            let wanted = recorded["gaps"].as_array().unwrap();
            assert!(gaps.len() >= wanted.len(), "{of}");
            for (gap, wanted) in gaps.iter().zip(wanted) {
                assert!((gap - wanted.as_f64().unwrap()).abs() <= TOLERANCE_S, "{of}: {gap} for {wanted}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn typescript_connects_again_after_any_code_as_it_was_recorded() {
    let recorded = fixture(include_str!("../../../tests/fixtures/reconnect/typescript.json"));
    assert_eq!(recorded.len(), 4);
    for (release, cases) in recorded {
        for (code, said) in cases.as_object().unwrap() {
            let said = said.as_str().unwrap();
            let after = said.split_whitespace().find_map(|word| word.strip_suffix("ms")).unwrap();
            let seen = four_seconds("1.58.2", &format!("typescript-{release}"), code).await;
            let gaps = gaps(&seen);
            assert_eq!((gaps.len(), seen.deaf), (1, false), "{release} {code}");
            let wanted = after.parse::<f64>().unwrap() / 1000.0;
            assert!((gaps[0] - wanted).abs() <= TOLERANCE_S, "{release} {code}: {gaps:?} for {wanted}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_canvas_connects_again_after_three_seconds_and_a_later_one_after_one_and_some() {
    for code in ["1000", "1006", "4001"].map(|code| if code == "1006" { "abort" } else { code }) {
        let early = gaps(&four_seconds("1.58.2", "browser-1.14.0", code).await);
        assert!(early.len() == 1 && (early[0] - 3.0).abs() < TOLERANCE_S, "{code}: {early:?}");
        let late = gaps(&four_seconds("1.58.2", "browser-1.20.0", code).await);
        assert!(late.len() == 1 && (1.0..=1.3).contains(&late[0]), "{code}: {late:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn jitter_is_the_same_in_every_run() {
    let once = gaps(&four_seconds("1.58.2", "browser-1.20.0", "abort").await);
    assert_eq!(once, gaps(&four_seconds("1.58.2", "browser-1.20.0", "abort").await));
}

/// The mutant of these tests: an era that never connects again is told from one that does.
#[tokio::test(start_paused = true)]
async fn an_era_that_is_deaf_is_told_from_one_that_is_not() {
    assert!(four_seconds("1.34.0", "python-1.34.0", "1011").await.deaf);
    assert!(!four_seconds("1.35.0", "python-1.35.0", "1011").await.deaf);
}
