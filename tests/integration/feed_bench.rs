//! `skewlab bench feed`: counts are exact, whatever the clocks say.

use skewlab::record::feed_bench::{FEED_BENCH_SCHEMA, FeedBench};

use crate::runs::{ended, skewlab};

const CHUNKS: f64 = 200.0;

fn bench(more: &[&str]) -> FeedBench {
    let mut args = vec!["bench", "feed", "--chunks", "200", "--repeats", "2", "--format", "json"];
    args.extend(more);
    let (code, out, err) = ended(&mut skewlab(&args));
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[expect(
    clippy::float_cmp,
    reason = "quotients of the same whole numbers are the same to the last bit, or wrong"
)]
#[test]
fn counts_are_those_of_the_claims() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("feed.json");
    let bench = bench(&["--listeners", "2,0", "--store", "memory", "--out", file.to_str().unwrap()]);
    assert_eq!((bench.schema.as_str(), bench.complete, bench.points.len()), (FEED_BENCH_SCHEMA, true, 8));
    let kept: FeedBench = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept, bench);
    let of = |variant: &str, listeners: u32| {
        let point = bench.points.iter().find(|p| p.variant == variant && p.listeners == listeners);
        point.unwrap_or_else(|| panic!("{variant} {listeners}")).per_chunk
    };
    // Beside its chunks a session has six events: two of the turn, two of the step, the person's and the model's message.
    let events = CHUNKS + 6.0;
    for listeners in [0, 2] {
        let n = f64::from(listeners);
        let (mirrored, removed) = (of("mirrored", listeners), of("mirror-removed", listeners));
        assert_eq!(mirrored.dispatches, (events + CHUNKS) / CHUNKS);
        assert_eq!(removed.dispatches, events / CHUNKS);
        // The store listens too; the mirror had one listener.
        assert_eq!(mirrored.callbacks, ((n + 1.0) * events + CHUNKS) / CHUNKS);
        assert_eq!(removed.callbacks, (n + 1.0) * events / CHUNKS);
        assert_eq!(mirrored.bytes, removed.bytes, "a mirror costs nothing on disk");
        assert!(of("transient-only", listeners).bytes < removed.bytes / 10.0);
        // Start and end frames are two dispatches more.
        assert_eq!(of("embedded", listeners).dispatches, (6.0 + CHUNKS + 2.0) / CHUNKS);
    }
}

#[test]
fn the_policy_decides_how_often_the_disk_is_asked() {
    let fsyncs = |policy: &str| {
        let of =
            bench(&["--listeners", "0", "--variant", "mirror-removed", "--policy", policy, "--rate", "50"]);
        of.points[0].per_chunk.fsyncs * CHUNKS
    };
    let (turn_end, window, every) = (fsyncs("turn-end"), fsyncs("window-200ms"), fsyncs("every-event"));
    assert!((turn_end - 1.0).abs() < 1e-6 && (every - 206.0).abs() < 1e-6, "{turn_end} {every}");
    // Four seconds of streaming are about twenty windows.
    assert!((18.0..=22.0).contains(&window), "{window}");
}

#[test]
fn wrong_words_are_named_with_what_there_is() {
    for (args, said) in [
        (["--variant", "mirored"], "mirrored, mirror-removed"),
        (["--policy", "window"], "window-200ms"),
        (["--rate", "0"], "a number from 0.001"),
    ] {
        let (code, _, stderr) = ended(skewlab(&["bench", "feed", "--chunks", "5"]).args(args));
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}
