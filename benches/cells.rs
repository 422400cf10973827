//! What a whole cell costs on the virtual clock.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use skewlab::agent_server::profile::Catalogue;
use skewlab::record::Class;
use skewlab::record::observation::Piece;
use skewlab::run::{ClockKind, Parties, run_cell};
use skewlab::scenario::{Scenario, Selection, expand};
use skewlab::seed::Seed;

/// Server, socket, client and ledger of one turn of `release-skew`.
fn cell(c: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let scenario = Scenario::load("release-skew", &catalogue).expect("the shipped scenario reads");
    let mut group = c.benchmark_group("cell");
    // A cell takes too long for samples that grow.
    group.sampling_mode(SamplingMode::Flat);
    for client in ["python-1.58.2", "browser-1.20.0", "browser-session"] {
        let selection =
            Selection { servers: vec!["1.58.2".into()], clients: vec![client.into()], only: None };
        let cells = expand(&scenario, &catalogue, &selection).expect("the selection names profiles");
        let parties = Parties::of(&cells, &catalogue).expect("the profiles resolve");
        // A bench of a cell whose text got lost would look fast.
        let once = run_cell(&cells[0], &parties, ClockKind::Virtual, Seed(1)).expect("the cell runs");
        assert!(!once.is_empty(), "{client}");
        for seen in once {
            assert!(seen.completed && !seen.reply.is_empty(), "{client}");
            assert_eq!(text(&seen.delivered), seen.reply, "{client}");
        }
        group.throughput(Throughput::Elements(cells[0].workload.tokens.len() as u64));
        group.bench_function(format!("1.58.2/{client}"), |b| {
            b.iter(|| {
                run_cell(black_box(&cells[0]), &parties, ClockKind::Virtual, Seed(1)).expect("the cell runs")
            });
        });
    }
    group.finish();
}

/// A stream of forty minutes that loses its connection every two.
const LONG: &str = r#"question = "What do forty minutes with twenty reconnects cost?"
servers = ["1.58.2"]
clients = ["python-1.58.2"]
workloads = ["w"]
faults = ["f"]
[workload.w]
rate = 1
generate = { count = 2400 }
[[fault.f]]
kind = "lifetime"
every = "117s"
"#;

fn forty_minutes(c: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let scenario = Scenario::parse("long.toml", LONG, &catalogue).expect("it reads");
    let cells = expand(&scenario, &catalogue, &Selection::default()).expect("it names profiles");
    let parties = Parties::of(&cells, &catalogue).expect("the profiles resolve");
    let once = run_cell(&cells[0], &parties, ClockKind::Virtual, Seed(1)).expect("the cell runs");
    let lost = once[0].produced.len() - once[0].delivered.len();
    assert!((20..60).contains(&lost), "a second of each reconnect: {lost}");
    c.bench_function("forty minutes, twenty reconnects", |b| {
        b.iter(|| {
            run_cell(black_box(&cells[0]), &parties, ClockKind::Virtual, Seed(1)).expect("the cell runs")
        });
    });
}

fn text(pieces: &[Piece]) -> String {
    pieces.iter().filter(|p| p.class == Class::Text).map(|p| p.text.as_str()).collect()
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! {
    name = benches;
    config = short();
    targets = cell, forty_minutes
}
criterion_main!(benches);
