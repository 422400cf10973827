//! A released package's answer, from its driver's report to the words of [`Answer`].

use serde_json::Value;

use super::answer::{ACCEPTED, Answer, REJECTED, readable};
use crate::live::report::Report;
use crate::record::Signal;

/// The answer to one frame; `None` for a report about something else.
pub(super) fn real(report: &Report) -> Option<Answer> {
    let Report::Checked { outcome, class, exception, error, more, .. } = report else { return None };
    let field = |name: &str| more.get(name).and_then(Value::as_str);
    let accepted = outcome == ACCEPTED;
    let open = more.contains_key("shown");
    // A library without classes of its own hands any value on, and its errors are the engine's words.
    let class = match (accepted, open) {
        (true, true) => field("kind").map(str::to_owned),
        (true, false) => class.clone(),
        (false, true) => None,
        (false, false) => exception.as_deref().map(|class| thrown(class, error.as_deref().unwrap_or(""))),
    };
    let text = match (accepted, open) {
        (false, _) => String::new(),
        (true, true) => field("shown").unwrap_or_default().to_owned(),
        (true, false) => [field("reasoning"), field("content")].into_iter().flatten().collect(),
    };
    // Only a library that reports its errors beside the outcome ran more than its decoder.
    let signal = open.then(|| if exception.is_some() { Signal::Surfaced } else { Signal::None });
    let outcome = if accepted { ACCEPTED } else { REJECTED };
    Some(Answer { outcome, class, text: readable(&text), signal })
}

/// The class of an exception; of pydantic's with how many errors it holds, and the type of the first.
fn thrown(class: &str, error: &str) -> String {
    let count = error.split_once(" validation error").and_then(|(count, _)| count.parse::<u32>().ok());
    let Some(count) = count.filter(|_| class == "ValidationError") else { return class.to_owned() };
    // The words of a long one are cut before its type; `Value error, …` is how pydantic begins those of one type.
    let first = match error.split_once("[type=").and_then(|(_, rest)| rest.split_once([',', ']'])) {
        Some((first, _)) => first,
        None if error.contains("Value error, ") => "value_error",
        None => "unknown",
    };
    format!("{class}: {count}, {first}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(report: Value) -> Answer {
        real(&serde_json::from_value(report).unwrap()).unwrap()
    }

    #[test]
    fn a_python_clients_words_are_the_event_models() {
        let error = "2 validation errors for Event\nid\n  Input should be a valid string [type=string_type, input_value=3";
        let refused =
            answer(json!({"ev": "checked", "name": "n", "outcome": "rejected", "type": "ValidationError",
            "error": error, "content": null}));
        assert_eq!(refused.class.as_deref(), Some("ValidationError: 2, string_type"));
        assert_eq!((refused.outcome, refused.signal), (REJECTED, None));
        let unknown = "1 validation error for Event\n  Value error, Unknown kind 'x' for openhands; Expected";
        assert_eq!(thrown("ValidationError", unknown), "ValidationError: 1, value_error");
        assert_eq!(thrown("TypeError", "2 validation errors"), "TypeError");
        let taken = answer(
            json!({"ev": "checked", "name": "n", "outcome": "accepted", "class": "StreamingDeltaEvent",
            "content": "a", "reasoning": "b"}),
        );
        assert_eq!((taken.text.as_str(), taken.class.as_deref()), ("ba", Some("StreamingDeltaEvent")));
    }

    #[test]
    fn a_library_without_classes_says_kind_shown_text_and_errors() {
        let taken =
            answer(json!({"ev": "checked", "name": "n", "outcome": "accepted", "kind": "K", "shown": "7",
            "content": 7, "type": null}));
        assert_eq!((taken.text.as_str(), taken.class.as_deref()), ("7", Some("K")));
        assert_eq!(taken.signal, Some(Signal::None));
        let refused =
            answer(json!({"ev": "checked", "name": "n", "outcome": "rejected", "kind": null, "shown": null,
            "type": "SyntaxError", "error": "Unexpected token"}));
        assert_eq!((refused.class, refused.signal), (None, Some(Signal::Surfaced)));
        assert_eq!(real(&Report::Refused { error: "e".to_owned() }), None);
    }
}
