//! A page against a fake debugging port.

use super::*;
use crate::live::browser::cdp::fake::{Fake, answer, event};

const URL: &str = "http://127.0.0.1:9/conversations/0a1b";
const SOCKET: &str = "ws://127.0.0.1:9/sockets/events/0a1b?key=k";

/// Answers what opening a page needs; the rest is `more`'s. Events that `more` sends come before its answer.
async fn page(
    mut more: impl FnMut(&Value) -> Option<Vec<Value>> + Send + 'static,
) -> (Fake, Result<Page, BrowserError>) {
    let fake = Fake::start(move |c| {
        more(c).unwrap_or_else(|| {
            let ids = json!({"browserContextId": "C", "targetId": "T", "sessionId": "S", "result": {"value": null}});
            vec![answer(c, &ids)]
        })
    })
    .await;
    let mut cdp = Cdp::connect(fake.addr, "/devtools/browser/x").await.unwrap();
    cdp.patience = Duration::from_millis(300);
    let page = Page::open(Arc::new(cdp), URL).await;
    (fake, page)
}

/// Sends these events while the page navigates.
fn on_navigation(
    events: Vec<(&'static str, Value)>,
) -> impl FnMut(&Value) -> Option<Vec<Value>> + Send + 'static {
    move |c| {
        if c["method"] != "Page.navigate" {
            return None;
        }
        let mut out: Vec<Value> = events.iter().map(|(method, params)| event("S", method, params)).collect();
        out.push(answer(c, &json!({})));
        Some(out)
    }
}

fn opened(id: &str, url: &str, status: u16) -> Vec<(&'static str, Value)> {
    vec![
        ("Network.webSocketCreated", json!({"requestId": id, "url": url})),
        (
            "Network.webSocketWillSendHandshakeRequest",
            json!({"requestId": id, "timestamp": 5.0, "wallTime": 1005.0}),
        ),
        (
            "Network.webSocketHandshakeResponseReceived",
            json!({"requestId": id, "response": {"status": status}}),
        ),
    ]
}

fn frame(id: &str, at: f64, text: &str) -> (&'static str, Value) {
    let response = json!({"opcode": 1, "payloadData": text});
    ("Network.webSocketFrameReceived", json!({"requestId": id, "timestamp": at, "response": response}))
}

fn told(payload: &Value) -> (&'static str, Value) {
    ("Runtime.bindingCalled", json!({"name": TELL, "payload": payload.to_string()}))
}

#[tokio::test]
async fn a_page_has_a_context_of_its_own_that_goes_with_it() {
    let (fake, page) = page(|_| None).await;
    let target = fake.first("Target.createTarget").unwrap();
    assert_eq!(
        (&target["params"]["browserContextId"], &target["params"]["url"]),
        (&json!("C"), &json!("about:blank"))
    );
    assert_eq!(fake.first("Page.navigate").unwrap()["params"]["url"], URL);
    page.unwrap().close().await.unwrap();
    assert_eq!(fake.first("Target.disposeBrowserContext").unwrap()["params"]["browserContextId"], "C");
}

#[tokio::test]
async fn a_page_that_cannot_be_loaded_says_why_and_is_closed() {
    let refuse = |c: &Value| {
        (c["method"] == "Page.navigate")
            .then(|| vec![answer(c, &json!({"errorText": "net::ERR_CONNECTION_REFUSED"}))])
    };
    let (fake, page) = page(refuse).await;
    assert_eq!(page.unwrap_err().to_string(), format!("cannot open {URL}: net::ERR_CONNECTION_REFUSED"));
    closed(&fake).await;
}

