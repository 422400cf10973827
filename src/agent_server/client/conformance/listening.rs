//! How Python applications listen, what the stages change, and what each failure sounds like.
//!
//! These hold for every event model that knows a plain delta.

use super::super::{Client, Incoming};
use super::{Bench, choice, corpus_frame};
use crate::agent_server::profile::Catalogue;
use crate::probe::{ClientTrace, Fate};
use crate::record::{Class, Hop, Signal};

/// What becomes of a plain delta: the text, or where and why it stopped, and the signal.
fn delta(name: &str) -> (Result<String, (Hop, String)>, Signal) {
    let mut bench = Bench::of(name);
    bench.take(&corpus_frame("delta_content"));
    let got = match &bench.trace.receipts[0].fate {
        Fate::Stopped { hop, reason } => Err((*hop, reason.as_str().to_owned())),
        Fate::Reached { .. } => Ok(bench.trace.delivered.iter().map(|p| p.text.as_str()).collect()),
    };
    (got, bench.trace.loudest())
}

fn delivered() -> (Result<String, (Hop, String)>, Signal) {
    (Ok("Hel".to_owned()), Signal::None)
}

fn dropped(reason: &str) -> (Result<String, (Hop, String)>, Signal) {
    (Err((Hop::Delivered, reason.to_owned())), Signal::None)
}

#[test]
fn an_application_of_the_era_gets_its_deltas() {
    for release in ["1.22.0", "1.30.0", "1.34.0", "1.37.1", "1.47.0", "1.55.1", "1.56.0", "1.58.2"] {
        assert_eq!(delta(&format!("python-{release}")), delivered(), "{release}");
        assert_eq!(delta(&format!("python-{release}/callbacks")), delivered(), "{release}");
    }
}

#[test]
fn a_list_that_the_constructor_swallows_gets_nothing_and_says_nothing() {
    for release in ["1.30.0", "1.43.1", "1.55.1"] {
        let name = format!("python-{release}/token_callbacks");
        assert_eq!(delta(&name), dropped("token_callbacks_swallowed"), "{release}");
    }
    assert_eq!(delta("python-1.56.0/token_callbacks"), delivered());
    assert_eq!(delta("python-1.58.2/delta_callbacks"), dropped("delta_callbacks_swallowed"));
}

#[test]
fn without_stage_c_a_standalone_delta_is_an_unknown_kind() {
    for base in ["1.43.1", "1.58.2"] {
        let (got, signal) = delta(&format!("python-{base}+AB"));
        assert_eq!(got.unwrap_err().0, Hop::Decoded, "{base}");
        assert_eq!(signal, Signal::Log);
    }
}

#[test]
fn with_stage_c_delta_callbacks_get_it_and_callbacks_do_not() {
    for base in ["1.43.1", "1.58.2"] {
        assert_eq!(delta(&format!("python-{base}+ABC")), delivered());
        assert_eq!(delta(&format!("python-{base}+ABC/callbacks")), dropped("not_in_this_callback_list"));
    }
    assert_eq!(delta("python-1.43.1+ABC/token_callbacks"), dropped("token_callbacks_swallowed"));
    assert_eq!(delta("python-1.58.2+ABC/token_callbacks"), delivered());
}

#[test]
fn an_unknown_list_names_those_that_exist() {
    let catalogue = Catalogue::embedded().unwrap();
    let error = catalogue.client("python-1.47.0/tokens").unwrap_err().to_string();
    assert!(error.contains("`token_callbacks`") && error.contains("python-1.47.0"), "{error}");
    assert!(catalogue.client("typescript-1.39.0/callbacks").unwrap_err().to_string().contains("none"));
    assert!(catalogue.client("python-1.59.0").is_err());
}

#[test]
fn reasoning_reaches_a_callback_as_reasoning() {
    let mut bench = Bench::of("python-1.58.2");
    bench.take(&corpus_frame("delta_both"));
    let classes: Vec<(Class, &str)> =
        bench.trace.delivered.iter().map(|p| (p.class, p.text.as_str())).collect();
    assert_eq!(classes, [(Class::Reasoning, "b"), (Class::Text, "a")]);
}

