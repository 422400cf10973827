//! Whether a cost of a known size is found: `cargo bench --bench against`.
//!
//! A server against itself, and against itself with CPU burnt on every delta: so much that a token costs about a tenth more,
//! and so much that it costs twice as much. Blocks in turn, as in `skewlab bench fanout --against-server`, and the same
//! statistics. Nothing here gates: times are of this machine. The counts of the same mutants are held exactly in
//! `tests/integration/injected.rs`.

#![expect(clippy::expect_used, reason = "a bench that cannot run says so by ending")]

use std::sync::atomic::AtomicBool;

use skewlab::agent_server::profile::Catalogue;
use skewlab::record::bench::Settings;
use skewlab::record::interleaved::Interleaved;
use skewlab::report::interleaved_table;
use skewlab::run::fanout::{Options, Subject};
use skewlab::suite::against::{Question, servers};

/// The server: one without a heartbeat, so that no count depends on time.
const SERVER: &str = "1.44.1";
const SUBSCRIBERS: u32 = 10;
/// Rounds of the first probe, from which the price of a round follows.
const PROBE: u32 = 100_000;

fn main() {
    // `cargo test --benches` builds and starts it; only `cargo bench` asks for the work.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let probe = against(PROBE, 5);
    let (base, head) = medians(&probe);
    let round = (head - base) / f64::from(PROBE);
    println!("a token costs {:.1} µs, a round {round:.2} ns\n", base / 1e3);
    for more in [0.0, 0.1, 1.0] {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let rounds = (base * more / round).round() as u32;
        let mut out = Vec::new();
        interleaved_table(&against(rounds, 15), &mut out).expect("a table is written into memory");
        println!("injected: {:.0} %, {rounds} rounds\n{}", more * 100.0, String::from_utf8_lossy(&out));
    }
}

/// The server, held against itself with so many rounds burnt on every delta.
fn against(burn: u32, repeats: u32) -> Interleaved {
    let catalogue = Catalogue::embedded().expect("the shipped profiles are read");
    let subject = |place: &str, burn: u32| {
        let mut profile = catalogue.server(SERVER).expect("a shipped server");
        profile.traits.mutant.burn = burn;
        Subject { bus: place.to_owned(), ..Subject::server(profile) }
    };
    let settings = Settings {
        server: SERVER.to_owned(),
        subscribers: vec![SUBSCRIBERS],
        tokens: 2_000,
        payload_bytes: 16,
        batch: 1,
        rate: None,
        repeats,
        stalled: 0,
        seed: 1,
    };
    let subjects = vec![subject("base", 0), subject("head", burn)];
    let options = Options { subjects, settings, reference: false, unhealthy: Vec::new(), mutant: None };
    let question = Question {
        base: SERVER.to_owned(),
        head: format!("{SERVER} with {burn} rounds"),
        smallest_effect: 0.05,
        seed: 1,
    };
    servers(&question, &options, &AtomicBool::new(false), &|_| {}).expect("it is measured")
}

/// The median cost of a token on either side, ns.
fn medians(of: &Interleaved) -> (f64, f64) {
    let median = |blocks: &[f64]| {
        let mut sorted = blocks.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    };
    let first = of.points.first().map(|point| &point.first);
    first.map_or((0.0, 0.0), |series| (median(&series.base_ns), median(&series.head_ns)))
}
