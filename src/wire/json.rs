//! JSON as the two kinds of client read it: Python's `json.loads` and a JavaScript `JSON.parse` differ from
//! the standard and from each other at the edges, and a released client cannot be edited to agree.

use serde::Deserialize as _;
use serde_json::Value;

/// Nesting that skewlab follows. `CPython` gives up with a `RecursionError` at about twice that and a browser
/// far later; frames of either subject stay under ten.
pub const MAX_DEPTH: usize = 512;

/// Stands for a lone surrogate (`"\ud83d"`), which both parsers accept and Rust strings cannot hold.
pub const LONE_SURROGATE: char = '\u{fdd0}';

/// Whose reading of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// `json.loads` of `CPython`: takes `NaN` and `Infinity`.
    Python,
    /// `JSON.parse`.
    JavaScript,
}

/// Why a text is no JSON for that reader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// Not JSON; the text says where.
    #[error("not JSON: {0}")]
    Invalid(String),
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Reads `text` the way `reader` does. Of a repeated key the last value counts, as in both.
pub fn parse(text: &str, reader: Reader) -> Result<Value, JsonFault> {
    if depth(text) > MAX_DEPTH {
        return Err(JsonFault::TooDeep);
    }
    read(text).or_else(|error| match lenient(text, reader) {
        Some(patched) => read(&patched).map_err(|e| JsonFault::Invalid(e.to_string())),
        None => Err(JsonFault::Invalid(error.to_string())),
    })
}

fn read(text: &str) -> Result<Value, serde_json::Error> {
    let mut de = serde_json::Deserializer::from_str(text);
    // The depth was checked above, so the stack is safe without the library's own limit of 128.
    de.disable_recursion_limit();
    let value = Value::deserialize(&mut de)?;
    de.end()?;
    Ok(value)
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The text with what `reader` accepts beyond the standard written in standard form, or `None` if it holds
/// nothing of the kind.
fn lenient(text: &str, reader: Reader) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let (mut quoted, mut changed) = (false, false);
    while let Some(c) = rest.chars().next() {
        if quoted && c == '\\' {
            let (patched, used) = escape(rest);
            changed |= patched.is_some();
            out.push_str(patched.unwrap_or(&rest[..used]));
            rest = &rest[used..];
            continue;
        }
        if !quoted && reader == Reader::Python && matches!(c, 'N' | 'I' | '-') {
            let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|w| rest.starts_with(w));
            if let Some(word) = word {
                // Any float will do: what matters downstream is that it is a float.
                out.push_str("0.5");
                rest = &rest[word.len()..];
                changed = true;
                continue;
            }
        }
        quoted ^= c == '"';
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    changed.then_some(out)
}

/// One escape at the start of `s`: its replacement if it is a lone surrogate, and its length in bytes.
fn escape(s: &str) -> (Option<&'static str>, usize) {
    let unit = |at: usize| {
        let hex = s.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    match unit(0) {
        Some(0xD800..=0xDBFF) if matches!(unit(6), Some(0xDC00..=0xDFFF)) => (None, 12),
        Some(0xD800..=0xDFFF) => (Some("\\ufdd0"), 6),
        Some(_) => (None, 6),
        None => (None, 1 + s[1..].chars().next().map_or(0, char::len_utf8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn python_takes_nan_and_javascript_does_not() {
        assert!(parse(r#"{"a":NaN,"b":-Infinity}"#, Reader::Python).unwrap()["a"].is_f64());
        assert!(parse(r#"{"a":NaN}"#, Reader::JavaScript).is_err());
        assert!(parse(r#""NaN \" Infinity""#, Reader::Python).is_ok());
    }

    #[test]
    fn both_take_lone_surrogates_and_pairs() {
        for reader in [Reader::Python, Reader::JavaScript] {
            assert_eq!(parse(r#""a\ud83d""#, reader).unwrap(), json!("a\u{fdd0}"));
            assert_eq!(parse(r#""\ud83d\ude00""#, reader).unwrap(), json!("😀"));
            assert_eq!(parse(r#""\\ud83d""#, reader).unwrap(), json!("\\ud83d"));
        }
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        assert_eq!(parse(r#"{"a":1,"a":2}"#, Reader::Python).unwrap(), json!({"a": 2}));
    }

    #[test]
    fn depth_is_bounded_without_touching_the_stack() {
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(&deep(MAX_DEPTH), Reader::Python).is_ok());
        assert_eq!(parse(&deep(1 << 20), Reader::Python), Err(JsonFault::TooDeep));
        assert!(parse(&format!("\"{}\"", "[".repeat(MAX_DEPTH + 1)), Reader::Python).is_ok());
    }

    #[test]
    fn garbage_names_the_place() {
        for bad in ["", "not json{", "{} x", "\u{feff}{}", "{'a':1}", "[1,]"] {
            assert!(matches!(parse(bad, Reader::Python), Err(JsonFault::Invalid(_))), "{bad:?}");
        }
    }
}
