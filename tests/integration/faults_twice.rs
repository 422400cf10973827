//! Two faults of one kind on one way: windows join, what the next few meet is a queue, and a setting is the later one's.

use skewlab::agent_server::profile::Catalogue;
use skewlab::record::{CellResult, Run, Verdict};
use skewlab::scenario::Selection;
use skewlab::suite::Plan;
use tempfile::TempDir;

use crate::bent;
use crate::runs::run;

/// Eighty tokens at a rate of which no whole second is a multiple, for one client that comes back.
const HEAD: &str = r#"question = "Which of two faults holds?"
servers = ["1.58.2"]
clients = ["typescript-1.39.0"]
workloads = ["answer"]
faults = ["f"]

[workload.answer]
rate = 6.5
generate = { count = 80 }
"#;

fn cells(faults: &[&str]) -> Run {
    bent::under(HEAD, faults)
}

fn cell(faults: &[&str]) -> CellResult {
    cells(faults).cells.swap_remove(0)
}

/// The longest time without a frame, whole seconds.
fn longest_gap(faults: &[&str]) -> u64 {
    let run = cells(faults);
    assert_eq!(run.cells[0].verdict, Verdict::Delivered, "{faults:?}: {}", run.cells[0].findings[0].note);
    let times = run.timing.cell_times[0].as_ref().unwrap();
    times.gap.max_us / 1_000_000
}

/// The note of a cell whose fault never came.
fn missing(faults: &[&str]) -> String {
    let cell = cell(faults);
    assert_eq!(cell.verdict, Verdict::NotRun, "{faults:?}: {}", cell.findings[0].note);
    cell.findings[0].note.clone()
}

fn came(faults: &[&str]) -> CellResult {
    let cell = cell(faults);
    assert_ne!(cell.verdict, Verdict::NotRun, "{faults:?}: {}", cell.findings[0].note);
    cell
}

#[test]
fn windows_hold_each_for_its_whole_time() {
    for kind in ["stall", "silence"] {
        let window = |at: &str, lasts: &str| format!("kind = \"{kind}\"\nfor = \"{lasts}\"\nat = \"{at}\"");
        let long = window("token 5", "20s");
        assert_eq!(longest_gap(&[&long]), 20, "{kind}");
        let within = window("token 6", "1s");
        assert_eq!(longest_gap(&[&long, &within]), 20, "{kind}: the shorter one takes nothing from it");
        assert_eq!(longest_gap(&[&within, &long]), 20, "{kind}");
        let longer = window("token 6", "30s");
        assert_eq!(longest_gap(&[&long, &longer]), 30, "{kind}");
    }
}

#[test]
fn handshakes_and_refusals_wait_for_their_turn() {
    let handshake = |lasts: &str| format!("kind = \"handshake\"\nfor = \"{lasts}\"\nat = \"token 2\"");
    let abort = "kind = \"abort\"\nat = \"token 5\"";
    let again = "kind = \"abort\"\nafter = \"turn\"\nby = \"1s\"";
    came(&[&handshake("700ms"), &handshake("1100ms"), abort, again]);
    // The client dials once, and the first one has that.
    let note = missing(&[&handshake("700ms"), &handshake("1100ms"), abort]);
    assert!(note.contains("handshake"), "{note}");

    let refuse = |status: u16| format!("kind = \"refuse\"\nstatus = {status}\nat = \"token 2\"");
    let lost = |cell: &CellResult| cell.findings[0].amount.frames;
    let reason = |cell: &CellResult| format!("{:?}", cell.surfaced) + &format!("{:?}", cell.log);
    let two = came(&[abort, &refuse(503), &refuse(429)]);
    let first = came(&[abort, &refuse(503)]);
    assert!(lost(&two) > lost(&first), "two attempts in vain: {}", reason(&two));
    // A second one that nobody is left to meet has not come.
    let clean = "kind = \"abort\"\nat = \"token 79\"";
    let note = missing(&[
        clean,
        &refuse(503),
        "kind = \"refuse\"\nstatus = 429\ntimes = 900\nafter = \"turn\"\nby = \"10h\"",
    ]);
    assert!(note.contains("refuse"), "{note}");
}

#[test]
fn a_setting_is_the_later_ones_from_its_moment_on() {
    let slow = |rate: u32, at: &str| format!("kind = \"slow\"\nbytes_per_s = {rate}\nat = \"{at}\"");
    let crawl = longest_gap(&[&slow(60, "token 5")]);
    assert!(crawl >= 2, "a frame of some 150 bytes takes seconds: {crawl}");
    assert!(longest_gap(&[&slow(60, "token 5"), &slow(60_000, "token 8")]) < crawl);
    let buffer = |lasts: &str, at: &str| format!("kind = \"buffer\"\nfor = \"{lasts}\"\nat = \"{at}\"");
    assert_eq!(longest_gap(&[&buffer("3s", "token 5"), &buffer("40ms", "token 30")]), 3);
    let fragment = |bytes: u32, at: &str| format!("kind = \"fragment\"\nbytes = {bytes}\nat = \"{at}\"");
    came(&[&fragment(1, "token 5"), &fragment(7, "token 10")]);
    let sent = |at: &str| format!("{}\nhop = \"sent\"", fragment(1, at));
    came(&[&sent("token 5")]);
    assert!(missing(&[&fragment(1, "token 5"), &sent("4h")]).contains("fragment at 14400s"));

    let lifetime = |every: &str, at: &str| format!("kind = \"lifetime\"\nevery = \"{every}\"\nat = \"{at}\"");
    came(&[&lifetime("1900ms", "start"), &lifetime("800ms", "4s")]);
    // The first ends nothing before the second takes its place.
    let note = missing(&[&lifetime("3s", "start"), &lifetime("1s", "1s")]);
    assert!(note.contains("lifetime at start"), "{note}");
}

#[test]
fn one_who_is_slower_than_the_others_is_no_contradiction() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("s.toml");
    let all = "\n[[fault.f]]\nkind = \"slow\"\nbytes_per_s = 50_000\n";
    let one = "\n[[fault.f]]\nkind = \"slow\"\nbytes_per_s = 5_000\nsubscriber = 2\n";
    let head = HEAD.replacen("workloads", "subscribers = 2\nworkloads", 1);
    let read = |faults: &[&str]| {
        std::fs::write(&path, head.clone() + &faults.concat()).unwrap();
        let names = [path.to_str().unwrap().to_owned()];
        Plan::of(&names, &Selection::default(), &Catalogue::embedded().unwrap())
    };
    let run = run(&read(&[all, one]).unwrap(), 1, 1);
    assert_eq!(run.cells[0].verdict, Verdict::Delivered, "{}", run.cells[0].findings[0].note);
    let error = read(&[one, all]).unwrap_err().to_string();
    assert!(error.contains("stands twice at start") && error.contains("s.toml:"), "{error}");
}

#[test]
fn a_door_opens_once() {
    let note = missing(&["kind = \"join\"\nat = \"1s\"", "kind = \"join\"\nat = \"2s\""]);
    assert!(note.contains("join at 2s"), "{note}");
}
