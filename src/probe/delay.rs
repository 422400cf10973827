//! Distributions of times.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::record::bench::Quantiles;

/// An hour: what is longer is recorded as that long.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// A distribution of times, three significant digits, which does not allocate once it is made.
#[derive(Debug, Clone)]
pub struct Delays(Histogram<u64>);

impl Default for Delays {
    fn default() -> Delays {
        Delays::new()
    }
}

impl Delays {
    /// An empty one.
    #[expect(clippy::expect_used, reason = "the bounds are constants that the library accepts")]
    pub fn new() -> Delays {
        Delays(Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("constant bounds"))
    }

    /// Records a time.
    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1));
    }

    /// Adds another's times.
    pub fn merge(&mut self, other: &Delays) {
        // Both have the same bounds.
        let _ = self.0.add(&other.0);
    }

    /// The figures that a result holds.
    pub fn quantiles(&self) -> Quantiles {
        if self.0.is_empty() {
            return Quantiles::default();
        }
        Quantiles {
            count: self.0.len(),
            p50_ns: self.0.value_at_quantile(0.5),
            p99_ns: self.0.value_at_quantile(0.99),
            p999_ns: self.0.value_at_quantile(0.999),
            max_ns: self.0.max(),
        }
    }
}
