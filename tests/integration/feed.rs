//! The second subject through the whole house: plans, runs, verdicts, figures, the oracle, and what a person sees of it.

use std::sync::LazyLock;

use skewlab::judge::exit_code;
use skewlab::record::{CellResult, Figure, Outcome, Run, Subject, Verdict};

use crate::runs::{Folder, at, ended, matrix, run, skewlab};

const SCENARIOS: [&str; 7] =
    ["session-feed", "drift", "drift-contained", "crash", "batching", "cancel-before", "dangling"];

static RUN: LazyLock<Run> = LazyLock::new(|| matrix(&SCENARIOS, &[], &[]));

fn of(scenario: &str) -> impl Iterator<Item = &'static CellResult> + '_ {
    RUN.cells.iter().filter(move |cell| cell.scenario == scenario)
}

#[test]
fn every_claim_of_the_facts_holds() {
    let odd = RUN.cells.iter().filter(|cell| cell.outcome != Outcome::Expected);
    let odd: Vec<String> =
        odd.map(|cell| format!("{}: {}", cell.id, cell.outcome_note.as_deref().unwrap_or("-"))).collect();
    assert!(odd.is_empty(), "{odd:#?}");
    assert_eq!((exit_code(&RUN).code(), RUN.totals.rig), (0, 0));
    assert!(RUN.scenarios.iter().all(|scenario| scenario.subject == Subject::SessionFeed));
    assert!(RUN.cells.iter().all(|cell| !cell.proven), "there is no package to hold it against");
}

#[test]
fn row_4_forwarding_both_feeds_costs_a_client_about_twice_the_log_alone() {
    let bytes = |variant: &str| {
        at(&RUN, &format!("session-feed/{variant}/persistence/goal-actions/none")).figures
            [&Figure::ForwardedBytes]
    };
    let ratio = f64::from(u32::try_from(bytes("mirrored")).unwrap())
        / f64::from(u32::try_from(bytes("mirror-removed")).unwrap());
    // About twice: an event of the log has a seq and a time more than the mirror's.
    assert!((1.8..=2.0).contains(&ratio), "{ratio}");
}

#[test]
fn row_3_a_mirror_changes_no_byte_of_the_log() {
    for cell in of("session-feed").chain(of("batching")).filter(|cell| cell.server == "mirrored") {
        let other = cell.id.replace("/mirrored/", "/mirror-removed/");
        let (here, there) = (&cell.figures, &at(&RUN, &other).figures);
        // A plugin that appends appends in one of the two only.
        if cell.client != "appending-plugin" {
            assert_eq!(here[&Figure::DurableBytes], there[&Figure::DurableBytes], "{other}");
        }
    }
}

#[test]
fn row_11_the_oracle_flags_every_stale_step_and_nothing_else() {
    let mut flagged = 0;
    for cell in of("session-feed") {
        let Some(oracle) = cell.oracle else { continue };
        let silent = cell.verdict == Verdict::SilentLoss && cell.scope == Some(skewlab::record::Scope::Total);
        if silent {
            assert!(oracle.steps > 0 && oracle.silent == oracle.steps, "{}: {oracle:?}", cell.id);
            flagged += 1;
        } else {
            assert_eq!(oracle.silent, 0, "{}: a false alarm", cell.id);
        }
    }
    // Four plugins and the old bridge, where their event went.
    assert_eq!(flagged, 46, "cells that lost the whole stream without a sound");
    let exempt = at(&RUN, "session-feed/transient-only/acp/chat/none").oracle.unwrap();
    assert_eq!((exempt.steps, exempt.silent), (1, 0), "it never wants deltas");
}

#[test]
fn one_seed_gives_one_digest_whatever_the_jobs() {
    let plan = crate::runs::plan(&["drift"], &[], &[], &Folder::new().catalogue());
    let (one, two) = (run(&plan, 1, 1), run(&plan, 1, 2));
    assert_eq!(one.digest, two.digest);
}

const FEED: &str = "question = \"q\"\nsubject = \"session-feed\"\nvariants = [\"mirror-removed\"]\n\
                    consumers = [\"stale-plugin\"]\nworkloads = [\"w\"]\n[workload.w]\nreply = \"hey\"\n";

