//! `skewlab bench fanout` as a person drives it: exact counts, faults that must be seen, and bad input.

use std::process::Stdio;
use std::time::{Duration, Instant};

use skewlab::record::bench::{Bench, Delivery, Point};

use crate::runs::{Folder, ended, skewlab};

/// Runs a bench that takes no time; 13 is the machine's word on its own noise, and changes no count.
fn bench(args: &[&str]) -> (i32, Bench) {
    let (code, stdout, stderr) =
        ended(&mut skewlab(&[&["bench", "fanout", "--format", "json"], args].concat()));
    let bench = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}{stderr}"));
    (code, bench)
}

fn point<'a>(bench: &'a Bench, bus: &str, encoding: &str, subscribers: u32) -> &'a Point {
    let found =
        bench.points.iter().find(|p| p.bus == bus && p.encoding == encoding && p.subscribers == subscribers);
    found.unwrap_or_else(|| panic!("no point {bus}/{encoding}/{subscribers}"))
}

fn delivery<'a>(bench: &'a Bench, bus: &str) -> &'a Delivery {
    bench.delivery.iter().find(|d| d.bus == bus).unwrap()
}

fn exactly(value: f64, wanted: f64) {
    assert!((value - wanted).abs() < 1e-9, "{value}, wanted {wanted}");
}

#[test]
fn counts_are_exact_whatever_the_machine_does() {
    // A server without a heartbeat: how often that beats is a matter of time.
    let (code, bench) = bench(&[
        "--server",
        "1.44.1",
        "--subscribers",
        "0,1,10,40",
        "--tokens",
        "20",
        "--repeats",
        "2",
        "--payload",
        "30",
        "--no-reference",
    ]);
    assert!([0, 13].contains(&code), "{code}: {:?}", bench.rig);
    assert_eq!((bench.points.len(), bench.models.len(), bench.complete), (32, 8, true));
    for p in &bench.points {
        let (t, n) = (&p.per_token, f64::from(p.subscribers));
        let to_all = f64::from(u8::from(["shared", "widened"].contains(&p.bus.as_str())));
        let for_sockets = if p.encoding == "once" { n.min(1.0) } else { n };
        exactly(t.frames, n);
        // Idle clock, telemetry and webhook are called too, where the bus gives deltas to all.
        exactly(t.invocations, n + 3.0 * to_all);
        exactly(t.serialisations, for_sockets + to_all);
        exactly(t.webhook_events, to_all);
        exactly(t.telemetry, to_all);
        exactly(t.idle_writes.process, to_all);
        exactly(t.idle_writes.updated_at, to_all);
        exactly(t.idle_writes.eviction, to_all);
        exactly(t.log_lines, 0.0);
        assert!(t.cpu_ns > 0.0 && p.cpu_ns_blocks.len() == 2, "{p:?}");
    }
    // Id, timestamp, source, 30 bytes of text, kind; and a header of four bytes.
    exactly(point(&bench, "split", "once", 1).per_token.bytes_encoded, 175.0);
    exactly(point(&bench, "split", "per-subscriber", 40).per_token.bytes_encoded, 175.0 * 40.0);
    exactly(point(&bench, "split", "once", 40).per_token.wire_bytes, 179.0 * 40.0);
    for d in &bench.delivery {
        assert_eq!(
            (d.due, d.received, d.missing + d.duplicated + d.reordered),
            (u64::from(d.subscribers) * 40, d.due, 0)
        );
    }
    for m in &bench.models {
        assert!((m.bytes.b - 179.0).abs() < 1e-6 && m.bytes.a.abs() < 1e-6, "{:?}", m.bytes);
    }
    // Two blocks are no basis for a claim.
    assert!(bench.ratios.iter().all(|r| !r.claim && r.vs == "shared/per-subscriber"));
}

#[test]
fn a_delta_that_is_encoded_once_allocates_nothing_for_a_delivery() {
    let (_, bench) =
        bench(&["--subscribers", "1,20,300", "--bus", "split", "--tokens", "40", "--repeats", "3"]);
    let allocations = |encoding, n| point(&bench, "split", encoding, n).per_token.allocations;
    exactly(allocations("once", 20), allocations("once", 300));
    // The healthy neighbour of this test is the other encoding, which does allocate for each.
    assert!(allocations("per-subscriber", 300) > allocations("per-subscriber", 20) + 280.0);
    assert!(bench.ratios.iter().any(|r| r.of == "split/once" && r.vs == "raw-tcp/write"));
}

