//! JSON as the two kinds of client read it: Python's `json.loads` and a JavaScript `JSON.parse` differ from
//! the standard and from each other at the edges, and a released client cannot be edited to agree.
//!
//! Ordinary texts go through `serde_json`. What it refuses, and what it would read too generously, is read
//! again by `exact`, token by token, the way the client does.

mod exact;

use serde_json::Value;

/// Nesting that skewlab follows; what is deeper counts as too deep. Python 3.13 goes on to 9998 levels and
/// 3.12 to 1497, a browser far beyond; frames of either subject stay under ten. The bound keeps a [`Value`]
/// safe to clone, compare, print and drop on a thread with 2 MiB of stack, in an unoptimised build too (where
/// a clone ends at about 900 levels).
pub const MAX_DEPTH: usize = 512;

/// Stands for a lone surrogate (`"\ud83d"`), which both parsers accept and Rust strings cannot hold.
pub const LONE_SURROGATE: char = '\u{fdd0}';

/// Stands for `NaN`, which Python accepts and a [`Value`] cannot hold. Like the two below it is a finite
/// float that nobody sends.
pub const NAN: f64 = 1.797_693_134_862_315_3e308;

/// Stands for an infinity, written so or as `1e999`; its negative stands for the other one.
pub const INFINITY: f64 = f64::MAX;

/// Stands for a whole number beyond the largest float; its negative for those below the least.
pub const HUGE_INT: f64 = 1.797_693_134_862_315e308;

/// Digits of a whole number that Python converts (`sys.get_int_max_str_digits`, since 3.11); one more is a
/// plain `ValueError` wherever it stands.
pub const MAX_INT_DIGITS: usize = 4300;

/// Whose reading of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// `json.loads` of Python: takes `NaN` and `Infinity`.
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
    /// A whole number of more than [`MAX_INT_DIGITS`] digits; Python only.
    #[error("a whole number of more than {MAX_INT_DIGITS} digits")]
    IntTooLong,
}

/// Reads `text` the way `reader` does. Of a repeated key the last value counts, as in both.
pub fn parse(text: &str, reader: Reader) -> Result<Value, JsonFault> {
    // The library refuses more than 128 levels, so its recursion needs no further guard.
    match serde_json::from_str(text) {
        Ok(value) if reader == Reader::JavaScript || !may_hold_a_long_int(text) => Ok(value),
        _ => exact::parse(text, reader),
    }
}

