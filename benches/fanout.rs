//! One delta from the model to every subscriber of a server, by bus, encoding and number of subscribers, without the
//! kernel.
//!
//! What it costs with sockets is what `skewlab bench fanout` measures.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]

mod measurement;
mod stage;

use criterion::measurement::{Measurement, WallTime};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use measurement::{Heap, counts, times};
use skewlab::agent_server::profile::server::{BusKind, Encoding};
use skewlab::run::ClockKind;
use stage::Stage;

fn fanout<M: Measurement>(c: &mut Criterion<M>, unit: &str) {
    for bus in [BusKind::Shared, BusKind::OptIn, BusKind::Widened, BusKind::Split] {
        for encoding in [Encoding::PerSubscriber, Encoding::Once] {
            let mut group =
                c.benchmark_group(format!("fanout {unit}/{}/{}", bus.as_str(), encoding.as_str()));
            for subscribers in [1, 100] {
                let mut stage = Stage::new(bus, encoding, subscribers, ClockKind::Wall);
                group.throughput(Throughput::Elements(subscribers));
                group.bench_function(subscribers.to_string(), |b| {
                    b.iter_batched(Stage::chunk, |chunk| stage.token(chunk), BatchSize::SmallInput);
                });
                stage.check();
            }
            group.finish();
        }
    }
}

fn fanout_time(c: &mut Criterion<WallTime>) {
    fanout(c, "time");
}

fn fanout_allocations(c: &mut Criterion<Heap>) {
    fanout(c, "allocations");
}

fn fanout_bytes(c: &mut Criterion<Heap>) {
    fanout(c, "bytes");
}

criterion_group! { name = time; config = times(); targets = fanout_time }
criterion_group! { name = allocations; config = counts(Heap::allocations()); targets = fanout_allocations }
criterion_group! { name = bytes; config = counts(Heap::bytes()); targets = fanout_bytes }
criterion_main!(time, allocations, bytes);
