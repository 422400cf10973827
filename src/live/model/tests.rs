//! The schedule, the checks of a reply, and the events of both APIs, without a socket.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::Value;

use super::dialect::Dialect;
use super::reply::{Step, What};
use super::request::Ask;
use super::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn due(reply: &Reply) -> Vec<(u64, What)> {
    let millis = |s: Step| (u64::try_from(s.due.as_millis()).unwrap(), s.what);
    reply.steps(true).into_iter().map(millis).collect()
}

fn reply(parts: Vec<Part>) -> Reply {
    Reply { parts, rate: 10.0, ..Reply::default() }
}

/// The JSON of every event that a reply comes to.
fn events(api: Api, usage: bool, reply: &Reply) -> Vec<Value> {
    let key = if api == Api::Chat { "messages" } else { "input" };
    let body =
        format!(r#"{{"{key}":[],"model":"m","stream":true,"stream_options":{{"include_usage":{usage}}}}}"#);
    let mut dialect = Dialect::new(&Ask::read(api, body.as_bytes()).unwrap(), 7, reply);
    let steps = reply.steps(dialect.has_roles());
    let bytes: Vec<u8> = steps.into_iter().flat_map(|s| dialect.write(s.what, reply)).collect();
    let text = String::from_utf8(bytes).unwrap();
    let data = text.lines().filter_map(|l| l.strip_prefix("data: "));
    data.filter(|d| *d != "[DONE]").map(|d| serde_json::from_str(d).unwrap()).collect()
}

#[test]
fn a_part_is_due_by_rate_and_stalls_move_what_follows() {
    let mut reply = reply(vec![Part::text("a"), Part::Stall(ms(500)), Part::text("b"), Part::Stall(ms(30))]);
    (reply.first, reply.tail) = (ms(1000), ms(7));
    let parts = [(1000, What::Role), (1000, What::Part(0)), (1600, What::Part(2)), (1637, What::End)];
    assert_eq!(due(&reply)[1..], parts);
    assert_eq!(due(&reply)[0], (0, What::Open));
}

#[test]
fn an_empty_first_text_is_the_role_chunk() {
    let empty = reply(vec![Part::text(""), Part::text("a")]);
    assert_eq!(due(&empty)[1..], [(0, What::Part(0)), (100, What::Part(1)), (100, What::End)]);
    let chunks = events(Api::Chat, false, &empty);
    assert_eq!(chunks[0]["choices"][0]["delta"], serde_json::json!({"content": "", "role": "assistant"}));
    assert_eq!(chunks.len(), 3);
    let bare = Reply { role_chunk: false, ..reply(vec![Part::text("a")]) };
    let chunks = events(Api::Chat, false, &bare);
    assert_eq!(chunks[0]["choices"][0]["delta"], serde_json::json!({"content": "a", "role": "assistant"}));
    assert_eq!(chunks.len(), 2);
}

#[test]
fn an_error_is_the_end_of_a_stream() {
    let failing = reply(vec![Part::text("a"), Part::Error(Failure::InStream("broken".to_owned()))]);
    for api in [Api::Chat, Api::Responses] {
        let last = events(api, true, &failing).pop().unwrap();
        let message = if api == Api::Chat { &last["error"]["message"] } else { &last["message"] };
        assert_eq!(message, "broken");
    }
}

#[test]
fn a_reply_that_nobody_could_stream_is_refused() {
    let status = |status| Part::Error(Failure::Status { status, message: String::new() });
    let faults = [
        (Reply { rate: 0.0, ..Reply::default() }, ReplyFault::Rate(0.0)),
        (
            reply(vec![Part::Error(Failure::InStream(String::new())), Part::text("a")]),
            ReplyFault::AfterError(0),
        ),
        (reply(vec![Part::text("a"), status(500)]), ReplyFault::LateStatus(1)),
        (reply(vec![status(200)]), ReplyFault::Status(200)),
        (reply(vec![Part::Stall(Duration::MAX)]), ReplyFault::Long { what: "a stall", time: Duration::MAX }),
    ];
    for (reply, fault) in faults {
        assert_eq!(reply.check(), Err(fault));
    }
    assert!(Reply { rate: f64::NAN, ..Reply::default() }.check().is_err());
    let fine = Reply { chunk_bytes: NonZeroUsize::new(1), ..reply(vec![status(429)]) };
    assert_eq!(fine.check(), Ok(()));
}

#[test]
fn chat_ends_with_a_reason_and_counts_where_they_are_asked_for() {
    let call = Part::ToolCall { name: "finish".to_owned(), arguments: r#"{"message":"x"}"#.to_owned() };
    let chunks = events(Api::Chat, true, &reply(vec![Part::text("a"), call]));
    let choices: Vec<&Value> = chunks.iter().map(|c| &c["choices"][0]).collect();
    assert_eq!(choices[2]["delta"]["tool_calls"][0]["function"]["name"], "finish");
    assert_eq!(choices[3]["delta"]["tool_calls"][0]["function"]["arguments"], r#"{"message":"x"}"#);
    assert_eq!(choices[4]["finish_reason"], "tool_calls");
    assert_eq!(
        (&chunks[5]["usage"]["completion_tokens"], &chunks[5]["choices"]),
        (&1.into(), &Value::Array(vec![]))
    );
    assert!(chunks.iter().all(|c| c["id"] == "chatcmpl-skewlab-7"));
}

#[test]
fn responses_numbers_its_events_and_repeats_the_output_at_the_end() {
    let both = Part::Delta { text: Some("a".to_owned()), reasoning: Some("why".to_owned()) };
    let call = Part::ToolCall { name: "finish".to_owned(), arguments: "{}".to_owned() };
    let events = events(Api::Responses, false, &reply(vec![both, Part::text("b"), call]));
    let kinds: Vec<&str> =
        events.iter().map(|e| e["type"].as_str().unwrap().trim_start_matches("response.")).collect();
    let begun = ["output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"];
    assert_eq!((kinds[0], &kinds[1..4]), ("created", &begun[..]));
    assert_eq!(
        kinds[4..8],
        ["output_item.added", "content_part.added", "output_text.delta", "output_text.delta"]
    );
    assert_eq!(kinds[8..10], ["output_item.added", "function_call_arguments.delta"]);
    assert!(events.iter().enumerate().all(|(n, e)| e["sequence_number"] == n));
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    let output = last["response"]["output"].as_array().unwrap();
    assert_eq!(output[0]["summary"][0]["text"], "why");
    assert_eq!(output[1]["content"][0]["text"], "ab");
    assert_eq!((&output[2]["name"], &output[2]["arguments"]), (&"finish".into(), &"{}".into()));
}
