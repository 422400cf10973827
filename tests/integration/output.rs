//! What the binary hands over: `run.json`, tables, plans; to files, to pipes and to readers that leave.

use std::process::Stdio;

use serde_json::Value;
use skewlab::record::Run;

use crate::runs::{Folder, ONE, ended, skewlab};

#[test]
fn a_result_is_written_whole_and_alone() {
    let folder = Folder::new();
    let out = folder.arg("a/b");
    let (code, table, _) = ended(skewlab(&ONE).args(["--out", &out]));
    assert_eq!(code, 0);
    let names = || -> Vec<String> {
        let files = std::fs::read_dir(&out).unwrap();
        files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names(), ["run.json"]);
    let written: Run =
        serde_json::from_str(&std::fs::read_to_string(folder.arg("a/b/run.json")).unwrap()).unwrap();
    assert!(table.contains(&written.digest[..16]), "table and file are of one run");
    let (_, json, _) = ended(skewlab(&ONE).args(["--out", &out, "--seed", "7", "--format", "json"]));
    assert_eq!(json, std::fs::read_to_string(folder.arg("a/b/run.json")).unwrap(), "written over");
    assert_eq!(names(), ["run.json"]);
    let blocked = folder.write("file", "");
    let (code, _, stderr) = ended(skewlab(&ONE).args(["--out", &blocked]));
    assert!(code == 2 && stderr.contains("cannot write"), "{code} {stderr}");
}

#[test]
fn json_has_every_field_that_others_read() {
    let (_, stdout, _) = ended(skewlab(&ONE).args(["--client", "python-1.58.2+AB", "--format", "json"]));
    let run: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&run["schema"], &run["seed"]), (&"skewlab.run/1".into(), &1.into()));
    assert_eq!(run["digest"].as_str().unwrap().len(), 64);
    for cell in run["cells"].as_array().unwrap() {
        for field in
            ["id", "scenario", "server", "client", "workload", "verdict", "signal", "expected", "outcome"]
        {
            assert!(cell[field].is_string(), "{field}: {cell}");
        }
        for field in ["scope", "lost_at", "reason"] {
            let lost = cell["verdict"] == "silent_loss";
            assert!(
                cell.get(field).is_some_and(|v| if lost { v.is_string() } else { v.is_null() }),
                "{field}: {cell}"
            );
        }
        let tally = |v: &Value| v["frames"].is_u64() && v["chars"].is_u64();
        assert!(cell["log_lines"].is_u64() && cell["proven"].is_boolean());
        assert!(tally(&cell["produced"]) && tally(&cell["delivered"]), "{cell}");
        let hops = cell["hops"].as_array().unwrap();
        assert_eq!(hops.len(), 9);
        for hop in hops {
            assert!(hop["hop"].is_string() && tally(&hop["in"]) && tally(&hop["out"]), "{hop}");
            assert!(hop["dropped"].as_object().unwrap().values().all(tally), "{hop}");
        }
        let effects = &cell["side_effects"];
        for count in
            [&effects["webhook"]["posts"], &effects["webhook"]["events"], &effects["webhook"]["deltas"]]
        {
            assert!(count.is_u64(), "{effects}");
        }
        assert!(effects["telemetry"]["events"].is_u64());
        for clock in ["process", "updated_at", "eviction"] {
            assert!(effects["idle_writes"][clock].is_u64(), "{clock}");
        }
    }
    let lost = &run["cells"][1];
    assert_eq!(lost["hops"][6]["dropped"]["unknown_kind"]["chars"], lost["produced"]["chars"]);
}

#[test]
fn plan_prints_cells_and_runs_nothing() {
    let folder = Folder::new();
    // A server that never ends a turn would show a run as not_run, and a panic as noise.
    folder.profile("servers", "1.58.2+boom", "1.58.2", "[mutant]\npanic = true");
    let args = ["plan", "release-skew", "--profiles", &folder.arg(""), "--server", "1.58.2+boom"];
    let args = [&args[..], &["--client", "python-1.58.2", "--client", "browser-*"]].concat();
    let (code, stdout, stderr) = ended(&mut skewlab(&args));
    assert_eq!((code, stderr.as_str()), (0, ""));
    let ids: Vec<&str> = stdout.lines().map(|l| l.split_once("  ").unwrap().1).collect();
    assert_eq!(ids[0], "release-skew/1.58.2+boom/python-1.58.2/chat/none");
    assert_eq!(ids.len(), 7);
    let (_, json, _) = ended(skewlab(&args).args(["--format", "json"]));
    let planned: Vec<Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(planned.iter().zip(ids).all(|(p, id)| p["id"] == id && p.get("verdict").is_none()));
    let (_, all, _) = ended(&mut skewlab(&["plan"]));
    assert!(all.lines().count() >= 150);
}

#[test]
fn the_table_is_a_grid_and_a_line_a_finding() {
    let args =
        ["matrix", "release-skew", "--server", "1.43.1", "--server", "1.43.1+AB", "--client", "python@same"];
    let (code, stdout, stderr) = ended(&mut skewlab(&args));
    assert_eq!((code, stderr.as_str()), (0, ""));
    let row = stdout.lines().find(|l| l.trim_start().starts_with("python@same")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["python@same", "ok", "SILENT"]);
    let finding = stdout.lines().find(|l| l.contains("silent_loss at decoded")).unwrap();
    for part in ["python-1.43.1+AB", "unknown_kind", "53 of 53 characters", "18 log lines", "on 1.43.1+AB"] {
        assert!(finding.contains(part), "{part}: {finding}");
    }
    let last = stdout.lines().last().unwrap();
    assert!(last.contains(" s, ") && last.contains("cells/s") && last.contains("digest"), "{last}");
    assert!(!stdout.contains('\u{1b}'), "no colours into a pipe");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    // A run that takes long says so on standard error, and that is no error either.
    const QUIET: [&str; 2] = ["--progress", "none"];
    for args in [
        &["plan"][..],
        &["list", "clients"],
        &["matrix", "release-skew", QUIET[0], QUIET[1]],
        &["matrix", "--format", "json", QUIET[0], QUIET[1]],
    ] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skewlab"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{args:?}");
        assert!(ended.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn the_clock_on_the_wall_gives_the_verdicts_of_the_virtual_one() {
    let run = |clock: &str| -> Run {
        let args =
            ["matrix", "release-skew", "--server", "1.43.1", "--server", "1.58.2+AB", "--clock", clock];
        let clients =
            ["--client", "python@same", "--client", "browser-1.20.0", "--client", "browser-session"];
        let (code, stdout, _) = ended(skewlab(&args).args(clients).args(["--format", "json", "--jobs", "6"]));
        assert_eq!(code, 0, "{clock}");
        serde_json::from_str(&stdout).unwrap()
    };
    let (wall, virt) = (run("wall"), run("virtual"));
    assert_eq!((wall.clock.as_str(), wall.cells.len()), ("wall", 6));
    for (wall, virt) in wall.cells.iter().zip(&virt.cells) {
        assert_eq!(wall.id, virt.id);
        assert_eq!(wall.findings, virt.findings, "{}", wall.id);
        assert_eq!(wall.hops, virt.hops, "{}", wall.id);
    }
    assert!(wall.timing.seconds > virt.timing.seconds, "real time passes");
}
