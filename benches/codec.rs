//! What a frame costs the server that encodes it, by dialect, and each client that decodes it: time, heap allocations,
//! and bytes asked of the heap.
//!
//! The encoding is what every event goes through. What the legacy socket adds to it for a delta (the fields that the
//! era's delta has, and the scenario's mutation) is in `fanout`.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]

mod frames;
mod measurement;

use std::hint::black_box;

use criterion::measurement::{Measurement, WallTime};
use criterion::{BatchSize, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use frames::{DELTA, Reader, delta, message, on_session_socket, session_delta};
use measurement::{Heap, counts, times};
use skewlab::agent_server::profile::Catalogue;
use skewlab::wire::{Dialect, Event};

/// Clients that show no delta of any server: one does not stream, and two have no class for it any more.
const SHOW_NO_DELTA: [&str; 3] = ["browser-1.0.0-alpha.10", "python-1.43.1+AB", "python-1.58.2+AB"];

fn event<M: Measurement>(group: &mut BenchmarkGroup<'_, M>, name: &str, event: &Event, dialect: Dialect) {
    group.bench_function(name, |b| b.iter(|| black_box(event).encode(black_box(dialect))));
}

/// From an event to the text of its frame. A release stands for its era's dialect.
fn encode<M: Measurement>(c: &mut Criterion<M>, unit: &str) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let wire = |release| catalogue.server(release).expect("an embedded profile resolves").traits.wire;
    let (kept, stripped, current) = (wire("1.31.1"), wire("1.36.1"), wire("1.58.2"));
    // What makes a dialect, so that none is measured twice under two names.
    assert_eq!(delta().encode(current), DELTA);
    assert!(delta().encode(kept).contains(r#""parent_id":null,"content":"Hel","reasoning_content":null"#));
    assert!(!message().encode(stripped).contains("parent_id"));
    assert!(message().encode(current).contains("parent_id") && !message().encode(current).contains("null"));
    assert!(message().encode(current.webhook()).contains("null"));
    assert!(session_delta().encode().contains(r#""type":"delta""#));

    let mut group = c.benchmark_group(format!("encode {unit}"));
    event(&mut group, "delta/nulls kept (1.31.1)", &delta(), kept);
    event(&mut group, "delta/stripped (1.36.1)", &delta(), stripped);
    event(&mut group, "delta/current (1.58.2)", &delta(), current);
    event(&mut group, "delta/webhook (1.58.2)", &delta(), current.webhook());
    let session = session_delta();
    group.bench_function("delta/session (1.58.2)", |b| b.iter(|| black_box(&session).encode()));
    event(&mut group, "message/nulls kept (1.31.1)", &message(), kept);
    event(&mut group, "message/stripped (1.36.1)", &message(), stripped);
    event(&mut group, "message/current (1.58.2)", &message(), current);
    event(&mut group, "message/webhook (1.58.2)", &message(), current.webhook());
    group.finish();
}

/// From the text of one delta to the application, on a client that has just connected.
fn decode<M: Measurement>(c: &mut Criterion<M>, unit: &str) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let session = session_delta().encode();
    let mut group = c.benchmark_group(format!("decode {unit}"));
    for about in catalogue.clients().abouts() {
        let name = about.name.as_str();
        let frame = if on_session_socket(name) { session.as_str() } else { DELTA };
        let fresh = || Reader::new(&catalogue, name);
        // A bench of a frame that went nowhere would look fast.
        let got = fresh().read(frame).got();
        if SHOW_NO_DELTA.contains(&name) {
            assert_eq!(got, "", "{name} shows deltas now: bench it");
            continue;
        }
        assert_eq!(got, "Hel", "{name}");
        group.bench_function(name, |b| {
            b.iter_batched(fresh, |reader| reader.read(black_box(frame)), BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn codec_time(c: &mut Criterion<WallTime>) {
    encode(c, "time");
    decode(c, "time");
}

fn codec_allocations(c: &mut Criterion<Heap>) {
    encode(c, "allocations");
    decode(c, "allocations");
}

fn codec_bytes(c: &mut Criterion<Heap>) {
    encode(c, "bytes");
    decode(c, "bytes");
}

criterion_group! { name = time; config = times(); targets = codec_time }
criterion_group! { name = allocations; config = counts(Heap::allocations()); targets = codec_allocations }
criterion_group! { name = bytes; config = counts(Heap::bytes()); targets = codec_bytes }
criterion_main!(time, allocations, bytes);
