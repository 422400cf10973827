//! The few JavaScript conversions that decide what a person sees when a payload is not what it should be.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// `String(value)`.
pub(super) fn string(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => number(n),
        Value::String(s) => s.clone(),
        // Inside an array, null is the empty string.
        Value::Array(items) => items
            .iter()
            .map(|v| if v.is_null() { String::new() } else { string(v) })
            .collect::<Vec<_>>()
            .join(","),
        Value::Object(_) => "[object Object]".to_owned(),
    }
}

fn number(n: &Number) -> String {
    match n.as_f64() {
        // The reader's stand-in for an infinity, which is how JavaScript reads 1e999.
        Some(f) if f.abs() >= f64::MAX => if f > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Some(0.0) => "0".to_owned(),
        // Integers print in full up to 10^21, and every number here is a double.
        Some(f) if f.abs() < 1e21 => format!("{f}"),
        Some(f) => format!("{f:e}").replace('e', "e+"),
        None => n.to_string(),
    }
}

/// Whether `value` counts as true.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn is_space(c: char) -> bool {
    // White_Space has NEL, which JavaScript has not, and lacks the byte order mark, which it has.
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// `trim()`.
pub(super) fn trim(s: &str) -> &str {
    s.trim_matches(is_space)
}

/// `trimStart()`.
pub(super) fn trim_start(s: &str) -> &str {
    s.trim_start_matches(is_space)
}

/// `trimEnd()`.
pub(super) fn trim_end(s: &str) -> &str {
    s.trim_end_matches(is_space)
}

/// `a < b` for strings: by UTF-16 code units.
pub(super) fn less(a: &str, b: &str) -> bool {
    a.encode_utf16().lt(b.encode_utf16())
}

/// `a.localeCompare(b)`, as far as time stamps go: white space, then punctuation in the collation's order,
/// then digits, then letters, lower case first among equals.
pub(super) fn locale_compare(a: &str, b: &str) -> Ordering {
    const MARKS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    let rank = |c: char| {
        let lower = c.to_lowercase().next().unwrap_or(c);
        match MARKS.find(c) {
            _ if c.is_whitespace() => (0, 0, c),
            Some(at) => (1, at, c),
            None if c.is_ascii_digit() => (2, 0, c),
            None => (3, 0, lower),
        }
    };
    a.chars().map(rank).cmp(b.chars().map(rank)).then_with(|| {
        let upper = |c: char| c.is_uppercase();
        a.chars().map(upper).cmp(b.chars().map(upper))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_become_the_strings_that_a_template_makes_of_them() {
        let cases = [
            (json!(7), "7"),
            (json!(0), "0"),
            (json!(-0.0), "0"),
            (json!(1.5), "1.5"),
            (json!(1e21), "1e+21"),
            (json!(true), "true"),
            (json!(["x", "y", null, ["z"]]), "x,y,,z"),
            (json!([]), ""),
            (json!({"a": 1}), "[object Object]"),
        ];
        for (value, want) in cases {
            assert_eq!(string(&value), want);
        }
    }

    #[test]
    fn time_stamps_compare_like_the_collation() {
        assert_eq!(locale_compare("2000-01-01T00:00:00", "2026-11-30T07:45:00"), Ordering::Less);
        assert_eq!(locale_compare(" ", "2026"), Ordering::Less);
        assert_eq!(locale_compare("2026-11-30", "2026-11-30T07"), Ordering::Less);
        assert_eq!(locale_compare("a", "A"), Ordering::Less);
        assert_eq!(locale_compare("T1", "t0"), Ordering::Greater);
    }
}
