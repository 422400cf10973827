//! The virtual clock and loopback sockets say the same of what goes wrong: verdicts, hops, reasons and counts.

use skewlab::agent_server::profile::Catalogue;
use skewlab::record::CellResult;
use skewlab::run::{ClockKind, Options};
use skewlab::scenario::Selection;
use skewlab::seed::Seed;
use skewlab::suite::Plan;

/// A rate at which what happens after a second and up to three tenths more falls between two tokens on either clock.
const SCENARIO: &str = r#"question = "Do both clocks agree?"
servers = ["1.58.2"]
clients = ["python-1.34.0", "python-1.58.2", "typescript-1.39.0", "browser-1.20.0", "browser-session"]
workloads = ["answer"]
faults = ["none", "abort", "close-1011", "close-1000", "join", "twice", "swapped", "lossy", "shorter", "tool", "cancel", "failed",
    "bytes", "fragments", "refused", "restart"]

[workload.answer]
rate = 2.2
tokens = [{ text = "a" }, { reasoning = "b" }, { text = "c 漢" }, { text = "d ", repeat = 8 }, { text = "e ", repeat = 5 }]

[[fault.abort]]
kind = "abort"
at = "token 5"
[[fault.close-1011]]
kind = "close"
code = 1011
at = "token 5"
[[fault.close-1000]]
kind = "close"
code = 1000
at = "token 5"
[[fault.join]]
kind = "join"
at = "700ms"
[[fault.twice]]
kind = "duplicate"
at = "token 3"
[[fault.swapped]]
kind = "reorder"
at = "token 3"
[[fault.lossy]]
kind = "lossy"
bytes = 1
[[fault.shorter]]
kind = "final"
append = ""
[[fault.tool]]
kind = "tool"
name = "terminal"
at = "token 5"
[[fault.cancel]]
kind = "cancel"
at = "token 5"
[[fault.failed]]
kind = "provider_error"
at = "token 5"
[[fault.bytes]]
kind = "fragment"
bytes = 1
[[fault.fragments]]
kind = "fragment"
hop = "sent"
bytes = 3
[[fault.refused]]
kind = "refuse"
status = 503
[[fault.restart]]
kind = "restart"
down = "300ms"
at = "token 5"

# Fragments are the legacy socket's.
[[exclude]]
client = "browser-session"
fault = "fragments"
"#;

/// What both have to agree on: everything but times, and how often a client knocked in vain.
fn said(cell: &CellResult) -> String {
    let findings = cell.findings.iter().map(|f| {
        format!("{:?} {:?} {:?} {:?} {:?} {:?}", f.verdict, f.scope, f.lost_at, f.reason, f.signal, f.amount)
    });
    format!("{} {:?} {:?}", cell.id, findings.collect::<Vec<_>>(), cell.classes)
}

/// The cells of that text on the virtual clock, and the same as two runs on the wall have them: on a machine that is busy
/// elsewhere one may slip past a token, and what is really different is so in both.
fn on_both(text: &str, agrees: impl Fn(&CellResult, &CellResult) -> Result<(), String>) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parity.toml");
    std::fs::write(&path, text).unwrap();
    let names = [path.to_str().unwrap().to_owned()];
    let plan = Plan::of(&names, &Selection::default(), &Catalogue::embedded().unwrap()).unwrap();
    let cells = |clock| {
        // Cells on the wall clock wait far more than they work.
        let jobs = if clock == ClockKind::Wall { 40 } else { 2 };
        let today = chrono::NaiveDate::from_ymd_opt(2026, 12, 1).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        plan.run(Options { clock, seed: Seed(1), jobs }, today, &stop, &|_| {}).cells
    };
    let disagree = |paused: &[CellResult], real: &[CellResult]| -> Vec<(String, String)> {
        assert_eq!(paused.len(), real.len());
        let each = paused.iter().zip(real).map(|(left, right)| (left.id.clone(), agrees(left, right)));
        each.filter_map(|(id, agrees)| agrees.err().map(|why| (id, why))).collect()
    };
    let paused = cells(ClockKind::Virtual);
    let mut wrong = disagree(&paused, &cells(ClockKind::Wall));
    if !wrong.is_empty() {
        let again = disagree(&paused, &cells(ClockKind::Wall));
        wrong.retain(|(id, _)| again.iter().any(|(other, _)| other == id));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    paused.len()
}

fn agree(left: &CellResult, right: &CellResult) -> Result<(), String> {
    let (ours, theirs) = (&left.findings[0].note, &right.findings[0].note);
    if said(left) == said(right) { Ok(()) } else { Err(format!("{ours} and {theirs}")) }
}

#[test]
fn both_clocks_agree_on_what_goes_wrong() {
    assert_eq!(on_both(SCENARIO, agree), 79);
}

/// Three tokens come in the time in which an application takes one.
const SLOW: &str = r#"question = "Do both clocks agree on a slow application?"
servers = ["1.58.2"]
clients = ["typescript-1.39.0+slow-callback", "typescript-1.39.0+bounded-channel", "typescript-1.39.0+unbounded-channel",
    "typescript-1.39.0+batched-callback", "python-1.58.2+slow-callback"]
workloads = ["answer"]
[workload.answer]
rate = 30
generate = { count = 45 }
"#;

#[test]
fn both_clocks_agree_on_what_waits_for_a_slow_application() {
    let peak = |cell: &CellResult| cell.receive_queue.as_ref().map_or(0, |queue| queue.peak_frames);
    // The length of a queue may differ by the few tokens that the wall clock's noise is long.
    let agrees = |left: &CellResult, right: &CellResult| match (peak(left), peak(right)) {
        (ours, theirs) if ours.abs_diff(theirs) > 6 => Err(format!("{ours} and {theirs} frames")),
        _ => agree(left, right),
    };
    assert_eq!(on_both(SLOW, agrees), 5);
}
