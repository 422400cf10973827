//! Intervals in JSON, which has no infinity: `serde_json` writes an end without a bound as `null`, and reads no number
//! back from that.

use serde::{Deserialize, Deserializer};

/// An interval as JSON has it.
pub(super) type Ends = [Option<f64>; 2];

/// For `deserialize_with`: `null` is no bound, below or above.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
    let [lo, hi] = Ends::deserialize(from)?;
    Ok([lo.unwrap_or(f64::NEG_INFINITY), hi.unwrap_or(f64::INFINITY)])
}

#[cfg(test)]
mod tests {
    use crate::record::bench::Line;

    #[test]
    fn an_interval_without_bounds_is_read_back() {
        for b_ci in [[1.5, 2.5], [0.0, f64::INFINITY], [f64::NEG_INFINITY, f64::INFINITY]] {
            let line = Line { a: 1.0, b: 2.0, b_ci };
            let text = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{text}");
        }
        let line = Line { b_ci: [0.0, f64::INFINITY], ..Line::default() };
        assert!(serde_json::to_string(&line).unwrap().contains(r#""b_ci":[0.0,null]"#));
    }
}