/// Dropping does not wait, so the command may be on its way.
async fn closed(fake: &Fake) {
    for _ in 0..200 {
        if fake.count("Target.disposeBrowserContext") > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the page was not closed");
}

#[tokio::test]
async fn frames_sockets_and_console_become_data() {
    let mut events = opened("1", SOCKET, 101);
    events.push(frame("1", 6.5, "hello"));
    events.push(told(&json!({"closed": {"url": SOCKET, "code": 4001, "reason": "no key"}})));
    events.push(("Network.webSocketClosed", json!({"requestId": "1", "timestamp": 7.0})));
    events.push(("Network.webSocketCreated", json!({"requestId": "2", "url": "ws://127.0.0.1:9/sockets/x"})));
    let failed = "Error during WebSocket handshake: Unexpected response code: 403";
    events.push((
        "Network.webSocketFrameError",
        json!({"requestId": "2", "timestamp": 8.0, "errorMessage": failed}),
    ));
    events.push(("Network.webSocketClosed", json!({"requestId": "2", "timestamp": 9.0})));
    let args = json!([{"type": "string", "value": "a"}, {"type": "number", "value": 2}, {"type": "object", "description": "O"}]);
    events.push(("Runtime.consoleAPICalled", json!({"type": "error", "timestamp": 2000.0, "args": args})));
    let thrown = json!({"text": "Uncaught", "exception": {"description": "TypeError: x"}});
    events.push(("Runtime.exceptionThrown", json!({"timestamp": 3000.0, "exceptionDetails": thrown})));
    let (_fake, page) = page(on_navigation(events)).await;
    let page = page.unwrap();
    let frames = page.frames().unwrap();
    assert_eq!(
        (frames[0].at, frames[0].way, &*frames[0].text, &*frames[0].socket),
        (1006.5, Way::Received, "hello", SOCKET)
    );
    let sockets = page.sockets();
    assert_eq!(sockets[0].status, Some(101));
    assert_eq!(sockets[0].closed.as_ref().unwrap().code, Some(4001));
    assert_eq!((sockets[1].status, sockets[1].error.as_deref()), (Some(403), Some(failed)));
    let lines: Vec<_> = page.console().into_iter().map(|l| (l.at, l.level, l.text)).collect();
    assert_eq!(lines[0], (2.0, "error".to_owned(), "a 2 O".to_owned()));
    assert_eq!(lines[1], (3.0, "exception".to_owned(), "TypeError: x".to_owned()));
    let trouble = page.book().trouble();
    assert_eq!(trouble[0], "socket /sockets/events/0a1b was closed with 4001 no key");
    assert_eq!(trouble[1], "socket /sockets/x was refused with HTTP 403");
    assert_eq!(trouble.len(), 4, "{trouble:?}");
}

#[tokio::test]
async fn a_frame_is_waited_for_and_its_absence_named() {
    let mut events = opened("1", SOCKET, 101);
    events.push(frame("1", 6.0, "first"));
    let (_fake, page) = page(on_navigation(events)).await;
    let page = page.unwrap();
    let found = page.frame("first frame", Duration::from_secs(5), |f| &*f.text == "first").await.unwrap();
    assert!((found.at - 1006.0).abs() < 1e-6, "{found:?}");
    let error =
        page.frame("final message", Duration::from_millis(50), |f| &*f.text == "second").await.unwrap_err();
    assert!(error.to_string().contains("got no final message within 50ms"), "{error}");
}

/// The error of a page that never gets ready, with this input and these events.
async fn not_ready(input: Value, events: Vec<(&'static str, Value)>) -> String {
    let mut navigate = on_navigation(events);
    let (_fake, page) = page(move |c| {
        let evaluated = || vec![answer(c, &json!({"result": {"value": input}}))];
        navigate(c).or_else(|| (c["method"] == "Runtime.evaluate").then(evaluated))
    })
    .await;
    match page.unwrap().ready(Duration::from_millis(120)).await {
        Ok(()) => "ready".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let with_state = |id: &str, socket: &str| {
        let mut events = opened(id, socket, 101);
        events.push(frame(id, 6.0, r#"{"kind":"ConversationStateUpdateEvent","key":"full_state"}"#));
        events
    };
    let ready = not_ready(json!("true"), with_state("1", SOCKET)).await;
    assert_eq!(ready, "ready");
    let no_input = not_ready(Value::Null, with_state("1", SOCKET)).await;
    assert!(no_input.contains("there is no chat input") && !no_input.contains("full_state"), "{no_input}");
    let shut = not_ready(json!("false"), with_state("1", SOCKET)).await;
    assert!(shut.contains("contenteditable is false") && !shut.contains("full_state"), "{shut}");
    let other = not_ready(json!("true"), with_state("1", "ws://127.0.0.1:9/sockets/bash-events")).await;
    assert!(
        other.contains("no socket of this conversation was opened") && !other.contains("chat input"),
        "{other}"
    );
    let refused = not_ready(json!("true"), opened("1", SOCKET, 403)).await;
    assert!(refused.contains("socket /sockets/events/0a1b was refused with HTTP 403"), "{refused}");
    assert!(!refused.contains("key=k"), "{refused}");
}

#[tokio::test]
async fn a_page_that_hangs_is_closed_and_reported() {
    let hang = |c: &Value| (c["method"] == "Runtime.evaluate").then(Vec::new);
    let (fake, page) = page(hang).await;
    let page = page.unwrap();
    let error = page.history().await.unwrap_err();
    assert!(matches!(error, BrowserError::Hung { what: "Runtime.evaluate", .. }), "{error}");
    closed(&fake).await;
}

#[tokio::test]
async fn what_a_document_saw_outlives_it() {
    let first =
        json!({"changes": [[1.0, 1, [[0, 0, "a"]]]], "alerts": [[1.5, "alert", true, "bad"]], "cut": false});
    let second = json!({"changes": [[2.0, 1, [[0, 0, "b"]]]], "alerts": [], "cut": false}).to_string();
    let mut events = vec![told(&json!({"left": first}))];
    events.push(("Page.javascriptDialogOpening", json!({"message": "leave?"})));
    let mut navigate = on_navigation(events);
    let (fake, page) = page(move |c| {
        let evaluated = || vec![answer(c, &json!({"result": {"value": second}}))];
        navigate(c).or_else(|| (c["method"] == "Runtime.evaluate").then(evaluated))
    })
    .await;
    let page = page.unwrap();
    let seen: Vec<_> =
        page.history().await.unwrap().into_iter().map(|s| (s.at, s.bubbles[0].to_string())).collect();
    assert_eq!(seen, [(1.0, "a".to_owned()), (2.0, "b".to_owned())]);
    let alerts: Vec<_> = page.alerts().await.unwrap().into_iter().map(|a| (a.mark, a.text)).collect();
    assert_eq!(alerts, [("alert".to_owned(), "bad".to_owned()), ("dialog".to_owned(), "leave?".to_owned())]);
    assert_eq!(fake.first("Page.handleJavaScriptDialog").unwrap()["sessionId"], "S");
}

#[tokio::test]
async fn a_record_that_was_cut_is_refused() {
    let cut = json!({"changes": [], "alerts": [], "cut": true}).to_string();
    let (_fake, page) = page(move |c| {
        (c["method"] == "Runtime.evaluate").then(|| vec![answer(c, &json!({"result": {"value": cut}}))])
    })
    .await;
    assert!(matches!(page.unwrap().history().await.unwrap_err(), BrowserError::TooMuch { .. }));
}
