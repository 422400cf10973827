//! Instructions that encoding, decoding and fanning out one delta take, counted by valgrind: a figure that does not move
//! with the load of the machine.
//!
//! `cargo bench --features instructions --bench instructions`; `CONTRIBUTING.md` says what it needs. Preparing a bench
//! and dropping what it made are not counted.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]
#![expect(missing_docs, reason = "the macros of gungraun make public items")]

mod frames;
mod stage;

use std::hint::black_box;

use frames::{DELTA, Reader, delta, message, on_session_socket, session_delta};
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use skewlab::agent_server::profile::Catalogue;
use skewlab::agent_server::profile::server::{BusKind, Encoding};
use skewlab::agent_server::server::Chunk;
use skewlab::run::ClockKind;
use skewlab::wire::{Dialect, Event, SessionFrame};
use stage::Stage;

#[library_benchmark]
#[bench::delta(args = (), setup = delta)]
#[bench::message(args = (), setup = message)]
fn encode(event: Event) -> (Event, String) {
    let text = black_box(&event).encode(black_box(Dialect::CURRENT));
    (event, text)
}

#[library_benchmark]
#[bench::delta(args = (), setup = session_delta)]
fn encode_session(frame: SessionFrame) -> (SessionFrame, String) {
    let text = black_box(&frame).encode();
    (frame, text)
}

/// A client that has just connected, and the frame that it is about to read.
fn about_to_read(name: &str) -> (Reader, String) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let frame = if on_session_socket(name) { session_delta().encode() } else { DELTA.to_owned() };
    (Reader::new(&catalogue, name), frame)
}

/// A count of a frame that went nowhere would look small.
fn it_shows((reader, _): (Reader, String)) {
    assert_eq!(reader.got(), "Hel");
}

#[library_benchmark]
#[bench::python_1_58_2(args = ("python-1.58.2"), setup = about_to_read, teardown = it_shows)]
#[bench::typescript_1_39_0(args = ("typescript-1.39.0"), setup = about_to_read, teardown = it_shows)]
#[bench::browser_1_20_0(args = ("browser-1.20.0"), setup = about_to_read, teardown = it_shows)]
#[bench::browser_session(args = ("browser-session"), setup = about_to_read, teardown = it_shows)]
fn decode((reader, frame): (Reader, String)) -> (Reader, String) {
    (reader.read(black_box(&frame)), frame)
}

/// The bus of 1.44.1 to 1.58.2 with its sockets connected, and the token that comes next.
fn about_to_stream(encoding: Encoding, sockets: u64) -> (Stage, Chunk) {
    (Stage::new(BusKind::OptIn, encoding, sockets, ClockKind::Virtual), Stage::chunk())
}

/// The one that was counted reached everybody too.
#[expect(clippy::needless_pass_by_value, reason = "what a teardown gets is what the bench returned")]
fn it_arrived(stage: Stage) {
    stage.check();
}

#[library_benchmark(setup = about_to_stream, teardown = it_arrived)]
#[bench::per_subscriber_10(Encoding::PerSubscriber, 10)]
#[bench::per_subscriber_100(Encoding::PerSubscriber, 100)]
#[bench::once_10(Encoding::Once, 10)]
#[bench::once_100(Encoding::Once, 100)]
fn fanout((mut stage, chunk): (Stage, Chunk)) -> Stage {
    stage.token(black_box(chunk));
    stage
}

library_benchmark_group!(name = codec, benchmarks = [encode, encode_session, decode]);
library_benchmark_group!(name = bus, benchmarks = fanout);
main!(
    // Caches would be a guess about a machine.
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = [codec, bus]
);
