//! One change to a frame, drawn at random: the place, the kind of change, and the new value.

use rand::Rng;
use serde_json::{Map, Value, json};

/// Stands for the key that is written twice until the frame is text.
const TWICE: &str = "\u{1}twice";

/// The kinds of change, in the order in which they take turns.
const CHANGES: [&str; 8] = ["drop", "rename", "retype", "null", "extra", "nest", "twice", "kind"];

/// Kinds that a frame's own may be replaced by: known ones, one of no release, and words that are near one.
const KINDS: [&str; 7] = [
    "StreamingDeltaEvent",
    "MessageEvent",
    "PauseEvent",
    "ConversationErrorEvent",
    "TokenDelta",
    "messageEvent",
    "",
];

/// A number below `bound`, which is not zero.
fn below(rng: &mut impl Rng, bound: usize) -> usize {
    let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
    usize::try_from(rng.next_u64() % bound).unwrap_or(0)
}

/// Values of every type, and strings that a lenient reader would take for another type.
fn values() -> [Value; 16] {
    [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-7),
        json!(1.5),
        json!(""),
        json!("x"),
        json!("7"),
        json!("true"),
        json!("agent"),
        json!([]),
        json!(["a"]),
        json!([{"type": "text", "text": "t"}]),
        json!({}),
        json!({"a": 1}),
    ]
}

/// The text of `frame` with change number `turn`, and what was done, for a person: `retype llm_message.role`.
pub(super) fn mutated(frame: &Map<String, Value>, turn: usize, rng: &mut impl Rng) -> (String, String) {
    let mut frame = Value::Object(frame.clone());
    let change = CHANGES[turn % CHANGES.len()];
    let mut places = Vec::new();
    fields(&frame, &mut Vec::new(), &mut places);
    let place = match change {
        "kind" => vec!["kind".to_owned()],
        _ => places[below(rng, places.len())].clone(),
    };
    let shown = format!("{change} {}", place.join("."));
    let values = values();
    let value = values[below(rng, values.len())].clone();
    let kind = KINDS[below(rng, KINDS.len())];
    let mut twice = None;
    if let (Some(key), Some(object)) = (place.last(), parent(&mut frame, &place)) {
        match change {
            "drop" => drop(object.shift_remove(key)),
            "rename" => {
                let old = std::mem::take(object).into_iter();
                *object = old.map(|(k, v)| if k == *key { (format!("{k}_"), v) } else { (k, v) }).collect();
            }
            "null" => drop(object.insert(key.clone(), Value::Null)),
            "extra" => drop(object.insert("extra".to_owned(), value)),
            "nest" => {
                let inner = object.get(key).cloned().unwrap_or_default();
                let outer = if turn.is_multiple_of(2) { json!([inner]) } else { json!({key.clone(): inner}) };
                object.insert(key.clone(), outer);
            }
            "twice" => {
                let at = if turn.is_multiple_of(2) { 0 } else { object.len() };
                object.shift_insert(at, TWICE.to_owned(), value);
                twice = Some(key.clone());
            }
            "kind" => drop(object.insert(key.clone(), json!(kind))),
            _ => drop(object.insert(key.clone(), value)),
        }
    }
    let text = frame.to_string();
    let text = match twice {
        Some(key) => text.replace(&json!(TWICE).to_string(), &json!(key).to_string()),
        None => text,
    };
    (text, shown)
}

/// The path of every field of every object.
fn fields(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return,
    };
    for (key, value_in) in inner {
        path.push(key);
        if value.is_object() {
            found.push(path.clone());
        }
        fields(value_in, path, found);
        path.pop();
    }
}

/// The object that holds the last key of a path.
fn parent<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Map<String, Value>> {
    let mut at = value;
    for key in path.split_last()?.1 {
        at = match at {
            Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?)?,
            other => other.get_mut(key)?,
        };
    }
    at.as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn frame() -> Map<String, Value> {
        serde_json::from_str(r#"{"id":"1","m":{"c":[{"t":"a"}]},"kind":"K"}"#).unwrap()
    }

    #[test]
    fn every_kind_of_change_changes_something_somewhere() {
        let original = Value::Object(frame()).to_string();
        for (turn, change) in CHANGES.iter().enumerate() {
            let texts: Vec<(String, String)> =
                (0..20).map(|n| mutated(&frame(), turn, &mut Seed(n).rng())).collect();
            assert!(texts.iter().any(|(text, _)| *text != original), "{change}");
            assert!(texts.iter().all(|(_, shown)| shown.starts_with(change)));
        }
    }

    #[test]
    fn a_key_can_stand_twice_and_places_are_at_every_depth() {
        let twice = (0..20).map(|n| mutated(&frame(), 6, &mut Seed(n).rng()).0);
        assert!(twice.into_iter().all(|text| !text.contains("twice")));
        let (text, shown) = mutated(&frame(), 6, &mut Seed(3).rng());
        let key = format!("{:?}:", shown.rsplit('.').next().unwrap().trim_start_matches("twice "));
        assert_eq!(text.matches(&key).count(), 2, "{shown}: {text}");
        let mut found = Vec::new();
        fields(&Value::Object(frame()), &mut Vec::new(), &mut found);
        let found: Vec<String> = found.iter().map(|path| path.join(".")).collect();
        assert_eq!(found, ["id", "m", "m.c", "m.c.0.t", "kind"]);
    }
}
