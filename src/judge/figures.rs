//! Exact counts against what the scenario says of them.

use crate::record::{FigureLimit, Figures};

/// Every limit that does not hold, with what was counted and what was expected. A figure that was not counted is a miss:
/// silence is no zero.
pub(super) fn missed<'a>(
    counted: &'a Figures,
    limits: &'a [FigureLimit],
) -> impl Iterator<Item = String> + 'a {
    limits.iter().filter(|limit| !limit.holds(counted)).map(|limit| {
        let is = match counted.get(&limit.figure) {
            Some(n) => format!("is {n}"),
            None => "was not counted".to_owned(),
        };
        let value = match limit.value {
            None => "a value that was not counted".to_owned(),
            Some(v) if v < 0.0 => format!("{v}, which no count can be"),
            Some(v) => v.to_string(),
        };
        let from = limit.from.as_ref().map(|from| format!(" ({from})")).unwrap_or_default();
        format!("{} {is}, expected {} {value}{from}", limit.figure.as_str(), limit.is.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Comparison, Figure};

    #[test]
    fn what_was_not_counted_is_a_miss_on_either_side() {
        let limit = |value| FigureLimit {
            figure: Figure::Dispatches,
            is: Comparison::AtMost,
            value,
            from: Some("N".to_owned()),
        };
        let said = |counted: &[(Figure, u64)], value| {
            missed(&counted.iter().copied().collect(), &[limit(value)]).collect::<Vec<_>>()
        };
        assert!(said(&[(Figure::Dispatches, 3)], Some(3.0)).is_empty(), "the healthy neighbour");
        assert_eq!(said(&[], Some(3.0)), ["dispatches was not counted, expected <= 3 (N)"]);
        let below = ["dispatches is 3, expected <= -1, which no count can be (N)"];
        assert_eq!(said(&[(Figure::Dispatches, 3)], Some(-1.0)), below);
        let above = FigureLimit { is: Comparison::Above, ..limit(Some(-87.0)) };
        assert_eq!(
            missed(&[(Figure::Dispatches, 3)].into(), &[above]).count(),
            1,
            "it would hold of any count"
        );
        let unknown = ["dispatches is 3, expected <= a value that was not counted (N)"];
        assert_eq!(said(&[(Figure::Dispatches, 3)], None), unknown);
    }
}