#[test]
fn a_generator_that_stands_still_is_seen_in_the_delay_and_makes_the_rig_invalid() {
    let common =
        ["--subscribers", "3", "--bus", "split", "--encoding", "once", "--no-reference", "--repeats", "1"];
    let paced = |fault: &[&str]| bench(&[&common[..], &["--rate", "100", "--tokens", "60"], fault].concat());
    for fault in ["--mutant-stall", "--mutant-closed"] {
        let (code, bench) = paced(&[fault, "250"]);
        let delay = delivery(&bench, "split").delay;
        assert_eq!((code, bench.rig.valid), (13, false), "{fault}: {:?}", bench.rig);
        // On a machine with a single core that is what is wrong first.
        let reason = bench.rig.reason.as_ref().unwrap();
        assert!(reason.contains("generator") || bench.rig.cores < 2, "{reason}");
        assert!(bench.rig.generator_lag.unwrap().p99_ns >= 240_000_000, "{:?}", bench.rig.generator_lag);
        assert!(delay.p99_ns >= 240_000_000, "{fault}: {delay:?}");
    }
    let (_, healthy) = paced(&[]);
    assert!(delivery(&healthy, "split").delay.p50_ns < 100_000_000, "{:?}", healthy.delivery);
}

#[test]
fn a_rate_that_cannot_be_held_is_said_and_not_waited_for() {
    let began = Instant::now();
    let (code, bench) = bench(&[
        "--rate",
        "1000000",
        "--tokens",
        "1000000",
        "--subscribers",
        "50",
        "--bus",
        "split",
        "--encoding",
        "once",
        "--repeats",
        "5",
        "--no-reference",
    ]);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert_eq!((code, bench.rig.valid, bench.complete), (13, false, false));
    assert!(bench.rig.reason.as_ref().unwrap().contains("could not be held"), "{:?}", bench.rig.reason);
}

#[test]
fn frames_that_a_server_withholds_are_missed_without_a_total() {
    let folder = Folder::new();
    folder.profile("servers", "1.58.2+drop", "1.58.2", "[mutant]\ndrop_every = 10");
    let profiles = folder.arg("");
    let (code, bench) = bench(&[
        "--profiles",
        &profiles,
        "--server",
        "1.58.2+drop",
        "--bus",
        "split",
        "--encoding",
        "once",
        "--subscribers",
        "4",
        "--tokens",
        "105",
        "--repeats",
        "1",
        "--no-reference",
    ]);
    let seen = delivery(&bench, "split");
    assert_eq!((seen.due, seen.due - seen.received), (420, 40), "{seen:?}");
    assert_eq!(seen.missing, 40, "the numbers alone say so");
    assert!([10, 13].contains(&code), "{code}");
}

#[test]
fn a_chunk_with_other_text_is_seen_even_as_the_last_of_its_block() {
    let folder = Folder::new();
    // Warm-up and blocks are of twenty chunks, so it is always the last one, and no number after it shows a hole.
    folder.profile("servers", "1.58.2+alter", "1.58.2", "[mutant]\nalter_every = 20");
    let profiles = folder.arg("");
    let judged = |server| {
        let of_it = ["--bus", "split", "--encoding", "once", "--subscribers", "3", "--tokens", "20"];
        let rest = ["--repeats", "2", "--no-reference", "--profiles", &profiles, "--server", server];
        let (code, bench) = bench(&[&of_it[..], &rest].concat());
        let seen = delivery(&bench, "split");
        assert_eq!((seen.due, seen.received), (120, 120), "{seen:?}");
        (code, seen.whole())
    };
    let (code, whole) = judged("1.58.2+alter");
    assert!([10, 13].contains(&code) && !whole, "{code}");
    let (code, whole) = judged("1.58.2");
    assert!([0, 13].contains(&code) && whole, "{code}");
}

