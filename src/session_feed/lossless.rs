//! What an append refuses: data that JSON would not give back as it was.

use serde_json::Value;

/// The largest integer that a JavaScript number holds exactly.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// Where the first value stands that would not come back, and what it is. `NaN`, infinities, cycles and sparse arrays
/// cannot be written as a [`Value`] in the first place.
pub(super) fn lossy(value: &Value) -> Option<(String, &'static str)> {
    match value {
        Value::Number(n) => {
            let beyond = n.as_u64().is_some_and(|n| n > MAX_SAFE)
                || n.as_i64().is_some_and(|n| n.unsigned_abs() > MAX_SAFE);
            if beyond {
                Some((String::new(), "an integer beyond 2^53 - 1"))
            } else {
                let negative_zero = n.as_f64().is_some_and(|n| n == 0.0 && n.is_sign_negative());
                negative_zero.then(|| (String::new(), "negative zero"))
            }
        }
        Value::Array(items) => (0..).zip(items).find_map(|(at, item)| under(&format!("[{at}]"), item)),
        Value::Object(map) => map.iter().find_map(|(key, item)| under(&format!(".{key}"), item)),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

fn under(step: &str, value: &Value) -> Option<(String, &'static str)> {
    lossy(value).map(|(path, what)| (format!("{step}{path}"), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_passes_and_what_does_not_is_named_with_its_place() {
        assert_eq!(lossy(&serde_json::json!({ "a": [1, -2.5, "x", null, 9_007_199_254_740_991_u64] })), None);
        let named = lossy(&serde_json::json!({ "a": [0, { "b": -0.0 }] })).unwrap();
        assert_eq!(named, (".a[1].b".to_owned(), "negative zero"));
        assert!(lossy(&serde_json::json!([9_007_199_254_740_992_u64])).is_some());
        assert!(lossy(&serde_json::json!(-9_007_199_254_740_992_i64)).is_some());
    }
}