#[test]
fn python_is_ready_with_the_first_state_and_others_at_once() {
    let mut python = Bench::of("python-1.58.2");
    python.take(&corpus_frame("delta_content"));
    assert!(!python.client.is_ready());
    python.take(&corpus_frame("state_full"));
    assert!(python.client.is_ready() && !python.client.saw_end());
    for name in ["typescript-1.39.0", "browser-1.20.0", "browser-session"] {
        assert!(Bench::of(name).client.is_ready(), "{name}");
    }
}

#[test]
fn the_end_counts_when_the_client_accepts_it() {
    let end = r#"{"id":"e","timestamp":"t","source":"environment","key":"execution_status","value":"finished","kind":"ConversationStateUpdateEvent"}"#;
    for name in ["python-1.58.2", "typescript-1.39.0", "browser-1.0.0-alpha.10", "browser-1.20.0"] {
        let mut bench = Bench::of(name);
        bench.take(end);
        assert!(bench.client.saw_end(), "{name}");
    }
    let mut browser = Bench::of("browser-1.20.0");
    browser.take(&end.replace("environment", "server"));
    assert!(!browser.client.saw_end(), "the guard stopped it");
}

#[test]
fn each_failure_sounds_as_the_release_makes_it() {
    let log = |name: &str| {
        let mut bench = Bench::of(name);
        bench.take("not json{");
        (bench.trace.loudest(), bench.trace.log.into_iter().collect::<Vec<_>>(), bench.trace.surfaced)
    };
    let line = |key: &str| vec![(key.to_owned(), 1)];
    assert_eq!(log("python-1.58.2"), (Signal::Log, line("ws_event_processing_error"), vec![]));
    let browser = log("browser-1.20.0");
    assert_eq!(browser, (Signal::Log, line("Failed to parse WebSocket message as JSON"), vec![]));
    let (signal, _, surfaced) = log("typescript-1.39.0");
    assert!(signal == Signal::Surfaced && surfaced[0].starts_with("Error processing WebSocket message"));
}

#[test]
fn connections_fail_loudly_only_where_somebody_listens() {
    let with = |name: &str, fail: fn(&mut Client, &mut ClientTrace)| {
        let mut bench = Bench::of(name);
        fail(&mut bench.client, &mut bench.trace);
        bench.trace.loudest()
    };
    for name in ["python-1.30.0", "python-1.58.2", "typescript-1.39.0"] {
        assert_eq!(with(name, |c, t| c.closed(1011, "", t)), Signal::None, "{name}");
        assert_eq!(with(name, |c, t| c.refused(403, t)), Signal::None, "{name}");
    }
    assert_eq!(with("python-1.58.2", Client::not_ready), Signal::Surfaced);
    assert_eq!(with("browser-1.20.0", |c, t| c.closed(1013, "", t)), Signal::Surfaced);
    assert_eq!(with("browser-1.20.0", |c, t| c.closed(1000, "", t)), Signal::None);
}

#[test]
fn binary_frames_are_read_as_each_runtime_reads_them() {
    let frame = corpus_frame("delta_content");
    let marked = [b"\xef\xbb\xbf".as_slice(), frame.as_bytes()].concat();
    let stopped = |name: &str, bytes: &[u8]| {
        let choice = choice(name);
        let mut client = Client::new(&choice.profile, None).unwrap();
        let mut trace = ClientTrace::default();
        client.receive(Incoming::Binary(bytes), &mut trace);
        client.finish(&mut trace);
        matches!(trace.receipts[0].fate, Fate::Stopped { .. })
    };
    assert!(!stopped("python-1.58.2", &marked), "bytes may start with a byte order mark");
    assert!(stopped("python-1.58.2", b"\xff{}"));
    assert!(!stopped("typescript-1.39.0", frame.as_bytes()));
    assert!(stopped("typescript-1.39.0", &marked));
    assert!(stopped("browser-1.20.0", frame.as_bytes()), "a blob is no text");
}