#[test]
fn a_missed_figure_is_unexpected_and_all_of_them_are_named() {
    let folder = Folder::new();
    let file = |figures: &str| {
        let expect = format!("[[expect]]\nverdict = \"silent_loss\"\nfigures = {{ {figures} }}\n");
        folder.write("own.toml", &format!("{FEED}{expect}"))
    };
    let right = "dispatches = \"N\", handled_chunks = 0, durable_chunks = \"<= C\"";
    let (code, stdout, stderr) = ended(&mut skewlab(&["matrix", &file(right)]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let wrong = "dispatches = \"N+C\", handled_chunks = 0, durable_chunks = \"< C\", scripts_derived = 1";
    let (code, stdout, _) = ended(&mut skewlab(&["matrix", &file(wrong)]));
    assert_eq!(code, 10, "{stdout}");
    let said = "dispatches is 13, expected == 20 (N+C); durable_chunks is 7, expected < 7 (C); \
                scripts_derived was not counted, expected == 1";
    assert!(stdout.contains(said), "{stdout}");
    assert!(stdout.lines().any(|line| line.contains("dispatches") && line.contains("13!")), "{stdout}");
}

#[test]
fn a_cell_whose_fault_never_comes_has_not_run() {
    let folder = Folder::new();
    let text = FEED.replace("workloads = [\"w\"]", "workloads = [\"w\", \"v\"]\nfaults = [\"cancel@9\"]");
    let expect = "[workload.v]\nreply = \"hello\"\n[[expect]]\nverdict = \"silent_loss\"\n";
    let file = folder.write("own.toml", &format!("{text}{expect}"));
    let (code, stdout, _) = ended(&mut skewlab(&["matrix", &file, "--format", "json"]));
    let run: Run = serde_json::from_str(&stdout).unwrap();
    let found = |cell: &CellResult| (cell.verdict, cell.reason.as_ref().map(ToString::to_string));
    assert_eq!(code, 13);
    assert_eq!(found(&run.cells[0]), (Verdict::NotRun, Some("fault_never_fired".to_owned())));
    assert_eq!(run.cells[1].verdict, Verdict::SilentLoss);
    let file = folder.write("late.toml", &text.replace("cancel@9", "cancel@8"));
    let (code, stdout, stderr) = ended(&mut skewlab(&["matrix", &file]));
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
}

/// A program in the place of the writer that does not write: the cells of a kill must not be green by an empty file.
#[test]
fn a_writer_that_never_ran_is_the_rigs_fault() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let writer = |name: &str, lines: &str| {
        let path = folder.write(name, &format!("#!/bin/sh\n{lines}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let cells = |writer: &str| {
        let only = ["--only", "crash/embedded/resume/reply/kill@3,turn-end", "--format", "json"];
        let mut command = skewlab(&["matrix", "crash", "--clock", "wall"]);
        let (code, stdout, stderr) = ended(command.args(only).env("SKEWLAB_WARDEN", writer));
        let run: Run = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}{stderr}"));
        assert_eq!((code, run.cells.len()), (13, 1), "{stdout}");
        (run.cells[0].verdict, run.cells[0].findings[0].note.clone())
    };
    let (verdict, note) = cells(&writer("silent", "exec sleep 60 >&-"));
    assert!(verdict == Verdict::NotRun && note.contains("closed its output before it had stopped"), "{note}");
    assert!(note.contains("session.jsonl"), "{note}");
    let (verdict, note) = cells(&writer("liar", "echo stopped; exec sleep 60"));
    assert!(verdict == Verdict::Invalid && note.contains("0 events were appended and 0 durable"), "{note}");
    let (verdict, note) = cells(&writer("dead", "echo gone >&2; exit 3"));
    assert!(verdict == Verdict::NotRun && note.contains("ended by itself, exit status: 3: gone"), "{note}");
}

/// Row 24, through the judge: one of two schemas was forgotten, nobody was told, and the two feeds say so.
#[test]
fn row_24_a_change_that_one_feed_forgets_is_divergent() {
    let folder = Folder::new();
    let text = FEED.replace("[\"mirror-removed\"]", "[\"mirrored\", \"mirror-removed\"]");
    let text = text.replace("[\"stale-plugin\"]", "[\"persistence\"]");
    let expect = |verdict: &str, variant: &str| {
        format!("[[expect]]\nvariant = \"{variant}\"\nverdict = \"{verdict}\"\nsignal = \"none\"\n")
    };
    let expects = expect("divergent", "mirrored") + &expect("by_design", "mirror-removed");
    // The seventh chunk is the finish: it has no text.
    let file = folder.write("own.toml", &format!("{text}{expects}[traits.live]\nforget_every = 7\n"));
    let (code, stdout, stderr) = ended(&mut skewlab(&["matrix", &file]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    let file = folder.write("own.toml", &format!("{text}{}", expects.replace("divergent", "by_design")));
    assert_eq!(ended(&mut skewlab(&["matrix", &file])).0, 0, "the neighbour that forgets nothing");
}

/// A log that derives no script is no delivery, even where there was no text to lose.
#[test]
fn row_19_scripts_that_cannot_be_derived_are_a_loud_loss_without_a_text() {
    let folder = Folder::new();
    let text = "question = \"q\"\nsubject = \"session-feed\"\nvariants = [\"transient-only\", \"mirrored\"]\n\
                consumers = [\"snapshot-replay\"]\nworkloads = [\"tool\", \"empty\"]\n\
                [workload.tool]\ntokens = [{ tool = \"look\" }]\n[workload.empty]\ntokens = [{ text = \"\" }]\n\
                [[expect]]\nvariant = \"transient-only\"\nverdict = \"loud_loss\"\nreason = \"script_not_derived\"\n\
                lost_at = \"replayed\"\nfigures = { scripts_failed = 1 }\n";
    let (code, stdout, stderr) = ended(&mut skewlab(&["matrix", &folder.write("own.toml", text)]));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
}

#[test]
fn names_of_either_subject_select_in_a_plan_of_both() {
    let planned =
        |args: &[&str]| ended(&mut skewlab(&[&["plan", "release-skew", "session-feed"], args].concat()));
    let count = |args: &[&str]| planned(args).1.lines().count();
    assert_eq!(count(&["--server", "embedded", "--client", "acp"]), 7);
    assert_eq!(count(&["--server", "1.58.2", "--client", "python-1.58.2"]), 1);
    let both = ["--server", "1.58.2", "--server", "embedded", "--client", "python-1.58.2", "--client", "acp"];
    assert_eq!(count(&both), 8);
    let (code, _, stderr) = planned(&["--server", "embeded"]);
    assert!(code == 2 && stderr.contains("`embeded`"), "{stderr}");
    let (code, _, stderr) = ended(&mut skewlab(&["plan", "session-feed", "--variant", "embeded"]));
    assert!(code == 2 && stderr.contains("did you mean `embedded`"), "{stderr}");
    let (code, stdout, _) =
        ended(&mut skewlab(&["plan", "session-feed", "--only", "hey", "--format", "json"]));
    assert_eq!((code, stdout.lines().count()), (0, 52));
    assert!(stdout.contains("\"subject\":\"session-feed\""), "{stdout}");
}

#[test]
fn what_can_be_named_is_listed_and_explained() {
    for (what, part) in [
        ("variants", "mirror-removed   the durable session event"),
        ("consumers", "stale-plugin     a plugin that still subscribes"),
        ("figures", "dispatches           dispatches"),
        ("scenarios", "crash            When the process is killed"),
        ("verdicts", "divergent      Two sources of one text disagree"),
    ] {
        let (code, stdout, _) = ended(&mut skewlab(&["list", what]));
        assert!(code == 0 && stdout.contains(part), "{what}: {stdout}");
    }
    let (code, _, stderr) = ended(&mut skewlab(&["explain", "stale-plugn"]));
    assert!(code == 2 && stderr.contains("did you mean `stale-plugin`"), "{stderr}");
}

#[test]
fn a_command_of_the_other_subject_refuses_a_session_at_its_place() {
    let folder = Folder::new();
    let file = folder.write("own.toml", FEED);
    let (code, _, stderr) = ended(&mut skewlab(&["serve", "--server", "1.58.2", "--script", &file]));
    assert!(code == 2 && stderr.contains("own.toml:2:11"), "{stderr}");
    assert!(stderr.contains("which this command does not run"), "{stderr}");
}

/// The same cells with a store on disk, and with a child that is killed: every verdict and every count is the same.
#[test]
fn a_session_on_the_wall_clock_writes_to_disk_and_is_killed_for_real() {
    let clocked = |clock: &str| {
        let only = ["--only", "reply", "--consumer", "transcript", "--format", "json", "--progress", "none"];
        let (code, stdout, stderr) =
            ended(skewlab(&["matrix", "crash", "session-feed", "--clock", clock]).args(only));
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        serde_json::from_str::<Run>(&stdout).unwrap().cells
    };
    let (virtually, on_disk) = (clocked("virtual"), clocked("wall"));
    assert_eq!(virtually.len(), 14 * 3 * 4, "every kill of the scenario");
    assert_eq!(virtually, on_disk);
    let args = ["matrix", "session-feed", "--clock", "wall", "--only", "hey"];
    let (code, stdout, _) = ended(&mut skewlab(&args));
    assert!(code == 0 && stdout.contains("0 rig faults"), "{stdout}");
}