#[test]
fn text_that_is_longer_than_asked_for_is_not_called_overhead() {
    let of_it = ["--bus", "split", "--encoding", "once", "--subscribers", "1", "--tokens", "10"];
    let (_, bench) = bench(&[&of_it[..], &["--payload", "1", "--repeats", "1", "--no-reference"]].concat());
    let token = &point(&bench, "split", "once", 1).per_token;
    // `tok10 ` to `tok19 `: six bytes, however few were asked for.
    exactly(token.wire_bytes_per_text_byte.unwrap(), token.wire_bytes / 6.0);
}

#[test]
fn a_subscriber_that_never_reads_slows_nobody() {
    let (code, bench) = bench(&[
        "--stalled",
        "2",
        "--subscribers",
        "5",
        "--bus",
        "split",
        "--encoding",
        "once",
        "--no-reference",
        "--repeats",
        "2",
        "--tokens",
        "300",
        "--payload",
        "20000",
        "--rate",
        "300",
    ]);
    let seen = delivery(&bench, "split");
    assert!([0, 13].contains(&code), "{code}: {:?}", bench.rig);
    assert_eq!((seen.due, seen.received), (3000, 3000));
    assert_eq!((bench.settings.stalled, bench.points[0].per_token.wire_bytes_per_text_byte), (2, None));
    // Twelve megabytes are due to each: more than the kernel keeps for a socket that nobody reads.
    assert!(seen.delay.p50_ns < 1_000_000_000, "{seen:?}");
}

#[test]
fn bad_input_is_told_what_was_expected() {
    let folder = Folder::new();
    let out = folder.arg("out");
    for (args, told) in [
        (&["--tokens", "0"][..], "1.."),
        (&["--tokens", "-5"], "1.."),
        (&["--repeats", "0"], "1.."),
        (&["--subscribers", "-1"], "0.."),
        (&["--subscribers", "ten"], "invalid digit"),
        (&["--payload", "0"], "1.."),
        (&["--rate", "0"], "above 0"),
        (&["--rate", "-3"], "above 0"),
        (&["--rate", "1e-300"], "from 0.001"),
        (&["--stalled", "1"], "leave 0 out of --subscribers"),
        (&["--rate", "NaN"], "above 0"),
        (&["--bus", "splitt"], "split"),
        (&["--encoding", "twice"], "per-subscriber, once"),
        (&["--server", "1.58.3"], "`1.58.2`"),
        (&["--server", "1.58.2+step7"], "no deltas"),
    ] {
        let (code, stdout, stderr) = ended(skewlab(&["bench", "fanout"]).args(args).args(["--out", &out]));
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains(told), "{args:?}: {stderr}");
        assert!(!std::path::Path::new(&out).exists(), "{args:?} left something");
    }
}

#[test]
fn a_folder_is_no_file_and_few_blocks_are_no_interval() {
    let folder = Folder::new();
    let taken = folder.path("taken.json");
    std::fs::create_dir(&taken).unwrap();
    let common = [
        "bench",
        "fanout",
        "--subscribers",
        "1,2",
        "--bus",
        "shared,split",
        "--tokens",
        "5",
        "--no-reference",
    ];
    let (code, stdout, stderr) = ended(skewlab(&common).args(["--out", &folder.arg("taken.json")]));
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("it is a folder"), "{stderr}");
    let (_, stdout, _) = ended(skewlab(&common).args(["--repeats", "2"]));
    assert!(stdout.contains("unknown") && !stdout.contains("inf"), "{stdout}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_measured() {
    let folder = Folder::new();
    let out = folder.arg("kept.json");
    let args = [
        "bench",
        "fanout",
        "--subscribers",
        "1,5",
        "--bus",
        "split",
        "--encoding",
        "once",
        "--no-reference",
        "--rate",
        "50",
        "--tokens",
        "25",
        "--repeats",
        "500",
        "--out",
        &out,
    ];
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skewlab"))
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(4));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let began = Instant::now();
    let code = child.wait().unwrap().code();
    assert!(began.elapsed() < Duration::from_secs(10));
    let kept: Bench = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!((code, kept.complete, kept.rig.valid), (Some(13), false, false));
    assert!(kept.rig.reason.unwrap().contains("stopped"));
    assert_eq!((kept.points.len(), kept.points[0].subscribers), (1, 1));
    assert!(kept.points[0].repeats >= 1, "{:?}", kept.points[0]);
}
