//! Three things that one bench can measure: time, heap allocations, and bytes asked of the heap, each of the thread that
//! runs it.

#![expect(clippy::cast_precision_loss, reason = "counts of one bench are far below 2^52")]

use std::cell::Cell;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, Throughput};
use skewlab::probe::Allocations;

/// An exact count of what this thread asked of the heap. Criterion writes `time:` before every estimate; the unit behind
/// the figure says what it is.
pub(crate) struct Heap {
    of: fn(Allocations) -> u64,
    unit: Unit,
    samples: Cell<u8>,
}

impl Heap {
    /// The number of allocations.
    pub(crate) fn allocations() -> Heap {
        Heap { of: |made| made.count, unit: Unit("allocations"), samples: Cell::new(0) }
    }

    /// The bytes asked for.
    pub(crate) fn bytes() -> Heap {
        Heap { of: |made| made.bytes, unit: Unit("bytes"), samples: Cell::new(0) }
    }
}

impl Measurement for Heap {
    type Intermediate = Allocations;
    type Value = u64;

    fn start(&self) -> Allocations {
        Allocations::here()
    }

    fn end(&self, before: Allocations) -> u64 {
        (self.of)(Allocations::here().since(&before))
    }

    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }

    fn zero(&self) -> u64 {
        0
    }

    /// The count of one sample, and up to nine billionths of it.
    ///
    /// Criterion asks whether two runs differ by dividing by what lies between the samples of each. Between exact counts
    /// lies nothing: it then prints `p = NaN`, and *no change* for a count that doubled. The billionths repeat every ten
    /// samples, so equal counts stay equal, and they are behind the last digit that is printed.
    fn to_f64(&self, value: &u64) -> f64 {
        let sample = self.samples.get();
        self.samples.set((sample + 1) % SAMPLES);
        *value as f64 * (1.0 + 1e-9 * f64::from(sample))
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &self.unit
    }
}

struct Unit(&'static str);

impl ValueFormatter for Unit {
    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        self.0
    }

    fn scale_throughputs(&self, _typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        if let Throughput::Elements(n) = throughput {
            for value in values.iter_mut() {
                *value /= *n as f64;
            }
        }
        self.0
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        self.0
    }
}

/// Long enough to say something, short enough to be run.
pub(crate) fn times() -> Criterion {
    Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .nresamples(10_000)
        .without_plots()
}

/// Samples of an exact count: what criterion takes at least.
const SAMPLES: u8 = 10;

/// An exact count needs no long look, and little of it is noise: only what does not fall to every iteration, such as a
/// buffer that grows now and then.
pub(crate) fn counts(of: Heap) -> Criterion<Heap> {
    Criterion::default()
        .with_measurement(of)
        .sample_size(SAMPLES.into())
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200))
        .nresamples(10_000)
        .noise_threshold(1e-4)
        .without_plots()
}
