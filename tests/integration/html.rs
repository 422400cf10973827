//! The HTML report as text: what it shows, that captured text cannot become markup in it, and how large it grows.

use std::path::Path;

use serde_json::{Value, json};
use skewlab::record::{Document, FirstFrame, FrameText, Hop, Queue, Reason, Run, Spread, Times, Timing};
use skewlab::report::html;

use crate::fixtures;
use crate::runs::matrix;

/// Ends a script, an attribute and a tag, and changes the title if any of it is ever taken for markup.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=\"document.title='owned'\"><svg onload=\"document.title='owned'\">\
                                  \"'>\u{2028}\0\u{202e}&lt;";

/// The page of these results.
pub(crate) fn page(documents: &[Document]) -> String {
    let mut out = Vec::new();
    html(documents, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Words that a reader of the result knows by heart; every other text in it is somebody else's.
const OURS: [&str; 21] = [
    "schema", "verdict", "scope", "lost_at", "hop", "signal", "expected", "outcome", "subject", "figure",
    "is", "class", "clock", "also", "change", "claim", "counted", "drawn", "kind", "reading", "severity",
];

/// Objects whose keys are data.
const KEYED: [&str; 8] = ["dropped", "added", "log", "rejected", "pins", "asked", "refused", "closed"];

fn poisoned(key: &str, value: Value) -> Value {
    match value {
        Value::String(text) if !OURS.contains(&key) => Value::String(text + HOSTILE),
        Value::Array(items) => items.into_iter().map(|item| poisoned(key, item)).collect(),
        Value::Object(fields) => {
            let keyed = KEYED.contains(&key);
            let field = |(name, value): (String, Value)| {
                let value = poisoned(&name, value);
                (if keyed { name + HOSTILE } else { name }, value)
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}

/// A result with hostile text in every field that takes any.
pub(crate) fn hostile(result: Value) -> Document {
    let poisoned = poisoned("", result);
    // Whoever means no good takes the fingerprint anew.
    let text = match serde_json::from_value::<Run>(poisoned.clone()) {
        Ok(mut run) => {
            run.seal();
            serde_json::to_string(&run).unwrap()
        }
        Err(_) => poisoned.to_string(),
    };
    Document::parse(Path::new("hostile.json"), &text).unwrap_or_else(|e| panic!("{e}"))
}

/// What others put into a cell: a frame, and times.
fn with_evidence(mut run: Run) -> Run {
    let (delay, gap) = (Spread::of(&mut [0, 90, 1500]), Spread::of(&mut [20_000, 20_000]));
    let times = Times { delay, gap, first_us: Some(90), produced_us: 40_000, held_chars: 0 };
    run.timing.cell_times = vec![Some(times); run.cells.len()];
    for (at, cell) in run.cells.iter_mut().enumerate() {
        let kind = |kind: &str| {
            let text = format!(
                "{{\"kind\":\"{kind}\",\"id\":\"{at}\",\"content\":\"{}\"}}",
                "so it goes ".repeat(30)
            );
            Some(FrameText::of("server 1.58.2", &text))
        };
        let closed = Some("1013 slow_consumer".to_owned());
        cell.queue = Some(Queue { peak_frames: 2, peak_bytes: 2048, closed, ..Queue::default() });
        cell.first_frame = Some(FirstFrame {
            number: 1,
            hop: Hop::Decoded,
            reason: Some(Reason::new("unknown_kind")),
            before: kind("StreamingDeltaEvent"),
            after: kind("StreamingDelta"),
        });
    }
    run
}

/// Two clients on two servers, with a loss that nobody declared.
pub(crate) fn small() -> Run {
    let servers = ["1.43.1", "1.58.2+step7"];
    let clients = ["python-1.30.0", "python-1.58.2", "python@same", "browser-1.14.0"];
    let mut run = with_evidence(matrix(&["release-skew"], &servers, &clients));
    let lost = run.cells.iter_mut().find(|c| c.id.contains("step7/python-1.58.2")).unwrap();
    lost.outcome = skewlab::record::Outcome::Unexpected;
    lost.outcome_note = Some("verdict is `silent_loss`, expected `delivered`".into());
    (run.totals.unexpected, run.totals.expected) = (1, run.totals.expected - 1);
    run
}

fn document(name: &str) -> Value {
    fixtures::json(name)
}

/// A socket that was refused: the one text that the page has of it.
fn client_bench() -> Value {
    let mut bench = document("results/bench-client_v1.json");
    bench["refused"]["a reason"] = 1.into();
    bench
}

fn live_bench() -> Value {
    json!({
        "schema": "skewlab.live-bench/1", "skewlab": "0.1.0", "complete": true,
        "settings": {"subscribers": [1, 8], "tokens": 100, "base_tokens": 10, "rate": 50.0, "repeats": 5, "seed": 1},
        "servers": [{"server": "1.58.2", "ran": "a package", "pins": {"fastapi": "1"}, "resident_bytes": 1}],
        "blocks": [{"server": "1.58.2", "subscribers": 1, "cpu_ms_per_token": 1.0, "cpu_s": 1.0, "base_cpu_s": 0.5,
                    "idle_share": 0.01, "deltas": 100, "fault": "a fault"}],
        "points": [{"server": "1.58.2", "subscribers": 1, "cpu_ms_per_token": 1.0, "range_ms": [0.9, 1.2], "blocks": 5}],
        "lines": [{"server": "1.58.2", "a_ms": 0.9, "b_ms": 0.1, "b_ci": [0.05, null]}],
        "ratios": [], "not_compared": [{"of": "a", "vs": "b", "differ": [["fastapi", "1", "2"]]}],
        "rig": {"valid": false, "reason": "too loud", "cores": 2, "noise": null, "steal": null, "model_lag_p99_ms": null,
                "reader_cpu": 0.2, "invalid_blocks": 1}
    })
}

fn feed_bench() -> Value {
    json!({
        "schema": "skewlab.feed-bench/1", "skewlab": "0.1.0", "complete": false, "noise": 0.1,
        "settings": {"variants": ["mirrored"], "listeners": [0, 4], "chunks": 100, "payload": 4, "rate": 50.0,
                     "policy": "turn-end", "packed": true, "store": "memory", "repeats": 3, "seed": 1},
        "points": [{"variant": "mirrored", "listeners": 0, "per_chunk": {"dispatches": 1.0, "callbacks": 1.0,
                    "bytes": 10.0, "fsyncs": 0.1, "allocations": 3.0}, "disk_bytes_per_text_byte": 4.0,
                    "held_bytes_per_chunk": 10.0, "cpu_ns": 900.0, "cpu_ns_blocks": [900.0], "fastest_s": 0.1}],
        "ratios": [{"of": "a", "vs": "b", "subscribers": 1, "ratio": 0.5, "ci": [0.4, 0.6],
                    "control_ci": [0.9, 1.1], "claim": true}]
    })
}

fn live_idle() -> Value {
    json!({
        "schema": "skewlab.live-idle/1", "skewlab": "0.1.0", "rate": 1.0, "duration_s": 60.0, "poll_s": 1.0,
        "servers": [{"server": "1.58.2", "ran": "a package", "profile": "1.58.2", "polls": 60, "longest_gap_s": 1.2,
                     "peak_idle_s": 3, "emulated_peak_idle_s": 2.0, "distinct_updated_at": 50,
                     "emulated_updated_at_per_token": 1.0, "contradictions": ["a contradiction"]}]
    })
}

/// Every kind of result, each with hostile text in it.
pub(crate) fn all_hostile() -> Vec<Document> {
    let run = serde_json::to_value(small()).unwrap();
    let feed = serde_json::to_value(matrix(
        &["session-feed"],
        &["mirror-removed"],
        &["stale-plugin", "persistence"],
    ))
    .unwrap();
    let certificate = document("../../reports/certificates/python-1.58.2.json");
    let results = [
        run,
        feed,
        document("results/bench_v1.json"),
        feed_bench(),
        live_bench(),
        live_idle(),
        document("results/idle_v1.json"),
        client_bench(),
        document("results/interleaved_v1.json"),
        document("results/comparison_v1.json"),
        document("results/contract_v1.json"),
        document("results/explore_v1.json"),
        certificate,
    ];
    results.into_iter().map(hostile).collect()
}

#[test]
fn captured_text_is_shown_and_never_markup() {
    for document in all_hostile() {
        let page = page(std::slice::from_ref(&document));
        let what = document.schema();
        for markup in ["<img", "<svg onload", "onerror=\"", "onload=\"", "\0", "\u{2028}", "\u{202e}"] {
            assert!(!page.contains(markup), "{what}: {markup:?}");
        }
        assert_eq!(page.matches("</script").count(), 2, "{what}");
        assert!(page.contains("&#60;/script&#62;&#60;img src=x onerror=&#34;"), "{what}");
        assert!(page.contains("&#34;&#39;&#62;⟨U+2028⟩␀⟨U+202E⟩&#38;lt;"), "{what}");
        if let Document::Run(run) = &document {
            let cell = &run.cells[0];
            assert!(page.contains("\\u003c/script\\u003e\\u003cimg src=x onerror=\\\""), "{what}");
            // A cell's own text and that of its queue lie in the data, and nowhere else.
            let closed = page.contains("closed 1013 slow_consumer\\u003c/script");
            assert!(closed || cell.queue.is_none(), "{what}");
            assert!(cell.id.contains("<img") && run.scenarios[0].question.contains('\0'));
        }
    }
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let page = page(&all_hostile());
    assert!(page.starts_with("<!DOCTYPE html>"));
    let policy = "content=\"default-src &#39;none&#39;; style-src &#39;sha256-";
    assert!(page.contains(policy), "{}", &page[..400]);
    assert!(!page.contains("unsafe-inline") && !page.contains("http:") && !page.contains("https:"));
    assert!(!page.contains(" src=\"") && !page.contains("@import"));
    // The icon is nothing, so that no browser asks for one.
    assert_eq!(page.matches("<link").count(), 1);
}

#[test]
fn a_small_run_as_a_page() {
    let mut run = small();
    run.timing = Timing { cell_times: run.timing.cell_times, jobs: 2, ..Timing::default() };
    let page = page(&[Document::Run(Box::new(run))]);
    let main = &page[page.find("<main").unwrap()..page.find("</main>").unwrap()];
    insta::assert_snapshot!(main);
}

#[test]
fn the_first_screen_says_what_broke_and_what_to_do() {
    let page = page(&[Document::Run(Box::new(small()))]);
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}"));
    let order = [
        "1 of 7 cells is not as the scenarios expect",
        "What broke",
        "<b>python-1.58.2</b> silent loss",
        "What to do",
        "skewlab matrix release-skew --only &#39;release-skew/1.58.2+step7/python-1.58.2/chat/none&#39;",
        "skewlab explain silent_loss",
        "[[expect]]\nserver = &#34;1.58.2+step7&#34;",
        "class=\"heat\"",
    ];
    assert!(order.map(place).is_sorted(), "{:?}", order.map(place));
    let name = "aria-label=\"python-1.58.2 on 1.58.2+step7: silent loss, unexpected, unproven\"";
    assert!(page.contains(name));
    assert!(page.contains("<th scope=\"col\">1.58.2<wbr>+step7</th>"));
}

#[test]
fn clients_that_lose_the_same_are_named_together() {
    let mut run =
        matrix(&["release-skew"], &["1.58.2+step7"], &["browser-1.4.0", "browser-1.14.0", "python-1.58.2"]);
    for cell in &mut run.cells {
        cell.outcome = skewlab::record::Outcome::Unexpected;
    }
    run.totals.unexpected = 3;
    let page = page(&[Document::Run(Box::new(run))]);
    let broke = &page[page.find("class=\"broke\"").unwrap()..page.find("What to do").unwrap()];
    assert!(broke.contains("<b>browser-1.14.0, browser-1.4.0") && broke.contains("3 cells"), "{broke}");
    assert_eq!(broke.matches("<li").count(), 1, "{broke}");
}

#[test]
fn a_green_run_says_so_and_what_it_does_not_prove() {
    let run = matrix(&["release-skew"], &["1.22.0"], &["python-1.30.0", "python-1.58.2"]);
    let page = page(&[Document::Run(Box::new(run))]);
    for said in [
        "All 2 cells are as the scenarios expect",
        "Nothing that the scenarios do not say",
        "<b>Unproven:</b>",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("Reproduce the worst cell"));
}

#[test]
fn a_run_that_did_not_run_is_no_success() {
    let mut run = matrix(&["release-skew"], &["1.22.0"], &["python-1.30.0"]);
    run.cells.clear();
    run.totals = skewlab::record::Totals::default();
    let page = page(&[Document::Run(Box::new(run))]);
    assert!(page.contains("class=\"headline bad\"") && page.contains("Nothing ran"));
}

#[test]
fn five_hundred_cells_stay_below_two_megabytes() {
    let mut run = with_evidence(matrix(&["release-skew"], &[], &["python-*", "browser-1.*", "typescript-*"]));
    let own = run.cells.clone();
    run.cells = (0..500)
        .map(|at| {
            let mut cell = own[at % own.len()].clone();
            // No two frames of a run are the same: each has an id of its own.
            for frame in cell.first_frame.iter_mut().flat_map(|f| [&mut f.before, &mut f.after]).flatten() {
                frame.text.insert_str(1, &format!("\"n\":{at},"));
            }
            cell.id = format!("{}-{at}", cell.id);
            cell.server_release = format!("{}.{}", cell.server_release, at / own.len());
            cell
        })
        .collect();
    run.timing.cell_times.resize(500, run.timing.cell_times[0].clone());
    let bytes = page(&[Document::Run(Box::new(run))]).len();
    assert!(bytes < 2_000_000, "{bytes} bytes");
    eprintln!("500 cells with a frame and times each: {bytes} bytes, {} a cell", bytes / 500);
}
