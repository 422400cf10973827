//! The reader for texts at the edge of JSON. It keeps its own stack, so that nesting costs heap only, and
//! stops at the first fault in the text, as both clients do.

use serde_json::{Map, Number, Value};

use super::{HUGE_INT, INFINITY, JsonFault, LONE_SURROGATE, MAX_DEPTH, MAX_INT_DIGITS, NAN, Reader};

/// Reads `text` token by token.
pub(super) fn parse(text: &str, reader: Reader) -> Result<Value, JsonFault> {
    let mut cursor = Cursor { text, at: 0, reader };
    let mut open: Vec<Open> = Vec::new();
    loop {
        cursor.space();
        let mut value = match cursor.peek() {
            Some(b'[') => {
                cursor.at += 1;
                cursor.space();
                if cursor.take(b']') {
                    Value::Array(Vec::new())
                } else {
                    open.push(Open::Array(Vec::new()));
                    deep_enough(open.len())?;
                    continue;
                }
            }
            Some(b'{') => {
                cursor.at += 1;
                cursor.space();
                if cursor.take(b'}') {
                    Value::Object(Map::new())
                } else {
                    open.push(Open::Object(Map::new(), cursor.key()?));
                    deep_enough(open.len())?;
                    continue;
                }
            }
            _ => cursor.scalar()?,
        };
        // Hand the value to what is open, and close all that ends here.
        loop {
            cursor.space();
            match open.pop() {
                None if cursor.at == text.len() => return Ok(value),
                None => return Err(cursor.invalid("expected the end")),
                Some(Open::Array(mut items)) => {
                    items.push(value);
                    if cursor.take(b',') {
                        open.push(Open::Array(items));
                        break;
                    }
                    cursor.expect(b']', "expected `,` or `]`")?;
                    value = Value::Array(items);
                }
                Some(Open::Object(mut map, key)) => {
                    map.insert(key, value);
                    if cursor.take(b',') {
                        cursor.space();
                        open.push(Open::Object(map, cursor.key()?));
                        break;
                    }
                    cursor.expect(b'}', "expected `,` or `}`")?;
                    value = Value::Object(map);
                }
            }
        }
    }
}

enum Open {
    Array(Vec<Value>),
    Object(Map<String, Value>, String),
}

fn deep_enough(depth: usize) -> Result<(), JsonFault> {
    if depth > MAX_DEPTH { Err(JsonFault::TooDeep) } else { Ok(()) }
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
    reader: Reader,
}

impl Cursor<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, otherwise: &str) -> Result<(), JsonFault> {
        if self.take(byte) { Ok(()) } else { Err(self.invalid(otherwise)) }
    }

    fn invalid(&self, what: &str) -> JsonFault {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        JsonFault::Invalid(format!("{what} at line {line} column {column}"))
    }

    fn key(&mut self) -> Result<String, JsonFault> {
        self.expect(b'"', "expected a quoted key")?;
        let key = self.string()?;
        self.space();
        self.expect(b':', "expected `:`")?;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<Value, JsonFault> {
        if self.take(b'"') {
            return Ok(Value::String(self.string()?));
        }
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        if self.reader == Reader::Python {
            for (word, stand_in) in [("NaN", NAN), ("Infinity", INFINITY), ("-Infinity", -INFINITY)] {
                if self.rest().starts_with(word) {
                    self.at += word.len();
                    return Ok(float(stand_in));
                }
            }
        }
        self.number()
    }

    /// The number that starts here. A fraction or exponent without digits is not part of it.
    fn number(&mut self) -> Result<Value, JsonFault> {
        let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let whole = match rest.as_bytes().get(sign) {
            Some(b'0') => 1,
            _ => digits(&rest[sign..]),
        };
        if whole == 0 {
            return Err(self.invalid("expected a value"));
        }
        let mut end = sign + whole;
        if let Some(fraction) = rest[end..].strip_prefix('.').map(digits).filter(|n| *n > 0) {
            end += 1 + fraction;
        }
        if let Some(exponent) = rest[end..].strip_prefix(['e', 'E']) {
            let signed = usize::from(exponent.starts_with(['+', '-']));
            let power = digits(&exponent[signed..]);
            end += if power > 0 { 1 + signed + power } else { 0 };
        }
        let is_int = end == sign + whole;
        if is_int && whole > MAX_INT_DIGITS && self.reader == Reader::Python {
            return Err(JsonFault::IntTooLong);
        }
        let token = &rest[..end];
        let value = serde_json::from_str(token).unwrap_or_else(|_| {
            // Beyond the largest float: the only thing that the library has against a number.
            let size = if is_int && self.reader == Reader::Python { HUGE_INT } else { INFINITY };
            float(if sign == 1 { -size } else { size })
        });
        self.at += end;
        Ok(value)
    }

    /// The rest of a string whose opening quote is behind.
    fn string(&mut self) -> Result<String, JsonFault> {
        let mut out = String::new();
        loop {
            let plain = self
                .rest()
                .bytes()
                .position(|b| b < 0x20 || b == b'"' || b == b'\\')
                .ok_or_else(|| self.invalid("unterminated string"))?;
            out.push_str(&self.rest()[..plain]);
            self.at += plain;
            if self.take(b'"') {
                return Ok(out);
            }
            if !self.take(b'\\') {
                return Err(self.invalid("control character in a string"));
            }
            out.push(self.escape()?);
        }
    }

    /// The escape whose backslash is behind.
    fn escape(&mut self) -> Result<char, JsonFault> {
        let plain = match self.peek() {
            Some(b @ (b'"' | b'\\' | b'/')) => char::from(b),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.invalid("unknown escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, JsonFault> {
        let unit = |rest: &str, prefix: &str| {
            let hex = rest.strip_prefix(prefix)?.get(..4)?;
            let all = hex.bytes().all(|b| b.is_ascii_hexdigit());
            if all { u32::from_str_radix(hex, 16).ok() } else { None }
        };
        let first = unit(self.rest(), "u").ok_or_else(|| self.invalid("escape without four hex digits"))?;
        self.at += 5;
        if (0xD800..0xDC00).contains(&first)
            && let Some(second @ 0xDC00..0xE000) = unit(self.rest(), "\\u")
        {
            self.at += 6;
            let scalar = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok(char::from_u32(scalar).unwrap_or(LONE_SURROGATE));
        }
        Ok(char::from_u32(first).unwrap_or(LONE_SURROGATE))
    }
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
