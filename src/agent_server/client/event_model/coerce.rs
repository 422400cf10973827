//! What pydantic takes for a string, a bool, an int or a float outside its strict mode: bools by word or by
//! number, numbers by text. Measured on 2.14.4 and the same on 2.12.5.

use serde_json::{Number, Value};

use super::problem::Problem;
use super::types::Type;
use crate::wire::json::{HUGE_INT, INFINITY, LONE_SURROGATE, MAX_INT_DIGITS, NAN};

/// What is wrong with `value` as the scalar type `ty`, if anything is.
pub(super) fn fault(ty: &Type, value: &Value) -> Option<Problem> {
    match ty {
        // A plain string is handed on unread, so a lone surrogate in it goes unnoticed.
        Type::Str if value.is_string() => None,
        Type::StrExcept(word) => match value {
            Value::String(text) if **text == **word => Some(Problem::ReservedId),
            Value::String(_) => None,
            _ => Some(Problem::StringType),
        },
        Type::LongStr(least) => match readable(value) {
            Ok(Some(text)) if text.chars().count() < *least => Some(Problem::StringTooShort),
            Ok(Some(_)) => None,
            Ok(None) => Some(Problem::StringType),
            Err(problem) => Some(problem),
        },
        Type::OneOf(words) => among(words, value, Problem::Literal),
        Type::Enum(words) => among(words, value, Problem::Enum),
        Type::Bool => bool_fault(value).err(),
        Type::Int(least) => match int(value) {
            Ok(n) if least.is_some_and(|least| n < i128::from(least)) => Some(Problem::TooSmall),
            Ok(_) => None,
            Err(problem) => Some(problem),
        },
        Type::Float(least, most) => match float(value) {
            Ok(n) if most.is_some_and(|most| n.is_nan() || n > most) => Some(Problem::TooBig),
            Ok(n) if least.is_some_and(|least| n.is_nan() || n < least) => Some(Problem::TooSmall),
            Ok(_) => None,
            Err(problem) => Some(problem),
        },
        _ => Some(Problem::StringType),
    }
}

/// A string that has to be read, which a lone surrogate prevents.
fn readable(value: &Value) -> Result<Option<&str>, Problem> {
    match value {
        Value::String(text) if text.contains(LONE_SURROGATE) => Err(Problem::StringUnicode),
        Value::String(text) => Ok(Some(text)),
        _ => Ok(None),
    }
}

fn among(words: &[Box<str>], value: &Value, otherwise: Problem) -> Option<Problem> {
    match readable(value) {
        Ok(Some(text)) if words.iter().any(|word| **word == *text) => None,
        Ok(_) => Some(otherwise),
        Err(problem) => Some(problem),
    }
}

const BOOL_WORDS: [&str; 12] = ["true", "false", "1", "0", "yes", "no", "on", "off", "y", "n", "t", "f"];

fn bool_fault(value: &Value) -> Result<(), Problem> {
    if let Some(text) = readable(value)? {
        let known = BOOL_WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
        return if known { Ok(()) } else { Err(Problem::BoolParsing) };
    }
    match value {
        Value::Bool(_) => Ok(()),
        // A number that does not fit 64 bits is no candidate; one that does has to be 0 or 1.
        Value::Number(number) => match small(number).ok_or(Problem::BoolType)? {
            0 | 1 => Ok(()),
            _ => Err(Problem::BoolParsing),
        },
        _ => Err(Problem::BoolType),
    }
}

/// A number as 64 bits, if it is whole and fits.
fn small(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < TWO_TO_63)?;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within range, by the line above")]
        let whole = float as i64;
        (!number.is_u64()).then_some(whole)
    })
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// The whole number that `value` is taken for, those beyond 128 bits cut to size.
fn int(value: &Value) -> Result<i128, Problem> {
    if let Some(text) = readable(value)? {
        return int_in(text);
    }
    match value {
        Value::Bool(b) => Ok(i128::from(*b)),
        Value::Number(number) => {
            let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
            let float = number.as_f64().unwrap_or(0.0);
            match exact {
                Some(n) => Ok(n),
                None if [NAN, INFINITY, -INFINITY].contains(&float) => Err(Problem::FiniteNumber),
                None if float.fract() != 0.0 => Err(Problem::IntFromFloat),
                #[expect(clippy::cast_possible_truncation, reason = "saturates, and only its sign counts")]
                None => Ok(float as i128),
            }
        }
        _ => Err(Problem::IntType),
    }
}

/// The whole number in a text: space around it, a sign, single underscores between digits and a fraction of
/// zeros are fine.
fn int_in(text: &str) -> Result<i128, Problem> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        Some(_) => return Err(Problem::IntParsing),
        None => text,
    };
    let groups_are_digits = whole.split('_').all(|g| !g.is_empty() && g.bytes().all(|b| b.is_ascii_digit()));
    if !groups_are_digits {
        return Err(Problem::IntParsing);
    }
    let digits = whole.trim_start_matches(['0', '_']);
    if digits.len() > MAX_INT_DIGITS {
        return Err(Problem::IntParsingSize);
    }
    let size = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0_i128, |n, digit| n.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
    Ok(if negative { -size } else { size })
}

