//! The client against a fake debugging port.

use super::fake::{Fake, answer, event};
use super::*;

async fn client(fake: &Fake) -> Cdp {
    Cdp::connect(fake.addr, "/devtools/browser/x").await.unwrap()
}

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn answers_find_who_asked_whatever_their_order() {
    let mut held = Vec::new();
    let fake = Fake::start(move |command| {
        held.push(answer(command, &json!({"was": command["method"]})));
        if held.len() == 2 { held.drain(..).rev().collect() } else { Vec::new() }
    })
    .await;
    let cdp = client(&fake).await;
    let (a, b) = tokio::join!(
        cdp.call(None, "A.one", json!({}), LONG),
        cdp.call(Some("s"), "B.two", json!({"x": 1}), LONG)
    );
    assert_eq!((&a.unwrap()["was"], &b.unwrap()["was"]), (&json!("A.one"), &json!("B.two")));
    assert_eq!(fake.first("A.one").unwrap().get("sessionId"), None);
    let two = fake.first("B.two").unwrap();
    assert_eq!((&two["sessionId"], &two["params"]), (&json!("s"), &json!({"x": 1})));
}

#[tokio::test]
async fn a_refusal_says_what_was_refused() {
    let fake =
        Fake::start(|c| vec![json!({"id": c["id"], "error": {"code": -1, "message": "no such page"}})]).await;
    let error = client(&fake).await.call(None, "A.one", json!({}), LONG).await.unwrap_err();
    assert_eq!(error.to_string(), "Chromium refused `A.one`: no such page");
}

#[tokio::test]
async fn a_silent_command_does_not_hold_the_next_one() {
    let fake = Fake::start(|c| match c["method"].as_str() {
        Some("A.silent") => Vec::new(),
        // The late answer to what nobody waits for any more comes first.
        _ => vec![json!({"id": 1, "result": {"late": true}}), answer(c, &json!({"right": true}))],
    })
    .await;
    let cdp = client(&fake).await;
    let error = cdp.call(None, "A.silent", json!({}), SHORT).await.unwrap_err();
    assert!(matches!(error, CdpError::Silent { method: "A.silent", .. }), "{error}");
    assert_eq!(cdp.call(None, "B.two", json!({}), LONG).await.unwrap(), json!({"right": true}));
}

#[tokio::test]
async fn whoever_waits_hears_of_the_end() {
    let fake = Fake::start(|_| vec![json!({"close": true})]).await;
    let cdp = client(&fake).await;
    for _ in 0..2 {
        let error = cdp.call(None, "A.one", json!({}), LONG).await.unwrap_err();
        assert!(matches!(error, CdpError::Gone { method: "A.one", .. }), "{error}");
    }
}

#[tokio::test]
async fn an_answer_without_its_field_is_an_error() {
    let fake = Fake::start(|c| vec![answer(c, &json!({"other": "x"}))]).await;
    let error = client(&fake).await.ask("A.one", json!({}), "wanted").await.unwrap_err();
    assert!(matches!(error, CdpError::Incomplete { field: "wanted", .. }), "{error}");
}

#[tokio::test]
async fn nobody_listens_at_a_port_that_is_closed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    assert!(matches!(Cdp::connect(addr, "/x").await, Err(CdpError::Unreachable { .. })));
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn event(&self, method: &str, params: &Value) -> Option<(&'static str, Value)> {
        self.0.lock().unwrap().push(format!("{method} {params}"));
        (method == "Page.asks").then(|| ("Page.answers", json!({"ok": true})))
    }
}

#[tokio::test]
async fn events_reach_the_listener_of_their_session_and_its_reply_goes_back() {
    let fake = Fake::start(|c| match c["method"].as_str() {
        Some("Page.answers") => Vec::new(),
        _ => vec![
            event("theirs", "Page.other", &json!({})),
            json!({"method": "Target.created", "params": {}}),
            event("ours", "Page.asks", &json!({"n": 1})),
            answer(c, &json!({})),
        ],
    })
    .await;
    let cdp = client(&fake).await;
    let heard = Arc::new(Heard::default());
    cdp.listen("ours", heard.clone());
    cdp.call(None, "Go", json!({}), LONG).await.unwrap();
    cdp.forget("ours");
    cdp.call(None, "Go", json!({}), LONG).await.unwrap();
    assert_eq!(*heard.0.lock().unwrap(), [r#"Page.asks {"n":1}"#]);
    let reply = fake.first("Page.answers").unwrap();
    assert_eq!((&reply["sessionId"], &reply["params"]["ok"]), (&json!("ours"), &json!(true)));
}
