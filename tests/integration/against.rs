//! `bench … --against`: blocks in turn, and what may be said of them. No clock is judged here: blocks are made up.

use std::collections::BTreeMap;

use skewlab::record::Document;
use skewlab::record::feed_bench::{FEED_BENCH_SCHEMA, FeedBench, FeedPoint, FeedSettings, PerChunk};
use skewlab::record::interleaved::{Claim, Interleaved};
use skewlab::suite::against::{AgainstError, Question, Turn, builds};

use crate::runs::{Folder, ended, skewlab};

const ROUNDS: u32 = 15;

/// One block of two points, as a build would print it.
fn block(cpu_ns: [f64; 2], bytes: f64) -> Document {
    let point = |listeners: u32, cpu_ns: f64| FeedPoint {
        variant: "mirrored".into(),
        listeners,
        per_chunk: PerChunk { bytes, ..PerChunk::default() },
        disk_bytes_per_text_byte: bytes,
        held_bytes_per_chunk: 0.0,
        cpu_ns,
        cpu_ns_blocks: vec![cpu_ns],
        fastest_s: 0.0,
    };
    Document::FeedBench(Box::new(FeedBench {
        schema: FEED_BENCH_SCHEMA.into(),
        skewlab: "0.1.0".into(),
        settings: FeedSettings {
            variants: vec!["mirrored".into()],
            listeners: vec![0, 8],
            chunks: 100,
            payload: 4,
            rate: 1.0,
            policy: "turn-end".into(),
            packed: false,
            store: "memory".into(),
            repeats: 1,
            seed: 1,
        },
        complete: true,
        points: vec![point(0, cpu_ns[0]), point(8, cpu_ns[1])],
        ratios: Vec::new(),
        noise: None,
    }))
}

fn question() -> Question {
    Question { base: "b".into(), head: "h".into(), smallest_effect: 0.05, seed: 1 }
}

/// Two builds of which HEAD takes `factor` as long at the second point; all of them slow down together.
fn measured(factor: f64, bytes: f64, mut stop_at: Option<u32>) -> Interleaved {
    let mut asked = BTreeMap::new();
    let mut nth = 0_u32;
    builds(&question(), ROUNDS, &mut |turn| {
        nth += 1;
        if stop_at.is_some_and(|at| nth > at) {
            stop_at = Some(0);
            return Ok(None);
        }
        *asked.entry(format!("{turn:?}")).or_insert(0) += 1;
        // A machine that gets slower, and a jitter of 1 % that repeats with another period.
        let cost = 1000.0 * (1.0 + f64::from(nth) / 200.0) * (1.0 + f64::from(nth * 7 % 11) / 1000.0);
        let head = turn == Turn::Head;
        let times = [cost, if head { cost * factor } else { cost }];
        Ok(Some(block(times, if head { bytes } else { 10.0 })))
    })
    .unwrap()
}

#[test]
fn a_tenth_more_is_red_after_a_second_series_and_the_same_is_not() {
    let more = measured(1.1, 10.0, None);
    let claims: Vec<Claim> = more.points.iter().map(|point| point.claim).collect();
    assert_eq!((claims, more.exit), (vec![Claim::NoClaim, Claim::Regressed], 12), "{more:?}");
    let second = more.points[1].second.as_ref().unwrap();
    assert_eq!([second.base_ns.len(), second.head_ns.len(), second.control_ns.len()], [15; 3]);
    let same = measured(1.0, 10.0, None);
    assert_eq!((same.exit, same.points.iter().all(|p| p.second.is_none())), (0, true), "{same:?}");
    let less = measured(0.8, 10.0, None);
    assert_eq!((less.exit, less.points[1].claim), (0, Claim::Improved));
}

#[test]
fn counts_gate_whatever_the_clocks_say() {
    let more = measured(1.0, 11.0, None);
    assert!(
        more.exit == 12 && more.counts.iter().any(|c| c.count == "bytes in the store" && c.gates),
        "{more:?}"
    );
    let less = measured(1.0, 9.0, None);
    assert!(less.exit == 0 && !less.counts.is_empty(), "{less:?}");
}

#[test]
fn what_was_stopped_says_nothing() {
    for stop_at in [1, 20, 50] {
        // The fiftieth block is one of the second series.
        let cut = measured(1.1, 10.0, Some(stop_at));
        assert_eq!((cut.exit, cut.complete), (13, false), "{stop_at}");
        assert!(cut.points.iter().all(|point| point.claim != Claim::Regressed), "{stop_at}: {cut:?}");
    }
}

#[test]
fn a_build_that_fails_is_an_error_and_no_result() {
    let failed = builds(&question(), ROUNDS, &mut |_| Err(AgainstError::Kind("skewlab.run/1"))).unwrap_err();
    assert!(failed.to_string().contains("skewlab.run/1"));
    let folder = Folder::new();
    let bench =
        |args: &[&str]| ended(skewlab(&["bench", "feed", "--listeners", "0", "--chunks", "50"]).args(args));
    let (code, said, errors) = bench(&["--against", &folder.arg("nowhere")]);
    assert!(code == 2 && said.is_empty() && errors.contains("no such file"), "{errors}");
    let (code, said, errors) = bench(&["--against", "/bin/false"]);
    assert!(code == 13 && said.is_empty() && errors.contains("without a result"), "{errors}");
    let (code, _, errors) = bench(&["--against", "/bin/true", "--smallest-effect", "0"]);
    assert!(code == 2 && errors.contains("per cent"), "{errors}");
}

#[test]
fn this_build_beside_itself_measures_in_turn_and_counts_the_same() {
    let own = env!("CARGO_BIN_EXE_skewlab");
    let folder = Folder::new();
    let out = folder.arg("interleaved.json");
    let options = ["--variant", "mirrored", "--listeners", "0,1", "--chunks", "50", "--store", "memory"];
    let mut command = skewlab(&["bench", "feed", "--against", own, "--repeats", "5", "--out", &out]);
    let (code, said, errors) = ended(command.args(options));
    // What the clocks said is not asked here.
    assert!([0, 12].contains(&code), "{said}{errors}");
    let result: Interleaved = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!((result.points.len(), result.counts.len(), result.complete), (2, 0, true));
    for point in &result.points {
        let first = &point.first;
        assert_eq!([first.base_ns.len(), first.head_ns.len(), first.control_ns.len()], [5; 3]);
    }
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(!text.contains(own) && !text.contains("target"), "no path in a result");
}

#[test]
fn a_server_is_measured_against_another_one() {
    let args =
        ["bench", "fanout", "--subscribers", "1", "--tokens", "20", "--repeats", "5", "--format", "json"];
    let (code, said, errors) = ended(skewlab(&args).args(["--against-server", "1.43.1"]));
    assert!([0, 12, 13].contains(&code), "{said}{errors}");
    let result: Interleaved = serde_json::from_str(&said).unwrap();
    assert_eq!((result.base.as_str(), result.head.as_str()), ("server 1.43.1", "server 1.58.2"));
    assert_eq!(result.points[0].id, "subscribers/1");
    let refused = |more: &[&str]| ended(skewlab(&args).args(more));
    let (code, _, errors) = refused(&["--against-server", "1.43.9x"]);
    assert!(code == 2 && errors.contains("1.43"), "{errors}");
    let (code, _, errors) = refused(&["--against-server", "1.43.1", "--bus", "shared"]);
    assert!(code == 2 && errors.contains("cannot be used with"), "{errors}");
}
