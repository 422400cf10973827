//! What two servers can be held to: frames without their ids, times and ports.
//!
//! At the end of a turn the order of stats, reply and status differs between two runs of one release, and so does that of
//! the user's message and its state update at its beginning (measured on 1.43.1 to 1.58.2): within those only the set of
//! frames is compared. The sequence numbers of the session socket go with them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::wire::DELTA_KIND;

/// An answer: what is looked at, and what was seen.
pub(super) type Answer = BTreeMap<String, String>;

/// Fields whose content is the machine's, the model's or the agent's, and not the server's.
const OPAQUE: [&str; 3] = ["value", "tools", "system_prompt"];

/// What a frame is called: its type, its kind, which field, and which status.
pub(super) fn name(frame: &Value) -> String {
    let event = frame.get("event").unwrap_or(frame);
    let mut parts: Vec<&str> = [&frame["type"], &event["kind"], &event["key"], &event["code"]]
        .iter()
        .filter_map(|v| v.as_str())
        .collect();
    if event["key"] == "execution_status" {
        parts.extend(event["value"].as_str());
    }
    parts.join("/")
}

/// Fields in their order, and what kind of value each has; an object or a list with what is in it.
pub(super) fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Array(items) => {
            let inside: BTreeSet<String> = items.iter().map(shape).collect();
            format!("[{}]", inside.into_iter().collect::<Vec<_>>().join("|"))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                if OPAQUE.contains(&key.as_str()) { key.clone() } else { format!("{key}:{}", shape(value)) }
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
    }
}

pub(super) fn is_delta(frame: &Value) -> bool {
    frame["kind"] == DELTA_KIND || frame["type"] == "delta"
}

/// Whether a run came to its end in these frames: the finished status, and the full state after it.
pub(super) fn over(frames: &[Value]) -> bool {
    let mut finished = false;
    frames.iter().any(|frame| {
        let name = name(frame);
        finished |= name.ends_with("execution_status/finished");
        finished && name.ends_with("full_state")
    })
}

/// Adds what a socket sent to an answer, each entry under `of`.
pub(super) fn describe(of: &str, frames: &[Value], answer: &mut Answer) {
    let mut put = |what: &str, said: String| {
        answer.insert(format!("{of}: {what}"), said);
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut shapes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for frame in frames {
        *counts.entry(name(frame)).or_default() += 1;
        shapes.entry(name(frame)).or_default().insert(shape(frame));
    }
    put("frames", counts.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", "));
    for (name, shapes) in &shapes {
        put(&format!("shape of {name}"), shapes.iter().cloned().collect::<Vec<_>>().join(" or "));
    }
    put("order", order(frames));
    let deltas: Vec<String> = frames.iter().filter(|f| is_delta(f)).map(delta).collect();
    put("deltas", deltas.join(" "));
    if frames.iter().any(|f| f["type"].is_string()) {
        put("session", session(frames));
    }
}

/// The frames that a turn schedules side by side, at its beginning and at its end. Which of them comes first differs.
const SIDE_BY_SIDE: [&[&str]; 2] =
    [&["MessageEvent", "last_user_message_id"], &["MessageEvent", "stats", "execution_status/finished"]];

/// The frames by name, those that are side by side in order of name, and the deltas as one stream.
fn order(frames: &[Value]) -> String {
    let mut names: Vec<String> = Vec::new();
    for frame in frames {
        let name = if is_delta(frame) { "the stream".to_owned() } else { name(frame) };
        if !(is_delta(frame) && names.last() == Some(&name)) {
            names.push(name);
        }
    }
    for together in SIDE_BY_SIDE {
        let is_one = |name: &String| together.iter().any(|end| name.ends_with(end));
        for some in names.chunk_by_mut(|a, b| is_one(a) && is_one(b)) {
            some.sort_unstable();
        }
    }
    names.join(", ")
}

/// What a delta says.
fn delta(frame: &Value) -> String {
    let said = ["order", "attempt", "kind", "content", "reasoning_content", "choice_index"]
        .iter()
        .filter_map(|key| Some(format!("{key}={}", frame.get(*key)?)));
    format!("({})", said.collect::<Vec<_>>().join(" "))
}

/// Numbers of the session socket, and whether the durable reply is the item that streamed.
fn session(frames: &[Value]) -> String {
    let mut said = Vec::new();
    let mut seqs: Vec<i64> = Vec::new();
    for frame in frames {
        match frame["type"].as_str() {
            Some("sync") => {
                let number = |key: &str| frame.get(key).map_or_else(|| "-".to_owned(), Value::to_string);
                said.push(format!("sync from {} through {}", number("from_seq"), number("through_seq")));
            }
            Some("durable") => seqs.extend(frame["seq"].as_i64()),
            Some("item_started") => {
                let item = &frame["item_id"];
                let durable = frames.iter().any(|f| f["type"] == "durable" && f["event"]["id"] == *item);
                let own = frames.iter().filter(|f| f["type"] == "delta").all(|f| f["item_id"] == *item);
                said.push(format!(
                    "item after {}, attempt {}, durable: {durable}, of all deltas: {own}",
                    frame["anchor_seq"], frame["attempt"]
                ));
            }
            _ => {}
        }
    }
    seqs.sort_unstable();
    said.push(match (seqs.first(), seqs.last()) {
        (Some(first), Some(last)) => {
            let gapless = seqs.windows(2).all(|pair| pair[1] == pair[0] + 1);
            format!("durables {first} to {last}, each once: {gapless}")
        }
        _ => "no durables".to_owned(),
    });
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_shape_has_fields_in_order_and_nulls_and_no_values() {
        let frame = json!({"b": 1, "a": null, "value": {"x": 1}, "c": [{"t": "x"}, {"t": "y"}]});
        assert_eq!(shape(&frame), "{b:number,a:null,value,c:[{t:text}]}");
    }

    fn turn(tail: [&str; 3]) -> Vec<Value> {
        let state = |key: &str| match key {
            "finished" => json!({"kind": "State", "key": "execution_status", "value": key}),
            _ => json!({"kind": "State", "key": key}),
        };
        let mut all = vec![state("full_state"), state("running")];
        all.extend(["a", "b"].map(|t| json!({"kind": DELTA_KIND, "content": t})));
        all.extend(tail.map(state));
        all
    }

    #[test]
    fn only_the_documented_reorder_is_the_same() {
        let described = |frames: &[Value]| {
            let mut answer = Answer::new();
            describe("s", frames, &mut answer);
            answer
        };
        let usual = described(&turn(["stats", "finished", "full_state"]));
        assert_eq!(usual, described(&turn(["finished", "stats", "full_state"])));
        assert_ne!(usual, described(&turn(["full_state", "stats", "finished"])), "the end is the end");
        let mut late = turn(["stats", "finished", "full_state"]);
        late.swap(3, 4);
        assert_ne!(usual["s: order"], described(&late)["s: order"], "a frame within the stream");
        let mut crossed = turn(["stats", "finished", "full_state"]);
        crossed.swap(2, 3);
        assert_ne!(usual["s: deltas"], described(&crossed)["s: deltas"]);
    }
}
