//! What a frame costs each client, and what a whole cell costs on the virtual clock.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use skewlab::agent_server::client::{Client, Incoming};
use skewlab::agent_server::profile::Catalogue;
use skewlab::probe::ClientTrace;
use skewlab::run::{ClockKind, Parties, run_cell};
use skewlab::scenario::{Scenario, Selection, expand};
use skewlab::seed::Seed;

/// A plain delta as 1.58.2 writes it.
const LEGACY: &str = r#"{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-30T07:45:00.123456","source":"agent","content":"Hel","kind":"StreamingDeltaEvent"}"#;
const STARTED: &str =
    r#"{"type":"item_started","item_id":"00000000-0000-4000-8000-000000000011","attempt":1}"#;
const SESSION: &str = r#"{"type":"delta","item_id":"00000000-0000-4000-8000-000000000011","attempt":1,"order":0,"kind":"text","content":"Hel"}"#;

/// From the text of one delta to the application, on a client that has just connected.
fn decode(c: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Elements(1));
    for about in catalogue.clients().abouts() {
        let choice = catalogue.client(&about.name).expect("an embedded profile resolves");
        let (opening, delta) = match about.name.as_str() {
            "browser-session" => (Some(STARTED), SESSION),
            _ => (None, LEGACY),
        };
        let fresh = || {
            let mut client = Client::new(&choice.profile, None).expect("an embedded profile has a client");
            let mut trace = ClientTrace::default();
            if let Some(opening) = opening {
                client.receive(Incoming::Text(opening), &mut trace);
            }
            (client, trace)
        };
        let one = |(mut client, mut trace): (Client, ClientTrace)| {
            client.receive(Incoming::Text(black_box(delta)), &mut trace);
            client.tick(&mut trace);
            (client, trace)
        };
        // A bench of a frame that went nowhere would look fast.
        let shows = !about.name.ends_with("+AB") && about.name != "browser-1.0.0-alpha.10";
        assert_eq!(one(fresh()).1.delivered.len(), usize::from(shows), "{}", about.name);
        group.bench_function(&about.name, |b| b.iter_batched(fresh, one, BatchSize::SmallInput));
    }
    group.finish();
}

/// Server, socket, client and ledger of one turn of `release-skew`.
fn cell(c: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let scenario = Scenario::load("release-skew", &catalogue).expect("the shipped scenario reads");
    let mut group = c.benchmark_group("cell");
    for client in ["python-1.58.2", "browser-1.20.0", "browser-session"] {
        let selection =
            Selection { servers: vec!["1.58.2".into()], clients: vec![client.into()], only: None };
        let cells = expand(&scenario, &catalogue, &selection).expect("the selection names profiles");
        let parties = Parties::of(&cells, &catalogue).expect("the profiles resolve");
        group.throughput(Throughput::Elements(cells[0].workload.tokens.len() as u64));
        group.bench_function(format!("1.58.2/{client}"), |b| {
            b.iter(|| {
                run_cell(black_box(&cells[0]), &parties, ClockKind::Virtual, Seed(1)).expect("the cell runs")
            });
        });
    }
    group.finish();
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
    targets = decode, cell
}
criterion_main!(benches);
