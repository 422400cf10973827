//! Three things that one bench can measure: time, heap allocations, and bytes asked of the heap, each of the thread that
//! runs it.

#![expect(clippy::cast_precision_loss, reason = "counts of one bench are far below 2^52")]

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, Throughput};
use skewlab::probe::Allocations;

/// Heap allocations of this thread.
pub(crate) struct AllocationCount;

/// Bytes that this thread asked of the heap.
pub(crate) struct AllocatedBytes;

macro_rules! exact {
    ($name:ident, $of:ident, $unit:literal) => {
        impl Measurement for $name {
            type Intermediate = Allocations;
            type Value = u64;

            fn start(&self) -> Allocations {
                Allocations::here()
            }

            fn end(&self, before: Allocations) -> u64 {
                Allocations::here().since(&before).$of
            }

            fn add(&self, a: &u64, b: &u64) -> u64 {
                a + b
            }

            fn zero(&self) -> u64 {
                0
            }

            // Every sample of an exact count may be the same, and criterion divides by what lies between them.
            fn to_f64(&self, value: &u64) -> f64 {
                *value as f64
            }

            fn formatter(&self) -> &dyn ValueFormatter {
                &Plain($unit)
            }
        }
    };
}

exact!(AllocationCount, count, " allocations");
exact!(AllocatedBytes, bytes, " bytes");

struct Plain(&'static str);

impl ValueFormatter for Plain {
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
        .without_plots()
}

/// An exact count needs no long look.
pub(crate) fn counts<M: Measurement>(of: M) -> Criterion<M> {
    Criterion::default()
        .with_measurement(of)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200))
        .without_plots()
}