fn may_hold_a_long_int(text: &str) -> bool {
    text.len() > MAX_INT_DIGITS
        && text.as_bytes().split(|b| !b.is_ascii_digit()).any(|run| run.len() > MAX_INT_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn python_takes_nan_and_javascript_does_not() {
        let read = parse(r#"{"a":NaN,"b":-Infinity,"c":1e999}"#, Reader::Python).unwrap();
        assert_eq!(read, json!({"a": NAN, "b": -INFINITY, "c": INFINITY}));
        assert!(parse(r#"{"a":NaN}"#, Reader::JavaScript).is_err());
        assert!(parse(r#"{"a":1e999}"#, Reader::JavaScript).is_ok());
        assert!(parse(r#""NaN \" Infinity""#, Reader::Python).is_ok());
        for bad in ["-NaN", "1NaN", "NaNNaN", "-Infinityx", "nan", "+1"] {
            assert!(parse(&format!("[{bad}]"), Reader::Python).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_stand_ins_differ() {
        let floats = [NAN, INFINITY, HUGE_INT, 1e308];
        for (i, a) in floats.iter().enumerate() {
            assert!(floats[i + 1..].iter().all(|b| a.to_bits() != b.to_bits()));
        }
    }

    #[test]
    fn both_take_lone_surrogates_and_pairs() {
        for reader in [Reader::Python, Reader::JavaScript] {
            assert_eq!(parse(r#""a\ud83d""#, reader).unwrap(), json!("a\u{fdd0}"));
            assert_eq!(parse(r#""\ud83d\ude00""#, reader).unwrap(), json!("😀"));
            assert_eq!(parse(r#""\ud83d\ud83d\ude00\n""#, reader).unwrap(), json!("\u{fdd0}😀\n"));
            assert_eq!(parse(r#""\\ud83d""#, reader).unwrap(), json!("\\ud83d"));
            assert_eq!(parse(r#"{"\ude00":1}"#, reader).unwrap(), json!({"\u{fdd0}": 1}));
            assert!(parse(r#""\ud83d\u""#, reader).is_err());
        }
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        assert_eq!(parse(r#"{"a":1,"a":2}"#, Reader::Python).unwrap(), json!({"a": 2}));
        assert_eq!(parse(r#"{"a":1,"b":NaN,"a":2}"#, Reader::Python).unwrap()["a"], json!(2));
    }

    #[test]
    fn python_converts_whole_numbers_of_so_many_digits() {
        let of = |digits: usize| "1".repeat(digits);
        assert_eq!(parse(&of(MAX_INT_DIGITS), Reader::Python).unwrap(), json!(HUGE_INT));
        assert_eq!(parse(&format!("-{}", of(400)), Reader::Python).unwrap(), json!(-HUGE_INT));
        for text in
            [of(4301), format!("-{}", of(4301)), format!("[{},x", of(4301)), format!("{}.]", of(4301))]
        {
            assert_eq!(parse(&text, Reader::Python), Err(JsonFault::IntTooLong));
        }
        assert!(matches!(parse(&format!("[x,{}]", of(4301)), Reader::Python), Err(JsonFault::Invalid(_))));
        for fine in [format!("{}.0", of(5000)), format!("{}e5", of(5000)), format!("\"{}\"", of(5000))] {
            assert!(parse(&fine, Reader::Python).is_ok());
        }
        assert!(parse(&of(5000), Reader::JavaScript).is_ok());
    }

    #[test]
    fn the_first_fault_in_the_text_counts() {
        let deep = "[".repeat(MAX_DEPTH + 1);
        assert_eq!(parse(&format!("{deep}x"), Reader::Python), Err(JsonFault::TooDeep));
        assert!(matches!(parse(&format!("{{x{deep}"), Reader::Python), Err(JsonFault::Invalid(_))));
    }

    #[test]
    fn the_deepest_values_fit_a_stack_of_two_mebibytes() {
        let run = || {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let deep = |n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
                let value = parse(&deep(MAX_DEPTH), Reader::Python).unwrap();
                assert_eq!(value.clone().to_string(), deep(MAX_DEPTH));
                assert_eq!(value, value.clone());
                assert_eq!(parse(&deep(1 << 20), Reader::Python), Err(JsonFault::TooDeep));
            }
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
        assert!(parse(&format!("\"{}\"", "[".repeat(MAX_DEPTH + 1)), Reader::Python).is_ok());
    }

    #[test]
    fn garbage_names_the_place() {
        let bad = [
            "",
            " ",
            "not json{",
            "{} x",
            "\u{feff}{}",
            "{'a':1}",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "[",
            "\"",
            "01",
            "1.",
            ".5",
            "-",
            "1e",
            "[nul]",
            "\u{a0}1",
            "\"\u{1}\"",
            "\"a\nb\"",
            "\"\\x\"",
            "\"\\u+041\"",
        ];
        for bad in bad {
            for reader in [Reader::Python, Reader::JavaScript] {
                assert!(matches!(parse(bad, reader), Err(JsonFault::Invalid(_))), "{bad:?}");
            }
        }
        let fault = parse("{\"a\":\n tru}", Reader::Python).unwrap_err();
        assert_eq!(fault.to_string(), "not JSON: expected a value at line 2 column 2");
    }

    #[test]
    fn what_the_library_takes_the_exact_reader_takes_alike() {
        let texts = [
            r#" {"a" : [1, -2.5e3, true, false, null, "x\n\/A"], "b" : {}, "c":[]} "#,
            "18446744073709551615",
            "-9223372036854775808",
            "99999999999999999999",
            "1e-999",
            "\"é😀\u{7f}\u{2028}\"",
        ];
        for text in texts {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(exact::parse(text, Reader::Python), Ok(value), "{text}");
        }
    }

    proptest::proptest! {
        /// Texts made of tokens, most of them broken: the exact reader takes what the library takes, with the
        /// same result, and stands the rest.
        #[test]
        fn both_readers_agree_on_json(tokens in proptest::collection::vec(0_usize..TOKENS.len(), 0..9)) {
            let text: String = tokens.into_iter().map(|t| TOKENS[t]).collect();
            let exact = exact::parse(&text, Reader::JavaScript);
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                proptest::prop_assert_eq!(exact, Ok(value), "{}", text);
            }
        }
    }

    const TOKENS: [&str; 20] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\"a\"",
        "\"é\\n\\u0041\"",
        "1",
        "-",
        "0",
        ".5",
        "e+2",
        "true",
        "null",
        "\"",
        "\\",
        "{\"k\":",
        "\"\\ud83d\\ude00\"",
    ];
}
