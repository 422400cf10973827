//! The words in which both sides answer, and the emulation's answer.

use crate::agent_server::client::{CheckOutcome, Client, Incoming, check};
use crate::agent_server::profile::ProfileError;
use crate::agent_server::profile::client::ClientChoice;
use crate::probe::ClientTrace;
use crate::record::Signal;
use crate::wire::json::LONE_SURROGATE;

/// The frame was taken: a library handed it to its application.
pub(super) const ACCEPTED: &str = "accepted";

/// It was refused.
pub(super) const REJECTED: &str = "rejected";

/// What one side made of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `accepted` or `rejected`.
    pub outcome: &'static str,
    /// The class or kind that it became; of a refused one the exception, with how many errors and which was first.
    pub class: Option<String>,
    /// The text that the application got; empty for none.
    pub text: String,
    /// What could be noticed; `None` where that was not asked, because nothing but the decoding ran.
    pub signal: Option<Signal>,
}

/// One difference: what, the emulation's word, and the package's.
pub type Difference = (&'static str, String, String);

/// Where the two do not say the same.
pub fn difference(emulated: &Answer, real: &Answer) -> Vec<Difference> {
    if emulated.outcome != real.outcome {
        // Everything else follows from it.
        let said = |a: &Answer| format!("{} ({})", a.outcome, a.class.as_deref().unwrap_or("no type"));
        return vec![("outcome", said(emulated), said(real))];
    }
    let word = |class: &Option<String>| class.clone().unwrap_or_else(|| "none".to_owned());
    let mut found = Vec::new();
    if emulated.class != real.class {
        found.push(("type", word(&emulated.class), word(&real.class)));
    }
    if emulated.text != real.text {
        found.push(("text", format!("{:?}", emulated.text), format!("{:?}", real.text)));
    }
    if let (Some(emulated), Some(real)) = (emulated.signal, real.signal)
        && emulated != real
    {
        found.push(("signal", emulated.as_str().to_owned(), real.as_str().to_owned()));
    }
    found
}

/// What the emulation makes of one frame, on a client of its own.
pub fn emulated(choice: &ClientChoice, raw: &str) -> Result<Answer, ProfileError> {
    let checked = check(choice, raw)?;
    let rejected = checked.outcome == CheckOutcome::Rejected;
    let class = if rejected { exception(&checked.detail) } else { checked.as_ };
    let mut client = Client::new(&choice.profile, choice.list.as_deref())?;
    let mut trace = ClientTrace::default();
    client.receive(Incoming::Text(raw), &mut trace);
    client.finish(&mut trace);
    let text: String = trace.delivered.iter().map(|piece| piece.text.as_str()).collect();
    let outcome = if rejected { REJECTED } else { ACCEPTED };
    Ok(Answer { outcome, class, text: readable(&text), signal: Some(checked.signal) })
}

/// Half a character, which neither a report nor a Rust string can hold, is one word on both sides.
pub(super) fn readable(text: &str) -> String {
    text.replace(LONE_SURROGATE, "\u{fffd}")
}

/// `ValidationError: 2, missing`, from the event model's words (``ValidationError: missing at `id`, … at …``). A parser's
/// words are its own, and are not compared.
fn exception(detail: &str) -> Option<String> {
    let (class, errors) = detail.split_once(": ").unwrap_or((detail, ""));
    if !class.chars().all(char::is_alphanumeric) {
        return None;
    }
    if errors.is_empty() {
        return Some(class.to_owned());
    }
    let first = errors.split([' ', ',']).next().unwrap_or_default();
    Some(format!("{class}: {}, {first}", errors.split(", ").count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_server::profile::Catalogue;

    fn answer(client: &str, raw: &str) -> Answer {
        emulated(&Catalogue::embedded().unwrap().client(client).unwrap(), raw).unwrap()
    }

    #[test]
    fn the_emulation_answers_in_these_words() {
        let delta = r#"{"kind":"StreamingDeltaEvent","content":"a","reasoning_content":"b"}"#;
        let taken = answer("python-1.58.2", delta);
        assert_eq!((taken.outcome, taken.class.as_deref()), (ACCEPTED, Some("StreamingDeltaEvent")));
        assert_eq!((taken.text.as_str(), taken.signal), ("ba", Some(Signal::None)));
        let refused = answer("python-1.58.2", r#"{"kind":"StreamingDeltaEvent","content":7,"x":1}"#);
        assert_eq!(refused.class.as_deref(), Some("ValidationError: 2, string_type"));
        assert_eq!(
            (refused.outcome, refused.text.as_str(), refused.signal),
            (REJECTED, "", Some(Signal::Log))
        );
        assert_eq!(answer("python-1.58.2", "not").class.as_deref(), Some("JSONDecodeError"));
        assert_eq!(answer("typescript-1.39.0", "not").class, None);
        assert_eq!(answer("typescript-1.39.0", "[]").outcome, ACCEPTED);
    }

    #[test]
    fn each_field_that_differs_is_named_and_an_outcome_stands_for_all() {
        let one = answer("python-1.58.2", r#"{"kind":"StreamingDeltaEvent","content":"a"}"#);
        assert!(difference(&one, &one).is_empty());
        let what = |real: &Answer| difference(&one, real).iter().map(|(what, ..)| *what).collect::<Vec<_>>();
        assert_eq!(what(&Answer { outcome: REJECTED, class: None, ..one.clone() }), ["outcome"]);
        let other = Answer { class: None, text: "b".to_owned(), signal: Some(Signal::Log), ..one.clone() };
        assert_eq!(what(&other), ["type", "text", "signal"]);
        assert!(what(&Answer { signal: None, ..one.clone() }).is_empty());
    }
}
