//! Live cells of two emulated parties: a client that connects again has one account over all of its connections.

use skewlab::record::{Run, Verdict};

use crate::runs::{Folder, ended, skewlab};

/// The cell of a client that takes a second without a frame for the end of its connection, on a model that falls silent once.
fn cell(name: &str, wait_s: f64, stall_s: f64) -> Run {
    let folder = Folder::new();
    let changes = format!(
        "[policy]\nwatchdog_s = 1\n[reconnect]\nfirst_s = {wait_s}\nmost_s = {wait_s}\n\n\
         [source]\npolicy = \"assumed: for a test\"\nreconnect = \"assumed: for a test\""
    );
    folder.profile("clients", "hasty", "typescript-1.39.0", &changes);
    let axes = format!(
        "servers = [\"1.58.2\"]\nclients = [\"hasty\"]\nworkloads = [\"w\"]\n[workload.w]\nrate = 20\n\
         tokens = [{{ text = \"a\", repeat = 10 }}, {{ text = \"b\", stall_s = {stall_s} }}, \
         {{ text = \"c\", repeat = 40 }}]\n"
    );
    let file = folder.path(&format!("{name}.toml"));
    std::fs::write(&file, format!("question = \"q?\"\n{axes}")).unwrap();
    let (file, profiles) = (file.to_str().unwrap().to_owned(), folder.arg(""));
    let args = ["live", "matrix", "--scenario", &file, "--profiles", &profiles, "--format", "json"];
    let parties = ["--servers", "emulated:1.58.2", "--clients", "emulated:hasty"];
    let (_, out, err) = ended(&mut skewlab(&[&args[..], &parties].concat()));
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"))
}

#[test]
fn who_is_back_before_the_text_goes_on_has_all_of_it() {
    let run = cell("back", 0.2, 1.8);
    let found = &run.cells[0].findings[0];
    assert_eq!(found.verdict, Verdict::Delivered, "{}", found.note);
    assert_eq!(run.cells[0].delivered.frames, 51);
}

#[test]
fn who_is_away_when_it_goes_on_has_a_gap_and_the_account_adds_up() {
    // Away from about 1 s to 2.5 s into a silence of 1.8 s: what came in between was sent to nobody.
    let run = cell("gap", 1.5, 1.8);
    let cell = &run.cells[0];
    let found = &cell.findings[0];
    assert_eq!(found.verdict, Verdict::SilentLoss, "{}", found.note);
    assert!((20..51).contains(&cell.delivered.frames), "{:?}", cell.delivered);
    assert_eq!(cell.delivered.frames + found.amount.frames, 51, "{}", found.note);
}
