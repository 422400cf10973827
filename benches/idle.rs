//! Forty virtual minutes of text to four clients: the target is 100 ms.

#![expect(clippy::expect_used, reason = "a bench has nobody to report an error to")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use skewlab::agent_server::profile::Catalogue;
use skewlab::run::{IdlePlan, watch_idle};
use skewlab::seed::Seed;

/// One token a second, the default of `skewlab idle`.
const MINUTES: u64 = 40;

fn forty_minutes(c: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded profiles read");
    let name = "python-1.58.2";
    let client = catalogue.client(name).expect("an embedded profile resolves");
    let plan = IdlePlan {
        rate: 1.0,
        duration: Duration::from_mins(MINUTES),
        reap_after: Duration::from_mins(20),
        warm_up: 0,
        clients: vec![(name.to_owned(), client); 4],
        seed: Seed(1),
    };
    let mut group = c.benchmark_group("idle");
    // A stream takes too long for samples that grow.
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(MINUTES * 60));
    for server in ["1.43.1", "1.44.1", "1.58.2"] {
        let profile = catalogue.server(server).expect("an embedded profile resolves");
        // A bench of a stream that nobody got would look fast.
        let once = watch_idle(server, &profile, &plan).expect("the stream ends");
        assert!(once.clients.iter().all(|c| c.delivered == MINUTES * 60), "{server}: {:?}", once.clients);
        group.bench_function(format!("40 minutes to 4 clients/{server}"), |b| {
            b.iter(|| watch_idle(server, black_box(&profile), &plan).expect("the stream ends"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = forty_minutes
}
criterion_main!(benches);
