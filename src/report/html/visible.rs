//! Characters that a page would swallow, or that would turn its text around, as something that can be seen.
//!
//! Escaping keeps captured text from being markup; this keeps it from hiding. A NUL is not allowed in HTML at all, and a
//! right-to-left mark in a frame would make a reader see another frame.

use std::borrow::Cow;

use serde_json::Value;

/// The text with a stand-in for every character that does not show: `␀`, or the code point as `⟨U+2028⟩`. Line ends and
/// tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match u32::from(c) {
            _ if !hidden(c) => shown.push(c),
            // Unicode has a picture of each of these.
            code @ 0..=0x1f => shown.extend(char::from_u32(0x2400 + code)),
            0x7f => shown.push('\u{2421}'),
            code => shown.extend(format!("\u{27e8}U+{code:04X}\u{27e9}").chars()),
        }
    }
    Cow::Owned(shown)
}

/// The same for every text in a value, keys included.
pub(super) fn visible_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(visible_value).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| (visible(&key).into_owned(), visible_value(value));
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}

/// Controls, line and paragraph separators, what turns the direction of text, and what has no width. Joiners stay: emoji
/// and several scripts are made with them.
fn hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_gets_a_stand_in_and_the_rest_stays() {
        assert_eq!(visible("a\0b\r\u{7f}\u{85}"), "a␀b␍␡⟨U+0085⟩");
        assert_eq!(visible("x\u{2028}y\u{202e}z\u{feff}"), "x⟨U+2028⟩y⟨U+202E⟩z⟨U+FEFF⟩");
        let family = "line\n\ttab \u{1f468}\u{200d}\u{1f469} é";
        assert!(matches!(visible(family), Cow::Borrowed(text) if text == family));
        let value = serde_json::json!({"k\0": ["\u{2029}", 1, null]});
        assert_eq!(visible_value(value), serde_json::json!({"k␀": ["⟨U+2029⟩", 1, null]}));
    }
}
