//! The first frame that cost text, beside the one that would not have: which parts differ.

use serde_json::{Value, json};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::record::{FirstFrame, FrameText, Reason};

/// Equal text of so few characters between two differences belongs to them for a reader: a hyphen between two numbers.
const SHORT: usize = 2;

/// The frame as data for the page. Its text is a list of parts, the first the same in both frames, then one that differs
/// and one that does not, by turns.
pub(super) fn first_frame(frame: &FirstFrame) -> Value {
    let (before, after) = match (&frame.before, &frame.after) {
        (Some(before), Some(after)) => {
            let (b, a) = differing(&before.text, &after.text);
            (Some(shown(before, &b)), Some(shown(after, &a)))
        }
        (before, after) => {
            let whole = |text: &FrameText| shown(text, &[&text.text]);
            (before.as_ref().map(whole), after.as_ref().map(whole))
        }
    };
    json!({
        "number": frame.number, "hop": frame.hop.as_str(),
        "reason": frame.reason.as_ref().map(Reason::as_str),
        "before": before, "after": after,
    })
}

fn shown(frame: &FrameText, parts: &[&str]) -> Value {
    json!({"from": frame.from, "parts": parts, "cut": frame.cut_bytes})
}

/// Both texts in parts, equal ones at even places.
fn differing<'a>(before: &'a str, after: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (old, new) = (tokens(before), tokens(after));
    let (mut b, mut a) = (Cut::new(before), Cut::new(after));
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (tag, in_old, in_new) = op.as_tag_tuple();
        let length = |of: &[&str]| of.iter().map(|token| token.len()).sum::<usize>();
        let (in_old, in_new) = (length(&old[in_old]), length(&new[in_new]));
        let last = b.at + in_old == before.len() && a.at + in_new == after.len();
        let differs = tag != DiffTag::Equal || (in_old <= SHORT && b.at > 0 && !last);
        b.take(in_old, differs);
        a.take(in_new, differs);
    }
    (b.parts, a.parts)
}

/// A text that is cut from its beginning on.
struct Cut<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    parts: Vec<&'a str>,
}

impl<'a> Cut<'a> {
    fn new(text: &'a str) -> Cut<'a> {
        Cut { text, at: 0, start: 0, parts: vec![""] }
    }

    /// The next bytes, as the same kind of part or as another one.
    fn take(&mut self, bytes: usize, differs: bool) {
        let is = self.parts.len().is_multiple_of(2);
        if differs != is {
            self.parts.push("");
            self.start = self.at;
        }
        self.at += bytes;
        let end = self.parts.len() - 1;
        self.parts[end] = &self.text[self.start..self.at];
    }
}

/// Words and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(parts: &[&str]) -> String {
        let mark = |(at, part): (usize, &&str)| {
            if at % 2 == 1 { format!("[{part}]") } else { (*part).to_owned() }
        };
        parts.iter().enumerate().map(mark).collect()
    }

    #[test]
    fn what_differs_is_told_and_both_texts_stay_whole() {
        let before = r#"{"kind":"StreamingDeltaEvent","content":"ha"}"#;
        let after = r#"{"content":"ha","extra":null,"kind":"Streaming"}"#;
        let (b, a) = differing(before, after);
        assert_eq!((b.concat().as_str(), a.concat().as_str()), (before, after));
        let other = before.replace("Delta", "Gamma");
        let (b, a) = differing(before, &other);
        assert_eq!(marked(&b), r#"{"kind":"[StreamingDeltaEvent]","content":"ha"}"#);
        assert_eq!(marked(&a), r#"{"kind":"[StreamingGammaEvent]","content":"ha"}"#);
    }

    #[test]
    fn a_hyphen_between_two_differences_is_no_part_of_its_own() {
        let (b, a) = differing("id 1a-2b-3c.", "id 4d-5e-6f.");
        assert_eq!((marked(&b), marked(&a)), ("id [1a-2b-3c].".into(), "id [4d-5e-6f].".into()));
        let (b, a) = differing("é\u{2028}x", "é\u{2028}y");
        assert_eq!((marked(&b), marked(&a)), ("é\u{2028}[x]".into(), "é\u{2028}[y]".into()));
        assert_eq!(differing("", ""), (vec![""], vec![""]));
        assert_eq!(differing("same", "same"), (vec!["same"], vec!["same"]));
    }

    proptest::proptest! {
        #[test]
        fn parts_make_up_the_text(before in "[ab\\-{\"é]{0,20}", after in "[ab\\-{\"é]{0,20}") {
            let (b, a) = differing(&before, &after);
            proptest::prop_assert_eq!(b.concat(), before.as_str());
            proptest::prop_assert_eq!(a.concat(), after.as_str());
            // Parts that are the same stand at the same places.
            let same = |parts: &[&str]| parts.iter().step_by(2).map(|p| (*p).to_owned()).collect::<Vec<_>>();
            proptest::prop_assert_eq!(same(&b), same(&a));
        }
    }
}
