//! A distribution of times, in constant memory, that can be added to another one.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::record::bench::Quantiles;

/// The longest time that keeps its own bucket: longer than any run here.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Every bucket is within a thousandth of its values.
const DIGITS: u8 = 3;

/// Times between 1 ns and an hour, to three significant digits.
///
/// All have the same bounds, so any two can be added. They start at 1 ns because tokens that come in one frame are
/// nanoseconds apart, and end at an hour because a stalled subscriber's delays belong into the figures.
/// A bucket counts to 2³² − 1, an hour at a million a second, which halves the memory: 132 KiB each, of which the
/// system hands out only the pages that are written. Keep one for what is reported, never one per subscriber.
#[derive(Debug, Clone)]
pub struct Delays {
    counts: Histogram<u32>,
    saturated: u64,
    // The histogram rounds to the bucket's edge and ends at an hour; the worst case is worth its digits.
    max_ns: u64,
}

impl Delays {
    /// An empty distribution. The only place that allocates.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "the bounds are constants, and every test here builds one"
    )]
    pub fn new() -> Delays {
        let counts =
            Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("1 ns to an hour is a valid range");
        Delays { counts, saturated: 0, max_ns: 0 }
    }

    /// Adds one time. One of more than an hour is counted as an hour, and in [`saturated`](Self::saturated).
    pub fn record(&mut self, time: Duration) {
        self.record_ns(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// [`record`](Self::record), in nanoseconds.
    pub fn record_ns(&mut self, ns: u64) {
        self.saturated += u64::from(ns > LONGEST_NS);
        self.max_ns = self.max_ns.max(ns);
        self.counts.saturating_record(ns.min(LONGEST_NS));
    }

    /// Adds all times of another distribution. In any order and grouping the sum is the same.
    pub fn merge(&mut self, other: &Delays) {
        // Bounds are the same for all, so nothing can be out of range.
        let added = self.counts.add(&other.counts);
        debug_assert!(added.is_ok(), "{added:?}");
        self.saturated += other.saturated;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Times recorded, saturated ones included.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Times of more than an hour. They count as an hour in the quantiles and with their own length in the maximum.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The smallest time that at least this share of all does not exceed, within a thousandth; zero when empty.
    pub fn at_quantile(&self, share: f64) -> Duration {
        // The edge of the last bucket lies beyond the largest value in it.
        Duration::from_nanos(self.counts.value_at_quantile(share).min(self.max_ns))
    }

    /// The figures of a report; all zero, count included, when nothing was recorded.
    pub fn quantiles(&self) -> Quantiles {
        let at = |share| self.counts.value_at_quantile(share).min(self.max_ns);
        Quantiles {
            count: self.count(),
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.max_ns,
        }
    }
}

impl Default for Delays {
    fn default() -> Delays {
        Delays::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::probe::Allocations;

    fn of(times: &[u64]) -> Delays {
        let mut all = Delays::new();
        for ns in times {
            all.record_ns(*ns);
        }
        all
    }

    #[test]
    fn quantiles_are_within_a_thousandth_and_the_maximum_is_exact() {
        let seen = of(&(1..=100_000).map(|us| us * 1000).collect::<Vec<_>>()).quantiles();
        let near = |ns: u64, wanted: u64| ns.abs_diff(wanted) * 1000 <= wanted;
        assert!(near(seen.p50_ns, 50_000_000), "{seen:?}");
        assert!(near(seen.p99_ns, 99_000_000), "{seen:?}");
        assert!(near(seen.p999_ns, 99_900_000), "{seen:?}");
        assert_eq!((seen.count, seen.max_ns), (100_000, 100_000_000));
        assert_eq!(Delays::new().quantiles(), Quantiles::default());
    }

    #[test]
    fn no_quantile_exceeds_the_maximum() {
        let seen = of(&[1_000_001]).quantiles();
        assert_eq!([seen.p50_ns, seen.p999_ns, seen.max_ns], [1_000_001; 3]);
    }

    #[test]
    fn what_is_too_long_is_counted_and_not_dropped() {
        let mut seen = of(&[0, LONGEST_NS, LONGEST_NS + 1]);
        seen.record(Duration::MAX);
        assert_eq!((seen.count(), seen.saturated()), (4, 2));
        assert_eq!(seen.quantiles().max_ns, u64::MAX);
        let edge = seen.at_quantile(0.75).as_secs_f64();
        assert!((3600.0..3603.6).contains(&edge), "{edge}");
    }

    #[test]
    fn recording_and_merging_allocate_nothing() {
        let before = Allocations::here();
        let mut seen = Delays::new();
        let built = Allocations::here().since(&before);
        assert_eq!(built.count, 1, "{built:?}");
        assert!((128 << 10..140 << 10).contains(&built.bytes), "{built:?}");
        let other = of(&[5, 500, 5_000_000]);

        let before = Allocations::here();
        for ns in [0, 1, 40_000, LONGEST_NS, u64::MAX] {
            seen.record_ns(ns);
        }
        seen.merge(&other);
        let figures = seen.quantiles();
        assert_eq!(Allocations::here().since(&before), Allocations::default());
        assert_eq!(figures.count, 8);
    }

    proptest! {
        #[test]
        fn merging_is_recording_into_one(
            left in prop::collection::vec(0..2 * LONGEST_NS, 0..60),
            right in prop::collection::vec(0..2 * LONGEST_NS, 0..60),
        ) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let mut turned = of(&right);
            turned.merge(&of(&left));
            let both = of(&[left, right].concat());
            prop_assert_eq!(merged.quantiles(), both.quantiles());
            prop_assert_eq!(turned.quantiles(), both.quantiles());
            prop_assert_eq!(merged.saturated(), both.saturated());
        }
    }
}