/// The float that `value` is taken for.
fn float(value: &Value) -> Result<f64, Problem> {
    if let Some(text) = readable(value)? {
        let text = text.trim();
        let misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
        let bare: String = text.chars().filter(|c| *c != '_').collect();
        return if misplaced { None } else { bare.parse().ok() }.ok_or(Problem::FloatParsing);
    }
    match value {
        Value::Bool(b) => Ok(f64::from(u8::from(*b))),
        Value::Number(number) => match number.as_f64().unwrap_or(NAN) {
            NAN => Ok(f64::NAN),
            n if n.abs() == HUGE_INT => Err(Problem::FloatType),
            n => Ok(n),
        },
        _ => Err(Problem::FloatType),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn says(ty: &Type, value: &Value) -> &'static str {
        fault(ty, value).map_or("ok", Problem::as_pydantic)
    }

    #[test]
    fn bools_by_word_and_by_number() {
        let ok = [
            json!(true),
            json!("YES"),
            json!("tRue"),
            json!("oFF"),
            json!("0"),
            json!(1),
            json!(0.0),
            json!(-0.0),
        ];
        for value in ok {
            assert_eq!(says(&Type::Bool, &value), "ok", "{value}");
        }
        for value in [json!(" true"), json!(""), json!("1.0"), json!(2), json!(-1), json!(1e18)] {
            assert_eq!(says(&Type::Bool, &value), "bool_parsing", "{value}");
        }
        for value in [json!(null), json!(0.5), json!([]), json!(u64::MAX), json!(1e30), json!(NAN)] {
            assert_eq!(says(&Type::Bool, &value), "bool_type", "{value}");
        }
    }

    #[test]
    fn ints_by_text() {
        let ok = ["1", "+01", " 1.00\n", "\u{2003}1", "1_0.0", "0_1", "-1.0", "00.0", &"9".repeat(4300)];
        for text in ok {
            assert_eq!(says(&Type::Int(None), &json!(text)), "ok", "{text}");
        }
        for text in [
            "", "+", "--1", "+-1", "- 1", "1__0", "_1", "1_", "0x1", "1.", ".0", "1e3", "1.0_0", "١",
            "\u{1c}1",
        ] {
            assert_eq!(says(&Type::Int(None), &json!(text)), "int_parsing", "{text:?}");
        }
        assert_eq!(says(&Type::Int(None), &json!("1".repeat(4301))), "int_parsing_size");
        assert_eq!(says(&Type::Int(None), &json!(2.5)), "int_from_float");
        assert_eq!(says(&Type::Int(None), &json!(INFINITY)), "finite_number");
        assert_eq!(says(&Type::Int(None), &json!("\u{fdd0}")), "string_unicode");
        assert_eq!(says(&Type::Int(Some(0)), &json!("-1")), "greater_than_equal");
        assert_eq!(says(&Type::Int(Some(0)), &json!(-HUGE_INT)), "greater_than_equal");
    }

    #[test]
    fn floats_by_text() {
        let score = Type::Float(Some(0.0), Some(1.0));
        for text in ["0.5", " +.5 ", "1.", "1_0e-2", "0._5", "-0"] {
            assert_eq!(says(&score, &json!(text)), "ok", "{text}");
        }
        for text in ["", "x", "0x1", "_0.5", "0.5_", "0__1", "1e"] {
            assert_eq!(says(&score, &json!(text)), "float_parsing", "{text}");
        }
        for value in [json!("nan"), json!("inf"), json!("1e400"), json!("0_5"), json!(NAN), json!(INFINITY)] {
            assert_eq!(says(&score, &value), "less_than_equal", "{value}");
        }
        assert_eq!(says(&score, &json!("-inf")), "greater_than_equal");
        assert_eq!(says(&score, &json!(HUGE_INT)), "float_type");
        assert_eq!(says(&score, &json!(null)), "float_type");
    }

    #[test]
    fn strings_are_strings() {
        assert_eq!(says(&Type::Str, &json!("\u{fdd0}")), "ok");
        assert_eq!(says(&Type::Str, &json!(1)), "string_type");
        assert_eq!(says(&Type::StrExcept("__root__".into()), &json!("__root__")), "value_error");
        assert_eq!(says(&Type::LongStr(1), &json!("")), "string_too_short");
        assert_eq!(says(&Type::OneOf(["a".into()].into()), &json!("\u{fdd0}")), "string_unicode");
        assert_eq!(says(&Type::Enum(["a".into()].into()), &json!(1)), "enum");
    }
}
